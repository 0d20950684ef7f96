/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/pe_rules.h"

#include "base/arith.h"
#include "base/int128.h"
#include "model/ranks/cpu/cpu.h"

/* Tasks without needs that are started in one event; limits what one handler schedules. */
enum { ROOTS_PER_EVENT = 256 };

/* A task that has received a part of what it needs is a number in a map: whether all its messages
 * have arrived, and how many tasks are missing. No more than TASKS_MAX can be counted; a task that
 * needs so many never runs. A cell for each such task would take three times as long: most of them
 * wait for one message or for a few tasks. */
enum { ARRIVED = 1, A_TASK = 2, TASKS_MAX = (1 << 29) - 1 };
#define IS_WAITING (UINT32_C(1) << 31) /* 0 means in the map that there is no such task */

/* The messages of a task that needs several. */
struct several {
    int64_t latest;   /* when the last of the known messages arrives */
    uint32_t missing; /* messages not known yet */
};

_Static_assert(sizeof(struct several) <= WF_PE_CELL_SIZE, "cells are too small");

static struct wf_task_needs needs_of(const struct wf_pe_caller *who, uint32_t task)
{
    return who->graph->ops->needs(who->graph, who->number, task);
}

/* ---- starting tasks ---- */

static uint32_t node_of(const struct wf_pe_caller *who)
{
    return wf_self(who->ctx) - who->pes->net->first_node;
}

/* Whether the task runs on a processor, and not on another device. */
static bool is_on_cpu(const struct wf_pe_caller *who, const struct wf_task *task)
{
    return wf_graph_stream(who->graph, task->stream) == WF_STREAM_CPU;
}

static int64_t simulated_ps(const struct wf_pe_caller *who, const struct wf_task *task)
{
    const struct wf_pes *pes = who->pes;
    const struct wf_cores *cores = &pes->local.cores;

    if (!is_on_cpu(who, task)) {
        return task->duration;
    }
    int64_t duration =
        pes->cpu != NULL ? wf_cpu_time(pes->cpu->scale, task->duration) : task->duration;
    if (pes->contention.on) {
        uint32_t n_cores = wf_cores_used(cores, wf_cores_domain(cores, who->slot),
                                         wf_place_n_slots(pes->place, node_of(who)));
        duration = wf_cpu_contention_time(&pes->contention, pes->contention.memory_bound,
                                          n_cores, duration);
    }
    return duration;
}

/* The duration of a task on the simulated processor. Tasks have no regions, so no rules apply.
 * Most tasks of a schedule only send or receive. */
static inline int64_t duration_of(const struct wf_pe_caller *who, const struct wf_task *task)
{
    return task->duration == 0 || who->pes->timeless ? 0 : simulated_ps(who, task);
}

static int64_t interruptions_in(const struct wf_pe_caller *who, const struct wf_task *task,
                                int64_t from, int64_t duration)
{
    const struct wf_pes *pes = who->pes;

    if (duration <= 0 || !is_on_cpu(who, task)) {
        return 0;
    }
    const struct wf_noise_core core = {node_of(who),
                                       wf_cores_core(&pes->local.cores, who->slot)};
    return wf_noise_end(&pes->noise, core, from, duration) - wf_time_add(from, duration);
}

/* How long interruptions delay a part of a task that begins at the time `from`. */
static inline int64_t noise_in(const struct wf_pe_caller *who, const struct wf_task *task,
                               int64_t from, int64_t duration)
{
    return who->pes->noise.kind == WF_NODE_NOISE_NONE
               ? 0
               : interruptions_in(who, task, from, duration);
}

/* When a message is sent in a task whose duration is not the recorded one. */
static int64_t offset_in(const struct wf_task *task, int64_t duration, int64_t offset)
{
    if (duration == task->duration) {
        return offset;
    }
    wf_u128 product = (wf_u128)(uint64_t)duration * (uint64_t)offset;
    return task->duration == 0 ? 0 : (int64_t)(product / (uint64_t)task->duration);
}

static int64_t times(int64_t each, uint32_t n)
{
    return n != 0 && each > WF_TIME_MAX / n ? WF_TIME_MAX : each * n;
}

/* Records the activity of the PE from one time until another. With several streams, the
 * recording shows the one that was busy first. */
