/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives between the two groups of an intercommunicator. In simulated time they are what
 * they mean: a message from each that has something to each that gets it, as in a collective of
 * neighbours. Where all reduce, who gets what cannot be known by those who send: it is an
 * allreduce of both groups together.
 */
#include "mpilib/collective.h"
#include "mpilib/memory.h"

static bool has_root(const struct wl_coll *coll)
{
    return coll->kind == WL_BCAST || coll->kind == WL_GATHER || coll->kind == WL_SCATTER ||
           coll->kind == WL_REDUCE;
}

static void find_root(struct wl_coll *coll)
{
    int said = (int)coll->root;

    if (said == MPI_ROOT) {
        coll->root = coll->view.rank;
    } else if (said == MPI_PROC_NULL) {
        coll->root = WL_NO_ROOT;
    } else if (said >= 0 && (uint32_t)said < coll->view.n_peers) {
        coll->root = coll->view.peers + (uint32_t)said;
    } else {
        wl_fatal(coll->rank, coll->function, "there is no root %d in a remote group of %u",
                 said, coll->view.n_peers);
    }
}

/* What does not concern this member is as if it had not said it. */
void wl_inter_prepare(struct wl_coll *coll)
{
    static const struct wl_side nothing = {.buffer = NULL};

    if (coll->kind >= WL_SCAN) {
        wl_fatal(coll->rank, coll->function, "MPI has it for no intercommunicator");
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

/* The members that it sends to or receives from, and what. */
struct partners {
    uint32_t n;
    uint32_t *members;
    uint64_t *bytes;
};

/* What goes to one of them, or comes from it. */
static uint64_t bytes_for(const struct wl_coll *coll, bool out, uint32_t i)
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

static struct partners partners_of(const struct wl_coll *coll, bool out)
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

/* Ops have one length for both lists of bytes. */
static uint64_t *lengthen(uint64_t *list, uint32_t n, uint32_t to)
{
    list = wl_realloc(list, to, sizeof(uint64_t));
    for (uint32_t i = n; i < to; i++) {
        list[i] = 0;
    }
    return list;
}

void wl_inter_measure(struct wl_coll *coll, struct wf_op *op)
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
