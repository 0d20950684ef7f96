/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of the optimistic scheduler, if the model promises a lookahead.
 *
 * A place is a window and a block of the worker. The frontier is the first place that the worker
 * has not begun. Events at or after it wait in the wheel, without order; events before it are in
 * the strictly ordered queue. So a process has no event in the wheel that precedes one of its
 * events in the queue.
 *
 *        blocks of the worker
 *        0   1   2   3
 *   W    .   .   .   .      executed; events that arrive for it go to the queue
 *   W+1  .   .  [ ]  -      [ ] the frontier; - events in the wheel
 *   W+2  -   -   -   -
 *
 * Windows before the bound are executed first, mostly for good, like those of the conservative
 * scheduler. A worker that has done that executes places after it, with a log, until all workers
 * have. A block of a window is executed as a whole: no message is received meanwhile.
 */
#include "engine/warp/optimistic.h"

#include "base/int128.h"
#include "base/mem.h"
#include "base/rng.h"
#include "engine/tuning.h"

#include <stdlib.h>

enum { ROUNDS_PERTURBED = 32 }; /* rounds with windows in a perturbed run, on average */

/* The first time of a window. */
static int64_t start_of(const struct wf_wheel *wheel, uint64_t window)
{
    wf_u128 reciprocal = wheel->reciprocal;
    wf_u128 start = (((wf_u128)window << 64) + reciprocal - 1) / reciprocal;

    if (start > INT64_MAX) {
        return INT64_MAX;
    }
    return start == 0 ? 0 : (int64_t)start - 1; /* wf_wheel_window() adds 1 to the time */
}

void wf_frontier_init(struct wf_warp *warp)
{
    struct wf_worker *worker = warp->worker;
    struct wf_frontier *frontier = &warp->frontier;

    frontier->windowed = worker->engine->lookahead > 0;
    if (frontier->windowed) {
        frontier->windows = wf_xcalloc(1, sizeof(*frontier->windows));
        wf_windows_init(frontier->windows, worker);
    }
    frontier->no_bags = wf_xcalloc(worker->engine->n_blocks, sizeof(struct wf_bag *));
    frontier->bags = worker->ctx.bags;
}

/* Handlers write events for this worker directly into the wheel, and others into the outbox. */
static void send_finally(struct wf_worker *worker, const struct wf_event *ev)
{
    struct wf_warp *warp = worker->scheduler;

    if (wf_engine_owner(worker->engine, ev->dst) == worker->number) {
        wf_windows_send(warp->frontier.windows, ev);
    } else {
        wf_warp_post(warp, ev, false);
    }
}

void wf_frontier_start(struct wf_warp *warp)
{
    warp->worker->ctx.bags = warp->frontier.no_bags;
    warp->worker->ctx.send = send_finally;
}

void wf_frontier_fini(struct wf_warp *warp)
{
    if (warp->frontier.windows != NULL) {
        wf_windows_fini(warp->frontier.windows);
        free(warp->frontier.windows);
    }
    warp->worker->ctx.bags = warp->frontier.bags;
    free(warp->frontier.no_bags);
}

void wf_frontier_queue(struct wf_warp *warp, const struct wf_event *ev)
{
    const struct wf_frontier *frontier = &warp->frontier;

    if (frontier->windowed) {
        struct wf_wheel *wheel = &frontier->windows->wheel;
        uint64_t window = wf_wheel_window(wheel, ev->key.time);
        uint32_t block = wheel->local_block[wf_block_number(wheel->map, ev->dst)];
        if (window > frontier->window ||
            (window == frontier->window && block >= frontier->block)) {
            wf_wheel_file(wheel, window, ev);
            return;
        }
    }
    wf_pending_push(&warp->pending, ev);
}

/* The window of the frontier if it was begun, else a window before which there are no events;
 * WF_WHEEL_NEVER if the wheel is empty. */
static uint64_t next_window(const struct wf_frontier *frontier)
{
    return frontier->begun ? frontier->window : wf_wheel_next(&frontier->windows->wheel);
}

int64_t wf_frontier_time(const struct wf_warp *warp)
{
    const struct wf_frontier *frontier = &warp->frontier;
    uint64_t next = frontier->windowed ? next_window(frontier) : WF_WHEEL_NEVER;

    return next == WF_WHEEL_NEVER ? INT64_MAX : start_of(&frontier->windows->wheel, next);
}

