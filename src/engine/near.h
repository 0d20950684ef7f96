/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A binary heap for the few events that are scheduled for the stretch of time being executed,
 * whose other events are already sorted.
 */

#include "engine/event.h"

#include <stdbool.h>

struct wf_near {
    unsigned char *slots;
    uint32_t *heap; /* slot numbers, the least key first; then the free slots */
    uint32_t n;
    uint32_t capacity;
    uint32_t stride;
};

void wf_near_init(struct wf_near *near, uint32_t stride);
void wf_near_fini(struct wf_near *near);

/* The event at place `i` of the heap; the least is at place 0. */
static inline const struct wf_event *wf_near_at(const struct wf_near *near, uint32_t i)
{
    return (const void *)(near->slots + (size_t)near->heap[i] * near->stride);
}

static inline const struct wf_event *wf_near_top(const struct wf_near *near)
{
    return wf_near_at(near, 0);
}

void wf_near_push(struct wf_near *near, const struct wf_event *ev);
/* Moves the least event to *to, one stride. */
void wf_near_pop(struct wf_near *near, struct wf_event *to);
