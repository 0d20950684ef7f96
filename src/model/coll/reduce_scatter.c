/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two more algorithms for reduce-scatter. Pairwise: every rank sends every other rank its part
 * of the block of that rank, one partner after the other (MPICH, for long data; Thakur,
 * Rabenseifner and Gropp, 2005). Reduce and scatterv: up a binomial tree to rank 0, which sends
 * every rank its block (Open MPI's "non-overlapping" and "basic linear").
 */
#include "model/coll/parts.h"

static bool pairwise(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= args->size - 1) {
        return false;
    }
    *out = wf_coll_idle();
    out->send_to = wf_coll_above(args->rank, k + 1, args->size);
    out->recv_from = wf_coll_below(args->rank, k + 1, args->size);
    out->send = wf_coll_range(out->send_to, 1);
    out->recv = wf_coll_range(args->rank, 1);
    out->take = WF_COLL_COMBINE;
    return true;
}

WF_COLL_PHASES(reduce_scatterv,
               {2,
                0,
                {.up = true, .whole = true, .n_slots = args->size, .take = WF_COLL_COMBINE}},
               {WF_COLL_STAR, 0, {.up = false}})

WF_COLL_OPS(REDUCE_SCATTER, reduce_scatter, pairwise,
            "one partner after the other; for long data", .n_slots = wf_coll_slot_per_rank,
            .step = pairwise);
WF_COLL_OPS(REDUCE_SCATTER, reduce_scatter, reduce_scatterv,
            "reduced at rank 0, then scattered", .n_slots = wf_coll_slot_per_rank,
            .step = reduce_scatterv);
WF_COLL_OPS(REDUCE_SCATTER_BLOCK, reduce_scatter_block, pairwise,
            "one partner after the other; for long data", .n_slots = wf_coll_slot_per_rank,
            .step = pairwise);
WF_COLL_OPS(REDUCE_SCATTER_BLOCK, reduce_scatter_block, reduce_scatterv,
            "reduced at rank 0, then scattered", .n_slots = wf_coll_slot_per_rank,
            .step = reduce_scatterv);
