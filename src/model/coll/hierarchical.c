/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allreduce in three phases, with m ranks on each of N nodes: a reduce-scatter around a ring
 * within each node, an allreduce around a ring of the ranks with the same place on all nodes,
 * which uses one rail, and an allgather within each node. The data is cut into m parts, one for
 * each place, of N pieces each. With one rank on each node this is the ring.
 */
#include "model/coll/parts.h"

struct phases {
    uint32_t local, node; /* place of the rank on its node, and the node */
    uint32_t m, n;        /* ranks on a node, nodes */
};

static struct phases phases_of(const struct wf_coll_args *args)
{
    uint32_t m = wf_coll_node_size(args);

    return (struct phases){args->rank % m, args->rank / m, m, args->size / m};
}

/* Sends the part of the place `back` below, receives that of the place `back` + 1 below. */
static struct wf_coll_step within(const struct phases *at, uint32_t back)
{
    uint32_t first = at->node * at->m;

    return (struct wf_coll_step){
        .send_to = first + wf_coll_above(at->local, 1, at->m),
        .recv_from = first + wf_coll_below(at->local, 1, at->m),
        .send = wf_coll_range(wf_coll_below(at->local, back, at->m) * at->n, at->n),
        .recv = wf_coll_range(wf_coll_below(at->local, back + 1, at->m) * at->n, at->n),
    };
}

/* The same for pieces of the rank's own part, between nodes. */
static struct wf_coll_step between(const struct phases *at, uint32_t back)
{
    uint32_t first = at->local * at->n;

    return (struct wf_coll_step){
        .send_to = wf_coll_above(at->node, 1, at->n) * at->m + at->local,
        .recv_from = wf_coll_below(at->node, 1, at->n) * at->m + at->local,
        .send = wf_coll_range(first + wf_coll_below(at->node, back, at->n), 1),
        .recv = wf_coll_range(first + wf_coll_below(at->node, back + 1, at->n), 1),
    };
}

static bool allreduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    struct phases at = phases_of(args);
    uint32_t inner = at.m - 1, outer = at.n - 1;

    if (k < inner) {
        *out = within(&at, k + 1);
        out->take = WF_COLL_COMBINE;
    } else if (k - inner < outer) {
        *out = between(&at, k - inner + 1);
        out->take = WF_COLL_COMBINE;
    } else if (k - inner < 2 * outer) {
        *out = between(&at, k - inner - outer);
    } else if (k - 2 * outer < 2 * inner) {
        *out = within(&at, k - 2 * outer - inner);
    } else {
        return false;
    }
    return true;
}

WF_COLL_OPS(ALLREDUCE, allreduce, hierarchical,
            "rings within nodes, then between them on each rail, then within nodes",
            .by_node = true, .n_slots = wf_coll_slot_per_rank, .step = allreduce);
