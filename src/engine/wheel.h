/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_WHEEL_H
#define WF_ENGINE_WHEEL_H

/*
 * Pending events by window of time and block of processes, in no finer order.
 *
 * Windows are at most as long as the lookahead, so the events of one window that belong to
 * different processes are independent: a block takes its own, sorts them in cache and runs
 * them, and no global queue exists. The 128 windows around the present are kept by block; what
 * lies further ahead waits in coarser slots, 128 to a level, and moves down when its time
 * comes.
 */

#include "base/int128.h"
#include "engine/chunk.h"

enum { WF_WHEEL_BITS = 7, WF_WHEEL_SLOTS = 1 << WF_WHEEL_BITS, WF_WHEEL_LEVELS = 9 };

struct wf_wheel {
    struct wf_pool *pool;
    uint64_t reciprocal; /* turns a time into a window number by one multiplication */
    uint64_t now;        /* the present window: nothing is filed before it */
    unsigned block_shift;
    const uint32_t *local_block; /* global block number -> own number */
    uint32_t n_blocks;           /* own */

    struct wf_bag *ring;                                /* [slot][own block] */
    struct wf_bag far[WF_WHEEL_LEVELS][WF_WHEEL_SLOTS]; /* level 0 unused */
    uint64_t used[WF_WHEEL_LEVELS][WF_WHEEL_SLOTS / 64];
};

#define WF_WHEEL_NEVER UINT64_MAX

/* `width` is the lookahead, at least 1. */
void wf_wheel_init(struct wf_wheel *wheel, struct wf_pool *pool, int64_t width);
/* The blocks it serves; `local_block` is kept. */
void wf_wheel_blocks(struct wf_wheel *wheel, unsigned block_shift, const uint32_t *local_block,
                     uint32_t n_blocks);
void wf_wheel_fini(struct wf_wheel *wheel);

/* Monotonic; two times with the same number are less than `width` apart. */
static inline uint64_t wf_wheel_window(const struct wf_wheel *wheel, int64_t time)
{
    return (uint64_t)(((wf_u128)((uint64_t)time + 1) * wheel->reciprocal) >> 64);
}

void wf_wheel_file_far(struct wf_wheel *wheel, uint64_t window, const struct wf_event *ev);

/* Files an event of a window that is not before the present one. */
static inline void wf_wheel_file(struct wf_wheel *wheel, uint64_t window,
                                 const struct wf_event *ev)
{
    if (__builtin_expect(((window ^ wheel->now) >> WF_WHEEL_BITS) != 0, 0)) {
        wf_wheel_file_far(wheel, window, ev);
        return;
    }

    unsigned slot = (unsigned)window & (WF_WHEEL_SLOTS - 1);
    uint32_t block = wheel->local_block[ev->dst >> wheel->block_shift];
    wheel->used[0][slot / 64] |= UINT64_C(1) << (slot % 64);
    (void)wf_bag_add(&wheel->ring[(size_t)slot * wheel->n_blocks + block], wheel->pool, ev);
}

/* A window before which nothing is filed, as late as can be told without sorting: the exact
 * next one if it is near, else the beginning of a coarser slot. WF_WHEEL_NEVER if empty. */
uint64_t wf_wheel_next(const struct wf_wheel *wheel);

/* Moves the present to `window`, which is not after wf_wheel_next(). */
void wf_wheel_advance(struct wf_wheel *wheel, uint64_t window);

/* Takes the present window's bags, indexed by own block: they stay in the wheel's memory, and
 * the caller leaves them empty. Null if the window is empty. */
struct wf_bag *wf_wheel_take(struct wf_wheel *wheel);

#endif
