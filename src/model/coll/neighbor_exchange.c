/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chen, Zhang, Yuan and others, "Performance evaluation of allgather algorithms on terascale
 * Linux cluster with fast Ethernet", 2005; as in Open MPI. For even sizes: in n / 2 steps a
 * rank exchanges data with its two neighbours in turn, two blocks at a time after the first
 * step.
 */
#include "model/coll/parts.h"

/* The pair of blocks that a rank gets in step k. Counted from the rank's own pair, around the
 * ring of pairs, it is 0, -1, 1, -2, 2, ... for even ranks and 0, 1, -1, 2, -2, ... for odd
 * ones. */
static uint32_t pair_in_step(const struct wf_coll_args *args, uint32_t k)
{
    uint32_t pairs = args->size / 2;
    bool downwards = (k % 2 == 1) == (args->rank % 2 == 0);
    uint32_t away = (k + 1) / 2;

    return downwards ? wf_coll_below(args->rank / 2, away, pairs)
                     : wf_coll_above(args->rank / 2, away, pairs);
}

static bool step(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    bool downwards = (k % 2 == 1) == (args->rank % 2 == 0);
    uint32_t other = downwards ? wf_coll_below(args->rank, 1, args->size)
                               : wf_coll_above(args->rank, 1, args->size);

    if (k >= args->size / 2) {
        return false;
    }
    *out = k == 0
               ? wf_coll_exchange(other, wf_coll_range(args->rank, 1), wf_coll_range(other, 1),
                                  WF_COLL_STORE)
               : wf_coll_exchange(other, wf_coll_range(2 * pair_in_step(args, k - 1), 2),
                                  wf_coll_range(2 * pair_in_step(args, k), 2), WF_COLL_STORE);
    return true;
}

WF_COLL_OPS(ALLGATHER, allgather, neighbor_exchange,
            "with the neighbours in turn, two blocks at a time; even sizes",
            .applies = wf_coll_if_even, .n_slots = wf_coll_slot_per_rank, .step = step);
WF_COLL_OPS(ALLGATHERV, allgatherv, neighbor_exchange,
            "with the neighbours in turn, two blocks at a time; even sizes",
            .applies = wf_coll_if_even, .n_slots = wf_coll_slot_per_rank, .step = step);
