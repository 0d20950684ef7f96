/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global virtual time, by stopping: all workers deliver what is under way until nothing is,
 * then the least pending time is GVT. Rounds are so far apart that what they cost does not
 * show, and so near that what is committed is still in cache.
 */
#include "base/clock.h"
#include "engine/optimistic.h"

static struct wf_warp *warp_of(const struct wf_engine *engine, uint32_t thread)
{
    return engine->workers[thread].scheduler;
}

/* By thread 0, while the others wait: is nothing under way any more? */
static bool find_quiet(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;
    bool mail = false;

    if (engine->n_processes > 1) {
        wf_warp_ship(warp);
    }
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        mail |= wf_warp_has_mail(warp_of(engine, t));
    }
    if (engine->n_processes > 1) {
        return wf_comm_in_flight(engine->comm, mail ? 1 : 0) == 0;
    }
    return !mail;
}

/* Until every message has been delivered and has caused what it causes. */
static void settle(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;

    do {
        do {
            (void)wf_warp_publish(warp);
        } while (wf_warp_receive(warp, true));
        wf_barrier_wait(&engine->barrier);
        if (warp->worker->thread == 0) {
            warp->shared->quiet = find_quiet(warp);
        }
        wf_barrier_wait(&engine->barrier);
    } while (!warp->shared->quiet);
}

static int64_t least_pending(struct wf_warp *warp)
{
    for (;;) {
        const struct wf_event *first = wf_pending_peek(&warp->pending);
        if (first == NULL) {
            return INT64_MAX;
        }
        if (!wf_antis_take(&warp->antis, first)) {
            return first->key.time;
        }
        wf_pending_pop(&warp->pending, warp->worker->current);
    }
}

/* By thread 0, while the others wait. */
static void combine(struct wf_warp *warp)
{
    struct wf_engine *engine = warp->worker->engine;
    int64_t values[2] = {INT64_MAX, wf_engine_should_stop(engine) ? -1 : 0};

    for (uint32_t t = 0; t < engine->n_threads; t++) {
        int64_t least = warp_of(engine, t)->least;
        values[0] = least < values[0] ? least : values[0];
    }
    if (engine->n_processes > 1) {
        wf_comm_reduce(engine->comm, WF_COMM_MIN, values, 2);
    }
    wf_warp_adapt_leash(warp, values[0]);
    warp->shared->gvt = values[0];
    warp->shared->stop = values[1] < 0;
    atomic_store_explicit(&warp->shared->gvt_wanted, false, memory_order_relaxed);
}

static void commit(struct wf_warp *warp, struct wf_record *record)
{
    uint32_t stride = warp->history.stride;

    wf_spec_commit(warp->worker, wf_record_event(record), &record->frame,
                   wf_record_note(record, stride), wf_record_undo(record, stride));
}

/* Commits, in the order of execution, what nothing can take back any more, as far as that
 * empties the log from its beginning. */
static void collect_fossils(struct wf_warp *warp)
{
    struct wf_history *history = &warp->history;

    while (history->begin < history->end) {
        struct wf_record *record = wf_history_at(history, history->begin);
        if (record->fate == WF_LIVE) {
            if (wf_record_event(record)->key.time >= warp->gvt) {
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
        if (record->fate == WF_LIVE && wf_record_event(record)->key.time < warp->gvt) {
            commit(warp, record);
            record->fate = WF_COMMITTED;
        }
        place += record->size;
    }
}

static void set_horizon(struct wf_warp *warp)
{
    int64_t leash = warp->shared->leash;

    warp->horizon = warp->gvt > INT64_MAX - leash ? INT64_MAX : warp->gvt + leash;
}

bool wf_warp_gvt(struct wf_warp *warp)
{
    struct wf_worker *worker = warp->worker;
    struct wf_engine *engine = worker->engine;
    double start = wf_clock_wall();

    settle(warp);
    warp->least = least_pending(warp);
    wf_barrier_wait(&engine->barrier);
    if (worker->thread == 0) {
        combine(warp);
    }
    wf_barrier_wait(&engine->barrier);
    warp->gvt = warp->shared->gvt;
    set_horizon(warp);
    bool stop = warp->shared->stop;
    worker->count.gvt_seconds += wf_clock_wall() - start;

    collect_fossils(warp);
    worker->count.rounds++;
    wf_worker_progress(worker, warp->gvt == INT64_MAX ? worker->count.last_time : warp->gvt);
    if (stop && warp->gvt != INT64_MAX) {
        wf_warp_retreat(warp, UINT64_MAX);
        if (worker->thread == 0) {
            engine->interrupted = true;
        }
        return true;
    }
    if (wf_history_bytes(&warp->history) > engine->config.memory) {
        worker->count.throttles++;
        wf_warp_retreat(warp, wf_history_bytes(&warp->history) - engine->config.memory / 2);
    }
    return warp->gvt == INT64_MAX;
}
