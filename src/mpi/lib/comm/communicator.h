/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Communicators (MPI-3.1, 6.4 and 6.6). The members of a communicator that run in this process
 * share one struct wl_comm. Besides, each member has a struct wl_view of its own.
 */

#include "mpi/lib/library.h"

#include <pthread.h>

struct wl_exchange;

struct wl_comm {
    uint32_t id;
    uint32_t size;
    const uint32_t *members; /* ranks of the program; null if member i is rank i */
    uint32_t n_local;        /* members in this process */
    uint32_t refs;           /* how many of them still hold it */
    pthread_mutex_t lock;    /* protects the exchanges */
    struct wl_exchange *exchanges;
    uint32_t n_joined;    /* collectives that a member here has joined */
    uint32_t n_processes; /* other processes that have members... */
    uint32_t *processes;  /* ...and which they are */
    struct wl_comm *next; /* in the registry (comm/registry.h) */
    bool registered;
    void *shared; /* data that all members here share: of a window. Or null; freed with it */
};

/* What one rank knows of a communicator. In an intercommunicator the members are those of its
 * first group followed by those of its second. In others both groups are all members. */
struct wl_view {
    struct wl_comm *comm;
    uint32_t number;         /* in ops */
    uint32_t rank;           /* among all members */
    uint32_t first, size;    /* the own group: members first to first + size - 1... */
    uint32_t peers, n_peers; /* ...and the group that it sends to and receives from */
    bool inter;
    uint32_t *sequence; /* counts the collectives */
    struct wl_properties **properties;
    /* What the two pointers point to, except in MPI_COMM_WORLD. */
    uint32_t own_sequence;
    struct wl_properties *own_properties;
    uint32_t internal_number; /* in ops of the library's own messages; 0: none yet */
};

/* Communicators that MPI_Comm_idup() creates have ids of their own range. A rank learns such an
 * id late, and may begin to create others before. So the first member alone chooses the id: from
 * its rank and from how many it has chosen before. */
#define WL_NONBLOCKING_ID UINT32_C(0x40000000)

/* The id in the simulation, whose ids are below 2^32. Each communicator has two: one for the
 * program's messages and, one higher, one for the library's own. */
#define WL_SIMULATED_ID(comm) \
    (4 * ((comm)->id & (WL_NONBLOCKING_ID - 1)) + ((comm)->id >= WL_NONBLOCKING_ID ? 2 : 0))

static inline uint32_t wl_member(const struct wl_comm *comm, uint32_t i)
{
    return comm->members != NULL ? comm->members[i] : i;
}

/* A new communicator, held by all members in this process. Takes `members`, which is
 * allocated. */
struct wl_comm *wl_comm_new(uint32_t id, uint32_t size, const uint32_t *members);
void wl_comm_release(struct wl_comm *comm); /* null is allowed */
void wl_view_free(struct wl_rank *rank, struct wl_view *view);

/* All ranks of the run, spare ones too: MPI_COMM_WORLD if there are none. */
#define WL_COMM_ALL (-1)

/* The communicator of a handle; the program ends if there is none. */
struct wl_view wl_comm_of(struct wl_rank *rank, MPI_Comm handle);

/* Adds a communicator to those of the rank, tells the simulation, and returns its handle. The
 * caller sets comm and rank, and the groups of an intercommunicator. */
MPI_Comm wl_comm_join(struct wl_rank *rank, const struct wl_view *view);

/* The rank within the own group. */
static inline uint32_t wl_own_rank(const struct wl_view *view)
{
    return view->rank - view->first;
}

/* A member's arguments when communicators are created from an old one, as in
 * MPI_Comm_split(). */
struct wl_split_args {
    int color, key;   /* color MPI_UNDEFINED: this member gets none */
    bool nonblocking; /* MPI_Comm_idup() */
    bool inter;       /* the new communicators are intercommunicators, as the old one is */
    /* Filled in by wl_comm_split(). */
    bool second;         /* in the second group of the old one */
    uint32_t highest_id; /* of its communicators */
    uint32_t
        n_before; /* with `nonblocking`, of the first member: how many it has created before */
    uint32_t member;
};

/* The id of a communicator that this rank chooses for all members; `highest` is the highest that
 * one of them has seen. With several threads another one may be about to choose the same: then
 * the id is of a range that this rank has for itself. */
uint32_t wl_comm_choose_id(struct wl_rank *rank, uint32_t highest);

/* Splits a communicator, in simulated time with an op of this kind; all members call it.
 * Returns the handle of the new one, or MPI_COMM_NULL. */
MPI_Comm wl_comm_split(struct wl_rank *rank, const struct wl_view *view,
                       const struct wl_split_args *args, enum wf_op_kind kind);
