/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Task graphs that a test defines task by task. */

#include "program/ops/graph.h"

enum { LIST_MAX = 24 };

/* A task as a test defines it. Its dependencies follow from the other tasks. */
struct drawn_task {
    int64_t duration;
    uint32_t n_sends, n_next, stream;
    struct wf_task_send sends[LIST_MAX]; /* id: the number of the target task */
    uint32_t next[LIST_MAX];
    struct wf_task_needs needs;
};

enum { PES_MAX = 8, TASKS_MAX = 16 };

struct drawing {
    struct wf_graph graph; /* must be first */
    uint32_t n_tasks[PES_MAX];
    struct drawn_task tasks[PES_MAX][TASKS_MAX];
};

static inline const struct drawing *to_drawing(const struct wf_graph *graph)
{
    return (const struct drawing *)graph;
}

static inline uint32_t drawing_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    return to_drawing(graph)->n_tasks[pe];
}

static inline struct wf_task_needs drawing_needs(const struct wf_graph *graph, uint32_t pe,
                                                 uint32_t task)
{
    return to_drawing(graph)->tasks[pe][task].needs;
}

static inline uint32_t drawing_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    for (; from < to_drawing(graph)->n_tasks[pe]; from++) {
        struct wf_task_needs needs = drawing_needs(graph, pe, from);
        if (needs.tasks == 0 && needs.messages == 0) {
            return from;
        }
    }
    return WF_NO_TASK;
}

static inline void drawing_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                                struct wf_task *out)
{
    const struct drawn_task *drawn = &to_drawing(graph)->tasks[pe][task];

    *out = (struct wf_task){.pe = pe,
                            .number = task,
                            .duration = drawn->duration,
                            .n_sends = drawn->n_sends,
                            .n_next = drawn->n_next,
                            .stream = drawn->stream};
}

static inline void drawing_send(const struct wf_graph *graph, const struct wf_task *task,
                                uint32_t i, struct wf_task_send *out)
{
    *out = to_drawing(graph)->tasks[task->pe][task->number].sends[i];
}

/* Does the same, with an id that only drawing_target() can map to the task. */
static inline void drawing_send_coded(const struct wf_graph *graph, const struct wf_task *task,
                                      uint32_t i, struct wf_task_send *out)
{
    drawing_send(graph, task, i, out);
    out->id = 1000 * (task->pe + 1) + out->id + 7 * out->pe;
}

static inline uint32_t drawing_target(const struct wf_graph *graph, uint32_t pe, uint32_t src,
                                      uint32_t id)
{
    return id - 1000 * (src + 1) - 7 * pe;
}

static inline uint32_t drawing_next(const struct wf_graph *graph, const struct wf_task *task,
                                    uint32_t i)
{
    return to_drawing(graph)->tasks[task->pe][task->number].next[i];
}

static inline void drawing_destroy(struct wf_graph *graph)
{
}

static const struct wf_graph_ops drawing_ops = {
    .name = "drawing",
    .destroy = drawing_destroy,
    .n_tasks = drawing_n_tasks,
    .root = drawing_root,
    .needs = drawing_needs,
    .task = drawing_task,
    .send = drawing_send,
    .next = drawing_next,
};

static const struct wf_graph_ops drawing_ops_coded = {
    .name = "coded drawing",
    .destroy = drawing_destroy,
    .n_tasks = drawing_n_tasks,
    .root = drawing_root,
    .needs = drawing_needs,
    .task = drawing_task,
    .send = drawing_send_coded,
    .next = drawing_next,
    .target = drawing_target,
};

/* Adds a task and returns its number on the PE. */
static inline uint32_t draw_task(struct drawing *drawing, uint32_t pe, int64_t duration)
{
    drawing->tasks[pe][drawing->n_tasks[pe]].duration = duration;
    return drawing->n_tasks[pe]++;
}

static inline void draw_next(struct drawing *drawing, uint32_t pe, uint32_t task, uint32_t next)
{
    struct drawn_task *drawn = &drawing->tasks[pe][task];

    drawn->next[drawn->n_next++] = next;
    drawing->tasks[pe][next].needs.tasks++;
}

/* The messages of a task must be added in the order of their offsets. */
static inline void draw_send(struct drawing *drawing, uint32_t pe, uint32_t task,
                             struct wf_task_send send)
{
    struct drawn_task *drawn = &drawing->tasks[pe][task];

    drawn->sends[drawn->n_sends++] = send;
    drawing->tasks[send.pe][send.id].needs.messages++;
}
