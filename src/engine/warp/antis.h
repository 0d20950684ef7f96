/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A hash table of events that were cancelled while they were pending. When such an event is
 * about to be executed, it and its copy here are both removed.
 *
 * Events are compared byte by byte. An event that is cancelled and sent again may have the same
 * key and another payload, and only the cancelled one may be removed. If the payloads are equal
 * too, it does not matter which one.
 */

#include "engine/queue/chunk.h"

#include <stdbool.h>

struct wf_antis {
    unsigned char *slots; /* a stride each */
    uint32_t *table;      /* slot number + 1 by hash, 0 is empty; linear probing */
    uint32_t *free;       /* numbers of free slots */
    uint32_t n, capacity; /* of slots; the table has twice as many */
    uint32_t stride;
};

void wf_antis_init(struct wf_antis *antis, uint32_t stride);
void wf_antis_fini(struct wf_antis *antis);
void wf_antis_add(struct wf_antis *antis, const struct wf_event *ev);
/* Removes one copy of the event; false if there is none. */
bool wf_antis_take(struct wf_antis *antis, const struct wf_event *ev);

static inline bool wf_event_same(const struct wf_event *a, const struct wf_event *b)
{
    return memcmp(a, b, sizeof(*a)) == 0 && memcmp(a->payload, b->payload, a->size) == 0;
}
