/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "program/ops/steps.h"
#include "program/trace/goal/goal.h"
#include "program/trace/kit/workers.h"

#include <stdlib.h>
#include <string.h>

struct wf_goal *wf_goal_new(void)
{
    return wf_xaligned_zero(sizeof(struct wf_goal));
}

/* ---- edges ---- */

/* The place of an edge among those of its rank: by the op before, and its start before its end. */
static uint64_t key_of(const struct wf_goal_edge *edge)
{
    return (uint64_t)edge->before << 1 | edge->for_end;
}

/* Sorts the edges of a rank by their keys; edges of one key keep the order of the file. */
static void sort_by_key(struct wf_goal_edge *edges, uint64_t n, uint64_t n_ops)
{
    bool sorted = true;

    for (uint64_t i = 1; i < n && sorted; i++) {
        sorted = key_of(&edges[i - 1]) <= key_of(&edges[i]);
    }
    if (sorted) {
        return;
    }
    uint64_t *next = wf_xcalloc(2 * n_ops + 1, sizeof(*next));
    struct wf_goal_edge *copy = wf_xmalloc(n * sizeof(*copy));
    memcpy(copy, edges, n * sizeof(*copy));
    for (uint64_t i = 0; i < n; i++) {
        next[key_of(&edges[i]) + 1]++;
    }
    for (uint64_t key = 1; key <= 2 * n_ops; key++) {
        next[key] += next[key - 1];
    }
    for (uint64_t i = 0; i < n; i++) {
        edges[next[key_of(&copy[i])]++] = copy[i];
    }
    free(next);
    free(copy);
}

static int by_after(const void *a, const void *b)
{
    const struct wf_goal_edge *x = a, *y = b;

    return 4 * WF_ORDER(x->before, y->before) + 2 * WF_ORDER(x->for_end, y->for_end) +
           WF_ORDER(x->after, y->after);
}

