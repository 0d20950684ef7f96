/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of long data: reduce-scatter by recursive halving, then allgather by recursive
 * doubling, or gather to the root. Rabenseifner, "Optimization of collective reduction
 * operations", 2004; as in MPICH (Thakur, Rabenseifner and Gropp, 2005).
 *
 * The largest power of two in the size takes part; extra ranks send their data to a member
 * first. The data is cut into as many pieces as there are members. In round k of the halving a
 * member exchanges half of its pieces with the member whose number differs in bit k.
 *
 * One difference: in a reduce, MPICH always leaves out the odd ranks of the first pairs. If the
 * root is among them, it replaces rank 0 after the halving, which costs one more message. Here
 * the root is never left out.
 */
#include "model/coll/parts.h"

/* The pieces of a member after k rounds: in each round it keeps the lower or the upper half, by
 * a bit of its number. */
static struct wf_coll_slots after(const struct wf_coll_fold *fold, uint32_t member, uint32_t k)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < k; i++) {
        first += (member >> i & 1) * (fold->power >> (i + 1));
    }
    return wf_coll_range(first, fold->power >> k);
}

static struct wf_coll_step halve(const struct wf_coll_fold *fold, uint32_t member, uint32_t k)
{
    uint32_t other = member ^ (UINT32_C(1) << k);

    return wf_coll_exchange(wf_coll_fold_rank(fold, other), after(fold, other, k + 1),
                            after(fold, member, k + 1), WF_COLL_COMBINE);
}

/* Reverses round k of the halving. */
static struct wf_coll_step doubled(const struct wf_coll_fold *fold, uint32_t member, uint32_t k)
{
    uint32_t other = member ^ (UINT32_C(1) << k);

    return wf_coll_exchange(wf_coll_fold_rank(fold, other), after(fold, member, k + 1),
                            after(fold, other, k + 1), WF_COLL_STORE);
}

/* Likewise, but only towards the root: consider the members that agree with the root in all
 * bits above k. Those that differ from it in bit k send their pieces to the others. */
static struct wf_coll_step gathered(const struct wf_coll_fold *fold, uint32_t member,
                                    uint32_t root, uint32_t k)
{
    struct wf_coll_step out = doubled(fold, member, k);
    uint32_t differs = (member ^ root) >> k;

    if (differs > 1) {
        return wf_coll_idle();
    }
    *(differs == 1 ? &out.recv_from : &out.send_to) = WF_COLL_NOBODY;
    return out;
}

static uint32_t n_slots(const struct wf_coll_args *args)
{
    return wf_coll_fold(args->size, WF_COLL_NOBODY).power;
}

static bool allreduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    struct wf_coll_fold fold = wf_coll_fold(args->size, WF_COLL_NOBODY);
    uint32_t member = wf_coll_fold_member(&fold, args->rank);
    struct wf_coll_slots all = wf_coll_range(0, fold.power);

    if (k > 2 * fold.rounds + 1) {
        return false;
    }
    *out = wf_coll_idle();
    if (k == 0) {
        *out = wf_coll_fold_in(&fold, args->rank, all);
    } else if (k == 2 * fold.rounds + 1) {
        *out = wf_coll_fold_out(&fold, args->rank, all);
    } else if (member != WF_COLL_NOBODY) {
        *out = k <= fold.rounds ? halve(&fold, member, k - 1)
                                : doubled(&fold, member, 2 * fold.rounds - k);
    }
    return true;
}

static bool reduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    struct wf_coll_fold fold = wf_coll_fold(args->size, args->root);
    uint32_t member = wf_coll_fold_member(&fold, args->rank);

    if (k > 2 * fold.rounds) {
        return false;
    }
    *out = wf_coll_idle();
    if (k == 0) {
        *out = wf_coll_fold_in(&fold, args->rank, wf_coll_range(0, fold.power));
    } else if (member != WF_COLL_NOBODY) {
        *out = k <= fold.rounds
                   ? halve(&fold, member, k - 1)
                   : gathered(&fold, member, wf_coll_fold_member(&fold, args->root),
                              2 * fold.rounds - k);
    }
    return true;
}

WF_COLL_OPS(ALLREDUCE, allreduce, rabenseifner,
            "recursive halving, then recursive doubling; for long data", .n_slots = n_slots,
            .step = allreduce);
WF_COLL_OPS(REDUCE, reduce, rabenseifner,
            "recursive halving, then gathered to the root; for long data", .n_slots = n_slots,
            .step = reduce);
