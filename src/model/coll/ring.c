/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around a ring: in each of n - 1 steps every rank sends one block to the rank above it, so
 * that the bandwidth is used evenly and no block is sent twice. The allgather is MPICH's
 * (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
 * MPICH", 2005); reduce-scatter and allreduce are in Patarasuk and Yuan, "Bandwidth optimal
 * all-reduce algorithms for clusters of workstations", 2009.
 */
#include "model/coll/parts.h"

/* Sends the block of the rank `back` below, receives that of the rank `back` + 1 below. */
static struct wf_coll_step turn(const struct wf_coll_args *args, uint32_t back,
                                enum wf_coll_take take)
{
    return (struct wf_coll_step){
        .send_to = wf_coll_above(args->rank, 1, args->size),
        .recv_from = wf_coll_below(args->rank, 1, args->size),
        .send = wf_coll_range(wf_coll_below(args->rank, back, args->size), 1),
        .recv = wf_coll_range(wf_coll_below(args->rank, back + 1, args->size), 1),
        .take = take,
    };
}

static bool allgather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= args->size - 1) {
        return false;
    }
    *out = turn(args, k, WF_COLL_STORE);
    return true;
}

/* The sum of a block starts at the rank above its owner and ends at the owner. */
static bool reduce_scatter(const struct wf_coll_args *args, uint32_t k,
                           struct wf_coll_step *out)
{
    if (k >= args->size - 1) {
        return false;
    }
    *out = turn(args, k + 1, WF_COLL_COMBINE);
    return true;
}

/* The second turn around the ring starts with the block whose sum was completed last. */
static bool allreduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t n = args->size - 1;

    if (k >= 2 * n) {
        return false;
    }
    *out = k < n ? turn(args, k + 1, WF_COLL_COMBINE) : turn(args, k - n, WF_COLL_STORE);
    return true;
}

WF_COLL_OPS(ALLREDUCE, allreduce, ring,
            "reduce-scatter and allgather around a ring; for long data",
            .n_slots = wf_coll_slot_per_rank, .step = allreduce);
WF_COLL_OPS(ALLGATHER, allgather, ring, "n - 1 blocks around a ring",
            .n_slots = wf_coll_slot_per_rank, .step = allgather);
WF_COLL_OPS(ALLGATHERV, allgatherv, ring, "n - 1 blocks around a ring",
            .n_slots = wf_coll_slot_per_rank, .step = allgather);
WF_COLL_OPS(REDUCE_SCATTER, reduce_scatter, ring, "the sums go around a ring",
            .n_slots = wf_coll_slot_per_rank, .step = reduce_scatter);
WF_COLL_OPS(REDUCE_SCATTER_BLOCK, reduce_scatter_block, ring, "the sums go around a ring",
            .n_slots = wf_coll_slot_per_rank, .step = reduce_scatter);
