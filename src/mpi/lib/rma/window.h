/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Windows: memory of ranks that others access without them (MPI-3.1, 11). window.c has windows
 * and their synchronization, one_sided.h the accesses.
 */

#include "mpi/lib/coll/reduction.h"
#include "mpi/lib/comm/properties.h"

/* The memory of a member. All members share the table. */
struct wl_win_part {
    unsigned char *base;
    MPI_Aint size;
    MPI_Aint unit;
};

struct wl_rma_result;
struct wl_use;

enum { WL_WIN_KEYS = 6 };

struct wl_win {
    MPI_Comm comm;             /* its own */
    struct wl_win_part *parts; /* by member; belongs to the communicator */
    struct wl_win_part own;
    int flavor, model;
    struct wl_properties *properties;
    struct wl_rma_result *results,
        *last_result;    /* that the rank waits for, in the order of calls */
    unsigned char *held; /* by member: the lock type if this rank holds its lock */
    bool all;            /* within MPI_Win_lock_all() */
    /* The epochs that the program has opened (window_epochs.c); locks also where the program
     * asserts that they need not be taken. */
    unsigned char *locked; /* by member; belongs to `held` */
    uint32_t n_locked;
    bool locked_all, fenced;
    uint32_t n_fences;
    struct wl_caller created;
    uint32_t created_epoch;  /* of --check: struct wl_access_note, and what the rank... */
    int64_t created_learned; /* ...had learned */
    bool allocated;          /* the library has allocated the memory */
    bool asserted;           /* the last fence said that it opens no epoch */
    bool accessed;           /* since the last fence... */
    uint32_t locked_epoch;
    bool locked_since;         /* ...within a lock of the rank */
    struct wl_use *uses;       /* buffers of accesses that are not complete; of --check */
    MPI_Group started, posted; /* of MPI_Win_start() and MPI_Win_post() */
    char *info[WL_WIN_KEYS];   /* values of info keys; null: as by default */
};

void wl_win_info_free(struct wl_win *win);

/* The window of a handle; the program ends if there is none. */
struct wl_win *wl_win_of(const struct wl_rank *rank, MPI_Win handle);

/* Within MPI_Win_lock_all(), the first access to a member takes its lock. */
void wl_win_lock_for_access(struct wl_rank *rank, struct wl_win *win, uint32_t target);

/* Whether a call fits the epochs of the window (window_epochs.c). Those that return a bool also
 * say whether the call can be executed; if not, the program ends unless it is checked. */
/* Whether the function that the program has called fits, for windows whose errors return. */
bool wl_epoch_fits(struct wl_rank *rank, const struct wl_win *win, int target);
/* Whether the rank has any of its own. */
bool wl_epoch_is_open(const struct wl_win *win);
void wl_epoch_access(struct wl_rank *rank, struct wl_win *win, uint32_t target);
bool wl_epoch_fence(const struct wl_rank *rank, struct wl_win *win, int assertion);
bool wl_epoch_start(const struct wl_rank *rank, struct wl_win *win);
bool wl_epoch_post(const struct wl_rank *rank, const struct wl_win *win);
bool wl_epoch_complete(const struct wl_rank *rank, const struct wl_win *win);
bool wl_epoch_wait(const struct wl_rank *rank, const struct wl_win *win);
bool wl_epoch_lock(const struct wl_rank *rank, struct wl_win *win, uint32_t target);
bool wl_epoch_unlock(const struct wl_rank *rank, struct wl_win *win, uint32_t target);
bool wl_epoch_lock_all(const struct wl_rank *rank, struct wl_win *win);
bool wl_epoch_unlock_all(const struct wl_rank *rank, struct wl_win *win);
void wl_epoch_flush(const struct wl_rank *rank, const struct wl_win *win);
void wl_epoch_create(const struct wl_rank *rank, const void *base, MPI_Aint size);
void wl_epoch_free(const struct wl_rank *rank, const struct wl_win *win);

/* Of --check: the window exists at MPI_Finalize(). */
void wl_win_check_leaked(const struct wl_rank *rank, const struct wl_win *win);
