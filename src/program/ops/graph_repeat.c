/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/graph_repeat.h"

#include "base/arith.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

struct repeat {
    struct wf_graph graph;
    struct wf_graph *inner;
    uint32_t times;
    uint32_t *body;          /* tasks of each PE that are repeated; null: all */
    _Atomic bool *overflows; /* the number of a message is too large to be multiplied */
};

/* A task of the inner graph, or the one after all tasks of a time. */
struct place {
    uint32_t time, task;
    uint32_t n;   /* tasks of the inner graph that are repeated */
    bool is_last; /* time: what is not repeated follows */
};

static const struct repeat *to_repeat(const struct wf_graph *graph)
{
    return (const struct repeat *)graph;
}

/* The number of tasks of a PE that are repeated. */
static uint32_t body_of(const struct repeat *repeat, uint32_t pe)
{
    uint32_t n = repeat->inner->ops->n_tasks(repeat->inner, pe);

    return repeat->body != NULL && repeat->body[pe] < n ? repeat->body[pe] : n;
}

static struct place place_of(const struct repeat *repeat, uint32_t pe, uint32_t task)
{
    uint32_t n = body_of(repeat, pe), last = repeat->times - 1;
    uint32_t time = task / (n + 1) < last ? task / (n + 1) : last;

    return (struct place){time, task - time * (n + 1), n, time == last};
}

/* Whether the place is the task after all of a time. */
static bool is_join(struct place at)
{
    return !at.is_last && at.task == at.n;
}

static uint32_t repeat_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    const struct repeat *repeat = to_repeat(graph);
    uint32_t n = repeat->inner->ops->n_tasks(repeat->inner, pe);

    return n == 0 ? 0 : (repeat->times - 1) * (body_of(repeat, pe) + 1) + n;
}

/* The tasks of the inner graph that a PE has in a time. */
static uint32_t n_in(const struct repeat *repeat, uint32_t pe, uint32_t time)
{
    return time + 1 < repeat->times ? body_of(repeat, pe)
                                    : repeat->inner->ops->n_tasks(repeat->inner, pe);
}

/* The first task of the inner graph that needs nothing and is from `from` to `n` - 1;
 * WF_NO_TASK if there is none. */
static uint32_t root_from(const struct wf_graph *inner, uint32_t pe, uint32_t from, uint32_t n)
{
    uint32_t task = from < n ? inner->ops->root(inner, pe, from) : WF_NO_TASK;

    return task < n ? task : WF_NO_TASK;
}

static uint32_t repeat_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    const struct repeat *repeat = to_repeat(graph);

    return root_from(repeat->inner, pe, from, n_in(repeat, pe, 0));
}

static struct wf_task_needs repeat_needs(const struct wf_graph *graph, uint32_t pe,
                                         uint32_t task)
{
    const struct repeat *repeat = to_repeat(graph);
    struct place at = place_of(repeat, pe, task);

    if (is_join(at)) {
        return (struct wf_task_needs){.tasks = at.n};
    }
    struct wf_task_needs needs = repeat->inner->ops->needs(repeat->inner, pe, at.task);
    if (at.time > 0 && needs.tasks == 0 && needs.messages == 0) {
        needs.tasks = 1;
    }
    return needs;
}

/* The i-th of the first `n` tasks that needs nothing; WF_NO_TASK if there are fewer. */
static uint32_t root_at(const struct wf_graph *inner, uint32_t pe, uint32_t n, uint32_t i)
{
    uint32_t task = root_from(inner, pe, 0, n);

    for (; i > 0 && task != WF_NO_TASK; i--) {
        task = root_from(inner, pe, task + 1, n);
    }
    return task;
}

static uint32_t count_roots(const struct wf_graph *inner, uint32_t pe, uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t task = root_from(inner, pe, 0, n); task != WF_NO_TASK;
         task = root_from(inner, pe, task + 1, n)) {
        count++;
    }
    return count;
}

/* The i-th task that waits for a task of the inner graph in a time before the last one: one of
 * the body, or else, after those, the one after all tasks of the time. *n_next is their number. */
