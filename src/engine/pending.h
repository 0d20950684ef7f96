/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_PENDING_H
#define WF_ENGINE_PENDING_H

/*
 * Pending events in strict key order.
 *
 * A radix sort on the time stamp, from the most significant byte, that is done only as far as
 * it is needed: an event waits in the bucket of the first byte in which its time differs from
 * the present; the next bucket is spread over finer ones until few enough events are left to
 * sort them outright. Buckets are bags of chunks, so an event is written sequentially a few
 * times instead of being looked for in a tree, and no bucket width has to be guessed. What
 * arrives for the stretch already sorted goes to a small heap.
 */

#include "engine/chunk.h"
#include "engine/near.h"
#include "engine/sort.h"

enum { WF_PENDING_LEVELS = 8, WF_PENDING_SLOTS = 256 };

struct wf_pending {
    struct wf_pool *pool;
    int64_t base;     /* no bucket holds anything earlier */
    int64_t open_end; /* earlier than this is in `run` or `near`, the rest in buckets */

    struct wf_bag open; /* the chunks that `run` points into */
    struct wf_sorter run;
    size_t run_next, run_n;
    unsigned open_level; /* the open stretch is 256^open_level ps wide */
    struct wf_near near;
    uint32_t near_max; /* when the heap outgrows this the stretch is too wide */

    uint64_t used[WF_PENDING_LEVELS][WF_PENDING_SLOTS / 64]; /* which buckets hold something */
    struct wf_bag bucket[WF_PENDING_LEVELS][WF_PENDING_SLOTS];
    size_t n;
};

void wf_pending_init(struct wf_pending *pending, struct wf_pool *pool);
void wf_pending_fini(struct wf_pending *pending);

/* Any time is allowed, also one before events already taken. */
void wf_pending_push(struct wf_pending *pending, const struct wf_event *ev);

/* The first event, or null. Valid until the next call. */
const struct wf_event *wf_pending_peek(struct wf_pending *pending);
/* Moves the first event, which must exist, to *to. */
void wf_pending_pop(struct wf_pending *pending, struct wf_event *to);

/* How far to look ahead for what to prefetch: an event that far, the event itself; half as far,
 * what belongs to it. */
enum { WF_PENDING_AHEAD = 8 };

/* An event that will be taken `ahead` turns from now if nothing intervenes, or null. */
static inline const struct wf_event *wf_pending_ahead(const struct wf_pending *pending,
                                                      size_t ahead)
{
    size_t i = pending->run_next + ahead;

    return i < pending->run_n ? pending->run.events[i] : NULL;
}

#endif