static void record_span(const struct wf_pe_caller *who, enum wf_spent what, int64_t from,
                        int64_t until)
{
    if (who->streams != NULL) {
        from = wf_max_i64(from, who->pe->free_at);
    }
    if (until > from) {
        wf_recorder_span(
            &who->pes->recorder, who->ctx,
            &(struct wf_span){from, until, who->first + who->number, (uint32_t)what});
    }
}

/* Likewise, if there is a recording. A task calls this five times. */
static inline void spend_time(const struct wf_pe_caller *who, enum wf_spent what, int64_t from,
                              int64_t until)
{
    if (wf_recorder_is_on(&who->pes->recorder)) {
        record_span(who, what, from, until);
    }
}

/* A message for the task has arrived: adds the time that its bytes will cost the CPU. */
static void add_copy(const struct wf_pe_caller *who, uint32_t task, uint64_t bytes)
{
    uint64_t rate = who->pes->costs.copy_recv;

    if (rate == WF_PARAM_WORD) {
        return;
    }
    uint32_t cell = wf_cellmap_get(who->ctx, &who->pe->copies, task);
    if (cell == 0) {
        cell = wf_cell_new(who->ctx);
        wf_cellmap_put(who->ctx, &who->pe->copies, task, cell);
    }
    int64_t *sum = wf_cell_edit(who->ctx, cell);
    *sum = wf_time_add(*sum, wf_transfer_ps(bytes, rate));
}

/* The CPU time to receive all messages that a task needed; signals cost nothing. */
static int64_t receive_ps(const struct wf_pe_caller *who, uint32_t task, uint32_t n_signals)
{
    const struct wf_node_costs *costs = &who->pes->costs;
    int64_t ps =
        costs->o_recv > 0 ? times(costs->o_recv, needs_of(who, task).messages - n_signals) : 0;
    uint32_t cell = costs->copy_recv != WF_PARAM_WORD
                        ? wf_cellmap_take(who->ctx, &who->pe->copies, task)
                        : 0;

    if (cell != 0) {
        ps = wf_time_add(ps, *(const int64_t *)wf_cell_read(who->ctx, cell));
        wf_cell_free(who->ctx, cell);
    }
    return ps;
}

/* Whether the task needs a core that PEs share. */
static bool takes_turns(const struct wf_pe_caller *who, const struct wf_task *task)
{
    return who->pes->timeshare != NULL && is_on_cpu(who, task);
}

/* When a task that becomes ready at the time `ready` begins: after all tasks of its stream that
 * were started before, and of its core if PEs share it. */
static int64_t begin_task(const struct wf_pe_caller *who, const struct wf_task *task,
                          int64_t ready)
{
    struct wf_pe *pe = who->pe;
    int64_t free_at = who->streams != NULL ? who->streams[task->stream].free_at : pe->free_at;
    int64_t wanted = wf_max_i64(free_at, ready);
    int64_t begin = takes_turns(who, task) ? wf_timeshare_acquire(who->pes->timeshare, who->ctx,
                                                                  who->node, who->slot, wanted)
                                           : wanted;

    pe->idle_ps = wf_time_add(pe->idle_ps, wf_max_i64(wanted - pe->free_at, 0));
    pe->core_wait_ps = wf_time_add(pe->core_wait_ps, begin - wanted);
    spend_time(who, (enum wf_spent)WF_SPENT_WAITING + WF_IN_RECV, pe->free_at, wanted);
    spend_time(who, (enum wf_spent)WF_SPENT_WAITING + WF_IN_CORE, wanted, begin);
    return begin;
}

/* The task has run from one time until another. */
static void end_task(const struct wf_pe_caller *who, const struct wf_task *task, int64_t begin,
                     int64_t end)
{
    struct wf_pe *pe = who->pe;

    if (takes_turns(who, task)) {
        wf_timeshare_release(who->pes->timeshare, who->node, who->slot, end);
    }
    if (who->streams != NULL) {
        struct wf_pe_stream *stream = &who->streams[task->stream];

        pe->free_at = wf_max_i64(pe->free_at, end);
        stream->free_at = end;
        stream->busy_ps = wf_time_add(stream->busy_ps, end - begin);
        if (task->n_next > 0) {
            wf_pe_open_push(who->ctx, &stream->open, wf_pe_end_key(end, begin == end),
                            task->number);
            if (end > wf_now(who->ctx)) {
                wf_pe_schedule(who, WF_PE_WAKE, WF_PE_AT_END, end);
            }
        }
        return;
    }
    pe->free_at = end;
    if (task->n_next > 0) {
        wf_pe_open_push(who->ctx, &pe->open, wf_pe_end_key(end, false), task->number);
    }
    /* What ends at once is settled in this event; PEs that share a core take turns by events. */
    if (who->pes->granularity == WF_PE_SINGLE &&
        (end > wf_now(who->ctx) || who->pes->timeshare != NULL)) {
        wf_pe_schedule(who, WF_PE_WAKE, WF_PE_AT_END, end);
    }
}

