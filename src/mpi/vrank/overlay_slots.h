/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Blocks of shared memory of which a rank keeps what it writes: pages are those of a file until
 * something is written to them, and the rank's own from then on. Each block has addresses of its
 * own, a slot whose size is a power of two; slots are used again. take() and free() are for one
 * thread at a time.
 */

#include "base/array.h"

enum { WF_VRANK_SLOT_SIZES = 48 };

struct wf_vrank_slot {
    size_t at, bytes;
};

struct wf_vrank_slots {
    int fd;              /* the file, of which... */
    size_t window;       /* ...so many bytes, a power of two, are mapped again and again */
    unsigned char *base; /* address space for slots; null before the first */
    size_t size, used;
    struct wf_vrank_slot *list; /* by address */
    uint32_t n, capacity;
    struct wf_vrank_free_slots {
        size_t *at;
        uint32_t n, capacity;
    } free[WF_VRANK_SLOT_SIZES]; /* by the logarithm of their size */
};

/* A block of at least so many bytes, aligned to them; null without memory. */
void *wf_vrank_slot_take(struct wf_vrank_slots *slots, size_t bytes);
/* Gives back a block and what was written to it. */
void wf_vrank_slot_free(struct wf_vrank_slots *slots, void *place);
/* The size of the block that begins at `place`, which is in one. */
size_t wf_vrank_slot_size(const struct wf_vrank_slots *slots, const void *place);
static inline bool wf_vrank_slot_holds(const struct wf_vrank_slots *slots, const void *place)
{
    return (uintptr_t)place - (uintptr_t)slots->base < slots->size;
}

void wf_vrank_slots_free(struct wf_vrank_slots *slots);
