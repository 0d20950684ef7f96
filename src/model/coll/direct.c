/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allreduce in two steps, each between all ranks at once: every rank sums up its part of the
 * data and sends the sum to everybody. For few ranks at one switch; kernels of GPUs call it two-shot.
 */
#include "model/coll/parts.h"

/* A round has a message to and from each other rank; the last one of a round waits. */
static bool allreduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t others = args->size - 1;

    if (k >= 2 * others) {
        return false;
    }
    bool sums = k < others;
    uint32_t by = k % others + 1;
    uint32_t to = wf_coll_above(args->rank, by, args->size);
    uint32_t from = wf_coll_below(args->rank, by, args->size);
    *out = (struct wf_coll_step){
        .send_to = to,
        .recv_from = from,
        .send = wf_coll_range(sums ? to : args->rank, 1),
        .recv = wf_coll_range(sums ? args->rank : from, 1),
        .take = sums ? WF_COLL_COMBINE : WF_COLL_STORE,
        .go_on = by < others,
    };
    return true;
}

WF_COLL_OPS(ALLREDUCE, allreduce, direct,
            "every rank sums up its part and sends it to everybody; for few ranks",
            .n_slots = wf_coll_slot_per_rank, .step = allreduce);
