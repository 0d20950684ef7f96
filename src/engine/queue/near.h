/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A binary heap for the few events that are scheduled for the stretch of time being executed,
 * whose other events are already sorted.
 */

#include "engine/event.h"

#include <stdbool.h>

struct wf_near_slab;

struct wf_near {
    struct wf_event **heap;     /* the least key first; then the free events */
    struct wf_near_slab *slabs; /* memory of the events, which stay where they are */
    uint32_t n;
    uint32_t capacity;
    uint32_t stride;
};

void wf_near_init(struct wf_near *near, uint32_t stride);
void wf_near_fini(struct wf_near *near);
void wf_near_grow(struct wf_near *near);

/* The event at place `i` of the heap; the least is at place 0. */
static inline const struct wf_event *wf_near_at(const struct wf_near *near, uint32_t i)
{
    return near->heap[i];
}

static inline const struct wf_event *wf_near_top(const struct wf_near *near)
{
    return wf_near_at(near, 0);
}

/* The place of another event, one stride. The caller writes at least its key, and then calls... */
static inline struct wf_event *wf_near_claim(struct wf_near *near)
{
    if (near->n == near->capacity) {
        wf_near_grow(near);
    }
    return near->heap[near->n];
}

/* ...this, which adds the event to the heap. */
static inline void wf_near_add(struct wf_near *near)
{
    uint32_t i = near->n++;
    struct wf_event *ev = near->heap[i];

    for (; i > 0 && wf_key_before(&ev->key, &near->heap[(i - 1) / 2]->key); i = (i - 1) / 2) {
        near->heap[i] = near->heap[(i - 1) / 2];
    }
    near->heap[i] = ev;
}

/* Adds a copy of an event. */
void wf_near_push(struct wf_near *near, const struct wf_event *ev);

/* Moves the least event to *to, one stride. */
void wf_near_pop(struct wf_near *near, struct wf_event *to);

/* Removes the least event. Its memory stays as it is until the next event is added. */
void wf_near_drop(struct wf_near *near);
