/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Collectives (MPI-4.0, 6 and 8.6): which data each member puts and which it takes; the
 * simulation computes what they cost. One description serves the blocking, the nonblocking and the
 * persistent function; bindings/generate.py fills it in from the arguments of the MPI function.
 */

#include "mpi/lib/coll/exchange.h"
#include "mpi/lib/coll/reduction.h"
#include "mpi/lib/p2p/request.h"

/* The send or receive buffer of a collective: `count` elements for each member, or counts[i] of
 * them at displs[i] for member i. With `types` (alltoallw) each member has a type of its own,
 * and displacements are in bytes. */
struct wl_side {
    void *buffer;
    size_t count;
    const int *counts, *displs;
    /* Of functions with large counts, and of some neighborhood collectives: in their place. */
    const MPI_Count *wide_counts;
    const MPI_Aint *wide_displs;
    MPI_Datatype handle;
    const struct wl_type *type;
    const MPI_Datatype *types;
    /* Of a nonblocking call: `types`, held because the program may free them. Allocated. */
    const struct wl_type **held;
    uint32_t n_held;
};

enum wl_collective_kind {
    WL_BARRIER,
    WL_BCAST,
    WL_GATHER,
    WL_SCATTER,
    WL_ALLGATHER,
    WL_ALLTOALL,
    WL_REDUCE,
    WL_ALLREDUCE,
    WL_REDUCE_SCATTER,
    WL_SCAN,
    WL_EXSCAN,
    WL_NEIGHBOR_ALLGATHER,
    WL_NEIGHBOR_ALLTOALL,
    WL_COLLECTIVES,
};

/* In place of a root: this member takes no part, because the root is another one of its group
 * of an intercommunicator. */
#define WL_NO_ROOT UINT32_MAX

/* One member's call. */
struct wl_collective {
    enum wl_collective_kind kind;
    enum wf_op_kind op; /* of the blocking function */
    MPI_Comm comm;
    struct wl_side send, recv;
    uint32_t root; /* the program's argument; once it has begun, the place among all members */
    MPI_Op reduce_op;
    /* Filled in when it begins. */
    struct wl_rank *rank;
    struct wl_view view;
    struct wl_exchange *exchange; /* null: no data changes hands */
    struct wl_reduction reduction;
    struct wl_op held_op; /* of a nonblocking call: the operation, which the program may free */
    const uint32_t *sources, *destinations; /* of neighborhood collectives; allocated */
    uint32_t n_sources, n_destinations;
    struct wl_caller caller;          /* of a checked rank */
    struct wl_order_meeting *meeting; /* of a nonblocking call, for wl_order_met(); or null */
    /* The communicator whose error handler returns if members call with different sizes; 0: the
     * simulation ends the run then. */
    MPI_Comm errors_of;
    bool mirrored; /* of two equal neighbors, the sender's first is the receiver's last */
};

/* Performs a collective. With a `handle` it returns at once with a request, else when the call
 * is complete. */
int wl_collective(struct wl_rank *rank, struct wl_collective *collective, MPI_Request *handle);

/* Persistent collectives: creates a request, which wl_collective_start() starts as often as
 * the program likes. The program keeps the buffers and the lists of counts and
 * displacements; it may free datatypes and the operation. */
int wl_collective_init(struct wl_rank *rank, struct wl_collective *collective,
                       MPI_Request *handle);
void wl_collective_start(struct wl_request *request);
/* Frees what belongs to the request, except for its struct wl_collective itself. */
void wl_collective_free(struct wl_request *request);

/* How each kind moves its data. */
struct wl_collective_ops {
    /* Puts what others need; null: nothing. */
    void (*put)(const struct wl_collective *collective);
    /* Whether this member takes anything. */
    bool (*takes)(const struct wl_collective *collective);
    void (*take)(const struct wl_collective *collective);
    /* Whether what this member takes has the sizes that its own call says; null: that is not
     * looked at. */
    bool (*fits)(const struct wl_collective *collective);
    /* Fills in the sizes of the op. The caller frees the vectors. */
    void (*measure)(const struct wl_collective *collective, struct wf_op *op);
};
extern const struct wl_collective_ops wl_collective_ops[WL_COLLECTIVES];

/* Whether each member has a count of its own; and the count of member i. */
static inline bool wl_side_varies(const struct wl_side *side)
{
    return side->counts != NULL || side->wide_counts != NULL;
}

static inline size_t wl_side_count(const struct wl_side *side, uint32_t i)
{
    return side->counts != NULL        ? (size_t)side->counts[i]
           : side->wide_counts != NULL ? (size_t)side->wide_counts[i]
                                       : side->count;
}

/* The address of the elements for or from member i. */
unsigned char *wl_side_place(const struct wl_side *side, uint32_t i);
/* The bytes for or from member i. */
size_t wl_side_bytes(const struct wl_collective *collective, const struct wl_side *side,
                     uint32_t i);

/* Of an intercommunicator: finds the root and drops the arguments that mean nothing to this
 * member. The program ends if MPI has no such collective. */
void wl_intercomm_prepare(struct wl_collective *collective);
/* Likewise: fills in the op. */
void wl_intercomm_measure(struct wl_collective *collective, struct wf_op *op);

static inline bool wl_in_place(const struct wl_side *side)
{
    return side->buffer == MPI_IN_PLACE;
}
