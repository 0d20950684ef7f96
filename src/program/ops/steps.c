/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/steps.h"

const char *const wf_graph_stream_kinds[] = {"cpu", "gpu", "copy", "comm", NULL};

/*
 * The steps of a task with m messages to receive and n to send:
 *
 *     0 .. m-1          receive
 *     m, m+2, ..        compute until the next message is sent
 *     m+1, m+3, ..      send it
 *     m+2n              compute until the end
 *
 * The number of a step has its task in the upper half.
 */
struct shape {
    struct wf_task task;
    struct wf_task_needs needs;
    uint32_t joint; /* the step that waits for the tasks that the task needs */
    uint32_t last;
    bool is_send, is_recv; /* a single step */
};

static uint64_t name(uint32_t task, uint32_t step)
{
    return (uint64_t)task << 32 | step;
}

static struct shape shape_of(const struct wf_graph *graph, uint32_t pe, uint32_t task)
{
    struct shape shape = {.needs = graph->ops->needs(graph, pe, task)};

    graph->ops->task(graph, pe, task, &shape.task);
    bool is_long = shape.task.duration > 0;
    shape.is_send = !is_long && shape.task.n_sends == 1 && shape.needs.messages == 0;
    shape.is_recv = !is_long && shape.task.n_sends == 0 && shape.needs.messages == 1;
    if (!shape.is_send && !shape.is_recv) {
        shape.joint = shape.needs.messages;
        shape.last = shape.joint + 2 * shape.task.n_sends;
    }
    return shape;
}

static uint32_t graph_n_tasks(const struct wf_steps *steps, uint32_t host)
{
    return steps->graph->ops->n_tasks(steps->graph, host);
}

static void fill_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                      struct wf_step *out)
{
    struct wf_task_send send;

    graph->ops->send(graph, task, i, &send);
    uint32_t target = wf_graph_target(graph, send.pe, task->pe, send.id);
    out->kind = WF_STEP_SEND;
    out->peer = send.pe;
    /* If no task needs the message, a tag that no receive has. */
    out->tag = target != WF_NO_TASK ? target : graph->ops->n_tasks(graph, send.pe);
    out->bytes = send.bytes;
    out->nic = send.nic;
}

/* When the i-th message is sent; the end of the task, if it has only i. */
static int64_t offset_of(const struct wf_graph *graph, const struct wf_task *task, uint32_t i)
{
    struct wf_task_send send = {.offset = task->duration};

    if (i < task->n_sends) {
        graph->ops->send(graph, task, i, &send);
    }
    return send.offset;
}

static void graph_step(const struct wf_steps *steps, uint32_t host, uint64_t number,
                       struct wf_step *out)
{
    const struct wf_graph *graph = steps->graph;
    const struct shape shape = shape_of(graph, host, (uint32_t)(number >> 32));
    uint32_t at = (uint32_t)number, messages = shape.needs.messages, part = at - messages;

    *out = (struct wf_step){.task = shape.task.number,
                            .cpu = (uint8_t)shape.task.stream,
                            .is_last = at == shape.last,
                            .n_before = at > shape.joint ? 1 : 0,
                            .n_after_end = 1};
    if (at == shape.joint) {
        out->n_before = shape.needs.tasks + (shape.is_recv ? 0 : messages);
    }
    if (out->is_last) {
        out->n_after_end = shape.task.n_next;
    }
    if (at < messages) {
        out->kind = WF_STEP_RECV;
        out->peer = WF_STEP_ANY;
        out->tag = shape.task.number;
    } else if (shape.is_send || part % 2 == 1) {
        fill_send(graph, &shape.task, part / 2, out);
    } else {
        out->kind = WF_STEP_CALC;
        out->duration = offset_of(graph, &shape.task, part / 2) -
                        (part == 0 ? 0 : offset_of(graph, &shape.task, part / 2 - 1));
    }
}

static uint64_t graph_after(const struct wf_steps *steps, uint32_t host, uint64_t number,
                            bool of_start, uint32_t i)
{
    const struct wf_graph *graph = steps->graph;
    const struct shape shape = shape_of(graph, host, (uint32_t)(number >> 32));
    uint32_t at = (uint32_t)number;

    if (at != shape.last) {
        return name(shape.task.number, at < shape.joint ? shape.joint : at + 1);
    }
    uint32_t next = graph->ops->next(graph, &shape.task, i);
    return name(next, shape_of(graph, host, next).joint);
}

/* Receives wait for nothing, unless the task is a receive. */
static bool graph_root(const struct wf_steps *steps, uint32_t host, uint64_t *number)
{
    const struct wf_graph *graph = steps->graph;
    uint32_t n = graph->ops->n_tasks(graph, host), at = (uint32_t)*number;

    for (uint64_t task = *number >> 32; task < n; task++) {
        const struct shape shape = shape_of(graph, host, (uint32_t)task);
        bool has_roots = shape.joint > 0 || shape.needs.tasks == 0;
        if (has_roots && at < (shape.joint > 0 ? shape.joint : 1)) {
            *number = name((uint32_t)task, at);
            return true;
        }
        at = 0;
    }
    return false;
}

static const struct wf_steps_ops graph_ops = {
    .n_tasks = graph_n_tasks,
    .root = graph_root,
    .step = graph_step,
    .after = graph_after,
};

struct wf_steps wf_steps_of(const struct wf_graph *graph)
{
    return (struct wf_steps){.ops = graph->steps != NULL ? graph->steps : &graph_ops,
                             .graph = graph,
                             .n_cpus = wf_graph_n_streams(graph),
                             .n_nics = wf_graph_n_nics(graph)};
}
