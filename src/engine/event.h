/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * An event is 32 bytes and its payload. Events are values: queues, logs and messages hold
 * copies, side by side in chunks, never pointers to single allocations.
 */

#include "engine/key.h"

#include <stddef.h>

enum { WF_PAYLOAD_MAX = 256 };

struct wf_event {
    struct wf_key key;
    uint32_t dst;
    uint16_t kind; /* meaning private to the receiving process */
    uint16_t size; /* of the payload */
    uint64_t payload[];
};

_Static_assert(sizeof(struct wf_event) == 32, "an event's head is half a cache line");

/* The bytes of an event that digests and comparisons cover. */
static inline size_t wf_event_bytes(const struct wf_event *ev)
{
    return sizeof(*ev) + ev->size;
}

/* The bytes of an event in a log, a multiple of 8. */
static inline size_t wf_event_room(const struct wf_event *ev)
{
    return (wf_event_bytes(ev) + 7) / 8 * 8;
}
