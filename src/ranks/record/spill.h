/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RECORD_SPILL_H
#define WF_RANKS_RECORD_SPILL_H

/*
 * Lists that grow on the disk: entries of one size in a file of the temporary directory
 * ($TMPDIR, else /tmp) that has no name, seen as memory. What has been written is left to the
 * system, which puts it on the disk when it wants the memory.
 */

#include <stdbool.h>
#include <stddef.h>

struct wf_room {
    unsigned char *base;
    size_t backed; /* bytes of the file so far */
    size_t entry, capacity;
    int fd;
    struct wf_room *next; /* of the same run */
};

struct wf_rooms;

/* Null if there is no place for files. */
struct wf_rooms *wf_rooms_new(void);
void wf_rooms_free(struct wf_rooms *rooms); /* null is allowed */

/* Room for up to `capacity` entries, which lives as long as `rooms`; null if there is none. May
 * be called by several threads. */
struct wf_room *wf_rooms_add(struct wf_rooms *rooms, size_t entry, size_t capacity);

/* Takes more of the disk; false if it is full. */
bool wf_room_grow(struct wf_room *room);

/* Whether there is room for entry i, one after the other. */
static inline bool wf_room_reach(struct wf_room *room, size_t i)
{
    return (i + 1) * room->entry <= room->backed || wf_room_grow(room);
}

#endif
