/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_WINDOW_H
#define WF_MPILIB_WINDOW_H

/*
 * Windows: memory of ranks that others reach without them. What is done to it is handed to its
 * target as a message that no receive gets, and carried out when the simulation says that it
 * has arrived there: in the order of simulated time, and in the order in which its origin asked
 * for it. What comes back is delivered when the origin waits for it.
 */

#include "mpilib/properties.h"
#include "mpilib/reduction.h"

/* What a member of the window has; all of them share the table. */
struct wl_win_part {
    unsigned char *base;
    MPI_Aint size;
    int unit;
};

struct wl_result; /* what comes back to an origin, and where it goes */

struct wl_win {
    MPI_Comm comm;             /* its own */
    struct wl_win_part *parts; /* by member; of the communicator */
    struct wl_win_part own;
    int flavor, model;
    struct wl_extra *extra;
    struct wl_result *results; /* in the order in which they were asked for */
    unsigned char *held;       /* by member: whether this rank holds its lock */
    bool all;                  /* inside MPI_Win_lock_all */
    bool allocated;            /* the memory is ours */
    MPI_Group started, posted; /* of MPI_Win_start and MPI_Win_post */
};

/* The window of a handle; the program ends if there is none. */
struct wl_win *wl_win_of(const struct wl_rank *rank, MPI_Win handle, const char *function);
struct wl_extra **wl_win_extra(const struct wl_rank *rank, MPI_Win handle,
                               const char *function);
/* The value of a predefined attribute; false if it is none. */
bool wl_win_known(const struct wl_rank *rank, MPI_Win handle, int keyval, void **value);

/* Waits until everything one-sided of the rank is over, and delivers what came back. */
void wl_win_flush(struct wl_rank *rank, struct wl_win *win);
void wl_win_deliver(struct wl_win *win);

/* Forgets who holds its locks. */
void wl_locks_free(struct wl_rank *rank);

/* The lock of a member, as far as the target says yes; and the end of it. */
bool wl_win_try_lock(struct wl_rank *rank, struct wl_win *win, uint32_t target, bool alone);
void wl_win_release(struct wl_rank *rank, struct wl_win *win, uint32_t target);
/* What is done to a member first takes its lock, if the rank is inside MPI_Win_lock_all. */
void wl_win_touch(struct wl_rank *rank, struct wl_win *win, uint32_t target);

/* struct wf_port_library.remote. */
void wl_remote(struct wf_port_rank *self, uint32_t origin);

#endif