/* Runs a task that became ready at the time `ready`, after all tasks of its stream that were
 * started before. */
static void run_task(const struct wf_pe_caller *who, uint32_t number, int64_t ready)
{
    const struct wf_node_costs *costs = &who->pes->costs;
    struct wf_pe *pe = who->pe;
    struct wf_task task;

    /* A graph that satisfies a task's needs more than once could run for ever. */
    if (pe->started >= who->graph->ops->n_tasks(who->graph, who->number)) {
        pe->surplus++;
        return;
    }
    who->graph->ops->task(who->graph, who->number, number, &task);
    int64_t overhead = receive_ps(who, number, task.n_signals);
    int64_t begin = begin_task(who, &task, ready), begun = begin;
    int64_t duration = duration_of(who, &task);
    int64_t computed = 0;    /* part of the duration so far */
    int64_t interrupted = 0; /* time of interruptions so far, by which `begin` has moved */
    spend_time(who, WF_SPENT_ON_MESSAGES, begin, wf_time_add(begin, overhead));
    for (uint32_t i = 0; i < task.n_sends; i++) {
        struct wf_task_send send;

        who->graph->ops->send(who->graph, &task, i, &send);
        int64_t offset = offset_in(&task, duration, send.offset);
        int64_t before = wf_time_add(begin, overhead);
        int64_t noise = noise_in(who, &task, wf_time_add(before, computed), offset - computed);
        spend_time(who, WF_SPENT_COMPUTING, wf_time_add(before, computed),
                   wf_time_add(before, wf_time_add(offset, noise)));
        interrupted = wf_time_add(interrupted, noise);
        begin = wf_time_add(begin, noise);
        before = wf_time_add(before, noise);
        computed = wf_max_i64(computed, offset);
        before = wf_time_add(before, computed);
        int64_t cost = send.delay > 0 ? 0 : wf_node_send_ps(costs, send.bytes, true);
        overhead = wf_time_add(overhead, cost);
        spend_time(who, WF_SPENT_ON_MESSAGES, before, wf_time_add(before, cost));
        wf_pe_send(who, &send, wf_time_add(begin, wf_time_add(offset, overhead)));
    }
    int64_t after = wf_time_add(begin, wf_time_add(computed, overhead));
    int64_t noise = noise_in(who, &task, after, duration - computed);
    interrupted = wf_time_add(interrupted, noise);
    begin = wf_time_add(begin, noise);
    spend_time(who, WF_SPENT_COMPUTING, after,
               wf_time_add(begin, wf_time_add(duration, overhead)));
    pe->started++;
    pe->compute_ps = wf_time_add(pe->compute_ps, wf_time_add(duration, interrupted));
    pe->overhead_ps = wf_time_add(pe->overhead_ps, overhead);
    end_task(who, &task, begun, wf_time_add(begin, wf_time_add(duration, overhead)));
}

static void start_roots(const struct wf_pe_caller *who, uint32_t most)
{
    struct wf_pe *pe = who->pe;

    for (uint32_t i = 0; i < most && pe->next_root != WF_NO_TASK; i++) {
        uint32_t root = pe->next_root;
        pe->next_root = who->graph->ops->root(who->graph, who->number, root + 1);
        run_task(who, root, 0);
    }
}

/* Runs a task that needed something, after all tasks that needed nothing. */
static void run_after_roots(const struct wf_pe_caller *who, uint32_t task, int64_t ready)
{
    start_roots(who, UINT32_MAX);
    run_task(who, task, ready);
}

void wf_pe_kickoff(const struct wf_pe_caller *who)
{
    struct wf_pe *pe = who->pe;

    if (pe->started == 0) {
        pe->free_at = wf_now(who->ctx);
        for (uint32_t i = 0; who->streams != NULL && i < who->pes->n_streams; i++) {
            who->streams[i].free_at = pe->free_at;
        }
        pe->next_root = who->graph->ops->root(who->graph, who->number, 0);
    }
    start_roots(who, ROOTS_PER_EVENT);
    if (pe->next_root != WF_NO_TASK) {
        /* One stream is busy until free_at, but another one may be free now. */
        wf_pe_schedule(who, WF_PE_KICKOFF, 0,
                       who->streams != NULL ? wf_now(who->ctx) : pe->free_at);
    }
}

