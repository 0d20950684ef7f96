/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a program opens and closes the epochs of its windows as MPI demands (MPI-4.0, 12.5).
 * A fence does not say whether it opens an epoch; it counts as if it did, unless the program
 * asserts MPI_MODE_NOSUCCEED, until a call that opens an epoch of another kind.
 */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/comm/group.h"
#include "mpi/lib/rma/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Reports that the window is used wrongly. */
__attribute__((format(printf, 2, 3))) static void misuse(const struct wl_rank *rank,
                                                         const char *fmt, ...)
{
    const struct wl_mark own = wl_mark_of(rank, wl_caller_of(rank));
    char words[WF_FINDING_WHAT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    wl_report(WF_FINDING_WINDOW, &own, NULL, "%s", words);
}

/* Likewise, where the call cannot be executed: with --check it is left out, without it the
 * program ends. */
static void refuse(const struct wl_rank *rank, const char *words)
{
    if (!wl_checks()) {
        wl_fatal(rank, "the rank %s", words);
    }
    misuse(rank, "%s", words);
}

static bool has_locks(const struct wl_win *win)
{
    return win->locked_all || win->n_locked > 0;
}

static bool is_started_for(struct wl_rank *rank, const struct wl_win *win, uint32_t target)
{
    if (win->started == MPI_GROUP_NULL) {
        return false;
    }
    struct wl_view view = wl_comm_of(rank, win->comm);
    const struct wl_group *group = wl_group_of(rank, win->started);

    return wl_group_find(group, wl_member(view.comm, target)) < group->size;
}

/* ---- for windows whose errors return ---- */

static bool is_open(const struct wl_win *win)
{
    return has_locks(win) || win->started != MPI_GROUP_NULL || win->posted != MPI_GROUP_NULL;
}

static bool fits_open(const struct wl_win *win, int target)
{
    return !is_open(win);
}

static bool fits_lock(const struct wl_win *win, int target)
{
    return win->started == MPI_GROUP_NULL && !win->locked_all &&
           (target < 0 || !win->locked[target]);
}

static bool fits_lock_all(const struct wl_win *win, int target)
{
    return win->started == MPI_GROUP_NULL && !has_locks(win);
}

static bool fits_unlock(const struct wl_win *win, int target)
{
    return target < 0 || win->locked[target];
}

static bool fits_unlock_all(const struct wl_win *win, int target)
{
    return win->locked_all;
}

static bool fits_flush(const struct wl_win *win, int target)
{
    return has_locks(win);
}

static bool fits_start(const struct wl_win *win, int target)
{
    return win->started == MPI_GROUP_NULL && !has_locks(win);
}

static bool fits_complete(const struct wl_win *win, int target)
{
    return win->started != MPI_GROUP_NULL;
}

static bool fits_post(const struct wl_win *win, int target)
{
    return win->posted == MPI_GROUP_NULL;
}

static bool fits_wait(const struct wl_win *win, int target)
{
    return win->posted != MPI_GROUP_NULL;
}

static bool may_access(struct wl_rank *rank, const struct wl_win *win, uint32_t target)
{
    return win->fenced || win->locked_all || win->locked[target] ||
           is_started_for(rank, win, target);
}

bool wl_epoch_is_open(const struct wl_win *win)
{
    return is_open(win) || win->fenced;
}

bool wl_epoch_fits(struct wl_rank *rank, const struct wl_win *win, int target)
{
    static const struct {
        const char *name; /* after MPI_Win_ */
        bool (*fits)(const struct wl_win *win, int target);
    } calls[] = {
        {"fence", fits_open},        {"free", fits_open},
        {"lock", fits_lock},         {"lock_all", fits_lock_all},
        {"unlock", fits_unlock},     {"unlock_all", fits_unlock_all},
        {"flush", fits_flush},       {"flush_all", fits_flush},
        {"flush_local", fits_flush}, {"flush_local_all", fits_flush},
        {"start", fits_start},       {"complete", fits_complete},
        {"post", fits_post},         {"wait", fits_wait},
        {"test", fits_wait},
    };
    static const char prefix[] = "MPI_Win_";

    if (strncmp(rank->function, prefix, strlen(prefix)) != 0) {
        return target < 0 || may_access(rank, win, (uint32_t)target);
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(rank->function + strlen(prefix), calls[i].name) == 0) {
            return calls[i].fits(win, target);
        }
    }
    return true;
}

