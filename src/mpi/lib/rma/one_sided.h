/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * One-sided accesses: puts, gets, accumulates, and the locks of windows. The origin sends a
 * message that describes the access; no receive matches it. The target carries it out when the
 * simulation says that the message has arrived: in the order of simulated time and, for one
 * origin, in the order of its calls. A result reaches the program when the origin waits for it.
 */

#include "mpi/lib/p2p/internal_messages.h"
#include "mpi/lib/rma/window.h"

enum wl_rma_kind {
    WL_PUT,
    WL_GET,
    WL_ACCUMULATE,
    WL_COMPARE_AND_SWAP,
    WL_LOCK,
    WL_UNLOCK,
    WL_QUESTION, /* to rank 0: directory.h */
};

/* The arguments of a call. */
struct wl_access {
    enum wl_rma_kind kind;
    const void *from; /* the origin's data; or null */
    MPI_Count count;
    MPI_Datatype type;
    void *to; /* where the target's old data goes; or null */
    MPI_Count to_count;
    MPI_Datatype to_type;
    int target;
    MPI_Aint displacement;
    MPI_Count target_count;
    MPI_Datatype target_type;
    MPI_Op op;
    const void *compare;
    MPI_Win win;
};

/* Implements MPI_Put() and its like. With a `request`, the access is complete on return. */
int wl_one_sided(struct wl_rank *rank, const struct wl_access *access, MPI_Request *request);

/* Waits until all accesses of the rank are complete, and delivers their results. */
void wl_win_flush(struct wl_rank *rank, struct wl_win *win);
/* Delivers the results; the accesses are complete. */
void wl_win_deliver(struct wl_win *win);

/* Asks a member for its lock. Returns 0 if the rank has it now, else one more than how many wait
 * for it before the rank. */
uint32_t wl_win_try_lock(struct wl_rank *rank, struct wl_win *win, uint32_t target,
                         bool exclusive);
void wl_win_unlock(struct wl_rank *rank, struct wl_win *win, uint32_t target);

/* Adds to a number of the library in the memory of a member, and returns what it was: in the
 * order of simulated time, as MPI_Fetch_and_op() does. */
int64_t wl_remote_add(struct wl_rank *rank, const struct wl_view *view, uint32_t target,
                      int64_t *number, int64_t value);

/* Sends a question to rank 0 (directory.h), and waits for the answer. */
void wl_remote_ask(struct wl_rank *rank, const struct wl_view *world, struct wl_bytes question,
                   struct wl_buffer answer);

/* Frees the locks that are still held when the rank ends. */
void wl_locks_free(struct wl_rank *rank);

/* struct wf_port_library.remote. */
void wl_rma_arrived(struct wf_port_rank *self, uint32_t origin);
