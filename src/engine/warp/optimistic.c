/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warp/optimistic.h"

#include "base/mem.h"
#include "base/rng.h"
#include "engine/tuning.h"

#include <stdlib.h>

enum { PERTURB_BYTES = 8192 }; /* most bytes of history that an injected rollback undoes */

/* Events that are scheduled while processes are initialised are never cancelled. */
static void send_at_once(struct wf_worker *worker, const struct wf_event *ev)
{
    struct wf_warp *warp = worker->scheduler;

    if (wf_engine_owner(worker->engine, ev->dst) == worker->number) {
        wf_frontier_queue(warp, ev);
    } else {
        wf_warp_post(warp, ev, false);
    }
}

static struct wf_warp_shared *shared_new(const struct wf_engine *engine)
{
    struct wf_warp_shared *shared = wf_xaligned_zero(sizeof(*shared));

    shared->interval =
        engine->config.gvt_interval == 0 ? WF_TUNE_GVT_INTERVAL : engine->config.gvt_interval;
    shared->leash = engine->config.leash == 0 ? WF_NO_LEASH : engine->config.leash;
    while ((UINT64_C(1) << shared->kp_shift) < engine->config.lps_per_kp) {
        shared->kp_shift++;
    }
    shared->kps = wf_xcalloc_huge(((size_t)engine->next_id >> shared->kp_shift) + 1,
                                  sizeof(struct wf_kp));
    shared->net_out = wf_xaligned(engine->n_processes * sizeof(struct wf_mailbox));
    for (uint32_t p = 0; p < engine->n_processes; p++) {
        atomic_init(&shared->net_out[p].head, NULL);
    }
    return shared;
}

static void prepare(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;
    struct wf_warp *warp = wf_xaligned_zero(sizeof(*warp));

    warp->worker = worker;
    warp->loopback = engine->config.scheduler == WF_PERTURB;
    wf_pending_init(&warp->pending, &worker->pool);
    wf_frontier_init(warp);
    wf_antis_init(&warp->antis, engine->stride);
    warp->outbox =
        wf_xcalloc((size_t)engine->n_threads + engine->n_processes, sizeof(struct wf_bag));
    warp->arrived = wf_xaligned(engine->stride);
    if (worker->thread == 0) {
        warp->shared = shared_new(engine);
    }
    worker->scheduler = warp;
    worker->ctx.send = send_at_once;
}

static void release(struct wf_worker *worker)
{
    struct wf_warp *warp = worker->scheduler;

    wf_pending_fini(&warp->pending);
    wf_frontier_fini(warp);
    wf_history_fini(&warp->history);
    wf_antis_fini(&warp->antis);
    wf_undo_log_fini(&warp->undo_log);
    wf_buf_fini(&warp->message);
    wf_buf_fini(&warp->places);
    wf_buf_fini(&warp->cancels);
    free(warp->outbox);
    free(warp->arrived);
    if (worker->thread == 0) {
        free(warp->shared->kps);
        free(warp->shared->net_out);
        free(warp->shared);
    }
    free(warp);
}

/* ---- perturbing: injected rollbacks, delays and reorderings ----
 * Between every other pair of GVT rounds nothing is injected, so that the run makes progress.
 */

static uint64_t chaos(struct wf_warp *warp)
{
    return wf_rng_draw(warp->worker->engine->config.perturb_seed,
                       UINT64_C(1000000) + warp->worker->number, ++warp->chaos);
}

static void perturb(struct wf_warp *warp)
{
    if (chaos(warp) % 4 == 0) {
        uint64_t bytes = wf_history_bytes(&warp->history);
        uint64_t most = bytes < PERTURB_BYTES ? bytes : PERTURB_BYTES;
        wf_warp_retreat(warp, wf_rng_below(chaos(warp), most + 1));
    }
    if (chaos(warp) % 32 == 0) {
        atomic_store_explicit(&warp->shared->gvt_wanted, true, memory_order_relaxed);
    }
}

static uint64_t batch_size(struct wf_warp *warp)
{
    uint64_t batch = warp->worker->engine->config.batch;

    return warp->loopback ? 1 + wf_rng_below(chaos(warp), batch) : batch;
}

/* ---- the loop ---- */

