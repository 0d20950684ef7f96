/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/graph_repeat.h"

#include "base/arith.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdatomic.h>

struct repeat {
    struct wf_graph graph;
    struct wf_graph *inner;
    uint32_t times;
    _Atomic bool *overflows; /* the number of a message is too large to be multiplied */
};

/* A task of the inner graph, or the one after all tasks of a time. */
struct place {
    uint32_t time, task;
    uint32_t n; /* tasks of the inner graph */
};

static const struct repeat *to_repeat(const struct wf_graph *graph)
{
    return (const struct repeat *)graph;
}

static struct place place_of(const struct repeat *repeat, uint32_t pe, uint32_t task)
{
    uint32_t n = repeat->inner->ops->n_tasks(repeat->inner, pe);

    return (struct place){task / (n + 1), task % (n + 1), n};
}

static uint32_t repeat_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    const struct repeat *repeat = to_repeat(graph);
    uint32_t n = repeat->inner->ops->n_tasks(repeat->inner, pe);

    return n == 0 ? 0 : repeat->times * (n + 1) - 1;
}

static uint32_t repeat_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    const struct wf_graph *inner = to_repeat(graph)->inner;

    return from < inner->ops->n_tasks(inner, pe) ? inner->ops->root(inner, pe, from)
                                                 : WF_NO_TASK;
}

static struct wf_task_needs repeat_needs(const struct wf_graph *graph, uint32_t pe,
                                         uint32_t task)
{
    const struct repeat *repeat = to_repeat(graph);
    struct place at = place_of(repeat, pe, task);

    if (at.task == at.n) {
        return (struct wf_task_needs){.tasks = at.n};
    }
    struct wf_task_needs needs = repeat->inner->ops->needs(repeat->inner, pe, at.task);
    if (at.time > 0 && needs.tasks == 0 && needs.messages == 0) {
        needs.tasks = 1;
    }
    return needs;
}

/* The i-th task that needs nothing; WF_NO_TASK if there are fewer. */
static uint32_t root_at(const struct wf_graph *inner, uint32_t pe, uint32_t n, uint32_t i)
{
    uint32_t task = inner->ops->root(inner, pe, 0);

    for (; i > 0 && task != WF_NO_TASK; i--) {
        task = task + 1 < n ? inner->ops->root(inner, pe, task + 1) : WF_NO_TASK;
    }
    return task;
}

static uint32_t count_roots(const struct wf_graph *inner, uint32_t pe, uint32_t n)
{
    uint32_t count = 0, task = inner->ops->root(inner, pe, 0);

    while (task != WF_NO_TASK) {
        count++;
        task = task + 1 < n ? inner->ops->root(inner, pe, task + 1) : WF_NO_TASK;
    }
    return count;
}

static void repeat_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                        struct wf_task *out)
{
    const struct repeat *repeat = to_repeat(graph);
    struct place at = place_of(repeat, pe, task);

    if (at.task == at.n) {
        *out = (struct wf_task){
            .pe = pe, .number = task, .n_next = count_roots(repeat->inner, pe, at.n)};
        return;
    }
    repeat->inner->ops->task(repeat->inner, pe, at.task, out);
    out->number = task;
    out->n_next += at.time + 1 < repeat->times ? 1 : 0;
}

/* A task as the inner graph gave it. */
static struct wf_task inner_task(const struct repeat *repeat, const struct wf_task *task,
                                 struct place at)
{
    struct wf_task inner = *task;

    inner.number = at.task;
    inner.n_next -= at.time + 1 < repeat->times ? 1 : 0;
    return inner;
}

/* Messages of different times have different numbers: the old one times `times`, and the time. */
static void repeat_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                        struct wf_task_send *out)
{
    const struct repeat *repeat = to_repeat(graph);
    struct place at = place_of(repeat, task->pe, task->number);
    struct wf_task inner = inner_task(repeat, task, at);

    repeat->inner->ops->send(repeat->inner, &inner, i, out);
    if (out->id > (UINT32_MAX - at.time) / repeat->times) {
        atomic_store(repeat->overflows, true);
        out->id = 0;
    }
    out->id = out->id * repeat->times + at.time;
}

static uint32_t repeat_next(const struct wf_graph *graph, const struct wf_task *task,
                            uint32_t i)
{
    const struct repeat *repeat = to_repeat(graph);
    struct place at = place_of(repeat, task->pe, task->number);
    uint32_t first = at.time * (at.n + 1);

    if (at.task == at.n) {
        return first + at.n + 1 + root_at(repeat->inner, task->pe, at.n, i);
    }
    struct wf_task inner = inner_task(repeat, task, at);
    return first +
           (i < inner.n_next ? repeat->inner->ops->next(repeat->inner, &inner, i) : at.n);
}

static uint32_t repeat_target(const struct wf_graph *graph, uint32_t pe, uint32_t src,
                              uint32_t id)
{
    const struct repeat *repeat = to_repeat(graph);
    uint32_t time = id % repeat->times;
    uint32_t task = wf_graph_target(repeat->inner, pe, src, id / repeat->times);
    uint32_t n = repeat->inner->ops->n_tasks(repeat->inner, pe);

    return task == WF_NO_TASK ? WF_NO_TASK : time * (n + 1) + task;
}

static enum wf_status repeat_check(const struct wf_graph *graph, struct wf_err *err)
{
    const struct repeat *repeat = to_repeat(graph);

    if (atomic_load(repeat->overflows)) {
        return wf_err_set(err, WF_ELIMIT,
                          "messages have numbers that are too large to be repeated %" PRIu32
                          " times",
                          repeat->times);
    }
    return wf_graph_check(repeat->inner, err);
}

static void repeat_destroy(struct wf_graph *graph)
{
    struct repeat *repeat = (struct repeat *)graph;

    wf_graph_free(repeat->inner);
    free(repeat->overflows);
    free(repeat);
}

static const struct wf_graph_ops repeat_ops = {
    .name = "repeat",
    .summary = "a task graph several times",
    .destroy = repeat_destroy,
    .n_tasks = repeat_n_tasks,
    .root = repeat_root,
    .needs = repeat_needs,
    .task = repeat_task,
    .send = repeat_send,
    .next = repeat_next,
    .target = repeat_target,
    .check = repeat_check,
};

enum wf_status wf_graph_repeat(struct wf_graph *inner, uint64_t times, struct wf_graph **out,
                               struct wf_err *err)
{
    for (uint32_t pe = 0; pe < inner->n_pes; pe++) {
        uint64_t n = inner->ops->n_tasks(inner, pe);
        if (wf_times_u64(n + 1, times) >= WF_NO_TASK) {
            return wf_err_set(err, WF_ELIMIT,
                              "PE %" PRIu32 " would have 2^32 tasks or more if its %" PRIu64
                              " tasks are repeated %" PRIu64 " times",
                              pe, n, times);
        }
    }
    struct repeat *repeat = wf_xcalloc(1, sizeof(*repeat));
    repeat->graph = *inner;
    repeat->graph.ops = &repeat_ops;
    repeat->graph.steps = NULL;
    repeat->graph.tasks_expected = wf_times_u64(inner->tasks_expected, times);
    repeat->graph.messages_expected = wf_times_u64(inner->messages_expected, times);
    repeat->inner = inner;
    repeat->times = (uint32_t)times;
    repeat->overflows = wf_xcalloc(1, sizeof(*repeat->overflows));
    *out = &repeat->graph;
    return WF_OK;
}