/* ---- what tasks wait for ---- */

static uint32_t missing_tasks(uint32_t waiting)
{
    return (waiting & ~IS_WAITING) / A_TASK;
}

static void new_waiting(const struct wf_pe_caller *who, uint32_t task, uint32_t tasks,
                        bool arrived)
{
    uint32_t counted = tasks < TASKS_MAX ? tasks : TASKS_MAX;

    wf_cellmap_put(who->ctx, &who->pe->waiting, task,
                   IS_WAITING | counted * A_TASK | (arrived ? ARRIVED : 0));
}

static void end_waiting(const struct wf_pe_caller *who, uint32_t task)
{
    (void)wf_cellmap_take(who->ctx, &who->pe->waiting, task);
    if (who->pe->several.root != 0) {
        uint32_t cell = wf_cellmap_take(who->ctx, &who->pe->several, task);
        if (cell != 0) {
            wf_cell_free(who->ctx, cell);
        }
    }
}

/* A task that this one waits for has ended at the time `at`. */
static void on_end(const struct wf_pe_caller *who, uint32_t task, int64_t at)
{
    uint32_t waiting = wf_cellmap_get(who->ctx, &who->pe->waiting, task);

    if (waiting == 0) {
        struct wf_task_needs needs = needs_of(who, task);
        if (needs.tasks <= 1 && needs.messages == 0) {
            run_after_roots(who, task, at);
        } else {
            new_waiting(who, task, needs.tasks - (needs.tasks > 0), needs.messages == 0);
        }
        return;
    }

    uint32_t left = missing_tasks(waiting);
    if (left <= 1 && (waiting & ARRIVED) != 0) {
        end_waiting(who, task);
        run_after_roots(who, task, at);
    } else if (left > 0) {
        *wf_cellmap_edit(who->ctx, &who->pe->waiting, task) -= A_TASK;
    }
}

/* Tells the tasks that wait for a task that has ended. */
static void tell_next(const struct wf_pe_caller *who, uint32_t number, int64_t finish)
{
    const struct wf_graph_ops *ops = who->graph->ops;
    struct wf_task task;

    (ops->over != NULL ? ops->over : ops->task)(who->graph, who->number, number, &task);
    for (uint32_t i = 0; i < task.n_next; i++) {
        on_end(who, who->graph->ops->next(who->graph, &task, i), finish);
    }
}

/* Tells waiting tasks about all tasks that ended until the time `until`, in order. */
static void tell_ended(const struct wf_pe_caller *who, int64_t until)
{
    struct wf_pe_open_list *open = &who->pe->open;
    struct wf_pe_stream *stream;

    if (who->streams != NULL) {
        while ((stream = wf_pe_stream_first(who->ctx, who->streams, who->pes->n_streams,
                                            until)) != NULL) {
            int64_t finish = (int64_t)(stream->open.end >> 1);
            tell_next(who, wf_pe_open_pop(who->ctx, &stream->open), finish);
        }
        return;
    }
    while (wf_pe_open_has(open, until)) {
        int64_t finish = (int64_t)(open->end >> 1);
        tell_next(who, wf_pe_open_pop(who->ctx, open), finish);
    }
}

/* Runs the fresh tasks, since no more can become ready at their time. */
static void run_fresh(const struct wf_pe_caller *who)
{
    struct wf_pe *pe = who->pe;

    tell_ended(who, pe->fresh_at);
    if (pe->n_fresh == 1) {
        pe->n_fresh = 0;
        run_after_roots(who, pe->fresh_task, pe->fresh_at);
        return;
    }
    for (uint32_t task = 0; wf_cellmap_next(who->ctx, &pe->fresh, &task) != 0; task++) {
        (void)wf_cellmap_take(who->ctx, &pe->fresh, task);
        run_after_roots(who, task, pe->fresh_at);
    }
    pe->n_fresh = 0;
}

void wf_pe_begin(const struct wf_pe_caller *who)
{
    int64_t now = wf_now(who->ctx);

    wf_touch(who->ctx, who->pe, sizeof(*who->pe));
    if (who->streams != NULL) {
        wf_touch(who->ctx, who->streams, who->pes->n_streams * sizeof(*who->streams));
    }
    if (who->pe->n_fresh > 0 && who->pe->fresh_at < now) {
        run_fresh(who);
    }
    tell_ended(who, now);
}

