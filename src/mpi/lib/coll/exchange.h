/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The state that the members of a collective share. Each member puts its part when it calls,
 * and takes what it needs when its call is complete in simulated time: by then every member
 * that has something for it has put it there. A result that is the same for all is computed
 * once, by the first member that needs it. Any thread may call any of these.
 */

#include "mpi/lib/comm/communicator.h"

struct wl_part {
    unsigned char *bytes; /* null: not put, or the program does not want large data */
    size_t size;          /* of the data, even without bytes */
    size_t block;         /* alltoall: the bytes of each of its blocks, if there is nothing else
                             in it; otherwise 0 */
};

/* Collective number `sequence` of the communicator. Every member here joins once and leaves
 * once. The last one to leave frees it. */
struct wl_exchange *wl_exchange_join(struct wl_comm *comm, uint32_t sequence);
void wl_exchange_leave(struct wl_comm *comm, struct wl_exchange *exchange);

/* In place of a member: the result that is the same for all. */
#define WL_FOR_ALL UINT32_MAX

/* Puts the part of a member, for all members in all processes, or for those listed; the list
 * may contain WF_PROC_NULL. Takes the bytes, which are allocated. */
void wl_exchange_put(struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                     struct wl_part part);
struct wl_members {
    const uint32_t *list;
    uint32_t n;
};
void wl_exchange_put_for(struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                         struct wl_part part, struct wl_members to);

/* The two halves of these: for members in this process (takes the bytes), and for those in
 * another one (copies them). */
void wl_exchange_put_local(struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                           struct wl_part part);
void wl_exchange_put_remote(const struct wl_comm *comm, const struct wl_exchange *exchange,
                            uint32_t member, struct wl_part part, uint32_t process);

/* Names a part between processes. */
struct wl_part_key {
    uint32_t id,
        first; /* the communicator: its id, and its member 0 as a rank of the program */
    uint32_t sequence, member;
};
/* A part has come from another process. It is dropped if all members here have left. */
void wl_exchange_receive(struct wl_comm *comm, const struct wl_part_key *key,
                         struct wl_part part);

/* The part of a member, or the result. The bytes stay valid until this member leaves. */
struct wl_part wl_exchange_part(struct wl_comm *comm, struct wl_exchange *exchange,
                                uint32_t member);
/* All parts, by member; null if there are none. Without looking at checksums. */
const struct wl_part *wl_exchange_parts(struct wl_comm *comm,
                                        const struct wl_exchange *exchange);
struct wl_part wl_exchange_result(struct wl_comm *comm, struct wl_exchange *exchange);

/* The result, computed by compute(arg) if no member has done so yet. All parts that it uses
 * have been put. */
struct wl_part wl_exchange_compute(struct wl_comm *comm, struct wl_exchange *exchange,
                                   struct wl_part (*compute)(void *arg), void *arg);

/* Frees what is left when the communicator is freed. */
void wl_exchanges_free(struct wl_comm *comm);
