/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global virtual time. All workers stop and deliver messages until none are in flight; then
 * the least pending key is GVT. Rounds are far enough apart to cost little, and close enough
 * that the events to be committed are still in cache.
 */
#include "base/clock.h"
#include "base/rng.h"
#include "engine/tuning.h"
#include "engine/warp/optimistic.h"

static struct wf_warp *warp_of(const struct wf_engine *engine, uint32_t thread)
{
    return engine->workers[thread].scheduler;
}

/* Whether no messages are in flight. Thread 0 calls it while the others wait. */
static bool is_quiet(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;
    bool incoming = false;

    if (engine->n_processes > 1) {
        wf_warp_ship(warp);
    }
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        incoming |= wf_warp_has_incoming(warp_of(engine, t));
    }
    if (engine->n_processes > 1) {
        return wf_comm_in_flight(engine->comm, incoming ? 1 : 0) == 0;
    }
    return !incoming;
}

static const struct wf_key end_of_time = {
    .time = INT64_MAX, .delta = UINT32_MAX, .src = UINT32_MAX, .seq = INT64_MAX};

static struct wf_key least_queued(struct wf_warp *warp)
{
    for (;;) {
        const struct wf_event *first = wf_pending_peek(&warp->pending);
        if (first == NULL) {
            return end_of_time;
        }
        if (!wf_antis_take(&warp->antis, first)) {
            return first->key;
        }
        wf_pending_pop(&warp->pending, warp->worker->current);
    }
}

/* A key that is not after any pending event: events of windows have no order. */
static struct wf_key least_pending(struct wf_warp *warp)
{
    struct wf_key queued = least_queued(warp);
    int64_t time = wf_frontier_time(warp);

    return time == INT64_MAX || time > queued.time ? queued : (struct wf_key){.time = time};
}

/* The least key of all processes, member by member: the least value of a member among the keys
 * whose earlier members are least. */
static struct wf_key global_least(struct wf_comm *comm, struct wf_key least)
{
    int64_t parts[] = {least.time, least.delta, least.src, (int64_t)least.seq};
    bool first = true;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int64_t own = parts[i];
        parts[i] = first ? own : INT64_MAX;
        wf_comm_reduce(comm, WF_COMM_MIN, &parts[i], 1);
        first = first && parts[i] == own;
    }
    return (struct wf_key){.time = parts[0],
                           .delta = (uint32_t)parts[1],
                           .src = (uint32_t)parts[2],
                           .seq = (uint64_t)parts[3]};
}

/* Finds GVT. Thread 0 calls it while the others wait. */
static void combine(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;
    struct wf_key least = end_of_time;
    int64_t stop = wf_engine_should_stop(engine) ? 1 : 0;

    for (uint32_t t = 0; t < engine->n_threads; t++) {
        const struct wf_warp *other = warp_of(engine, t);
        least = wf_key_before(&other->least, &least) ? other->least : least;
    }
    if (engine->n_processes > 1) {
        least = global_least(engine->comm, least);
        wf_comm_reduce(engine->comm, WF_COMM_MAX, &stop, 1);
    }
    warp->shared->gvt = least;
    warp->shared->stop = stop != 0;
    wf_warp_adapt_leash(warp);
    wf_warp_adapt_interval(warp);
    atomic_store_explicit(&warp->shared->gvt_wanted, false, memory_order_relaxed);
    atomic_store_explicit(&warp->shared->n_safe_done, 0, memory_order_relaxed);
}

/* Delivers all messages, and those that follow from them; then thread 0 finds GVT. */
static void deliver_all(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;

    do {
        do {
            (void)wf_warp_publish(warp);
        } while (wf_warp_receive(warp, true));
        warp->least = least_pending(warp);
        wf_barrier_wait(&engine->barrier);
        if (warp->worker->thread == 0) {
            warp->shared->quiet = is_quiet(warp);
            if (warp->shared->quiet) {
                combine(warp);
            }
        }
        wf_barrier_wait(&engine->barrier);
    } while (!warp->shared->quiet);
}

static void commit(struct wf_warp *warp, struct wf_record *record)
{
    wf_undo_commit(warp->worker, wf_record_event(record), &record->frame,
                   wf_record_noted(record), wf_record_trail(record), wf_record_undo(record));
}

void wf_warp_collect(struct wf_warp *warp)
{
    struct wf_history *history = &warp->history;

    while (history->begin < history->end) {
        struct wf_record *record = wf_history_at(history, history->begin);
        if (record->fate == WF_LIVE) {
            if (!wf_key_before(&wf_record_event(record)->key, &warp->bound)) {
                return;
            }
            commit(warp, record);
        }
        wf_history_drop_first(history);
    }
}

void wf_warp_commit_all(struct wf_warp *warp)
{
    struct wf_history *history = &warp->history;

    for (uint64_t place = history->begin; place < history->end;) {
        struct wf_record *record = wf_history_at(history, place);
        if (record->fate == WF_LIVE &&
            wf_key_before(&wf_record_event(record)->key, &warp->bound)) {
            commit(warp, record);
            record->fate = WF_COMMITTED;
        }
        place += record->size;
    }
}

