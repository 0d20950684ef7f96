/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A hash table from 64-bit keys to 64-bit values. Any key is allowed. A zeroed struct is an
 * empty map. Every call takes constant time on average, whatever bits the keys differ in.
 * The map owns its memory; wf_map_fini() releases it.
 *
 * A pointer to a value is valid until the next wf_map_put() or wf_map_remove().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_map_entry {
    uint64_t key, value;
};

struct wf_map {
    struct wf_map_entry *entries; /* `capacity` slots, and one more for the key 0 */
    size_t n;                     /* number of keys */
    size_t capacity;              /* a power of two, or 0 */
    bool has_zero; /* key 0 marks a free slot, so that it needs a slot of its own */
};

void wf_map_fini(struct wf_map *map);

/* The value of a key; null if the map has no such key. */
uint64_t *wf_map_get(const struct wf_map *map, uint64_t key);

/* The value of a key, which is added with the value 0 if it is new. */
uint64_t *wf_map_put(struct wf_map *map, uint64_t key);

/* Removes a key; false if the map has no such key. */
bool wf_map_remove(struct wf_map *map, uint64_t key);

/* Removes all keys. Keeps the memory, unless it is far more than they needed. */
void wf_map_clear(struct wf_map *map);

/* Visits all entries, in an order that depends on the keys and on the history of the map. *at
 * is 0 before the first call. Returns null after the last entry. */
struct wf_map_entry *wf_map_next(const struct wf_map *map, size_t *at);
