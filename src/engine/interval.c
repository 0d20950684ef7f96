/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many batches to execute between two GVT rounds. A round costs next to nothing while every
 * thread has a core; when one of them has to wait for its turn on a busy machine, all wait for
 * it, round after round. So the share of the time that goes into rounds decides: rounds move
 * apart while it is large, and together again, for the sake of the caches, while it is small.
 *
 * Not between processes: there each executes its whole interval before it waits for the others,
 * so that longer intervals only mean longer waits.
 */
#include "base/clock.h"
#include "engine/optimistic.h"

enum {
    INTERVAL_MAX = 16 * WF_GVT_INTERVAL,
    ROUNDS_BETWEEN_LOOKS = 8,
    SHARE_LARGE = 8,  /* an eighth of the time */
    SHARE_SMALL = 32, /* one part in 32 */
};

void wf_warp_adapt_interval(struct wf_warp *warp)
{
    struct wf_warp_shared *shared = warp->shared;
    const struct wf_engine *engine = warp->worker->engine;

    if (engine->config.gvt_interval != 0 || engine->n_processes > 1 ||
        ++shared->rounds_to_time < ROUNDS_BETWEEN_LOOKS) {
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
    if (known && share * SHARE_LARGE > 1 && shared->interval < INTERVAL_MAX) {
        shared->interval *= 2;
    } else if (known && share * SHARE_SMALL < 1 && shared->interval > WF_GVT_INTERVAL) {
        shared->interval /= 2;
    }
}
