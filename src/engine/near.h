/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_NEAR_H
#define WF_ENGINE_NEAR_H

/*
 * A binary heap of events: for the few that arrive inside the stretch of time that is being
 * worked on, where the big queues have already sorted what they had.
 */

#include "engine/event.h"

#include <stdbool.h>

struct wf_near {
    unsigned char *slots;
    uint32_t *heap; /* slot numbers, least key first; behind them the free ones */
    uint32_t n;
    uint32_t capacity;
    uint32_t stride;
};

void wf_near_init(struct wf_near *near, uint32_t stride);
void wf_near_fini(struct wf_near *near);

/* The event at place `i` of the heap; place 0 is the least. */
static inline const struct wf_event *wf_near_at(const struct wf_near *near, uint32_t i)
{
    return (const void *)(near->slots + (size_t)near->heap[i] * near->stride);
}

static inline const struct wf_event *wf_near_top(const struct wf_near *near)
{
    return wf_near_at(near, 0);
}

void wf_near_push(struct wf_near *near, const struct wf_event *ev);
/* Moves the least event to *to, which has room for a stride. */
void wf_near_pop(struct wf_near *near, struct wf_event *to);

#endif
