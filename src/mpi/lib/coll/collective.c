/* SPDX-License-Identifier: Apache-2.0 */
/* How a collective is performed; coll/data.c says what each kind does. */
#include "mpi/lib/coll/collective.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/comm/topology.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>

/* Whether only the root uses this side. */
static bool is_for_root(const struct wl_collective *coll, const struct wl_side *side)
{
    return !coll->view.inter && coll->view.rank != coll->root &&
           ((coll->kind == WL_GATHER && side == &coll->recv) ||
            (coll->kind == WL_SCATTER && side == &coll->send));
}

static void find_type(const struct wl_collective *coll, struct wl_side *side)
{
    if (side->type == NULL && side->handle != 0 && !wl_in_place(side) &&
        !is_for_root(coll, side)) {
        side->type = wl_type_of(coll->rank, side->handle);
    }
}

/* The elements of all blocks of a reduce-scatter. */
static size_t count_all(const struct wl_collective *coll)
{
    uint32_t size = coll->view.size;
    size_t n = 0;

    for (uint32_t i = 0; i < size; i++) {
        n += wl_side_count(&coll->recv, i);
    }
    return n;
}

static void prepare(struct wl_collective *coll)
{
    struct wl_rank *rank = coll->rank;

    coll->view = wl_comm_of(rank, coll->comm);
    if (!wl_checks() && wl_collective_ops[coll->kind].fits != NULL &&
        wl_errors_return(rank, coll->comm)) {
        coll->errors_of = coll->comm;
    }
    if (coll->view.inter) {
        wl_intercomm_prepare(coll);
    } else if (coll->root >= coll->view.comm->size) {
        wl_fatal(rank, "there is no root %d in a communicator of %u ranks", (int)coll->root,
                 coll->view.comm->size);
    }
    find_type(coll, &coll->send);
    find_type(coll, &coll->recv);
    if (coll->reduce_op != 0) {
        const struct wl_side *side = coll->recv.type != NULL ? &coll->recv : &coll->send;
        coll->reduction = (struct wl_reduction){
            wl_op_of(rank, coll->reduce_op), side->type, side->handle,
            coll->kind == WL_REDUCE_SCATTER ? count_all(coll) : side->count};
    }
    if (coll->kind >= WL_NEIGHBOR_ALLGATHER) {
        wl_topology_neighbors(coll);
    }
}

/* The call is complete in simulated time. */
static int finish(const struct wl_collective *coll)
{
    const struct wl_collective_ops *ops = &wl_collective_ops[coll->kind];
    bool fits = true;

    if (coll->exchange != NULL) {
        if (ops->takes(coll)) {
            fits = coll->errors_of == 0 || ops->fits(coll);
            if (fits) {
                ops->take(coll);
            }
        }
        wl_exchange_leave(coll->view.comm, coll->exchange);
    }
    return fits ? MPI_SUCCESS
                : wl_error(coll->rank, coll->errors_of, MPI_ERR_TRUNCATE,
                           "another member calls it with another size");
}

static void free_neighbors(const struct wl_collective *coll)
{
    free((void *)(uintptr_t)coll->sources);
    free((void *)(uintptr_t)coll->destinations);
}

/* ---- nonblocking calls ---- */

static void hold_side(const struct wl_collective *coll, struct wl_side *side, uint32_t n)
{
    if (side->type != NULL) {
        wl_type_hold(side->type);
    }
    if (side->types != NULL && !wl_in_place(side)) {
        side->held = wl_malloc(n * sizeof(struct wl_type *));
        side->n_held = n;
        for (uint32_t i = 0; i < n; i++) {
            side->held[i] = wl_type_of(coll->rank, side->types[i]);
            wl_type_hold(side->held[i]);
        }
    }
}

/* The program may free datatypes and operations before the call is complete. */
static void hold(struct wl_collective *coll)
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

static void release(const struct wl_collective *coll)
{
    free_neighbors(coll);
    release_side(&coll->send);
    release_side(&coll->recv);
}

static int deliver_persistent(struct wl_rank *rank, void *own)
{
    const struct wl_collective *coll = own;

    if (wl_orders()) {
        wl_order_met(rank, coll->meeting);
    }
    return finish(coll);
}

static int deliver(struct wl_rank *rank, void *own)
{
    const struct wl_collective *coll = own;
    int code = deliver_persistent(rank, own);

    release(coll);
    return code;
}

static struct wf_op make_op(struct wl_collective *coll)
{
    struct wf_op op = {.kind = coll->op,
                       .comm = coll->view.number,
                       .root = coll->root,
                       .sources = coll->sources,
                       .destinations = coll->destinations,
                       .n_sources = coll->n_sources,
                       .n_destinations = coll->n_destinations,
                       .any_sizes = coll->errors_of != 0};

