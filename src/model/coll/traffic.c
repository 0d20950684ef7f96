/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collective of GPUs sends through the network, without its order: each rank sends its
 * node's share to the rank of the same number on the next node, all at once. A ring in a pipeline
 * has the same bytes on the same links at the same time; trees have as many on other links.
 */
#include "base/arith.h"
#include "model/coll/nccl.h"
#include "model/coll/parts.h"

static uint32_t one_slot(const struct wf_coll_args *args)
{
    (void)args;
    return 1;
}

static bool to_next_node(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t m = wf_coll_node_size(args);

    if (k > 0) {
        return false;
    }
    *out = wf_coll_idle();
    out->send_to = wf_coll_above(args->rank, m, args->size);
    out->recv_from = wf_coll_below(args->rank, m, args->size);
    out->send = out->recv = wf_coll_range(0, 1);
    return true;
}

/* Not in the list of algorithms: it does not move the data of a collective. */
static const struct wf_coll_ops ring = {.name = "traffic",
                                        .summary = "Traffic between nodes",
                                        .by_node = true,
                                        .n_slots = one_slot,
                                        .step = to_next_node};

const struct wf_coll_ops *wf_coll_traffic(const struct wf_coll_args *args)
{
    static const struct wf_coll_ops *const ops[WF_COLL_KINDS] = {
        [WF_COLL_ALLREDUCE] = &ring,
        [WF_COLL_ALLGATHER] = &ring,
        [WF_COLL_ALLGATHERV] = &ring,
        [WF_COLL_REDUCE_SCATTER] = &ring,
        [WF_COLL_REDUCE_SCATTER_BLOCK] = &ring,
        [WF_COLL_ALLTOALL] = &wf_coll_alltoall_scattered,
        [WF_COLL_ALLTOALLV] = &wf_coll_alltoallv_scattered,
    };

    return wf_coll_node_size(args) == args->size ? NULL : ops[args->kind];
}

uint64_t wf_coll_traffic_bytes(const struct wf_coll_args *args, uint64_t bytes)
{
    uint64_t m = wf_coll_node_size(args), nodes = args->size / m;
    bool twice = args->kind == WF_COLL_ALLREDUCE && nodes > 2;

    /* Allreduce on two nodes: each half of the data goes up one tree and down the other. */
    if (args->kind != WF_COLL_ALLREDUCE || twice) {
        bytes = bytes / nodes * (nodes - 1);
    }
    bytes /= m;
    return twice ? wf_times_u64(bytes, 2) : bytes;
}
