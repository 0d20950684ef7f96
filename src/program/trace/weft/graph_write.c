/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/varint.h"
#include "program/trace/weft/graph.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 1 << 15 };

struct graph_writer {
    struct wf_native_out *out;
    const struct wf_graph *graph;
    struct wf_native_totals *totals;
    uint32_t pe, n_tasks;
    bool has_streams;
    int32_t *open; /* per task of the PE: tasks it waits for that are not found yet */
    uint32_t roots_end;
    uint32_t block_first; /* first task of the block */
    struct wf_buf raw;    /* content of the block */
    /* The previous values in this block, to which differences are stored. */
    int64_t duration;
    struct wf_task_send send;
};

static enum wf_status refuse(const struct graph_writer *w, uint32_t task, const char *why,
                             struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "task %" PRIu32 " of PE %" PRIu32 ": %s", task, w->pe,
                      why);
}

static const char *fault_of_send(const struct graph_writer *w, const struct wf_task *task,
                                 const struct wf_task_send *send, int64_t before)
{
    if (send->offset < before || send->offset > task->duration) {
        return "its messages are not in the order of time, or not within the task";
    }
    if (send->pe >= w->graph->n_pes) {
        return "it sends to a PE that is not there";
    }
    if (w->has_streams && (send->nic >= wf_graph_n_nics(w->graph) ||
                           send->peer_nic >= wf_graph_n_nics(w->graph))) {
        return "it sends by an interface that is not there";
    }
    return send->bytes > INT64_MAX ? "it sends a message of negative length" : NULL;
}

/* Stores the number of the receiving task instead of the program's id of the message, so that a
 * reader needs no table of ids. */
static const char *put_sends(struct graph_writer *w, const struct wf_task *task)
{
    const struct wf_graph *graph = w->graph;
    int64_t before = 0;

    wf_varint_put(&w->raw, task->n_sends);
    for (uint32_t i = 0; i < task->n_sends; i++) {
        struct wf_task_send send;

        graph->ops->send(graph, task, i, &send);
        const char *fault = fault_of_send(w, task, &send, before);
        if (fault != NULL) {
            return fault;
        }
        send.id = wf_graph_target(graph, send.pe, w->pe, send.id);
        if (send.id != WF_NO_TASK && send.id >= graph->ops->n_tasks(graph, send.pe)) {
            return "it sends to a task that is not there";
        }
        wf_varint_put(&w->raw, (uint64_t)(send.offset - before));
        wf_varint_put(&w->raw, wf_zigzag((int64_t)(send.bytes - w->send.bytes)));
        wf_varint_put(&w->raw, wf_zigzag((int64_t)send.pe - (int64_t)w->send.pe));
        wf_varint_put(&w->raw, wf_zigzag((int64_t)send.id - (int64_t)w->send.id));
        if (w->has_streams) {
            wf_varint_put(&w->raw, send.nic);
            wf_varint_put(&w->raw, send.peer_nic);
        }
        before = send.offset;
        w->send = send;
    }
    w->totals->n_messages += task->n_sends;
    return NULL;
}

static const char *put_next(struct graph_writer *w, const struct wf_task *task)
{
    int64_t before = task->number;

    wf_varint_put(&w->raw, task->n_next);
    for (uint32_t i = 0; i < task->n_next; i++) {
        uint32_t next = w->graph->ops->next(w->graph, task, i);

        if (next >= w->n_tasks) {
            return "a task that waits for it is not there";
        }
        wf_varint_put(&w->raw, wf_zigzag((int64_t)next - before));
        before = next;
        w->open[next]--;
    }
    return NULL;
}

static void put_block(struct graph_writer *w, uint32_t end)
{
    const struct wf_native_block block = {
        .rank = w->pe, .first_op = w->block_first, .n_ops = end - w->block_first};

    if (block.n_ops > 0) {
        wf_native_out_block(w->out, block, &w->raw);
    }
    w->totals->raw_bytes += w->raw.size;
    w->raw.size = 0;
    w->block_first = end;
    w->duration = 0;
    w->send = (struct wf_task_send){.offset = 0};
}

