/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/collective.h"

#include "mpilib/memory.h"
#include "mpilib/neighbor.h"

#include <stdlib.h>

/* Whether only the root looks at this side. */
static bool is_for_root(const struct wl_coll *coll, const struct wl_side *side)
{
    return !coll->view.inter && coll->view.rank != coll->root &&
           ((coll->kind == WL_GATHER && side == &coll->recv) ||
            (coll->kind == WL_SCATTER && side == &coll->send));
}

static void find_type(const struct wl_coll *coll, struct wl_side *side)
{
    if (side->type == NULL && side->handle != 0 && !wl_in_place(side) &&
        !is_for_root(coll, side)) {
        side->type = wl_type_of(coll->rank, side->handle, coll->function);
    }
}

/* The elements of all blocks of a reduce_scatter. */
static size_t count_all(const struct wl_coll *coll)
{
    uint32_t size = coll->view.size;
    size_t n = 0;

    for (uint32_t i = 0; coll->recv.counts != NULL && i < size; i++) {
        n += (size_t)coll->recv.counts[i];
    }
    return coll->recv.counts != NULL ? n : size * coll->recv.count;
}

static void prepare(struct wl_coll *coll)
{
    struct wl_rank *rank = coll->rank;

    coll->view = wl_comm_of(rank, coll->comm, coll->function);
    if (coll->view.inter) {
        wl_inter_prepare(coll);
    } else if (coll->root >= coll->view.comm->size) {
        wl_fatal(rank, coll->function, "there is no root %d in a communicator of %u",
                 (int)coll->root, coll->view.comm->size);
    }
    find_type(coll, &coll->send);
    find_type(coll, &coll->recv);
    if (coll->reduce_op != 0) {
        const struct wl_side *side = coll->recv.type != NULL ? &coll->recv : &coll->send;
        coll->reduction = (struct wl_reduction){
            wl_op_of(rank, coll->reduce_op, coll->function), side->type, side->handle,
            coll->kind == WL_REDUCE_SCATTER ? count_all(coll) : side->count};
    }
    if (coll->kind >= WL_NEIGHBOR_ALLGATHER) {
        wl_neighbors(rank, &coll->view, coll);
    }
}

/* The simulation says that the call is complete. */
static void finish(const struct wl_coll *coll)
{
    if (coll->meeting != NULL) {
        if (wl_coll_kinds[coll->kind].gets(coll)) {
            wl_coll_kinds[coll->kind].take(coll);
        }
        wl_meeting_leave(coll->view.comm, coll->meeting);
    }
    free((void *)(uintptr_t)coll->sources);
    free((void *)(uintptr_t)coll->destinations);
}

/* ---- calls that do not wait ---- */

static void hold_side(const struct wl_coll *coll, struct wl_side *side, uint32_t n)
{
    if (side->type != NULL) {
        wl_type_hold(side->type);
    }
    if (side->types != NULL && !wl_in_place(side)) {
        side->held = wl_malloc(n * sizeof(struct wl_type *));
        side->n_held = n;
        for (uint32_t i = 0; i < n; i++) {
            side->held[i] = wl_type_of(coll->rank, side->types[i], coll->function);
            wl_type_hold(side->held[i]);
        }
    }
}

/* The program may free datatypes and operations before the call is complete. */
static void hold(struct wl_coll *coll)
{
    bool neighbors = coll->kind >= WL_NEIGHBOR_ALLGATHER;

    hold_side(coll, &coll->send, neighbors ? coll->n_destinations : coll->view.n_peers);
    hold_side(coll, &coll->recv, neighbors ? coll->n_sources : coll->view.n_peers);
    if (coll->reduction.op != NULL) {
        coll->held_op = *coll->reduction.op;
        coll->reduction.op = &coll->held_op;
    }
}

static void release_side(const struct wl_side *side)
{
    wl_type_release(side->type);
    for (uint32_t i = 0; i < side->n_held; i++) {
        wl_type_release(side->held[i]);
    }
    free((void *)side->held);
}

static void deliver(struct wl_rank *rank, void *own)
{
    const struct wl_coll *coll = own;

    (void)rank;
    finish(coll);
    release_side(&coll->send);
    release_side(&coll->recv);
}

static struct wf_op make_op(struct wl_coll *coll)
{
    struct wf_op op = {.kind = coll->op,
                       .comm = coll->view.number,
                       .root = coll->root,
                       .sources = coll->sources,
                       .destinations = coll->destinations,
                       .n_sources = coll->n_sources,
                       .n_destinations = coll->n_destinations};

    if (coll->view.inter) {
        wl_inter_measure(coll, &op);
    } else if (wl_coll_kinds[coll->kind].measure != NULL) {
        wl_coll_kinds[coll->kind].measure(coll, &op);
    }
    return op;
}

static void free_vectors(const struct wf_op *op)
{
    free((void *)(uintptr_t)op->counts);
    free((void *)(uintptr_t)op->recv_counts);
}

/* The kinds of the nonblocking twins come in the same order as the others. */
static enum wf_op_kind twin(enum wf_op_kind kind)
{
    return (enum wf_op_kind)((int)kind - (int)WF_OP_BARRIER + (int)WF_OP_IBARRIER);
}

static void begin(struct wl_coll *coll)
{
    if (wl_coll_kinds[coll->kind].gets != NULL) {
        coll->meeting = wl_meeting_come(coll->view.comm, (*coll->view.sequence)++);
        if (wl_coll_kinds[coll->kind].bring != NULL) {
            wl_coll_kinds[coll->kind].bring(coll);
        }
    }
}

int wl_coll(struct wl_coll *coll, MPI_Request *handle)
{
    coll->rank = wl_enter();
    prepare(coll);
    begin(coll);

    struct wf_op op = make_op(coll);
    if (handle != NULL) {
        struct wl_request *request = wl_request_new(coll->rank, WL_REQUEST_COLL, handle);
        struct wl_coll *own = wl_malloc(sizeof(*own));
        *own = *coll;
        hold(own);
        request->active = true;
        request->own = own;
        request->deliver = deliver;
        op.kind = twin(op.kind);
        op.request = request->number;
        wl_post(coll->rank, &op);
    } else {
        if (coll->meeting != NULL && wl_coll_kinds[coll->kind].gets(coll)) {
            (void)wl_call(coll->rank, &op);
        } else {
            wl_post(coll->rank, &op);
        }
        finish(coll);
    }
    free_vectors(&op);
    wl_leave(coll->rank);
    return MPI_SUCCESS;
}
