/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a root to all ranks, to a root from all ranks, or both. Linear: the root exchanges one
 * message with every other rank. Open MPI calls these "basic linear"; it posts the receives one
 * after the other, weft posts them all at once. Binomial trees are as in Thakur, Rabenseifner and
 * Gropp, "Optimization of collective communication operations in MPICH", 2005; the k-nomial tree is
 * Open MPI's, whose radix is 4. In a gather or scatter along a tree a message carries the blocks of
 * a whole subtree.
 */
#include "model/coll/parts.h"

enum { BINOMIAL = 2, KNOMIAL = 4 };

#define COPY .whole = true, .n_slots = 1
#define SUM  .up = true, .whole = true, .n_slots = 1, .take = WF_COLL_COMBINE

WF_COLL_PHASES(bcast_linear, {WF_COLL_STAR, args->root, {COPY}})
WF_COLL_PHASES(bcast_binomial, {BINOMIAL, args->root, {COPY}})
WF_COLL_PHASES(bcast_knomial, {KNOMIAL, args->root, {COPY}})
WF_COLL_PHASES(reduce_linear, {WF_COLL_STAR, args->root, {SUM}})
WF_COLL_PHASES(reduce_binomial, {BINOMIAL, args->root, {SUM}})
WF_COLL_PHASES(gather_linear, {WF_COLL_STAR, args->root, {.up = true}})
WF_COLL_PHASES(gather_binomial, {BINOMIAL, args->root, {.up = true, .shift = args->root}})
WF_COLL_PHASES(scatter_linear, {WF_COLL_STAR, args->root, {.up = false}})
WF_COLL_PHASES(scatter_binomial, {BINOMIAL, args->root, {.shift = args->root}})
WF_COLL_PHASES(linear_and_back, {WF_COLL_STAR, 0, {SUM}}, {WF_COLL_STAR, 0, {COPY}})
WF_COLL_PHASES(up_and_down, {BINOMIAL, 0, {SUM}}, {BINOMIAL, 0, {COPY}})

WF_COLL_OPS(BARRIER, barrier, linear, "everybody tells rank 0, which then releases everybody",
            .n_slots = wf_coll_one_slot, .step = linear_and_back);
WF_COLL_OPS(BARRIER, barrier, tree, "up a binomial tree to rank 0 and down again",
            .n_slots = wf_coll_one_slot, .step = up_and_down);
WF_COLL_OPS(BCAST, bcast, linear, "the root sends to everybody", .n_slots = wf_coll_one_slot,
            .step = bcast_linear);
WF_COLL_OPS(BCAST, bcast, binomial, "down a binomial tree", .n_slots = wf_coll_one_slot,
            .step = bcast_binomial);
WF_COLL_OPS(BCAST, bcast, knomial, "down a tree of radix 4", .n_slots = wf_coll_one_slot,
            .step = bcast_knomial);
WF_COLL_OPS(REDUCE, reduce, linear, "everybody sends to the root", .n_slots = wf_coll_one_slot,
            .step = reduce_linear);
WF_COLL_OPS(REDUCE, reduce, binomial, "up a binomial tree", .n_slots = wf_coll_one_slot,
            .step = reduce_binomial);
WF_COLL_OPS(ALLREDUCE, allreduce, linear,
            "everybody sends to rank 0, which sends the result to everybody",
            .n_slots = wf_coll_one_slot, .step = linear_and_back);
WF_COLL_OPS(ALLREDUCE, allreduce, reduce_bcast, "up a binomial tree to rank 0 and down again",
            .n_slots = wf_coll_one_slot, .step = up_and_down);
WF_COLL_OPS(GATHER, gather, linear, "everybody sends to the root",
            .n_slots = wf_coll_slot_per_rank, .step = gather_linear);
WF_COLL_OPS(GATHER, gather, binomial, "up a binomial tree, subtrees in one message",
            .n_slots = wf_coll_slot_per_rank, .step = gather_binomial);
WF_COLL_OPS(GATHERV, gatherv, linear, "everybody sends to the root",
            .n_slots = wf_coll_slot_per_rank, .step = gather_linear);
WF_COLL_OPS(SCATTER, scatter, linear, "the root sends to everybody",
            .n_slots = wf_coll_slot_per_rank, .step = scatter_linear);
WF_COLL_OPS(SCATTER, scatter, binomial, "down a binomial tree, subtrees in one message",
            .n_slots = wf_coll_slot_per_rank, .step = scatter_binomial);
WF_COLL_OPS(SCATTERV, scatterv, linear, "the root sends to everybody",
            .n_slots = wf_coll_slot_per_rank, .step = scatter_linear);
