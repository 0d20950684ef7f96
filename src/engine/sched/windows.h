/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Executing events window by window and block by block, if the model promises a lookahead.
 */

#include "engine/core/internal.h"
#include "engine/queue/near.h"
#include "engine/queue/sort.h"
#include "engine/queue/wheel.h"
#include "engine/tuning.h"

struct wf_windows {
    struct wf_wheel wheel;
    struct wf_sorter sorter; /* the events of a block */
    uint32_t *places;        /* in it, by bucket of processes */
    int64_t length;          /* no window is longer */
    unsigned time_shift;     /* lower bits of times that sorting leaves out */
    uint32_t source_mask;    /* of the bits of sources that it compares */
    struct wf_near near;     /* events that were scheduled for the window being run */
    uint64_t running;        /* the window being run, WF_WHEEL_NEVER between windows */
    uint32_t near_run;       /* events of `near` that were executed */
    bool stopped;            /* a stop was requested in the middle of a window */
};

/* Whether so many windows had fewer than `least` events on average: the one measure by which schedulers
 * decide that windows are nearly empty. Few windows say nothing. */
static inline bool wf_windows_are_sparse(uint64_t windows, uint64_t events, uint64_t least)
{
    return windows >= WF_TUNE_WINDOWS_TRIAL && events < windows * least;
}

/* From now on the handlers of the worker write their events directly into these windows... */
void wf_windows_init(struct wf_windows *windows, struct wf_worker *worker);
/* ...and from now on no longer: all events are moved to a queue. */
void wf_windows_queue_all(struct wf_windows *windows, struct wf_worker *worker,
                          struct wf_pending *pending);
void wf_windows_fini(struct wf_windows *windows);

/* Queues an event for a process of this worker. */
static inline void wf_windows_send(struct wf_windows *windows, const struct wf_event *ev)
{
    uint64_t window = wf_wheel_window(&windows->wheel, ev->key.time);

    if (__builtin_expect(window == windows->running, 0)) {
        wf_near_push(&windows->near, ev);
        return;
    }
    wf_wheel_file(&windows->wheel, window, ev);
}

/* The events of a worker: in windows, or without a lookahead in a queue. */
struct wf_store {
    bool windowed;
    struct wf_windows windows;
    struct wf_pending pending;
};

void wf_store_init(struct wf_store *store, struct wf_worker *worker);
void wf_store_fini(struct wf_store *store);
/* Moves all events to the queue, for good. */
void wf_store_queue_all(struct wf_store *store, struct wf_worker *worker);
/* Moves all events to a bag, in no order, for good. It can only be read and freed. */
void wf_store_take_all(struct wf_store *store, struct wf_worker *worker, struct wf_bag *all);

static inline void wf_store_add(struct wf_store *store, const struct wf_event *ev)
{
    if (store->windowed) {
        wf_windows_send(&store->windows, ev);
    } else {
        wf_pending_push(&store->pending, ev);
    }
}

/* Executes all events of the present window of the wheel, or sets `stopped`. */
void wf_windows_run(struct wf_windows *windows, struct wf_worker *worker);

/* The same for one block of the worker, which has events in the present window. The caller sets
 * `running`. */
void wf_windows_run_block(struct wf_windows *windows, struct wf_worker *worker, uint32_t b);

/* Sorts the events of such a block by process and key into `sorter`, and returns how many there
 * are. The caller executes them and frees the bag. WF_TUNE_AHEAD_EVENT entries after the last may be
 * read, to prefetch their events. */
size_t wf_windows_sort_block(struct wf_windows *windows, struct wf_worker *worker, uint32_t b);

/* Moves the events of such a block to a queue. */
void wf_windows_queue_block(struct wf_windows *windows, struct wf_worker *worker, uint32_t b,
                            struct wf_pending *pending);
