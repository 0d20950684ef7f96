/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two settings of the optimistic scheduler that adapt to the run, unless the user sets them.
 *
 * The leash limits how far past GVT workers run. Threads that get less of the processor fall
 * behind; the others run ahead, and their work there is undone. When much is rolled back,
 * the leash becomes half of the lead of the foremost worker. While little is rolled back, it
 * grows again. It is never shorter than the lookahead, within which nothing can be rolled
 * back. It is not shortened while rounds have next to nothing to do: on a busy machine
 * threads wait for each other, which looks like too much speculation.
 *
 * The interval is the number of batches between two GVT rounds. A round costs next to
 * nothing while every thread has a core. On a busy machine all threads wait for the one that
 * has none. So the share of time spent in rounds decides: while it is large, rounds move
 * apart. While it is small, they move together again, which keeps the data of a round in the
 * caches. With several processes the interval is fixed: each executes its whole interval
 * before it waits for the others, so longer intervals only mean longer waits.
 */
#include "base/clock.h"
#include "engine/tuning.h"
#include "engine/warp/optimistic.h"

static void shorten(struct wf_warp_shared *shared, const struct wf_engine *engine, int64_t lead,
                    uint64_t executed)
{
    int64_t half = (lead < shared->leash ? lead : shared->leash) / 2 + 1;

    if (executed < (uint64_t)WF_TUNE_LEASH_EVENTS * WF_TUNE_GVT_LOOK * engine->n_threads) {
        return;
    }
    shared->leash = half > engine->lookahead ? half : engine->lookahead + 1;
}

static void lengthen(struct wf_warp_shared *shared)
{
    if (shared->leash > WF_NO_LEASH / 4) {
        shared->leash = WF_NO_LEASH;
    } else {
        shared->leash += shared->leash / 2 + 1;
    }
}

void wf_warp_adapt_leash(struct wf_warp *warp)
{
    struct wf_warp_shared *shared = warp->shared;
    const struct wf_engine *engine = warp->worker->engine;
    uint64_t executed = 0, rolled_back = 0;
    int64_t gvt = shared->gvt.time, foremost = gvt;

    if (engine->config.leash != 0 || ++shared->rounds_to_look < WF_TUNE_GVT_LOOK) {
        return;
    }
    shared->rounds_to_look = 0;
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        struct wf_warp *other = engine->workers[t].scheduler;
        const struct wf_counters *count = &engine->workers[t].count;
        executed += count->executed - other->leash_executed;
        rolled_back += count->rolled_back - other->leash_rolled_back;
        other->leash_executed = count->executed;
        other->leash_rolled_back = count->rolled_back;
        foremost = other->latest > foremost ? other->latest : foremost;
    }
    if (rolled_back * WF_TUNE_LEASH_MUCH > executed) {
        shorten(shared, engine, foremost - gvt, executed);
    } else if (rolled_back * WF_TUNE_LEASH_LITTLE < executed) {
        lengthen(shared);
    }
}

void wf_warp_adapt_interval(struct wf_warp *warp)
{
    struct wf_warp_shared *shared = warp->shared;
    const struct wf_engine *engine = warp->worker->engine;

    /* A worker that is alone waits for nobody. */
    if (engine->config.gvt_interval != 0 || engine->n_processes > 1 || engine->n_threads == 1 ||
        ++shared->rounds_to_time < WF_TUNE_GVT_LOOK) {
        return;
    }

    double now = wf_clock_wall(), in_rounds = 0;
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        in_rounds += engine->workers[t].count.gvt_seconds;
    }
    double share =
        (in_rounds - shared->gvt_seconds) / ((now - shared->timed_since) * engine->n_threads);
    bool known = shared->timed_since > 0;
    shared->rounds_to_time = 0;
    shared->timed_since = now;
    shared->gvt_seconds = in_rounds;
    if (known && share * WF_TUNE_GVT_SHARE_LARGE > 1 &&
        shared->interval < WF_TUNE_GVT_INTERVAL_MAX) {
        shared->interval *= 2;
    } else if (known && share * WF_TUNE_GVT_SHARE_SMALL < 1 &&
               shared->interval > WF_TUNE_GVT_INTERVAL) {
        shared->interval /= 2;
    }
}
