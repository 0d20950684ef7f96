/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential scheduler: one thread. With a lookahead it executes events window by window,
 * which needs no global queue. If windows turn out to hold few events, or without a lookahead,
 * it executes events in strict key order from a queue.
 */
#include "engine/sched/sequential.h"
#include "base/mem.h"
#include "engine/core/forecast.h"
#include "engine/queue/pending.h"
#include "engine/sched/windows.h"
#include "engine/tuning.h"

#include <stdlib.h>

static void send_to_store(struct wf_worker *worker, const struct wf_event *ev)
{
    wf_store_add(worker->scheduler, ev);
}

static void prepare(struct wf_worker *worker)
{
    worker->scheduler = wf_xcalloc(1, sizeof(struct wf_store));
    wf_store_init(worker->scheduler, worker);
    worker->ctx.send = send_to_store;
}

static void release(struct wf_worker *worker)
{
    wf_store_fini(worker->scheduler);
    free(worker->scheduler);
}

enum end { OVER, ENOUGH, SPARSE }; /* SPARSE: a queue is faster for the rest */

static enum end run_windows(struct wf_worker *worker, struct wf_store *store, uint64_t enough)
{
    struct wf_wheel *wheel = &store->windows.wheel;

    for (;;) {
        uint64_t next = wf_wheel_next(wheel);
        if (next == WF_WHEEL_NEVER) {
            return OVER;
        }
        if (worker->count.committed >= enough) {
            return ENOUGH;
        }
        if (wf_engine_should_stop(worker->engine)) {
            worker->engine->interrupted = true;
            return OVER;
        }
        wf_wheel_advance(wheel, next);
        wf_windows_run(&store->windows, worker);
        if (store->windows.stopped) {
            worker->engine->interrupted = true;
            return OVER;
        }
        wf_worker_progress(worker, worker->count.last_time);
        if (wf_windows_are_sparse(worker->count.rounds, worker->count.committed,
                                  WF_TUNE_WINDOWS_QUEUE)) {
            return SPARSE;
        }
    }
}

static enum end run_queue(struct wf_worker *worker, struct wf_store *store, uint64_t enough)
{
    for (uint64_t n = 1; wf_pending_peek(&store->pending) != NULL; n++) {
        if (worker->count.committed >= enough) {
            return ENOUGH;
        }
        wf_pending_pop(&store->pending, worker->current);
        (void)wf_engine_prefetch(worker->engine, &store->pending);
        if (worker->forecast != NULL) {
            const struct wf_key *key = &worker->current->key;
            wf_forecast_count(worker->forecast,
                              wf_wheel_window(&store->windows.wheel, key->time),
                              worker->current->dst, key->src);
        }
        wf_worker_execute(worker, worker->current);
        if (n % WF_TUNE_STOP_CHECK == 0) {
            if (wf_engine_should_stop(worker->engine)) {
                worker->engine->interrupted = true;
                return OVER;
            }
            wf_worker_progress(worker, worker->count.last_time);
        }
    }
    return OVER;
}

bool wf_store_run(struct wf_worker *worker, uint64_t enough)
{
    struct wf_store *store = worker->scheduler;

    if (store->windowed) {
        enum end end = run_windows(worker, store, enough);
        if (end != SPARSE) {
            return end == OVER;
        }
        wf_store_queue_all(store, worker);
    }
    return run_queue(worker, store, enough) == OVER;
}

static void run(struct wf_worker *worker)
{
    (void)wf_store_run(worker, UINT64_MAX);
}

const struct wf_scheduler_ops wf_scheduler_sequential = {
    .alone = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
