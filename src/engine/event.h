/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * An event is 32 bytes and its payload. Events are values: queues, logs and messages hold
 * copies, side by side in chunks, never pointers to single allocations.
 */

#include "engine/key.h"

#include <stddef.h>
#include <string.h>

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

/* Copies a multiple of 8 bytes, mostly a few dozen, where a call of memcpy() would take longer. The
 * empty statement keeps the compiler from making one of the loop. */
static inline void wf_copy_words(void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const unsigned char *)from + at, sizeof(word));
        memcpy((unsigned char *)to + at, &word, sizeof(word));
        __asm__("" ::: "memory");
    }
}

/* The bytes that an event with a payload of `size` bytes takes in a log or a bag, a multiple of 8. */
static inline size_t wf_event_room_of(size_t size)
{
    return (sizeof(struct wf_event) + size + 7) / 8 * 8;
}

static inline size_t wf_event_room(const struct wf_event *ev)
{
    return wf_event_room_of(ev->size);
}
