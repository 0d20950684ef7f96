/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications
 * in multiport message-passing systems", 1997: ceil(log2 n) steps for any n. The rotations of
 * the data before and after are within a rank and take no time.
 */
#include "coll/coll.h"
#include "coll/parts.h"

/* Everybody has the blocks from its own on, twice as many after each step. */
static bool allgather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t far, count;

    if (k >= wf_coll_log2_up(args->size)) {
        return false;
    }
    far = UINT32_C(1) << k;
    count = far < args->size - far ? far : args->size - far;
    *out = wf_coll_idle();
    out->send_to = wf_coll_below(args->rank, far, args->size);
    out->recv_from = wf_coll_above(args->rank, far, args->size);
    out->send = wf_coll_range(args->rank, count);
    out->recv = wf_coll_range(out->recv_from, count);
    return true;
}

/* A block that has to go j ranks up goes 2^k of them in step k if j has that bit, together with
 * all others. At every rank it is in the j-th slot from the rank's own on. */
static bool alltoall(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t far;

    if (k >= wf_coll_log2_up(args->size)) {
        return false;
    }
    far = UINT32_C(1) << k;
    *out = (struct wf_coll_step){
        .send_to = wf_coll_above(args->rank, far, args->size),
        .recv_from = wf_coll_below(args->rank, far, args->size),
        .send = {.first = args->rank, .count = args->size, .mask = far},
        .recv = {.first = args->rank, .count = args->size, .mask = far},
        .take = WF_COLL_RELAY,
    };
    return true;
}

const struct wf_coll_ops wf_coll_allgather_bruck = {
    .name = "bruck",
    .summary = "all blocks so far to the rank 2^k below",
    .kind = WF_COLL_ALLGATHER,
    .applies = wf_coll_always,
    .n_slots = wf_coll_slot_per_rank,
    .step = allgather,
};

const struct wf_coll_ops wf_coll_allgatherv_bruck = {
    .name = "bruck",
    .summary = "all blocks so far to the rank 2^k below",
    .kind = WF_COLL_ALLGATHERV,
    .applies = wf_coll_always,
    .n_slots = wf_coll_slot_per_rank,
    .step = allgather,
};

const struct wf_coll_ops wf_coll_alltoall_bruck = {
    .name = "bruck",
    .summary = "blocks travel 2^k ranks at a time, n/2 of them together; for short ones",
    .kind = WF_COLL_ALLTOALL,
    .applies = wf_coll_always,
    .n_slots = wf_coll_slot_per_rank,
    .step = alltoall,
};