/* Executes one batch; returns whether there was anything to do. */
static bool run_batch(struct wf_warp *warp, uint64_t *batches)
{
    uint64_t batch = batch_size(warp), n = 0;
    bool busy = false;

    if (wf_warp_has_incoming(warp)) {
        busy = wf_warp_receive(warp, false);
    }
    for (uint64_t more = 1; n < batch && more > 0; n += more) {
        more = wf_warp_step(warp) ? 1 : wf_frontier_run_ahead(warp);
    }
    busy = busy || n > 0;
    *batches += n > batch ? n / batch : 1;
    if (warp->loopback && !warp->calm) {
        perturb(warp);
    }
    (void)wf_warp_publish(warp);
    if (warp->worker->thread == 0 && warp->worker->engine->n_processes > 1 &&
        (!busy || ++warp->unshipped >= WF_TUNE_MESSAGE_BATCHES)) {
        wf_warp_ship(warp);
        warp->unshipped = 0;
    }
    return busy;
}

/* Whether the history has grown so much since the last GVT round that its events would leave the
 * cache before they are committed. Where rounds are expensive, and therefore rarer, the
 * limit is higher. With windows the history grows only while this worker waits for others: then the
 * limit is lower. */
static bool has_grown(const struct wf_warp *warp)
{
    uint64_t interval = warp->shared->interval;
    uint64_t apart = interval > WF_TUNE_GVT_INTERVAL ? interval / WF_TUNE_GVT_INTERVAL : 1;
    uint64_t most =
        warp->frontier.windowed ? WF_TUNE_HISTORY_AHEAD : apart * WF_TUNE_HISTORY_ROUND;

    return warp->worker->engine->config.gvt_interval == 0 &&
           warp->history.end > warp->end_at_round + most;
}

/* Whether enough was done for a round since the last one. With windows a round that begins before
 * all workers have executed what is safe makes them wait, and GVT hardly moves. After that, a few
 * batches are enough. */
static bool is_due(const struct wf_warp *warp, uint64_t batches)
{
    const struct wf_engine *engine = warp->worker->engine;
    uint64_t interval = warp->shared->interval;

    if (!warp->frontier.windowed || engine->config.gvt_interval != 0) {
        return batches >= interval;
    }
    if (wf_warp_is_alone(warp)) {
        return true;
    }
    return batches >= (engine->n_processes == 1 && !warp->loopback ? WF_TUNE_GVT_WINDOW_BATCHES
                                                                   : interval) &&
           atomic_load_explicit(&warp->shared->n_safe_done, memory_order_relaxed) ==
               engine->n_threads;
}

/* Whether a GVT round is due, or this worker has had nothing to do for long. */
static bool wants_gvt(const struct wf_warp *warp, uint64_t batches, uint64_t idle)
{
    const struct wf_engine_config *config = &warp->worker->engine->config;

    return is_due(warp, batches) || has_grown(warp) ||
           idle > (wf_warp_is_alone(warp) ? 0 : WF_TUNE_GVT_IDLE) ||
           (!warp->full && wf_history_bytes(&warp->history) > config->memory);
}

/* Executes what is safe after a GVT round; returns how many batches that were. */
static uint64_t execute_safe(struct wf_warp *warp)
{
    uint64_t n = wf_frontier_execute_safe(warp);

    atomic_fetch_add_explicit(&warp->shared->n_safe_done, 1, memory_order_relaxed);
    return n / warp->worker->engine->config.batch;
}

/* Whether another worker asks for a GVT round. */
static bool is_wanted(const struct wf_warp *warp)
{
    return atomic_load_explicit(&warp->shared->gvt_wanted, memory_order_relaxed);
}

static void run(struct wf_worker *worker)
{
    struct wf_warp *warp = worker->scheduler;
    uint64_t batches = 0, idle = 0;
    uint32_t spins = 0;

    if (worker->thread != 0) {
        warp->shared = ((struct wf_warp *)worker->engine->workers[0].scheduler)->shared;
    }
    warp->horizon = warp->shared->leash;
    /* Events that a handler schedules may be cancelled later, so they are logged first. */
    worker->ctx.sent = &warp->undo_log.sent;
    worker->ctx.undo_log = &warp->undo_log;
    wf_frontier_start(warp);
    while (!wf_warp_gvt(warp)) {
        batches = execute_safe(warp);
        idle = spins = 0;
        /* At least one batch between two rounds. A worker without events asks for a round soon:
         * one that has events but wakes later from the barrier would never execute any. */
        do {
            if (run_batch(warp, &batches)) {
                idle = spins = 0;
            } else {
                idle++;
                wf_relax(&spins);
            }
        } while (!is_wanted(warp) && !wants_gvt(warp, batches, idle));
        atomic_store_explicit(&warp->shared->gvt_wanted, true, memory_order_relaxed);
    }
}

const struct wf_scheduler_ops wf_scheduler_optimistic = {
    .prepare = prepare,
    .run = run,
    .release = release,
};
