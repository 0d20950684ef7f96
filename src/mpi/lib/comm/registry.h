/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which process has which ranks, and a registry of the communicators whose members run in
 * several processes. Processes name a communicator by its id and its first member. No two
 * communicators have both in common: an id is higher than all that its members have seen
 * before.
 */

#include "mpi/lib/coll/exchange.h"

/* The process in which a rank runs. */
static inline uint32_t wl_process_of(uint32_t rank)
{
    return wl.processes != NULL ? wl.processes->home(wl.processes->arg, rank) : 0;
}

static inline bool wl_is_local(uint32_t rank)
{
    return wl.processes == NULL || wl_process_of(rank) == wl.processes->own;
}

/* Fills in which processes have members, unless that is known. */
void wl_comm_find_processes(struct wl_comm *comm);

struct wl_comm_registry *wl_comm_registry_new(void);
void wl_comm_registry_free(struct wl_comm_registry *registry); /* null is allowed */

/* Adds a communicator, if other processes have members. wl_comm_release() removes it. */
void wl_comm_register(struct wl_comm *comm);
void wl_comm_unregister(struct wl_comm *comm);

/* The communicator that other members in this process have registered, or a new one. Takes
 * `members`, which is allocated. */
struct wl_comm *wl_comm_find_or_new(uint32_t id, uint32_t size, uint32_t *members);

/* Delivers a part of a collective that another process has sent. If the communicator does not
 * exist here yet, the part is kept until it does. */
void wl_comm_registry_deliver(const struct wl_part_key *key, struct wl_part part);
