/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collective of GPUs sends through the network, without its order: each rank sends its
 * node's share to the rank of the same number on the next node, all at once. A ring in a pipeline
 * has the same bytes on the same links at the same time; trees have as many on other links.
 * In an alltoall each rank of a node begins with another rank of the next node, as NCCL's schedule
 * of pairs does, so that no rank receives from a whole node at once.
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

enum { AT_ONCE = 32 };

/* The blocks for other nodes: node by node, and by the number of the rank on its node. */
static bool pairs_of_nodes(const struct wf_coll_args *args, uint32_t k,
                           struct wf_coll_step *out)
{
    uint32_t m = wf_coll_node_size(args), nodes = args->size / m;
    uint32_t node = args->rank / m, local = args->rank % m, far = k / m + 1, turn = k % m;

    if (k >= args->size - m) {
        return false;
    }
    *out = wf_coll_idle();
    out->send_to = (node + far) % nodes * m + (local + turn) % m;
    out->recv_from = (node + nodes - far) % nodes * m + (local + m - turn) % m;
    out->send = wf_coll_range(out->send_to, 1);
    out->recv = wf_coll_range(out->recv_from, 1);
    out->go_on = (k + 1) % AT_ONCE != 0;
    return true;
}

/* Not in the list of algorithms: they do not move the data of a collective. */
static const struct wf_coll_ops pairs = {.name = "traffic",
                                         .summary = "Traffic between nodes",
                                         .by_node = true,
                                         .n_slots = wf_coll_slot_per_rank,
                                         .step = pairs_of_nodes};
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
        [WF_COLL_ALLTOALL] = &pairs,
        [WF_COLL_ALLTOALLV] = &pairs,
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
