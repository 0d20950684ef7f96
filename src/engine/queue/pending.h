/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Pending events in strict key order.
 *
 * The queue is a lazy radix sort by time, from the most significant byte. An event waits in the
 * bucket of the first byte in which its time differs from the present. The next bucket is
 * distributed over finer ones until it is small enough to be sorted. Buckets are bags of
 * chunks, so that an event is copied sequentially a few times, which is faster than a tree, and
 * no bucket width has to be guessed. Events that arrive for the stretch already sorted go to a
 * small heap. Each call takes constant time on average.
 */

#include "engine/queue/chunk.h"
#include "engine/queue/near.h"
#include "engine/queue/sort.h"

enum { WF_PENDING_LEVELS = 8, WF_PENDING_SLOTS = 256 };

struct wf_pending {
    struct wf_pool *pool;
    int64_t base;     /* no bucket holds anything earlier */
    int64_t open_end; /* earlier events are in `run` or `near`, all others in buckets */

    struct wf_bag open; /* the chunks that `run` points into */
    struct wf_sorter run;
    size_t run_next, run_n;
    unsigned open_level; /* the open stretch is 256^open_level ps wide */
    struct wf_near near;
    uint32_t near_max; /* if the heap is larger, the stretch is too wide */

    uint64_t used[WF_PENDING_LEVELS]
                 [WF_PENDING_SLOTS / 64]; /* bits of buckets that are not empty */
    struct wf_bag bucket[WF_PENDING_LEVELS][WF_PENDING_SLOTS];
    size_t n;
};

void wf_pending_init(struct wf_pending *pending, struct wf_pool *pool);
void wf_pending_fini(struct wf_pending *pending);

/* Adds an event. Its time may be before that of events already taken. */
void wf_pending_push(struct wf_pending *pending, const struct wf_event *ev);

/* The first event, or null. Valid until the next call. */
const struct wf_event *wf_pending_peek(struct wf_pending *pending);
/* Moves the first event, which must exist, to *to. */
void wf_pending_pop(struct wf_pending *pending, struct wf_event *to);
/* Takes the event that wf_pending_peek() has just returned. Returns where it is now: in the
 * queue's memory, valid until the next call that changes the queue, or in *scratch. */
const struct wf_event *wf_pending_take(struct wf_pending *pending, const struct wf_event *first,
                                       struct wf_event *scratch);

/* The event that will be taken `ahead` events from now if no other arrives, or null. */
static inline const struct wf_event *wf_pending_ahead(const struct wf_pending *pending,
                                                      size_t ahead)
{
    size_t i = pending->run_next + ahead;

    return i < pending->run_n ? pending->run.entries[i].ev : NULL;
}
