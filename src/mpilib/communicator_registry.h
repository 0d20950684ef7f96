/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_COMMUNICATOR_REGISTRY_H
#define WF_MPILIB_COMMUNICATOR_REGISTRY_H

/*
 * Which process has which ranks, and communicators as several processes know them: by their
 * number and their first member. No two ever have both in common, since all numbers that a rank
 * has seen are lower than that of the next communicator it joins.
 */

#include "mpilib/collective_exchange.h"

static inline uint32_t wl_home(uint32_t rank)
{
    return wl.spread != NULL ? wl.spread->home(wl.spread->arg, rank) : 0;
}

static inline bool wl_is_here(uint32_t rank)
{
    return wl.spread == NULL || wl_home(rank) == wl.spread->own;
}

/* Finds out which processes have members, unless that is known. */
void wl_hosts_find(struct wl_comm *comm);

/* Communicators that can be found by what they are. */
struct wl_known *wl_known_new(void);
void wl_known_free(struct wl_known *known);

/* From now on, a communicator with members in several processes can be; until it is released.
 */
void wl_comm_make_known(struct wl_comm *comm);
void wl_comm_forget(struct wl_comm *comm);

/* The one that its other members here have, or a new one. `members`, allocated, are taken. */
struct wl_comm *wl_comm_meet(uint32_t id, uint32_t size, uint32_t *members);

/* Gives a part that was shipped here to its communicator, or keeps it until that is made. */
void wl_known_part(const struct wl_part_name *name, struct wl_part part);

#endif
