/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* As foreign.h, of formats that are read as tasks. */

#include "foreign.h"

#include "program/ops/steps.h"
#include "program/trace/kit/task_table.h"

static inline void foreign_check_task(const struct wf_graph *graph, uint32_t pe,
                                      uint32_t number)
{
    uint32_t n = graph->ops->n_tasks(graph, pe);
    struct wf_task_send send;
    struct wf_task task;
    int64_t before = 0;

    graph->ops->task(graph, pe, number, &task);
    require(task.duration >= 0 && task.stream < wf_graph_n_streams(graph));
    for (uint32_t i = 0; i < task.n_sends; i++) {
        graph->ops->send(graph, &task, i, &send);
        require(send.pe < graph->n_pes && send.offset >= before &&
                send.offset <= task.duration);
        require(send.id == WF_NO_TASK || send.id < graph->ops->n_tasks(graph, send.pe));
        uint32_t target = wf_graph_target(graph, send.pe, pe, send.id);
        require(target == WF_NO_TASK || target < graph->ops->n_tasks(graph, send.pe));
        before = send.offset;
    }
    for (uint32_t i = 0; i < task.n_next; i++) {
        require(graph->ops->next(graph, &task, i) < n);
    }
}

static inline void foreign_check_step(const struct wf_steps *steps, uint32_t host,
                                      uint64_t number)
{
    struct wf_step step, after;

    steps->ops->step(steps, host, number, &step);
    require(step.kind <= WF_STEP_CALC && step.duration >= 0);
    require(step.cpu < steps->n_cpus && step.nic < steps->n_nics);
    require(step.kind == WF_STEP_CALC || step.peer < steps->graph->n_pes ||
            (step.kind == WF_STEP_RECV && step.peer == WF_STEP_ANY));
    for (uint32_t i = 0; i < step.n_after_start + step.n_after_end; i++) {
        bool of_start = i < step.n_after_start;
        uint32_t k = of_start ? i : i - step.n_after_start;
        steps->ops->step(steps, host, steps->ops->after(steps, host, number, of_start, k),
                         &after);
        require(after.task < steps->ops->n_tasks(steps, host) && after.n_before > 0);
    }
}

/* Looks at the steps that wait for nothing. */
static inline void foreign_check_steps(const struct wf_graph *graph)
{
    const struct wf_steps steps = wf_steps_of(graph);

    for (uint32_t host = 0; host < graph->n_pes; host++) {
        for (uint64_t number = 0; steps.ops->root(&steps, host, &number); number++) {
            foreign_check_step(&steps, host, number);
        }
    }
}

/* Opens what is there: every task makes sense, or there are words about why not. */
static inline void foreign_check_graph(const char *name)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_trace trace;
    char path[128];

    enum wf_status status = wf_trace_open(foreign_path(name, path, sizeof(path)), &trace, &err);
    if (status != WF_OK) {
        require((status == WF_EINVAL || status == WF_EIO) && strlen(err.text) > 10);
        require(strstr(err.text, foreign_directory) != NULL);
        return;
    }
    /* Bytes of another format are none of this one. */
    for (uint32_t pe = 0; trace.graph != NULL && pe < trace.graph->n_pes; pe++) {
        uint32_t n = trace.graph->ops->n_tasks(trace.graph, pe);
        for (uint32_t i = 0; i < n; i++) {
            foreign_check_task(trace.graph, pe, i);
        }
    }
    if (trace.graph != NULL) {
        foreign_check_steps(trace.graph);
    }
    wf_trace_close(&trace);
}