/* Whether fresh tasks may wait until the PE is free. */
static bool may_wait(const struct wf_pe_caller *who)
{
    return who->streams == NULL && who->pes->timeshare == NULL;
}

/* The least time that the only fresh task takes if it sends nothing: nobody else learns before its
 * end that it ran. */
static int64_t quiet_ps(const struct wf_pe_caller *who)
{
    const struct wf_pe *pe = who->pe;
    struct wf_task task;

    if (pe->n_fresh != 1 || pe->next_root != WF_NO_TASK || !may_wait(who)) {
        return 0;
    }
    who->graph->ops->task(who->graph, who->number, pe->fresh_task, &task);
    return task.n_sends > 0
               ? 0
               : wf_time_add(duration_of(who, &task),
                             times(who->pes->costs.o_recv,
                                   needs_of(who, pe->fresh_task).messages - task.n_signals));
}

/* A fresh task waits until the PE is free, and if it sends nothing until it would end at the
 * earliest. If the PE is free, it waits for the other events of this time. With an event at the
 * end of each task, there is an event when the PE becomes free. */
void wf_pe_end(const struct wf_pe_caller *who)
{
    struct wf_pe *pe = who->pe;
    int64_t now = wf_now(who->ctx);
    bool multi = who->pes->granularity == WF_PE_MULTI;

    if (who->pes->timeshare == NULL || who->streams != NULL) {
        tell_ended(who, now); /* tasks without duration have no event at their end */
    }
    bool at_once = pe->free_at <= now || !may_wait(who);
    bool needed = multi ? pe->n_fresh > 0 || pe->open.first != 0 : pe->n_fresh > 0 && at_once;

    /* Another fresh task of the same time may go first, and send. */
    bool too_late = pe->waking == WF_PE_WAKES_LATE && pe->n_fresh > 1;

    if (needed && (pe->waking == WF_PE_SLEEPS || too_late)) {
        int64_t wait = quiet_ps(who), at = wf_time_add(at_once ? now : pe->free_at, wait);
        pe->waking = wait > 0 ? WF_PE_WAKES_LATE : WF_PE_WAKES;
        wf_pe_schedule(who, WF_PE_WAKE, at == now ? WF_PE_AT_ONCE : WF_PE_WHEN_FREE, at);
    }
}

void wf_pe_wake(const struct wf_pe_caller *who, uint32_t why)
{
    struct wf_pe *pe = who->pe;

    if (why != WF_PE_AT_END) {
        pe->waking = WF_PE_SLEEPS;
    }
    if (why == WF_PE_AT_ONCE && pe->n_fresh > 0 &&
        (pe->free_at <= wf_now(who->ctx) || !may_wait(who))) {
        run_fresh(who);
    }
}

static void add_fresh(const struct wf_pe_caller *who, uint32_t task)
{
    struct wf_pe *pe = who->pe;

    if (pe->n_fresh == 0) {
        pe->fresh_task = task;
    } else if (pe->n_fresh == 1) {
        /* The same task twice is possible only in a run that will be rolled back. */
        if (pe->fresh_task == task) {
            return;
        }
        wf_cellmap_put(who->ctx, &pe->fresh, pe->fresh_task, 1);
        wf_cellmap_put(who->ctx, &pe->fresh, task, 1);
    } else if (wf_cellmap_get(who->ctx, &pe->fresh, task) == 0) {
        wf_cellmap_put(who->ctx, &pe->fresh, task, 1);
    } else {
        return;
    }
    pe->n_fresh++;
    pe->fresh_at = wf_now(who->ctx);
}

void wf_pe_arrived(const struct wf_pe_caller *who, uint32_t task)
{
    struct wf_task_needs needs = needs_of(who, task);

    if (needs.tasks == 0) {
        add_fresh(who, task);
        return;
    }

    uint32_t waiting = wf_cellmap_get(who->ctx, &who->pe->waiting, task);
    if (waiting == 0) {
        new_waiting(who, task, needs.tasks, true);
    } else if (missing_tasks(waiting) == 0) {
        end_waiting(who, task);
        add_fresh(who, task);
    } else {
        *wf_cellmap_edit(who->ctx, &who->pe->waiting, task) |= ARRIVED;
    }
}