static enum wf_status put_task(struct graph_writer *w, uint32_t number, struct wf_err *err)
{
    struct wf_task_needs needs = w->graph->ops->needs(w->graph, w->pe, number);
    struct wf_task task;

    w->graph->ops->task(w->graph, w->pe, number, &task);
    if (task.duration < 0) {
        return refuse(w, number, "its duration is negative", err);
    }
    if (needs.tasks == 0 && needs.messages == 0) {
        w->roots_end = number + 1;
    }
    w->open[number] += (int32_t)needs.tasks;
    wf_varint_put(&w->raw, wf_zigzag(task.duration - w->duration));
    wf_varint_put(&w->raw, needs.tasks);
    wf_varint_put(&w->raw, needs.messages);
    if (w->has_streams) {
        if (task.stream >= wf_graph_n_streams(w->graph)) {
            return refuse(w, number, "its stream is not there", err);
        }
        wf_varint_put(&w->raw, task.stream);
    }
    w->duration = task.duration;

    const char *fault = put_sends(w, &task);
    if (fault == NULL) {
        fault = put_next(w, &task);
    }
    return fault != NULL ? refuse(w, number, fault, err) : WF_OK;
}

static enum wf_status check_open(const struct graph_writer *w, struct wf_err *err)
{
    for (uint32_t task = 0; task < w->n_tasks; task++) {
        if (w->open[task] != 0) {
            return refuse(w, task, "it waits for another number of tasks than name it", err);
        }
    }
    return WF_OK;
}

static enum wf_status put_pe(struct graph_writer *w, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    w->n_tasks = w->graph->ops->n_tasks(w->graph, w->pe);
    w->open = wf_xcalloc((size_t)w->n_tasks + 1, sizeof(*w->open));
    w->roots_end = 0;
    w->block_first = 0;
    for (uint32_t task = 0; task < w->n_tasks && status == WF_OK; task++) {
        status = put_task(w, task, err);
        if (w->raw.size >= BLOCK_BYTES) {
            put_block(w, task + 1);
        }
    }
    put_block(w, w->n_tasks);
    WF_THEN(status, check_open(w, err));
    free(w->open);
    if (status == WF_OK && w->n_tasks > 0) {
        const uint64_t roots[] = {w->pe, w->roots_end};
        wf_native_out_record(w->out,
                             &(struct wf_native_record){WF_RECORD_ROOTS, roots, 2, NULL});
        status = wf_native_out_status(w->out, err);
    }
    w->totals->n_ops += w->n_tasks;
    w->totals->n_stored += w->n_tasks;
    return status;
}

static void put_streams(const struct graph_writer *w)
{
    const struct wf_graph *graph = w->graph;
    uint64_t numbers[2 + WF_STREAMS_MAX] = {wf_graph_n_nics(graph), wf_graph_n_streams(graph)};

    for (uint32_t i = 0; i < numbers[1]; i++) {
        numbers[2 + i] = wf_graph_stream(graph, i);
    }
    wf_native_out_record(
        w->out, &(struct wf_native_record){WF_RECORD_STREAMS, numbers, 2 + numbers[1], NULL});
}

enum wf_status wf_native_graph_write(struct wf_native_out *out, const struct wf_graph *graph,
                                     struct wf_native_totals *totals, struct wf_err *err)
{
    struct graph_writer w = {.out = out,
                             .graph = graph,
                             .totals = totals,
                             .has_streams = wf_graph_has_streams(graph)};
    enum wf_status status = WF_OK;

    if (w.has_streams) {
        put_streams(&w);
    }

    for (w.pe = 0; w.pe < graph->n_pes && status == WF_OK; w.pe++) {
        status = put_pe(&w, err);
    }
    wf_buf_fini(&w.raw);
    /* Where a graph cannot read its file it returns empty tasks, and reports the error here. */
    struct wf_err unread;
    if (wf_graph_check(graph, &unread) != WF_OK) {
        status = unread.status;
        if (err != NULL) {
            *err = unread;
        }
    }
    return status;
}