/* Begins a window, unless the frontier is in it. */
static void enter(struct wf_frontier *frontier, uint64_t window)
{
    if (!frontier->begun) {
        wf_wheel_advance(&frontier->windows->wheel, window);
        frontier->begun = true;
        frontier->window = window;
        frontier->block = 0;
    }
}

static void leave(struct wf_frontier *frontier)
{
    (void)wf_wheel_take(&frontier->windows->wheel); /* all its bags are empty */
    frontier->begun = false;
    frontier->window++;
    frontier->block = 0;
    frontier->n_windows++;
}

/* The next block with events in the window of the frontier; false if there is none. The frontier
 * is then after the block, or after the window. */
static bool next_block(struct wf_warp *warp, uint32_t *block)
{
    struct wf_frontier *frontier = &warp->frontier;

    while (frontier->block < warp->worker->n_blocks) {
        *block = frontier->block++;
        if (wf_wheel_bag(&frontier->windows->wheel, *block)->head != NULL) {
            return true;
        }
    }
    leave(frontier);
    return false;
}

/* Executes the queued events before `key`; false if some are left. While a block is executed, they
 * are those that its processes have scheduled for themselves in this window. */
static bool catch_up(struct wf_warp *warp, const struct wf_key *key)
{
    for (uint32_t n = 1; warp->pending.n > 0; n++) {
        const struct wf_event *first = wf_pending_peek(&warp->pending);
        if (first == NULL || !wf_key_before(&first->key, key)) {
            return true;
        }
        /* A model in which time stands still may never leave this loop. */
        if (!wf_warp_step(warp) ||
            (n % WF_TUNE_STOP_CHECK == 0 && wf_engine_must_stop(warp->worker->engine))) {
            return false;
        }
    }
    return true;
}

/* Moves some of the sorted events of a block to the queue. */
static void queue_entries(struct wf_warp *warp, size_t first, size_t n)
{
    for (size_t i = first; i < n; i++) {
        wf_pending_push(&warp->pending, warp->frontier.windows->sorter.entries[i].ev);
    }
}

/* Executes the events of a block one by one, because they are logged or some may have been
 * cancelled. The processes of a KP are logged in the order of keys: by the queue. */
static void run_block(struct wf_warp *warp, uint32_t block, bool is_final)
{
    struct wf_worker *worker = warp->worker;
    struct wf_windows *windows = warp->frontier.windows;

    if (warp->shared->kp_shift > 0 && !is_final) {
        wf_windows_queue_block(windows, worker, block, &warp->pending);
        return;
    }
    size_t n = wf_windows_sort_block(windows, worker, block);
    for (size_t i = 0; i < n; i++) {
        const struct wf_event *ev = windows->sorter.entries[i].ev;
        const struct wf_event *soon = windows->sorter.entries[i + WF_TUNE_AHEAD_EVENT / 2].ev;
        __builtin_prefetch(windows->sorter.entries[i + WF_TUNE_AHEAD_EVENT].ev);
        __builtin_prefetch(wf_engine_lp(worker->engine, soon->dst), 1);
        __builtin_prefetch(wf_warp_kp(warp, soon->dst), 1);
        if (!catch_up(warp, &ev->key)) {
            queue_entries(warp, i, n);
            break;
        }
        if (!wf_antis_take(&warp->antis, ev)) {
            wf_warp_execute(warp, ev, is_final);
        }
    }
    wf_bag_free(wf_wheel_bag(&windows->wheel, block), &worker->pool);
}

/* ---- events that cannot be undone ---- */

static void run_block_quickly(struct wf_warp *warp, uint32_t block)
{
    struct wf_worker *worker = warp->worker;
    struct wf_windows *windows = warp->frontier.windows;
    uint64_t before = worker->count.committed;

    worker->ctx.bags = warp->frontier.bags;
    worker->ctx.sent = NULL;
    worker->ctx.undo_log = NULL;
    windows->running = windows->wheel.now;
    wf_windows_run_block(windows, worker, block);
    windows->running = WF_WHEEL_NEVER;
    worker->ctx.bags = warp->frontier.no_bags;
    worker->ctx.sent = &warp->undo_log.sent;
    worker->ctx.undo_log = &warp->undo_log;
    worker->count.executed += worker->count.committed - before;
}

static bool is_careful(const struct wf_warp *warp, uint32_t block)
{
    const struct wf_worker *worker = warp->worker;

    return worker->engine->blocks[worker->blocks[block]].group->ops->careful;
}

