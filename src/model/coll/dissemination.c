/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dissemination barrier: Hensgen, Finkel and Manber, "Two algorithms for barrier
 * synchronization", 1988. In step k every rank sends a message to the rank 2^k above it; after
 * ceil(log2 n) steps every rank depends on all others. Open MPI calls it bruck.
 */
#include "model/coll/parts.h"

static bool step(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= wf_coll_log2_up(args->size)) {
        return false;
    }
    uint32_t far = UINT32_C(1) << k;
    *out = (struct wf_coll_step){
        .send_to = wf_coll_above(args->rank, far, args->size),
        .recv_from = wf_coll_below(args->rank, far, args->size),
        .send = wf_coll_range(0, 1),
        .recv = wf_coll_range(0, 1),
        .take = WF_COLL_COMBINE,
    };
    return true;
}

WF_COLL_OPS(BARRIER, barrier, dissemination, "every rank tells the one 2^k above it",
            .n_slots = wf_coll_one_slot, .step = step);
