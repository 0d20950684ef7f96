/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduce-scatter by recursive halving, as in Thakur, Rabenseifner and Gropp, "Optimization of
 * collective communication operations in MPICH", 2005, for commutative operations. The largest
 * power of two in the size takes part; each extra rank, the even one of a pair, sends its data
 * to the odd one first and gets its block from it at the end.
 */
#include "model/coll/parts.h"

/* The first block of a member. The first members have two blocks, one for the extra rank. */
static uint32_t first_block(const struct wf_coll_fold *fold, uint32_t member)
{
    return member < fold->extra ? 2 * member : member + fold->extra;
}

/* The blocks of the aligned group of `n` members that contains this member; n is a power of
 * two. */
static struct wf_coll_slots blocks(const struct wf_coll_fold *fold, uint32_t member, uint32_t n)
{
    uint32_t begin = first_block(fold, member & ~(n - 1));

    return wf_coll_range(begin, first_block(fold, (member & ~(n - 1)) + n) - begin);
}

static bool step(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    struct wf_coll_fold fold = wf_coll_fold(args->size, WF_COLL_NOBODY);
    uint32_t member = wf_coll_fold_member(&fold, args->rank);

    if (k > fold.rounds + 1) {
        return false;
    }
    *out = wf_coll_idle();
    if (k == 0) {
        *out = wf_coll_fold_in(&fold, args->rank, wf_coll_range(0, args->size));
    } else if (k == fold.rounds + 1) {
        *out = wf_coll_fold_out(&fold, args->rank, wf_coll_range(args->rank & ~UINT32_C(1), 1));
    } else if (member != WF_COLL_NOBODY) {
        uint32_t half = fold.power >> k;
        *out = wf_coll_exchange(wf_coll_fold_rank(&fold, member ^ half),
                                blocks(&fold, member ^ half, half), blocks(&fold, member, half),
                                WF_COLL_COMBINE);
    }
    return true;
}

WF_COLL_OPS(REDUCE_SCATTER, reduce_scatter, recursive_halving,
            "half of what is left to partners n/2, n/4, ... away",
            .n_slots = wf_coll_slot_per_rank, .step = step);
WF_COLL_OPS(REDUCE_SCATTER_BLOCK, reduce_scatter_block, recursive_halving,
            "half of what is left to partners n/2, n/4, ... away",
            .n_slots = wf_coll_slot_per_rank, .step = step);
