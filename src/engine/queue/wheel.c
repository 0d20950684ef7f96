/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/wheel.h"

#include "base/mem.h"
#include "engine/queue/pack.h"

#include <stdlib.h>

void wf_wheel_init(struct wf_wheel *wheel, struct wf_pool *pool, int64_t width)
{
    memset(wheel, 0, sizeof(*wheel));
    wheel->pool = pool;
    /* Rounded up, so that windows are never longer than `width`. For 1 ps the exact value
     * does not fit; one less works too, since window() adds 1 to the time. */
    wheel->reciprocal = width == 1 ? UINT64_MAX : UINT64_MAX / (uint64_t)width + 1;
}

void wf_wheel_blocks(struct wf_wheel *wheel, struct wf_block_map map,
                     const uint32_t *local_block, uint32_t n_blocks)
{
    wheel->map = map;
    wheel->local_block = local_block;
    wheel->n_blocks = n_blocks;
    wheel->ring = wf_xcalloc((size_t)WF_WHEEL_SLOTS * n_blocks, sizeof(struct wf_bag));
    wheel->far = wf_xcalloc((size_t)WF_WHEEL_LEVELS * WF_WHEEL_SLOTS * WF_WHEEL_BAGS,
                            sizeof(struct wf_bag));
}

void wf_wheel_fini(struct wf_wheel *wheel)
{
    free(wheel->ring);
    free(wheel->far);
}

void wf_wheel_extend(struct wf_wheel *wheel, uint64_t window, struct wf_bag *bag)
{
    struct wf_wheel_slot at = wf_wheel_slot_of(wheel, window);

    wheel->used[at.level][at.slot / 64] |= UINT64_C(1) << (at.slot % 64);
    if (wheel->pool->packs && bag->head != NULL) {
        wf_bag_pack(bag, wheel->pool);
    } else {
        wf_bag_extend(bag, wheel->pool);
    }
}

/* The first slot in use at this level, or WF_WHEEL_SLOTS. */
static unsigned first_slot(const struct wf_wheel *wheel, unsigned level)
{
    for (unsigned word = 0; word < WF_WHEEL_SLOTS / 64; word++) {
        if (wheel->used[level][word] != 0) {
            return 64 * word + (unsigned)__builtin_ctzll(wheel->used[level][word]);
        }
    }
    return WF_WHEEL_SLOTS;
}

uint64_t wf_wheel_next(const struct wf_wheel *wheel)
{
    for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++) {
        unsigned slot = first_slot(wheel, level);
        if (slot < WF_WHEEL_SLOTS) {
            unsigned shift = level * WF_WHEEL_BITS;
            /* Above this level the window agrees with the present one. */
            uint64_t above = (wheel->now >> shift) >> WF_WHEEL_BITS;
            return ((above << WF_WHEEL_BITS) | slot) << shift;
        }
    }
    return WF_WHEEL_NEVER;
}

/* Moves a packed chunk to the ring as it is, if all its events belong into one bag there. */
static bool move_packed(struct wf_wheel *wheel, struct wf_chunk *chunk)
{
    const struct wf_packed_bounds bounds = wf_chunk_bounds(chunk);
    uint64_t window = wf_wheel_window(wheel, bounds.time);
    uint32_t block = wf_block_number(wheel->map, bounds.dst);

    if (wf_wheel_window(wheel, bounds.last_time) != window ||
        wf_block_number(wheel->map, bounds.last_dst) != block ||
        !wf_wheel_is_near(wheel, window)) {
        return false;
    }
    struct wf_bag *bag = &wf_wheel_near_bags(wheel, bounds.dst)[window % WF_WHEEL_SLOTS];
    if (bag->head == NULL) {
        wf_wheel_extend(wheel, window, bag);
    }
    chunk->next = bag->head->next;
    bag->head->next = chunk;
    bag->n += chunk->packed.n;
    return true;
}

static void refile(struct wf_wheel *wheel, struct wf_bag bag)
{
    wf_bag_seal(&bag);
    while (bag.head != NULL) {
        if (bag.head->is_packed) {
            struct wf_chunk *next = bag.head->next;
            if (move_packed(wheel, bag.head)) {
                bag.head = next;
                continue;
            }
            /* One at a time: the others need no memory meanwhile. */
            bag.head = wf_chunk_unpack(bag.head, wheel->pool);
        }
        struct wf_chunk *chunk = bag.head;
        wf_chunk_prefetch(chunk->next);
        for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
            const struct wf_event *ev = wf_chunk_event(chunk, at);
            wf_wheel_file(wheel, wf_wheel_window(wheel, ev->key.time), ev);
        }
        bag.head = chunk->next;
        wf_chunk_free(wheel->pool, chunk);
    }
}

static void refile_slot(struct wf_wheel *wheel, struct wf_wheel_slot far)
{
    for (uint32_t i = 0; i < WF_WHEEL_BAGS; i++) {
        struct wf_bag *at = wf_wheel_far_bag(wheel, far, i, 0);
        struct wf_bag bag = *at;

        *at = (struct wf_bag){.head = NULL};
        refile(wheel, bag);
    }
}

void wf_wheel_advance(struct wf_wheel *wheel, uint64_t window)
{
    wheel->now = window;
    for (unsigned level = WF_WHEEL_LEVELS - 1; level > 0; level--) {
        unsigned slot = (unsigned)(window >> (level * WF_WHEEL_BITS)) & (WF_WHEEL_SLOTS - 1);
        uint64_t bit = UINT64_C(1) << (slot % 64);
        if ((wheel->used[level][slot / 64] & bit) != 0) {
            wheel->used[level][slot / 64] &= ~bit;
            refile_slot(wheel, (struct wf_wheel_slot){level, slot});
        }
    }
}

bool wf_wheel_take(struct wf_wheel *wheel)
{
    unsigned slot = (unsigned)wheel->now & (WF_WHEEL_SLOTS - 1);
    uint64_t bit = UINT64_C(1) << (slot % 64);
    bool any = (wheel->used[0][slot / 64] & bit) != 0;

    wheel->used[0][slot / 64] &= ~bit;
    return any;
}

static void gather(struct wf_wheel *wheel, struct wf_bag *bags, size_t n, struct wf_bag *all)
{
    for (size_t i = 0; i < n; i++) {
        struct wf_chunk **end = &bags[i].head;
        wf_bag_open(&bags[i], wheel->pool);
        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = all->head;
        all->head = bags[i].head;
        all->n += bags[i].n;
        bags[i] = (struct wf_bag){.head = NULL};
    }
}

void wf_wheel_gather(struct wf_wheel *wheel, struct wf_bag *all)
{
    gather(wheel, wheel->ring, (size_t)WF_WHEEL_SLOTS * wheel->n_blocks, all);
    gather(wheel, wheel->far, (size_t)WF_WHEEL_LEVELS * WF_WHEEL_SLOTS * WF_WHEEL_BAGS, all);
    memset(wheel->used, 0, sizeof(wheel->used));
}