static bool is_sorted(const struct wf_goal_edge *edges, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        if (by_after(&edges[i - 1], &edges[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* What the workers that sort edges share. */
struct sorting {
    struct wf_goal *goal;
    bool *is_unsorted; /* of each rank: edges of an op are not in the order of the ops after */
};

/* Links the ops of a rank by their sorted edges. */
static void link_ops(const struct wf_goal_rank *rank)
{
    for (uint64_t i = rank->n_edges; i-- > 0;) {
        const struct wf_goal_edge *edge = &rank->edges[i];
        struct wf_goal_link *link = &rank->links[edge->before];
        link->edge = (uint32_t)i;
        *(edge->for_end != 0 ? &link->n_after_end : &link->n_after_start) += 1;
        rank->links[edge->after].n_before++;
    }
}

/* Sorts the edges of a rank by the op before. Mostly that is all. */
static void sort_keys(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    const struct sorting *sorting = arg;
    struct wf_goal_rank *rank = &sorting->goal->ranks[number];

    (void)worker;
    (void)err;
    rank->links = sorting->goal->links + rank->first;
    sort_by_key(rank->edges, rank->n_edges, rank->n);
    sorting->is_unsorted[number] = !is_sorted(rank->edges, rank->n_edges);
    if (!sorting->is_unsorted[number]) {
        link_ops(rank);
    }
}

/* Sorts the edges of each op of a rank by the op after. */
static void sort_rank(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    const struct sorting *sorting = arg;
    const struct wf_goal_rank *rank = &sorting->goal->ranks[number];

    (void)worker;
    (void)err;
    if (sorting->is_unsorted[number]) {
        WF_SORT(rank->edges, rank->n_edges, by_after);
        link_ops(rank);
    }
}

/* Edges are sorted by the op before: notes in which order those of each op are in the file. */
static void keep_order(struct wf_goal *goal)
{
    goal->after_in_file = wf_xmalloc(goal->n_edges * sizeof(*goal->after_in_file));
    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        const struct wf_goal_rank *rank = &goal->ranks[r];
        for (uint64_t i = 0; i < rank->n_edges; i++) {
            goal->after_in_file[rank->first_edge + i] = rank->edges[i].after;
        }
    }
}

void wf_goal_sort(struct wf_goal *goal)
{
    struct sorting sorting = {
        .goal = goal, .is_unsorted = wf_xcalloc(goal->n_ranks, sizeof(*sorting.is_unsorted))};
    uint32_t n_workers = wf_trace_workers(goal->n_ranks);
    struct wf_err err = {.status = WF_OK};

    goal->links = wf_xcalloc_huge(goal->n_ops + 1, sizeof(*goal->links));
    wf_trace_visit_all(goal->n_ranks, n_workers, sort_keys, &sorting, &err);
    if (memchr(sorting.is_unsorted, true, goal->n_ranks * sizeof(bool)) != NULL) {
        keep_order(goal);
        wf_trace_visit_all(goal->n_ranks, n_workers, sort_rank, &sorting, &err);
    }
    free(sorting.is_unsorted);
}

/* ---- tasks ---- */

static const struct wf_goal *goal_of(const struct wf_graph *graph)
{
    return (const struct wf_goal *)graph;
}

static bool has_start(const struct wf_goal_link *link)
{
    return link->n_after_start > 0;
}

/* The op to which a task belongs: the first one whose own task is this or a later one. */
static uint32_t op_of(const struct wf_goal_rank *rank, uint32_t task)
{
    uint32_t low = task > rank->n_starts ? task - rank->n_starts : 0;

    WF_BISECT(low, task < rank->n ? task : (uint32_t)rank->n - 1, middle,
              rank->links[middle].task < task);
    return low;
}

static uint32_t goal_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    return goal_of(graph)->pes[pe].n_tasks;
}

static const struct wf_goal_task *task_at(const struct wf_goal *goal, uint32_t pe,
                                          uint32_t task)
{
    return &goal->pes[pe].tasks[task];
}

static struct wf_task_needs goal_needs(const struct wf_graph *graph, uint32_t pe, uint32_t task)
{
    const struct wf_goal_task *at = task_at(goal_of(graph), pe, task);

    return (struct wf_task_needs){.tasks = at->tasks, .messages = at->messages};
}

static uint32_t goal_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    return wf_graph_root(graph, goal_needs, pe, from, goal_n_tasks(graph, pe));
}

/* Whoever only asks which tasks wait for a task does not wait for its op to come from memory. */
static void goal_over(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                      struct wf_task *out)
{
    const struct wf_goal *goal = goal_of(graph);
    const struct wf_goal_task *at = task_at(goal, pe, task);

    *out = (struct wf_task){
        .pe = pe,
        .number = task,
        .n_next = at[1].next - at[0].next,
        .own = {0, at->next},
    };
}

/* own[0] is the op, unless the task is without it; own[1] the place of the tasks that wait. */
static void goal_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                      struct wf_task *out)
{
    const struct wf_goal *goal = goal_of(graph);
    const struct wf_goal_task *at = task_at(goal, pe, task);

    goal_over(graph, pe, task, out);
    if (at->has_op || graph->n_streams > 1) {
        uint32_t number = goal->has_starts ? op_of(&goal->ranks[pe], task) : task;
        const struct wf_goal_op *op = &goal->pes[pe].ops[number];

        out->duration = at->has_op && op->kind == WF_GOAL_CALC ? (int64_t)op->amount : 0;
        out->n_sends = at->has_op && op->kind == WF_GOAL_SEND ? 1 : 0;
        out->stream = op->cpu;
        out->own[0] = number;
    }
}

/* Fetches the cache line of an address and the next one. */
static void fetch_lines(const void *at)
{
    __builtin_prefetch(at);
    __builtin_prefetch((const unsigned char *)at + WF_CACHE_LINE);
}

/* An op has the number of its task, and the tasks that wait are spread evenly over those that they
 * wait for: if not, other lines are fetched in vain. To look it up would mean to wait. */
static void goal_fetch(const struct wf_graph *graph, uint32_t pe, uint32_t task)
{
    enum { HALF_A_LINE = WF_CACHE_LINE / sizeof(uint32_t) / 2 };
    const struct wf_goal *goal = goal_of(graph);
    const struct wf_goal_pe *at = &goal->pes[pe];
    uint64_t next = (uint64_t)task * at->n_next / (at->n_tasks + 1);

    fetch_lines(&at->tasks[task]);
    fetch_lines(&at->next[next > HALF_A_LINE ? next - HALF_A_LINE : 0]);
    if (task < at->n_tasks && !goal->has_starts) {
        fetch_lines(&at->ops[task]);
    }
}

/* The op that receives a message is another rank's: without starts and with one interface it is
 * not looked at. */
static void goal_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                      struct wf_task_send *out)
{
    const struct wf_goal *goal = goal_of(graph);
    const struct wf_goal_op *op = &goal->pes[task->pe].ops[task->own[0]];

    *out = (struct wf_task_send){
        .bytes = op->amount,
        .pe = op->peer,
        .id = op->match,
        .nic = op->nic,
        .peer_nic = op->nic,
    };
    if (op->match != WF_NO_TASK && (goal->has_starts || graph->n_nics > 1)) {
        const struct wf_goal_rank *peer = &goal->ranks[op->peer];
        out->id = peer->links[op->match].task;
        out->peer_nic = peer->ops[op->match].nic;
    }
}

