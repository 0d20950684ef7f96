/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives between the two groups of an intercommunicator. In simulated time they are
 * neighborhood collectives: a message from each member that has data to each that gets it. An
 * allreduce or a reduce-scatter is an allreduce of both groups together, because a member does
 * not know what the others need.
 */
#include "mpi/lib/coll/collective.h"
#include "mpi/lib/memory.h"

static bool has_root(const struct wl_collective *coll)
{
    return coll->kind == WL_BCAST || coll->kind == WL_GATHER || coll->kind == WL_SCATTER ||
           coll->kind == WL_REDUCE;
}

static void find_root(struct wl_collective *coll)
{
    int given = (int)coll->root;

    if (given == MPI_ROOT) {
        coll->root = coll->view.rank;
    } else if (given == MPI_PROC_NULL) {
        coll->root = WL_NO_ROOT;
    } else if (given >= 0 && (uint32_t)given < coll->view.n_peers) {
        coll->root = coll->view.peers + (uint32_t)given;
    } else {
        wl_fatal(coll->rank, "there is no root %d in a remote group of %u ranks", given,
                 coll->view.n_peers);
    }
}

void wl_intercomm_prepare(struct wl_collective *coll)
{
    static const struct wl_side nothing = {.buffer = NULL};

    if (coll->kind >= WL_SCAN) {
        wl_fatal(coll->rank, "MPI does not define this collective for intercommunicators");
    }
    if (!has_root(coll)) {
        return;
    }
    find_root(coll);
    bool root = coll->root == coll->view.rank, none = coll->root == WL_NO_ROOT;
    if (none || (coll->kind == WL_GATHER && root) || (coll->kind == WL_SCATTER && !root)) {
        coll->send = nothing;
    }
    if (none || (coll->kind == WL_GATHER && !root) || (coll->kind == WL_SCATTER && root)) {
        coll->recv = nothing;
    }
    if (none) {
        coll->reduce_op = 0;
    }
}

/* The members that this one sends to or receives from, and how many bytes. */
struct partners {
    uint32_t n;
    uint32_t *members;
    uint64_t *bytes;
};

/* The bytes for or from peer i. */
static uint64_t bytes_for(const struct wl_collective *coll, bool out, uint32_t i)
{
    bool one_block =
        out ? coll->kind == WL_GATHER || coll->kind == WL_ALLGATHER : coll->kind == WL_SCATTER;

    if (coll->kind == WL_REDUCE) {
        return coll->reduction.count * coll->reduction.type->size;
    }
    if (coll->kind == WL_BCAST) {
        return wl_side_bytes(coll, &coll->send, 0);
    }
    return wl_side_bytes(coll, out ? &coll->send : &coll->recv, one_block ? 0 : i);
}

static struct partners partners_of(const struct wl_collective *coll, bool out)
{
    bool root = coll->root == coll->view.rank;
    bool from_root = coll->kind == WL_BCAST || coll->kind == WL_SCATTER;
    struct partners partners = {.n = coll->view.n_peers};

    if (has_root(coll)) {
        bool takes_part = coll->root != WL_NO_ROOT && (from_root == out) == root;
        partners.n = !takes_part ? 0 : root ? coll->view.n_peers : 1;
    }
    bool one = has_root(coll) && !root;
    partners.members = wl_malloc(partners.n * sizeof(uint32_t));
    partners.bytes = wl_malloc(partners.n * sizeof(uint64_t));
    for (uint32_t i = 0; i < partners.n; i++) {
        partners.members[i] = one ? coll->root : coll->view.peers + i;
        partners.bytes[i] = bytes_for(coll, out, i);
    }
    return partners;
}

/* Both lists of an op have the same length: fills up with zeros. */
static uint64_t *lengthen(uint64_t *list, uint32_t n, uint32_t to)
{
    list = wl_realloc(list, to, sizeof(uint64_t));
    for (uint32_t i = n; i < to; i++) {
        list[i] = 0;
    }
    return list;
}

void wl_intercomm_measure(struct wl_collective *coll, struct wf_op *op)
{
    if (coll->kind == WL_BARRIER) {
        return;
    }
    if (coll->kind == WL_ALLREDUCE || coll->kind == WL_REDUCE_SCATTER) {
        op->kind = WF_OP_ALLREDUCE;
        op->bytes = coll->reduction.count * coll->reduction.type->size;
        return;
    }
    struct partners out = partners_of(coll, true), in = partners_of(coll, false);
    op->kind = WF_OP_NEIGHBOR_ALLTOALLV;
    op->root = 0;
    op->count = out.n > in.n ? out.n : in.n;
    op->counts = lengthen(out.bytes, out.n, op->count);
    op->recv_counts = lengthen(in.bytes, in.n, op->count);
    op->destinations = coll->destinations = out.members;
    op->sources = coll->sources = in.members;
    op->n_destinations = coll->n_destinations = out.n;
    op->n_sources = coll->n_sources = in.n;
}