static int64_t after_gvt(const struct wf_warp *warp, int64_t delay)
{
    return warp->gvt.time > INT64_MAX - delay ? INT64_MAX : warp->gvt.time + delay;
}

/* A perturbed run undoes events that are safe, too, in some of its rounds. */
static bool uses_bound(struct wf_warp *warp)
{
    const struct wf_engine_config *config = &warp->worker->engine->config;

    return !warp->shared->stop && (!warp->loopback || warp->calm ||
                                   wf_rng_draw(config->perturb_seed, warp->worker->number,
                                               warp->worker->count.rounds) %
                                           2 ==
                                       0);
}

static void set_horizon(struct wf_warp *warp)
{
    warp->horizon = after_gvt(warp, warp->shared->leash);
    warp->safe = after_gvt(warp, warp->worker->ctx.lookahead);
    warp->bound = warp->gvt;
    if (uses_bound(warp)) {
        int64_t time = wf_warp_is_alone(warp) ? INT64_MAX : warp->safe;
        if (time > warp->gvt.time) {
            warp->bound = (struct wf_key){.time = time};
        }
    }
}

/* Bytes of the history that belong to events that may still be undone. */
static uint64_t live_bytes(const struct wf_history *history)
{
    uint64_t live = 0;

    for (uint64_t place = history->begin; place < history->end;) {
        const struct wf_record *record = wf_history_at(history, place);
        live += record->fate == WF_LIVE ? record->size : 0;
        place += record->size;
    }
    return live;
}

/* Committed records stay in the log behind an event that lies far ahead. If they are most of it,
 * such events are undone, first in the log first, until most of the log is needed. */
static void unblock(struct wf_warp *warp)
{
    struct wf_history *history = &warp->history;

    wf_warp_commit_all(warp);
    uint64_t dead = wf_history_bytes(history) - live_bytes(history);
    while (dead > wf_history_bytes(history) / 2 && history->begin < history->end) {
        uint64_t begin = history->begin;
        if (wf_history_at(history, begin)->fate == WF_LIVE) {
            wf_warp_undo_first(warp);
        }
        wf_warp_collect(warp);
        uint64_t dropped = history->begin - begin;
        dead -= dropped < dead ? dropped : dead;
    }
}

/* Looks for such events when the log has become twice as long. */
static void keep_short(struct wf_warp *warp)
{
    if (wf_history_bytes(&warp->history) > warp->tolerated) {
        unblock(warp);
        uint64_t bytes = 2 * wf_history_bytes(&warp->history);
        warp->tolerated = bytes > WF_TUNE_HISTORY_FIRST ? bytes : WF_TUNE_HISTORY_FIRST;
    }
}

/* A history over its budget is rolled back by half if GVT waits for this worker; otherwise the
 * worker waits until GVT has moved. */
static void limit_memory(struct wf_warp *warp)
{
    uint64_t budget = warp->worker->engine->config.memory;
    uint64_t bytes = wf_history_bytes(&warp->history);

    warp->full = bytes > budget;
    if (!warp->full) {
        return;
    }
    warp->worker->count.throttles++;
    if (!wf_key_before(&warp->gvt, &warp->least)) {
        unblock(warp);
        bytes = wf_history_bytes(&warp->history);
        if (bytes > budget) {
            wf_warp_retreat(warp, bytes - budget / 2);
        }
        warp->full = false;
    }
}

/* Ends an interrupted run. Some workers may have executed everything before `safe` for good: the
 * others do that, too. What lies after it is undone. */
static void abandon(struct wf_warp *warp, int64_t safe)
{
    const struct wf_engine *engine = warp->worker->engine;

    if (!wf_warp_is_alone(warp) && !wf_engine_must_stop(engine) && safe > warp->gvt.time) {
        warp->bound = (struct wf_key){.time = safe};
    }
    wf_warp_retreat(warp, UINT64_MAX);
    wf_frontier_finish(warp);
    if (warp->worker->thread == 0) {
        warp->worker->engine->interrupted = true;
    }
}

bool wf_warp_gvt(struct wf_warp *warp)
{
    struct wf_worker *worker = warp->worker;
    int64_t safe = warp->safe;
    double start = wf_clock_wall();

    deliver_all(warp);
    worker->count.rounds++;
    warp->calm = worker->count.rounds % 2 == 0;
    warp->gvt = warp->shared->gvt;
    set_horizon(warp);
    bool stop = warp->shared->stop;
    worker->count.gvt_seconds += wf_clock_wall() - start;

    wf_warp_collect(warp);
    if (warp->gvt.time == INT64_MAX) {
        return true;
    }
    wf_worker_progress(worker, warp->gvt.time);
    if (stop) {
        abandon(warp, safe);
        return true;
    }
    keep_short(warp);
    limit_memory(warp);
    warp->end_at_round = warp->history.end;
    return false;
}
