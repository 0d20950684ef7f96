/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_COLLECTIVE_H
#define WF_MPILIB_COLLECTIVE_H

/*
 * Collectives, as data: what each member brings and what it takes away. What they cost is the
 * simulation's business. One description serves the blocking call and its nonblocking twin.
 */

#include "mpilib/collective_exchange.h"
#include "mpilib/reduction.h"
#include "mpilib/request.h"

/* One side of a collective: `count` elements, or counts[i] of them at displs[i] for member i.
 * With `types` (alltoallw) each member has its own, and displacements are in bytes. */
struct wl_side {
    void *buffer;
    size_t count;
    const int *counts, *displs;
    const MPI_Aint *wide_displs; /* of neighbour collectives: in place of displs */
    MPI_Datatype handle;
    const struct wl_type *type;
    const MPI_Datatype *types;
    /* Allocated: what they are, of a call that does not wait. The program may free them. */
    const struct wl_type **held;
    uint32_t n_held;
};

enum wl_coll_kind {
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
    WL_COLL_KINDS,
};

/* In place of a root: of its group of an intercommunicator, for all the others. */
#define WL_NO_ROOT UINT32_MAX

/* One member's call. */
struct wl_coll {
    enum wl_coll_kind kind;
    enum wf_op_kind op; /* the blocking one */
    const char *function;
    MPI_Comm comm;
    struct wl_side send, recv;
    uint32_t root; /* as the program says; from when it begins, among all members */
    MPI_Op reduce_op;
    /* Set when it begins. */
    struct wl_rank *rank;
    struct wl_view view;
    struct wl_meeting *meeting;
    struct wl_reduction reduction;
    struct wl_op held_op;                   /* likewise: the operation */
    const uint32_t *sources, *destinations; /* of neighbour collectives */
    bool mirrored; /* likewise: of two neighbours that are the same the first is the last */
    uint32_t n_sources, n_destinations;
};

/* Makes the call: with `handle` null to its end, else it returns at once with a request. */
int wl_coll(struct wl_coll *coll, MPI_Request *handle);

/* The part of each kind, for coll.c. */
struct wl_coll_ops {
    /* Brings what others need; null if nothing. */
    void (*bring)(const struct wl_coll *coll);
    /* Whether this member gets anything. */
    bool (*gets)(const struct wl_coll *coll);
    void (*take)(const struct wl_coll *coll);
    /* Fills in the sizes of the op. Vectors, allocated, are freed by the caller. */
    void (*measure)(const struct wl_coll *coll, struct wf_op *op);
};
extern const struct wl_coll_ops wl_coll_kinds[WL_COLL_KINDS];

/* What of one side goes to or comes from member i of those it talks to. */
size_t wl_side_bytes(const struct wl_coll *coll, const struct wl_side *side, uint32_t i);

/* Between two groups (coll_inter.c): who the root is and what the types of this member mean;
 * the program ends if there is no such collective. Then what the op is: `op` says so already
 * of one group. */
void wl_inter_prepare(struct wl_coll *coll);
void wl_inter_measure(struct wl_coll *coll, struct wf_op *op);

/* Whether the buffer is where the result goes. */
static inline bool wl_in_place(const struct wl_side *side)
{
    return side->buffer == MPI_IN_PLACE;
}

#endif
