/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications
 * in multiport message-passing systems", 1997: ceil(log2 n) steps for any n. Rotating the data
 * within a rank, before and after, takes no time.
 */
#include "model/coll/parts.h"

/* Before step k a rank has 2^k blocks, from its own upwards. */
static bool allgather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= wf_coll_log2_up(args->size)) {
        return false;
    }
    uint32_t far = UINT32_C(1) << k;
    uint32_t count = far < args->size - far ? far : args->size - far;
    *out = wf_coll_idle();
    out->send_to = wf_coll_below(args->rank, far, args->size);
    out->recv_from = wf_coll_above(args->rank, far, args->size);
    out->send = wf_coll_range(args->rank, count);
    out->recv = wf_coll_range(out->recv_from, count);
    return true;
}

/* In step k the block for the rank j above moves up by 2^k ranks if bit k of j is set. At
 * every rank it is in slot `rank` + j. */
static bool alltoall(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= wf_coll_log2_up(args->size)) {
        return false;
    }
    uint32_t far = UINT32_C(1) << k;
    *out = (struct wf_coll_step){
        .send_to = wf_coll_above(args->rank, far, args->size),
        .recv_from = wf_coll_below(args->rank, far, args->size),
        .send = {.first = args->rank, .count = args->size, .mask = far},
        .recv = {.first = args->rank, .count = args->size, .mask = far},
        .take = WF_COLL_RELAY,
    };
    return true;
}

WF_COLL_OPS(ALLGATHER, allgather, bruck, "all blocks so far to the rank 2^k below",
            .n_slots = wf_coll_slot_per_rank, .step = allgather);
WF_COLL_OPS(ALLGATHERV, allgatherv, bruck, "all blocks so far to the rank 2^k below",
            .n_slots = wf_coll_slot_per_rank, .step = allgather);
WF_COLL_OPS(ALLTOALL, alltoall, bruck,
            "blocks travel 2^k ranks at a time, n/2 of them together; for short ones",
            .n_slots = wf_coll_slot_per_rank, .step = alltoall);
