/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A timing wheel: pending events by window of time and block of processes, without any order
 * within them.
 *
 * Windows are at most as long as the lookahead, so that events of different processes in one
 * window are independent. Each block sorts its events of a window in cache and executes them;
 * no global queue is needed. The 128 windows around the present are kept by block. Later events
 * wait in coarser slots, 128 to a level, and move to finer ones when their time comes.
 */

#include "base/int128.h"
#include "engine/queue/blocks.h"
#include "engine/queue/chunk.h"

enum {
    WF_WHEEL_BITS = 7,
    WF_WHEEL_SLOTS = 1 << WF_WHEEL_BITS,
    WF_WHEEL_LEVELS = 9,
    WF_WHEEL_BAGS = 32
};

struct wf_wheel {
    struct wf_pool *pool;
    uint64_t reciprocal; /* turns a time into a window number by one multiplication */
    uint64_t now;        /* the present window: nothing is filed before it */
    struct wf_block_map map;
    const uint32_t
        *local_block;  /* global block number -> number among the blocks of the worker */
    uint32_t n_blocks; /* of the worker */

    /* [block of the worker][slot]. A block mostly schedules events for itself, so the bags that
     * it fills stand side by side. */
    struct wf_bag *ring;
    /* [level][slot][WF_WHEEL_BAGS], level 0 unused. All events of a window and block wait in the same
     * bag of a slot: events that are packed together then mostly move to the ring together. */
    struct wf_bag *far;
    uint64_t used[WF_WHEEL_LEVELS][WF_WHEEL_SLOTS / 64];
};

#define WF_WHEEL_NEVER UINT64_MAX

/* `width` is the lookahead, at least 1. */
void wf_wheel_init(struct wf_wheel *wheel, struct wf_pool *pool, int64_t width);
/* The blocks of the worker. The wheel keeps the pointer `local_block`. */
void wf_wheel_blocks(struct wf_wheel *wheel, struct wf_block_map map,
                     const uint32_t *local_block, uint32_t n_blocks);
void wf_wheel_fini(struct wf_wheel *wheel);

/* Monotonic; two times with the same number are less than `width` apart. */
static inline uint64_t wf_wheel_window(const struct wf_wheel *wheel, int64_t time)
{
    return (uint64_t)(((wf_u128)((uint64_t)time + 1) * wheel->reciprocal) >> 64);
}

/* Whether events of a window, which is not before the present one, are kept by block. */
static inline bool wf_wheel_is_near(const struct wf_wheel *wheel, uint64_t window)
{
    return ((window ^ wheel->now) >> WF_WHEEL_BITS) == 0;
}

/* Where events of a window wait; level 0 is the ring. */
struct wf_wheel_slot {
    unsigned level, slot;
};

static inline struct wf_wheel_slot wf_wheel_slot_of(const struct wf_wheel *wheel,
                                                    uint64_t window)
{
    unsigned top = 63U - (unsigned)__builtin_clzll((window ^ wheel->now) | 1);
    unsigned level = top / WF_WHEEL_BITS;

    return (struct wf_wheel_slot){level, (unsigned)(window >> (level * WF_WHEEL_BITS)) &
                                             (WF_WHEEL_SLOTS - 1)};
}

/* The bag for an event of a window that is not near. */
static inline struct wf_bag *wf_wheel_far_bag(const struct wf_wheel *wheel,
                                              struct wf_wheel_slot far, uint64_t window,
                                              uint32_t dst)
{
    size_t bag = (window + wf_block_number(wheel->map, dst)) % WF_WHEEL_BAGS;

    return &wheel->far[((size_t)far.level * WF_WHEEL_SLOTS + far.slot) * WF_WHEEL_BAGS + bag];
}

/* The bag for an event for process `dst` in a window that is not before the present one. `near` are
 * the bags of the process's block in the ring. */
static inline struct wf_bag *wf_wheel_bag_of(const struct wf_wheel *wheel, struct wf_bag *near,
                                             uint64_t window, uint32_t dst)
{
    if (__builtin_expect(wf_wheel_is_near(wheel, window), 1)) {
        return &near[window % WF_WHEEL_SLOTS];
    }
    return wf_wheel_far_bag(wheel, wf_wheel_slot_of(wheel, window), window, dst);
}

/* The bags of a process's block in the ring. */
static inline struct wf_bag *wf_wheel_near_bags(const struct wf_wheel *wheel, uint32_t dst)
{
    return &wheel->ring[(size_t)wheel->local_block[wf_block_number(wheel->map, dst)] *
                        WF_WHEEL_SLOTS];
}

/* Makes room for an event in a bag that has too little, such as an empty one, and marks the slot of its
 * window as used. */
void wf_wheel_extend(struct wf_wheel *wheel, uint64_t window, struct wf_bag *bag);

/* Files an event of a window that is not before the present one. */
static inline void wf_wheel_file(struct wf_wheel *wheel, uint64_t window,
                                 const struct wf_event *ev)
{
    struct wf_bag *bag =
        wf_wheel_bag_of(wheel, wf_wheel_near_bags(wheel, ev->dst), window, ev->dst);
    size_t room = wf_event_room(ev);

    if (bag->left < room) {
        wf_wheel_extend(wheel, window, bag);
    }
    wf_event_copy(wf_bag_claim(bag, room), ev);
}

/* A window before which there are no events: the next window with events if it is near, else
 * the beginning of a coarser slot. WF_WHEEL_NEVER if the wheel is empty. */
uint64_t wf_wheel_next(const struct wf_wheel *wheel);

/* Moves the present to `window`, which is not after wf_wheel_next(). */
void wf_wheel_advance(struct wf_wheel *wheel, uint64_t window);

/* Takes the bags of the present window, one for each block of the worker; false if all are
 * empty. They stay in the memory of the wheel; the caller opens them (wf_bag_open()), reads them
 * and empties them. */
bool wf_wheel_take(struct wf_wheel *wheel);

/* Moves the chunks of all events to a bag, which can only be read and freed: events stay where they are. */
void wf_wheel_gather(struct wf_wheel *wheel, struct wf_bag *all);

/* A bag of the present window. */
static inline struct wf_bag *wf_wheel_bag(const struct wf_wheel *wheel, uint32_t block)
{
    return &wheel->ring[(size_t)block * WF_WHEEL_SLOTS + (wheel->now & (WF_WHEEL_SLOTS - 1))];
}
