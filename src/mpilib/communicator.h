/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_COMMUNICATOR_H
#define WF_MPILIB_COMMUNICATOR_H

/*
 * Communicators. Their members in this process share one object, in which they also meet for
 * collectives; what a rank knows of it besides is its own.
 */

#include "mpilib/library.h"

#include <pthread.h>

struct wl_meeting;

struct wl_comm {
    uint32_t id;
    uint32_t size;
    const uint32_t *members; /* ranks of the program; null if member i is rank i */
    uint32_t n_here;         /* members in this process */
    uint32_t refs;           /* so many of them still hold it */
    pthread_mutex_t lock;    /* of the meetings */
    struct wl_meeting *meetings;
    uint32_t n_met;       /* collectives that one of them has come to */
    uint32_t n_hosts;     /* other processes that have members... */
    uint32_t *hosts;      /* ...and which */
    struct wl_comm *next; /* among those that can be found by what they are (hosts.h) */
    bool known;           /* whether it can */
    void *shared;         /* allocated: what else all members share; or null */
};

/* A rank's own side of a communicator. The members of an intercommunicator are those of its two
 * groups one behind the other; of others both groups are all members. */
struct wl_view {
    struct wl_comm *comm;
    uint32_t number;         /* in ops */
    uint32_t rank;           /* among all members */
    uint32_t first, size;    /* the own group: members first to first + size - 1... */
    uint32_t peers, n_peers; /* ...and that of those it talks to */
    bool inter;
    uint32_t *sequence;
    struct wl_extra **extra;
    /* What the two point to, but of MPI_COMM_WORLD. */
    uint32_t own_sequence;
    struct wl_extra *own_extra;
    uint32_t hidden; /* number in ops for traffic that the program does not see; 0: none yet */
};

/* Those that are made without waiting count apart: until a rank hears of one it cannot know its
 * number, and may join others meanwhile. */
#define WL_LATER_ID UINT32_C(0x40000000)

/* In the simulation, where numbers are few, there are two of each: what the program sends, and
 * what it never sees. */
#define WL_SIMULATED(comm) \
    (4 * ((comm)->id & (WL_LATER_ID - 1)) + ((comm)->id >= WL_LATER_ID ? 2 : 0))

static inline uint32_t wl_member(const struct wl_comm *comm, uint32_t i)
{
    return comm->members != NULL ? comm->members[i] : i;
}

/* A new one that all its members here hold; `members`, allocated, are taken. */
struct wl_comm *wl_comm_new(uint32_t id, uint32_t size, const uint32_t *members);
void wl_comm_release(struct wl_comm *comm); /* null is allowed */
void wl_view_free(struct wl_rank *rank, struct wl_view *view);

/* The communicator of a handle as the rank sees it; the program ends if there is none. */
struct wl_view wl_comm_of(struct wl_rank *rank, MPI_Comm handle, const char *function);

/* What only few communicators have; made when it is first asked for. */
struct wl_extra *wl_comm_extra(const struct wl_view *view);

/* Makes a communicator known to the rank and to the simulation; returns its handle. The groups
 * of the view are set, or it is all of it. */
MPI_Comm wl_comm_join(struct wl_rank *rank, const struct wl_view *view);

/* The place of a rank among those it is counted with. */
static inline uint32_t wl_own_rank(const struct wl_view *view)
{
    return view->rank - view->first;
}

/* What a member says when new communicators are made of an old one: as in MPI_Comm_split. */
struct wl_wish {
    int color, key; /* MPI_UNDEFINED: none for me */
    bool later;     /* it does not wait */
    bool inter;     /* the new ones have two groups, as the old one has */
    /* Filled in. */
    bool second; /* in its second group */
    uint32_t highest_id;
    uint32_t member;
};

/* A collective of all members; returns the handle, or MPI_COMM_NULL. */
MPI_Comm wl_comm_split(struct wl_rank *rank, const struct wl_view *view,
                       const struct wl_wish *wish, enum wf_op_kind kind);

/* Its two halves: before and after the simulation has heard of it. */
struct wl_meeting *wl_split_begin(struct wl_rank *rank, const struct wl_view *view,
                                  const struct wl_wish *wish);
MPI_Comm wl_split_end(struct wl_rank *rank, const struct wl_view *view,
                      struct wl_meeting *meeting, bool inter);

#endif
