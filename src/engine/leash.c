/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far past GVT it pays to run. Threads that get less of the processor fall behind, the
 * others run ahead, and what they do there is undone: when much is rolled back, the leash is
 * half of how far the foremost has got; while little is, it grows again.
 *
 * It is never shorter than the lookahead, within which nothing can be rolled back, nor so short
 * that rounds have next to nothing to do: a machine that lets threads wait for each other makes
 * both look like too much haste.
 */
#include "engine/optimistic.h"

enum {
    ROUNDS_BETWEEN_LOOKS = 8,
    ROLLED_BACK_MUCH = 8,    /* one event in so many */
    ROLLED_BACK_LITTLE = 32, /* likewise */
    EVENTS_PER_ROUND_MIN = 256,
};

static void shorten(struct wf_warp_shared *shared, const struct wf_engine *engine, int64_t lead,
                    uint64_t executed)
{
    int64_t half = (lead < shared->leash ? lead : shared->leash) / 2 + 1;

    if (executed < (uint64_t)EVENTS_PER_ROUND_MIN * ROUNDS_BETWEEN_LOOKS * engine->n_threads) {
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

    if (engine->config.leash != 0 || ++shared->rounds_to_look < ROUNDS_BETWEEN_LOOKS) {
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
    if (rolled_back * ROLLED_BACK_MUCH > executed) {
        shorten(shared, engine, foremost - gvt, executed);
    } else if (rolled_back * ROLLED_BACK_LITTLE < executed) {
        lengthen(shared);
    }
}