static uint32_t goal_next(const struct wf_graph *graph, const struct wf_task *task, uint32_t i)
{
    return goal_of(graph)->pes[task->pe].next[task->own[1] + i];
}

static void goal_destroy(struct wf_graph *graph)
{
    wf_goal_free((struct wf_goal *)graph);
}

static const struct wf_graph_ops goal_ops = {
    .name = "goal",
    .summary = "ops of a GOAL schedule",
    .destroy = goal_destroy,
    .n_tasks = goal_n_tasks,
    .root = goal_root,
    .needs = goal_needs,
    .task = goal_task,
    .over = goal_over,
    .fetch = goal_fetch,
    .send = goal_send,
    .next = goal_next,
};

/* ---- steps: the number of a step is that of its op ---- */

static uint32_t steps_n_tasks(const struct wf_steps *steps, uint32_t host)
{
    return (uint32_t)goal_of(steps->graph)->ranks[host].n;
}

static bool steps_root(const struct wf_steps *steps, uint32_t host, uint64_t *number)
{
    const struct wf_goal_rank *rank = &goal_of(steps->graph)->ranks[host];

    while (*number < rank->n && rank->links[*number].n_before > 0) {
        ++*number;
    }
    return *number < rank->n;
}

static void steps_step(const struct wf_steps *steps, uint32_t host, uint64_t number,
                       struct wf_step *out)
{
    static const enum wf_step_kind kinds[WF_GOAL_KINDS] = {
        [WF_GOAL_CALC] = WF_STEP_CALC,
        [WF_GOAL_SEND] = WF_STEP_SEND,
        [WF_GOAL_RECV] = WF_STEP_RECV,
    };
    const struct wf_goal_rank *rank = &goal_of(steps->graph)->ranks[host];
    const struct wf_goal_op *op = &rank->ops[number];
    const struct wf_goal_link *link = &rank->links[number];
    bool is_calc = op->kind == WF_GOAL_CALC;

    *out = (struct wf_step){
        .kind = kinds[op->kind],
        .cpu = op->cpu,
        .nic = op->nic,
        .is_last = true,
        .task = (uint32_t)number,
        .peer = op->peer,
        .tag = op->tag,
        .bytes = is_calc ? 0 : op->amount,
        .duration = is_calc ? (int64_t)op->amount : 0,
        .n_before = link->n_before,
        .n_after_start = link->n_after_start,
        .n_after_end = link->n_after_end,
    };
}

static uint64_t steps_after(const struct wf_steps *steps, uint32_t host, uint64_t number,
                            bool of_start, uint32_t i)
{
    const struct wf_goal *goal = goal_of(steps->graph);
    const struct wf_goal_rank *rank = &goal->ranks[host];
    const struct wf_goal_edge *edge = wf_goal_edge_at(rank, &rank->links[number], of_start, i);

    return goal->after_in_file != NULL
               ? goal->after_in_file[rank->first_edge + (uint64_t)(edge - rank->edges)]
               : edge->after;
}

static const struct wf_steps_ops steps_ops = {
    .n_tasks = steps_n_tasks,
    .root = steps_root,
    .step = steps_step,
    .after = steps_after,
};

/* ---- the graph ---- */

/* What the workers that make tasks share, and what each counts. */
struct making {
    struct wf_goal *goal;
    struct counts {
        uint64_t n_sends, n_starts;
        uint32_t n_cpus, n_nics;
    } counts[WF_TRACE_WORKERS_MAX];
};

static void number_tasks(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    struct making *making = arg;
    struct wf_goal_rank *rank = &making->goal->ranks[number];
    struct counts counts = making->counts[worker];
    uint32_t next = 0;

    (void)err;
    for (uint64_t i = 0; i < rank->n; i++) {
        const struct wf_goal_op *op = &rank->ops[i];
        struct wf_goal_link *link = &rank->links[i];
        rank->n_starts += has_start(link) ? 1 : 0;
        next += has_start(link) ? 1 : 0;
        link->task = next++;
        counts.n_sends += op->kind == WF_GOAL_SEND ? 1 : 0;
        counts.n_cpus = op->cpu >= counts.n_cpus ? op->cpu + 1U : counts.n_cpus;
        counts.n_nics = op->nic >= counts.n_nics ? op->nic + 1U : counts.n_nics;
    }
    counts.n_starts += rank->n_starts;
    making->counts[worker] = counts;
}

