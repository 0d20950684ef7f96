/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential scheduler: one thread. With a lookahead it executes events window by window,
 * which needs no global queue. If windows turn out to hold few events, or without a lookahead,
 * it executes events in strict key order from a queue.
 */
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

/* Returns true when the run is over, false when a queue is faster for the rest. */
static bool run_windows(struct wf_worker *worker, struct wf_store *store)
{
    struct wf_wheel *wheel = &store->windows.wheel;

    for (;;) {
        uint64_t next = wf_wheel_next(wheel);
        if (next == WF_WHEEL_NEVER) {
            return true;
        }
        if (wf_engine_should_stop(worker->engine)) {
            worker->engine->interrupted = true;
            return true;
        }
        wf_wheel_advance(wheel, next);
        wf_windows_run(&store->windows, worker);
        if (store->windows.stopped) {
            worker->engine->interrupted = true;
            return true;
        }
        wf_worker_progress(worker, worker->count.last_time);
        if (wf_windows_are_sparse(worker->count.rounds, worker->count.committed,
                                  WF_TUNE_WINDOWS_QUEUE)) {
            return false;
        }
    }
}

static void run_queue(struct wf_worker *worker, struct wf_store *store)
{
    for (uint64_t n = 1; wf_pending_peek(&store->pending) != NULL; n++) {
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
                return;
            }
            wf_worker_progress(worker, worker->count.last_time);
        }
    }
}

static void run(struct wf_worker *worker)
{
    struct wf_store *store = worker->scheduler;

    if (store->windowed) {
        if (run_windows(worker, store)) {
            return;
        }
        wf_windows_queue_all(&store->windows, worker, &store->pending);
        store->windowed = false;
    }
    run_queue(worker, store);
}

const struct wf_scheduler_ops wf_scheduler_sequential = {
    .alone = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
