/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An alltoall around a ring: ranks send to the next one only and pass on what is not for them,
 * one block at a time. In round s a rank sends the blocks that have e = n - 1 - s to 1 ranks to
 * go, each in a step of its own, and puts the block that it receives into the slot of the one
 * that it sent. ASTRA-sim's ring works like this.
 */
#include "model/coll/parts.h"

enum { SIZE_MAX_RING = 65536 }; /* the number of steps must not overflow */

static bool applies(const struct wf_coll_args *args)
{
    return args->size <= SIZE_MAX_RING;
}

/* The largest x with x (x + 1) / 2 <= n. */
static uint32_t triangle_root(uint64_t n)
{
    uint32_t low = 0, high = SIZE_MAX_RING;

    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)middle * (middle + 1) / 2 <= n) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool alltoall(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint64_t n = args->size, steps = n * (n - 1) / 2;

    if (k >= steps) {
        return false;
    }
    /* Counted from the end, round x has x + 1 steps. */
    uint64_t left = steps - 1 - k;
    uint32_t x = triangle_root(left), round = args->size - 2 - x;
    uint32_t to_go = (uint32_t)(left - (uint64_t)x * (x + 1) / 2) + 1;
    struct wf_coll_slots slot =
        wf_coll_range(wf_coll_above(args->rank, to_go + round, args->size), 1);

    *out = (struct wf_coll_step){
        .send_to = wf_coll_above(args->rank, 1, args->size),
        .recv_from = wf_coll_below(args->rank, 1, args->size),
        .send = slot,
        .recv = slot,
        .take = WF_COLL_RELAY,
    };
    return true;
}

WF_COLL_OPS(ALLTOALL, alltoall, ring,
            "around a ring, one block at a time; ranks pass blocks on", .applies = applies,
            .n_slots = wf_coll_slot_per_rank, .step = alltoall);
