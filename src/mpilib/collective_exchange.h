/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_COLLECTIVE_EXCHANGE_H
#define WF_MPILIB_COLLECTIVE_EXCHANGE_H

/*
 * Where the data of a collective changes hands. Each member brings its part when it calls, and
 * takes what it needs when its call is complete in simulated time: by then, whoever has
 * something for it has brought it. What all would compute alike is computed once, by the first
 * who needs it.
 */

#include "mpilib/communicator.h"

struct wl_part {
    unsigned char *bytes; /* null if it was not brought, or is empty */
    size_t size;          /* of what was meant, even if it was not brought */
};

/* The collective number `sequence` of the communicator. Every member comes once and leaves
 * once; with the last one here it is gone. */
struct wl_meeting *wl_meeting_come(struct wl_comm *comm, uint32_t sequence);
void wl_meeting_leave(struct wl_comm *comm, struct wl_meeting *meeting);

/* In place of a member: what one of them has for all. */
#define WL_FOR_ALL UINT32_MAX

/* A member brings its part; the bytes, allocated, belong to the meeting from then on. They
 * reach all members, or those that are named; there may be WF_PROC_NULL among them. */
void wl_meeting_bring(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                      struct wl_part part);
struct wl_members {
    const uint32_t *list;
    uint32_t n;
};
void wl_meeting_bring_to(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                         struct wl_part part, struct wl_members to);

static inline void wl_meeting_bring_for_all(struct wl_comm *comm, struct wl_meeting *meeting,
                                            struct wl_part part)
{
    wl_meeting_bring(comm, meeting, WL_FOR_ALL, part);
}

/* The two halves of it: for the members here, and a copy for those in another process. */
void wl_meeting_keep(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                     struct wl_part part);
void wl_meeting_ship(const struct wl_comm *comm, const struct wl_meeting *meeting,
                     uint32_t member, struct wl_part part, uint32_t process);

/* Something that was shipped here. Of a meeting that all members here have left nobody needs
 * anything. */
struct wl_part_name {
    uint32_t id, first; /* of the communicator, and its member 0 as a rank of the program */
    uint32_t sequence, member;
};
void wl_meeting_arrived(struct wl_comm *comm, const struct wl_part_name *name,
                        struct wl_part part);

/* What a member has brought, or what there is for all. */
struct wl_part wl_meeting_part(struct wl_comm *comm, struct wl_meeting *meeting,
                               uint32_t member);
struct wl_part wl_meeting_for_all(struct wl_comm *comm, struct wl_meeting *meeting);

/* What there is for all, made by make(arg) if nobody has made it yet. All parts that it uses
 * have been brought. */
struct wl_part wl_meeting_compute(struct wl_comm *comm, struct wl_meeting *meeting,
                                  struct wl_part (*make)(void *arg), void *arg);

/* When a communicator goes. */
void wl_meetings_free(struct wl_comm *comm);

#endif