/* Counts one of several messages. Returns when all have arrived, or WF_NET_LATER. */
static int64_t note_message(const struct wf_pe_caller *who, uint32_t task,
                            struct wf_task_needs needs, uint64_t bytes, int64_t at)
{
    uint32_t cell = wf_cellmap_get(who->ctx, &who->pe->several, task);

    if (cell == 0) {
        cell = wf_cell_new(who->ctx);
        ((struct several *)wf_cell_edit(who->ctx, cell))->missing = needs.messages;
        wf_cellmap_put(who->ctx, &who->pe->several, task, cell);
        if (wf_cellmap_get(who->ctx, &who->pe->waiting, task) == 0) {
            new_waiting(who, task, needs.tasks, false);
        }
    }
    struct several *several = wf_cell_edit(who->ctx, cell);
    if (several->missing == 0) {
        who->pe->unneeded++;
        return WF_NET_LATER;
    }
    add_copy(who, task, bytes);
    several->latest = wf_max_i64(several->latest, at);
    if (--several->missing > 0) {
        return WF_NET_LATER;
    }
    at = several->latest;
    if (needs.tasks == 0) {
        end_waiting(who, task);
    }
    return at;
}

void wf_pe_message(const struct wf_pe_caller *who, uint32_t task, uint64_t bytes, int64_t at)
{
    struct wf_task_needs needs = {0, 0};

    if (task != WF_NO_TASK) {
        needs = needs_of(who, task);
    }
    if (needs.messages == 0) {
        who->pe->unneeded++;
        return;
    }
    if (needs.messages > 1) {
        at = note_message(who, task, needs, bytes, at);
        if (at == WF_NET_LATER) {
            return;
        }
    } else {
        add_copy(who, task, bytes);
    }
    if (at > wf_now(who->ctx)) {
        wf_pe_schedule(who, WF_PE_ARRIVED, task, at);
    } else {
        wf_pe_arrived(who, task);
    }
}

/* ---- blocked PEs ---- */

/* A task that has received a part of what it needs; if possible one that waits only for
 * messages. */
static uint32_t find_waiting(const struct wf_pe_caller *who, uint32_t *out)
{
    uint32_t found = WF_NO_TASK, waiting;

    for (uint32_t task = 0;
         (waiting = wf_cellmap_next(who->ctx, &who->pe->waiting, &task)) != 0; task++) {
        if (found == WF_NO_TASK || missing_tasks(waiting) == 0) {
            found = task;
            *out = waiting;
        }
        if (missing_tasks(waiting) == 0) {
            break;
        }
    }
    return found;
}

/* The messages of a waiting task that are missing. */
static uint32_t missing_messages(const struct wf_pe_caller *who, uint32_t task,
                                 uint32_t waiting, uint32_t needed)
{
    uint32_t cell = wf_cellmap_get(who->ctx, &who->pe->several, task);

    if (cell != 0) {
        return ((const struct several *)wf_cell_read(who->ctx, cell))->missing;
    }
    return (waiting & ARRIVED) != 0 ? 0 : needed;
}

/* If no task has received anything: a task that waits only for messages. That is the first
 * one if nothing ran, else more likely the last. */
static uint32_t guess_waiting(const struct wf_pe_caller *who, uint32_t n_tasks)
{
    uint32_t found = WF_NO_TASK;

    for (uint32_t task = 0; task < n_tasks; task++) {
        struct wf_task_needs needs = needs_of(who, task);
        if (needs.tasks == 0 && needs.messages > 0) {
            found = task;
            if (who->pe->started == 0) {
                break;
            }
        }
    }
    return found;
}

bool wf_pe_find_blocked(const struct wf_pe_caller *who, struct wf_pe_blocked *out)
{
    uint32_t waiting = 0;
    uint32_t n_tasks = who->graph->ops->n_tasks(who->graph, who->number);
    uint32_t task = find_waiting(who, &waiting);
    bool guessed = task == WF_NO_TASK;

    if (guessed) {
        task = guess_waiting(who, n_tasks);
    }
    if (task == WF_NO_TASK) {
        return false;
    }
    struct wf_task_needs needs = needs_of(who, task);
    *out = (struct wf_pe_blocked){
        .pe = who->first + who->number,
        .task = task,
        .tasks = needs.tasks,
        .messages = needs.messages,
        .missing_tasks = guessed ? needs.tasks : missing_tasks(waiting),
        .missing_messages =
            guessed ? needs.messages : missing_messages(who, task, waiting, needs.messages),
        .started = who->pe->started,
        .n_tasks = n_tasks,
    };
    return true;
}