static uint32_t next_in_body(const struct repeat *repeat, const struct wf_task *inner,
                             struct place at, uint32_t i, uint32_t *n_next)
{
    uint32_t found = at.n, n = 0;

    for (uint32_t k = 0; k < inner->n_next; k++) {
        uint32_t task = repeat->inner->ops->next(repeat->inner, inner, k);
        if (task < at.n) {
            found = n == i ? task : found;
            n++;
        }
    }
    *n_next = n + 1;
    return found;
}

static void repeat_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                        struct wf_task *out)
{
    const struct repeat *repeat = to_repeat(graph);
    struct place at = place_of(repeat, pe, task);

    if (is_join(at)) {
        *out = (struct wf_task){
            .pe = pe,
            .number = task,
            .n_next = count_roots(repeat->inner, pe, n_in(repeat, pe, at.time + 1))};
        return;
    }
    repeat->inner->ops->task(repeat->inner, pe, at.task, out);
    if (!at.is_last && repeat->body != NULL) {
        (void)next_in_body(repeat, out, at, 0, &out->n_next);
    } else if (!at.is_last) {
        out->n_next++;
    }
    out->number = task;
}

/* A task as the inner graph gave it. */
static struct wf_task inner_task(const struct repeat *repeat, const struct wf_task *task,
                                 struct place at)
{
    struct wf_task inner = *task;

    inner.number = at.task;
    if (repeat->body != NULL && !at.is_last) {
        repeat->inner->ops->task(repeat->inner, task->pe, at.task, &inner);
    } else {
        inner.n_next -= at.is_last ? 0 : 1;
    }
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
    if (out->id == WF_NO_TASK) {
        return; /* starts no task */
    }
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

    if (is_join(at)) {
        return first + at.n + 1 +
               root_at(repeat->inner, task->pe, n_in(repeat, task->pe, at.time + 1), i);
    }
    struct wf_task inner = inner_task(repeat, task, at);
    if (repeat->body != NULL && !at.is_last) {
        uint32_t n_next;
        return first + next_in_body(repeat, &inner, at, i, &n_next);
    }
    return first +
           (i < inner.n_next ? repeat->inner->ops->next(repeat->inner, &inner, i) : at.n);
}

static uint32_t repeat_target(const struct wf_graph *graph, uint32_t pe, uint32_t src,
                              uint32_t id)
{
    const struct repeat *repeat = to_repeat(graph);
    uint32_t time = id % repeat->times, n = body_of(repeat, pe);

    if (id == WF_NO_TASK) {
        return WF_NO_TASK;
    }
    uint32_t task = wf_graph_target(repeat->inner, pe, src, id / repeat->times);
    bool is_played = task != WF_NO_TASK && (task < n || time == repeat->times - 1);
    return is_played ? time * (n + 1) + task : WF_NO_TASK;
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

static void repeat_prepare(struct wf_graph *graph, const struct wf_graph_machine *machine)
{
    struct wf_graph *inner = ((struct repeat *)graph)->inner;

    if (inner->ops->prepare != NULL) {
        inner->ops->prepare(inner, machine);
    }
}

static void repeat_destroy(struct wf_graph *graph)
{
    struct repeat *repeat = (struct repeat *)graph;

    wf_graph_free(repeat->inner);
    free(repeat->overflows);
    free(repeat->body);
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
    .prepare = repeat_prepare,
};

enum wf_status wf_graph_repeat_body(struct wf_graph *inner, const uint32_t *body,
                                    uint64_t times, struct wf_graph **out, struct wf_err *err)
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
    if (body != NULL) {
        repeat->body = wf_xmalloc(inner->n_pes * sizeof(*body));
        memcpy(repeat->body, body, inner->n_pes * sizeof(*body));
    }
    *out = &repeat->graph;
    return WF_OK;
}

enum wf_status wf_graph_repeat(struct wf_graph *inner, uint64_t times, struct wf_graph **out,
                               struct wf_err *err)
{
    return wf_graph_repeat_body(inner, NULL, times, out, err);
}
