/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rank sends its block to rank 0, which broadcasts all blocks down a binomial tree, like
 * Open MPI's "linear" allgather and "default" allgatherv. These use whatever gather and
 * broadcast the other rules of Open MPI choose.
 */
#include "model/coll/parts.h"

static bool step(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    static const struct wf_coll_flow up = {.up = true};
    const struct wf_coll_flow down = {.whole = true, .n_slots = args->size};
    uint32_t n_up = wf_coll_star_steps(args, 0);
    struct wf_coll_tree tree = wf_coll_tree(args, 0, 2);

    if (k >= n_up + wf_coll_tree_steps(&tree)) {
        return false;
    }
    *out = k < n_up ? wf_coll_star_step(args, 0, k, &up)
                    : wf_coll_tree_step(&tree, k - n_up, &down);
    return true;
}

WF_COLL_OPS(ALLGATHER, allgather, gather_bcast, "gathered at rank 0, then broadcast",
            .n_slots = wf_coll_slot_per_rank, .step = step);
WF_COLL_OPS(ALLGATHERV, allgatherv, gather_bcast, "gathered at rank 0, then broadcast",
            .n_slots = wf_coll_slot_per_rank, .step = step);
