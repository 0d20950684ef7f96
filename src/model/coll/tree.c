/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binomial trees, as in Thakur, Rabenseifner and Gropp, "Optimization of collective
 * communication operations in MPICH", 2005; the k-nomial tree is Open MPI's, whose radix is 4.
 * In a gather or scatter a message carries the blocks of a whole subtree.
 */
#include "model/coll/parts.h"

enum { BINOMIAL = 2, KNOMIAL = 4 };

static bool once(const struct wf_coll_args *args, uint32_t radix, uint32_t k,
                 const struct wf_coll_flow *flow, struct wf_coll_step *out)
{
    struct wf_coll_tree tree = wf_coll_tree(args, args->root, radix);

    if (k >= wf_coll_tree_steps(&tree)) {
        return false;
    }
    *out = wf_coll_tree_step(&tree, k, flow);
    return true;
}

static bool up_and_down(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    static const struct wf_coll_flow up = {
        .up = true, .whole = true, .n_slots = 1, .take = WF_COLL_COMBINE};
    static const struct wf_coll_flow down = {.whole = true, .n_slots = 1};
    struct wf_coll_tree tree = wf_coll_tree(args, 0, BINOMIAL);
    uint32_t half = wf_coll_tree_steps(&tree);

    if (k >= 2 * half) {
        return false;
    }
    *out =
        k < half ? wf_coll_tree_step(&tree, k, &up) : wf_coll_tree_step(&tree, k - half, &down);
    return true;
}

static bool bcast(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, BINOMIAL, k, &(struct wf_coll_flow){.whole = true, .n_slots = 1}, out);
}

static bool knomial(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, KNOMIAL, k, &(struct wf_coll_flow){.whole = true, .n_slots = 1}, out);
}

static bool reduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    static const struct wf_coll_flow flow = {
        .up = true, .whole = true, .n_slots = 1, .take = WF_COLL_COMBINE};

    return once(args, BINOMIAL, k, &flow, out);
}

static bool gather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, BINOMIAL, k, &(struct wf_coll_flow){.up = true, .shift = args->root},
                out);
}

static bool scatter(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, BINOMIAL, k, &(struct wf_coll_flow){.shift = args->root}, out);
}

WF_COLL_OPS(BARRIER, barrier, tree, "up a binomial tree to rank 0 and down again",
            .n_slots = wf_coll_one_slot, .step = up_and_down);
WF_COLL_OPS(BCAST, bcast, binomial, "down a binomial tree", .n_slots = wf_coll_one_slot,
            .step = bcast);
WF_COLL_OPS(BCAST, bcast, knomial, "down a tree of radix 4", .n_slots = wf_coll_one_slot,
            .step = knomial);
WF_COLL_OPS(REDUCE, reduce, binomial, "up a binomial tree", .n_slots = wf_coll_one_slot,
            .step = reduce);
WF_COLL_OPS(ALLREDUCE, allreduce, reduce_bcast, "up a binomial tree to rank 0 and down again",
            .n_slots = wf_coll_one_slot, .step = up_and_down);
WF_COLL_OPS(GATHER, gather, binomial, "up a binomial tree, subtrees in one message",
            .n_slots = wf_coll_slot_per_rank, .step = gather);
WF_COLL_OPS(SCATTER, scatter, binomial, "down a binomial tree, subtrees in one message",
            .n_slots = wf_coll_slot_per_rank, .step = scatter);
