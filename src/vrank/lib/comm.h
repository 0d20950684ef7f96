/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_LIB_COMM_H
#define WF_VRANK_LIB_COMM_H

/*
 * Communicators. Their members in this process share one object, in which they also meet for
 * collectives; what a rank knows of it besides is its own.
 */

#include "vrank/lib/lib.h"

#include <pthread.h>

struct wl_meeting;

struct wl_comm {
    uint32_t id;
    uint32_t size;
    const uint32_t *members; /* ranks of the program; null if member i is rank i */
    uint32_t refs;
    pthread_mutex_t lock; /* of the meetings */
    struct wl_meeting *meetings;
};

/* A rank's own side of a communicator. */
struct wl_view {
    struct wl_comm *comm;
    uint32_t number; /* in ops */
    uint32_t rank;   /* in the communicator */
    uint32_t *sequence;
    uint32_t own_sequence;
};

static inline uint32_t wl_member(const struct wl_comm *comm, uint32_t i)
{
    return comm->members != NULL ? comm->members[i] : i;
}

/* A new one that all its members hold; `members`, allocated, are taken. */
struct wl_comm *wl_comm_new(uint32_t id, uint32_t size, const uint32_t *members);
void wl_comm_release(struct wl_comm *comm); /* null is allowed */
void wl_view_free(struct wl_rank *rank, struct wl_view *view);

/* The communicator of a handle as the rank sees it; the program ends if there is none. */
struct wl_view wl_comm_of(struct wl_rank *rank, MPI_Comm handle, const char *function);

#endif