void wl_epoch_access(struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    win->accessed = true;
    win->locked_since |= has_locks(win);
    win->locked_epoch = wl_check_epoch(rank);
    if (may_access(rank, win, target)) {
        return;
    }
    misuse(rank, "accesses the window of rank %u of the communicator outside an epoch%s",
           target,
           has_locks(win)                   ? "; it has locked other ranks"
           : win->started != MPI_GROUP_NULL ? "; it has started one for other ranks"
                                            : "");
}

bool wl_epoch_fence(const struct wl_rank *rank, struct wl_win *win, int assertion)
{
    if (has_locks(win)) {
        misuse(rank, "calls a fence while it holds locks of the window");
        if (wl_checks()) {
            return false;
        }
    } else if (wl_checks() && win->n_fences > 0 && win->locked_since && !win->asserted &&
               win->locked_epoch == wl_check_epoch(rank) && !(assertion & MPI_MODE_NOPRECEDE)) {
        misuse(rank, "ends an epoch of fences in which it accessed the window with a lock; "
                     "assert MPI_MODE_NOSUCCEED or MPI_MODE_NOPRECEDE");
    } else if (win->started != MPI_GROUP_NULL || win->posted != MPI_GROUP_NULL) {
        misuse(rank, "calls a fence within an epoch of MPI_Win_start or MPI_Win_post");
    }
    win->fenced = !(assertion & MPI_MODE_NOSUCCEED);
    win->asserted = !win->fenced;
    win->accessed = win->locked_since = false;
    win->n_fences++;
    return true;
}

bool wl_epoch_start(const struct wl_rank *rank, struct wl_win *win)
{
    if (win->started != MPI_GROUP_NULL) {
        refuse(rank, "starts an epoch within one that it started before");
        return false;
    }
    if (has_locks(win)) {
        misuse(rank, "starts an epoch while it holds locks of the window");
    }
    win->fenced = false;
    return true;
}

bool wl_epoch_post(const struct wl_rank *rank, const struct wl_win *win)
{
    if (win->posted != MPI_GROUP_NULL) {
        refuse(rank, "posts an epoch within one that it posted before");
        return false;
    }
    return true;
}

bool wl_epoch_complete(const struct wl_rank *rank, const struct wl_win *win)
{
    if (win->started == MPI_GROUP_NULL) {
        refuse(rank, "completes an epoch that it did not start");
        return false;
    }
    return true;
}

bool wl_epoch_wait(const struct wl_rank *rank, const struct wl_win *win)
{
    if (win->posted == MPI_GROUP_NULL) {
        refuse(rank, "waits for an epoch that it did not post");
        return false;
    }
    return true;
}

bool wl_epoch_lock(const struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    if (win->locked_all || win->locked[target]) {
        refuse(rank, "locks a rank of the window that it has locked before");
        return false;
    }
    if (win->started != MPI_GROUP_NULL) {
        misuse(rank, "locks a rank within an epoch that it started with MPI_Win_start");
    }
    win->fenced = false;
    win->locked[target] = 1;
    win->n_locked++;
    return true;
}

bool wl_epoch_unlock(const struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    if (!win->locked[target]) {
        refuse(rank, "unlocks a rank of the window that it did not lock");
        return false;
    }
    win->locked[target] = 0;
    win->n_locked--;
    return true;
}

bool wl_epoch_lock_all(const struct wl_rank *rank, struct wl_win *win)
{
    if (has_locks(win)) {
        refuse(rank, "locks all ranks of the window while it holds locks");
        return false;
    }
    win->fenced = false;
    win->locked_all = true;
    return true;
}

bool wl_epoch_unlock_all(const struct wl_rank *rank, struct wl_win *win)
{
    if (!win->locked_all) {
        refuse(rank, "unlocks all ranks of the window without MPI_Win_lock_all");
        return false;
    }
    win->locked_all = false;
    return true;
}

void wl_epoch_flush(const struct wl_rank *rank, const struct wl_win *win)
{
    if (!has_locks(win)) {
        misuse(rank, "flushes the window without a lock");
    }
}

void wl_epoch_create(const struct wl_rank *rank, const void *base, MPI_Aint size)
{
    if (base == NULL && size > 0 && wl_checks()) {
        misuse(rank, "creates a window of %td bytes at a null address", size);
    }
}

void wl_epoch_free(const struct wl_rank *rank, const struct wl_win *win)
{
    if (is_open(win)) {
        misuse(rank, "frees the window within an epoch");
    } else if (win->fenced && win->accessed) {
        misuse(rank, "frees the window without a fence after its accesses");
    }
}

void wl_win_check_leaked(const struct wl_rank *rank, const struct wl_win *win)
{
    const struct wl_mark own = wl_mark_of(rank, win->created);

    wl_report(WF_FINDING_WINDOW, &own, NULL, "created a window that it never freed");
}
