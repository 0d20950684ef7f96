/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential scheduler: one thread. With a lookahead it executes events window by window,
 * which needs no global queue. If windows turn out to hold few events, or without a lookahead,
 * it executes events in strict key order from a queue.
 */
#include "base/mem.h"
#include "engine/queue/pending.h"
#include "engine/sched/windows.h"
#include "engine/tuning.h"

#include <stdlib.h>

struct sequential {
    bool windowed;
    struct wf_windows windows;
    struct wf_pending pending;
};

static void send_to_window(struct wf_worker *worker, const struct wf_event *ev)
{
    struct sequential *own = worker->scheduler;

    wf_windows_send(&own->windows, ev);
}

static void send_to_queue(struct wf_worker *worker, const struct wf_event *ev)
{
    struct sequential *own = worker->scheduler;

    wf_pending_push(&own->pending, ev);
}

static void prepare(struct wf_worker *worker)
{
    struct sequential *own = wf_xcalloc(1, sizeof(*own));

    worker->scheduler = own;
    own->windowed = worker->engine->lookahead > 0;
    wf_pending_init(&own->pending, &worker->pool);
    if (own->windowed) {
        wf_windows_init(&own->windows, worker);
    }
    worker->ctx.send = own->windowed ? send_to_window : send_to_queue;
}

static void release(struct wf_worker *worker)
{
    struct sequential *own = worker->scheduler;

    wf_pending_fini(&own->pending);
    if (own->windowed) {
        wf_windows_fini(&own->windows);
    }
    free(own);
}

/* Returns true when the run is over, false when a queue is faster for the rest. */
static bool run_windows(struct wf_worker *worker, struct sequential *own)
{
    struct wf_wheel *wheel = &own->windows.wheel;

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
        wf_windows_run(&own->windows, worker);
        if (own->windows.stopped) {
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

static void run_queue(struct wf_worker *worker, struct sequential *own)
{
    for (uint64_t n = 1; wf_pending_peek(&own->pending) != NULL; n++) {
        wf_pending_pop(&own->pending, worker->current);
        (void)wf_engine_prefetch(worker->engine, &own->pending);
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
    struct sequential *own = worker->scheduler;

    if (own->windowed) {
        if (run_windows(worker, own)) {
            return;
        }
        wf_windows_queue_all(&own->windows, worker, &own->pending);
        worker->ctx.send = send_to_queue;
    }
    run_queue(worker, own);
}

const struct wf_scheduler_ops wf_scheduler_sequential = {
    .alone = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