/* Adds the tasks that wait for the start or the end of an op. */
static uint32_t *list_after(const struct wf_goal_rank *rank, const struct wf_goal_link *link,
                            bool of_start, uint32_t *next)
{
    uint32_t n = of_start ? link->n_after_start : link->n_after_end;

    for (uint32_t i = 0; i < n; i++) {
        const struct wf_goal_link *after =
            &rank->links[wf_goal_edge_at(rank, link, of_start, i)->after];
        *next++ = after->task - (has_start(after) ? 1 : 0);
    }
    return next;
}

/* A start comes before its own op and before the ops that wait for it. */
static void list_tasks(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    const struct wf_goal *goal = ((const struct making *)arg)->goal;
    const struct wf_goal_rank *rank = &goal->ranks[number];
    struct wf_goal_task *task = goal->pes[number].tasks;
    uint32_t *first = goal->pes[number].next, *next = first;

    (void)worker;
    (void)err;
    for (uint64_t i = 0; i < rank->n; i++) {
        const struct wf_goal_op *op = &rank->ops[i];
        const struct wf_goal_link *link = &rank->links[i];
        uint32_t n_before = link->n_before;

        if (has_start(link)) {
            *task++ = (struct wf_goal_task){.tasks = n_before & (WF_GOAL_EDGES_MAX - 1),
                                            .next = (uint32_t)(next - first)};
            *next++ = link->task;
            next = list_after(rank, link, true, next);
            n_before = 1;
        }
        *task++ = (struct wf_goal_task){.tasks = n_before & (WF_GOAL_EDGES_MAX - 1),
                                        .messages = op->kind == WF_GOAL_RECV,
                                        .has_op = op->kind != WF_GOAL_RECV,
                                        .next = (uint32_t)(next - first)};
        next = list_after(rank, link, false, next);
    }
    task->next = (uint32_t)(next - first);
}

/* Gives each rank its place among the tasks and those that wait. */
static void place_tasks(struct wf_goal *goal, uint64_t n_starts)
{
    struct wf_goal_task *tasks;
    uint32_t *next;

    goal->has_starts = n_starts > 0;
    goal->tasks = wf_xcalloc_huge(goal->n_ops + n_starts + goal->n_ranks, sizeof(*goal->tasks));
    goal->next = wf_xcalloc_huge(goal->n_edges + n_starts + 1, sizeof(*goal->next));
    goal->pes = wf_xcalloc_huge(goal->n_ranks, sizeof(*goal->pes));
    tasks = goal->tasks;
    next = goal->next;
    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        const struct wf_goal_rank *rank = &goal->ranks[r];
        struct wf_goal_pe *pe = &goal->pes[r];
        *pe = (struct wf_goal_pe){.tasks = tasks,
                                  .next = next,
                                  .ops = rank->ops,
                                  .n_tasks = (uint32_t)rank->n + rank->n_starts,
                                  .n_next = (uint32_t)rank->n_edges + rank->n_starts};
        tasks += pe->n_tasks + 1;
        next += pe->n_next;
    }
}

struct wf_graph *wf_goal_graph(struct wf_goal *goal)
{
    struct making making = {.goal = goal};
    struct counts all = {.n_cpus = 1, .n_nics = 1};
    uint32_t n_workers = wf_trace_workers(goal->n_ranks);
    struct wf_err err = {.status = WF_OK};

    wf_trace_visit_all(goal->n_ranks, n_workers, number_tasks, &making, &err);
    for (uint32_t i = 0; i < n_workers; i++) {
        const struct counts *one = &making.counts[i];
        all.n_sends += one->n_sends;
        all.n_starts += one->n_starts;
        all.n_cpus = one->n_cpus > all.n_cpus ? one->n_cpus : all.n_cpus;
        all.n_nics = one->n_nics > all.n_nics ? one->n_nics : all.n_nics;
    }
    place_tasks(goal, all.n_starts);
    wf_trace_visit_all(goal->n_ranks, n_workers, list_tasks, &making, &err);
    goal->graph = (struct wf_graph){
        .ops = &goal_ops,
        .n_pes = goal->n_ranks,
        .tasks_expected = goal->n_ops + all.n_starts,
        .messages_expected = all.n_sends,
        .steps = &steps_ops,
        .n_streams = all.n_cpus,
        .n_nics = all.n_nics,
    };
    return &goal->graph;
}

void wf_goal_free(struct wf_goal *goal)
{
    if (goal != NULL) {
        free(goal->ranks);
        for (uint32_t i = 0; i < WF_TRACE_WORKERS_MAX; i++) {
            free(goal->blocks[i].ops);
            free(goal->blocks[i].edges);
        }
        free(goal->links);
        free(goal->pes);
        free(goal->tasks);
        free(goal->next);
        free(goal->after_in_file);
        free(goal);
    }
}