static void run_safe_block(struct wf_warp *warp, uint32_t block)
{
    bool is_final = warp->worker->engine->config.safe || is_careful(warp, block);

    if (is_final && !warp->loopback && warp->antis.n == 0) {
        run_block_quickly(warp, block);
        return;
    }
    run_block(warp, block, is_final);
    (void)catch_up(warp, &warp->bound);
    wf_warp_collect(warp); /* while they are in the cache */
}

static void run_safe_window(struct wf_warp *warp)
{
    uint32_t block;

    while (!wf_engine_must_stop(warp->worker->engine) && next_block(warp, &block)) {
        run_safe_block(warp, block);
        (void)wf_warp_publish(warp);
    }
}

/* Puts all events into the queue, for the rest of the run. */
static void give_up_windows(struct wf_warp *warp)
{
    wf_windows_queue_all(warp->frontier.windows, warp->worker, &warp->pending);
    warp->frontier.windowed = false;
}

static bool windows_are_sparse(const struct wf_warp *warp)
{
    return wf_windows_are_sparse(warp->frontier.n_windows, warp->worker->count.executed,
                                 WF_TUNE_WINDOWS_QUEUE);
}

/* A perturbed run gives them up at some time in any case. */
static bool keeps_windows(const struct wf_warp *warp)
{
    const struct wf_worker *worker = warp->worker;

    return !windows_are_sparse(warp) &&
           (!warp->loopback ||
            wf_rng_draw(worker->engine->config.perturb_seed, UINT64_C(2000000) + worker->number,
                        worker->count.rounds) %
                    ROUNDS_PERTURBED !=
                0);
}

/* The first window that does not lie before the bound. */
static uint64_t first_unsafe(const struct wf_warp *warp)
{
    return warp->bound.time == INT64_MAX
               ? WF_WHEEL_NEVER
               : wf_wheel_window(&warp->frontier.windows->wheel, warp->bound.time);
}

uint64_t wf_frontier_execute_safe(struct wf_warp *warp)
{
    struct wf_frontier *frontier = &warp->frontier;
    uint64_t before = warp->worker->count.executed;

    if (!frontier->windowed) {
        return 0;
    }
    if (!keeps_windows(warp)) {
        give_up_windows(warp);
        return 0;
    }
    if (wf_history_bytes(&warp->history) > 0) {
        wf_warp_commit_all(warp);
    }
    (void)catch_up(warp, &warp->bound);
    uint64_t end = first_unsafe(warp);
    for (uint64_t next = next_window(frontier); next < end; next = next_window(frontier)) {
        enter(frontier, next);
        run_safe_window(warp);
        if (wf_warp_is_alone(warp)) { /* there are no rounds that do it */
            wf_worker_progress(warp->worker, warp->worker->count.last_time);
        }
        if (wf_engine_should_stop(warp->worker->engine) || windows_are_sparse(warp)) {
            break;
        }
    }
    warp->end_at_round = warp->history.end;
    return warp->worker->count.executed - before;
}

void wf_frontier_finish(struct wf_warp *warp)
{
    if (warp->frontier.windowed) {
        give_up_windows(warp);
    }
    (void)catch_up(warp, &warp->bound);
    wf_warp_commit_all(warp); /* those that were logged nevertheless */
}

/* ---- events that may have to be undone ---- */

uint64_t wf_frontier_run_ahead(struct wf_warp *warp)
{
    struct wf_frontier *frontier = &warp->frontier;
    uint64_t before = warp->worker->count.executed;
    uint32_t block;

    /* A run that is to end at once must not leave its window: it would seem to be complete. */
    if (!frontier->windowed || warp->full || warp->pending.n > 0 ||
        wf_engine_must_stop(warp->worker->engine)) {
        return 0;
    }
    for (uint64_t next = next_window(frontier); next != WF_WHEEL_NEVER;
         next = next_window(frontier)) {
        if (start_of(&frontier->windows->wheel, next + 1) > warp->horizon) {
            return 0;
        }
        enter(frontier, next);
        if (!next_block(warp, &block)) {
            continue;
        }
        if (is_careful(warp, block)) {
            frontier->block = block; /* not yet */
            return 0;
        }
        run_block(warp, block, false);
        return 1 + warp->worker->count.executed - before;
    }
    return 0;
}