    if (coll->view.inter) {
        wl_intercomm_measure(coll, &op);
    } else if (wl_collective_ops[coll->kind].measure != NULL) {
        wl_collective_ops[coll->kind].measure(coll, &op);
    }
    return op;
}

/* Nonblocking kinds come in the same order as blocking ones. */
static enum wf_op_kind nonblocking(enum wf_op_kind kind)
{
    return (enum wf_op_kind)((int)kind - (int)WF_OP_BARRIER + (int)WF_OP_IBARRIER);
}

static void begin(struct wl_collective *coll)
{
    if (wl_collective_ops[coll->kind].takes != NULL) {
        coll->exchange = wl_exchange_join(coll->view.comm, (*coll->view.sequence)++);
        if (wl_collective_ops[coll->kind].put != NULL) {
            wl_collective_ops[coll->kind].put(coll);
        }
    }
}

static void free_op(const struct wf_op *op)
{
    free((void *)(uintptr_t)op->counts);
    free((void *)(uintptr_t)op->recv_counts);
}

/* A copy that outlives the call. */
static struct wl_collective *keep(const struct wl_collective *coll)
{
    struct wl_collective *own = wl_malloc(sizeof(*own));

    *own = *coll;
    hold(own);
    return own;
}

static void post_nonblocking(struct wl_collective *coll, uint32_t number)
{
    struct wf_op op = make_op(coll);

    op.kind = nonblocking(op.kind);
    op.request = number;
    wl_post(coll->rank, &op);
    free_op(&op);
}

static int perform(struct wl_collective *coll)
{
    struct wf_op op = make_op(coll);

    if (wl_orders() || (coll->exchange != NULL && wl_collective_ops[coll->kind].takes(coll))) {
        (void)wl_call(coll->rank, &op);
    } else {
        wl_post(coll->rank, &op);
    }
    if (op.kind == WF_OP_BARRIER || op.kind == WF_OP_ALLREDUCE || op.kind == WF_OP_ALLGATHER) {
        wl_check_synchronized(coll->rank, coll->view.comm);
    }
    int code = finish(coll);
    free_neighbors(coll);
    free_op(&op);
    return code;
}

int wl_collective(struct wl_rank *rank, struct wl_collective *coll, MPI_Request *handle)
{
    coll->rank = rank;
    coll->caller = wl_caller_of(rank);
    prepare(coll);
    if (wl_checks()) {
        wl_check_collective(rank, &coll->view, coll);
    }
    if (wl_orders()) {
        coll->meeting = wl_order_meets(rank, &coll->view, coll, handle == NULL);
    }
    begin(coll);
    if (handle != NULL) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_COLL, handle);
        if (wl_checks()) {
            wl_check_collective_buffers(rank, coll, &request->uses);
        }
        request->own = keep(coll);
        request->deliver = deliver;
        post_nonblocking(request->own, request->number);
    } else {
        if (wl_checks()) {
            wl_check_collective_buffers(rank, coll, NULL);
        }
        return perform(coll);
    }
    return MPI_SUCCESS;
}

/* ---- persistent collectives (MPI-4.0, 6.13) ---- */

/* Members may start their persistent collectives in any order. So each has a communicator of
 * its own, which the initialization creates. */
int wl_collective_init(struct wl_rank *rank, struct wl_collective *coll, MPI_Request *handle)
{
    coll->rank = rank;
    prepare(coll);

    struct wl_view parent = coll->view;
    MPI_Comm own =
        wl_comm_split(rank, &parent, &(struct wl_split_args){.color = 0, .inter = parent.inter},
                      WF_OP_COMM_DUP);
    coll->comm = own;
    coll->view = wl_comm_of(rank, own);
    struct wl_request *request = wl_persistent_new(rank, WL_REQUEST_COLL, handle);
    request->own = keep(coll);
    request->deliver = deliver_persistent;
    return MPI_SUCCESS;
}

void wl_collective_start(struct wl_request *request)
{
    struct wl_collective *coll = request->own;

    coll->caller = wl_caller_of(coll->rank);
    if (wl_checks()) {
        wl_check_collective_buffers(coll->rank, coll, &request->uses);
    }
    if (wl_orders()) {
        coll->meeting = wl_order_meets(coll->rank, &coll->view, coll, false);
    }
    begin(coll);
    post_nonblocking(coll, request->number);
}

void wl_collective_free(struct wl_request *request)
{
    struct wl_collective *coll = request->own;

    release(coll);
    (void)wl_MPI_Comm_free(coll->rank, &coll->comm);
}
