/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

/* The table uses open addressing with linear probing. The slot of key 0 follows the last. */

void wf_map_fini(struct wf_map *map)
{
    free(map->entries);
    *map = (struct wf_map){.entries = NULL};
}

void wf_map_clear(struct wf_map *map)
{
    if (map->capacity > FIRST_CAPACITY && map->n < map->capacity / 8) {
        wf_map_fini(map);
    } else if (map->n > 0) {
        memset(map->entries, 0, (map->capacity + 1) * sizeof(*map->entries));
        map->n = 0;
        map->has_zero = false;
    }
}

static size_t home_of(const struct wf_map *map, uint64_t key)
{
    return (size_t)wf_rng_mix(key) & (map->capacity - 1);
}

/* The slot that has the key, or the free slot where it belongs. */
static struct wf_map_entry *slot_of(const struct wf_map *map, uint64_t key)
{
    size_t mask = map->capacity - 1, at = home_of(map, key);

    if (key == 0) {
        return &map->entries[map->capacity];
    }
    while (map->entries[at].key != 0 && map->entries[at].key != key) {
        at = (at + 1) & mask;
    }
    return &map->entries[at];
}

static void grow(struct wf_map *map)
{
    struct wf_map old = *map;
    struct wf_map_entry *entry;

    map->capacity = old.capacity == 0 ? FIRST_CAPACITY : 2 * old.capacity;
    map->entries = wf_xcalloc(map->capacity + 1, sizeof(*map->entries));
    for (size_t at = 0; (entry = wf_map_next(&old, &at)) != NULL;) {
        *slot_of(map, entry->key) = *entry;
    }
    free(old.entries);
}

uint64_t *wf_map_get(const struct wf_map *map, uint64_t key)
{
    if (map->n == 0) {
        return NULL;
    }
    struct wf_map_entry *entry = slot_of(map, key);
    return entry->key == key && (key != 0 || map->has_zero) ? &entry->value : NULL;
}

uint64_t *wf_map_put(struct wf_map *map, uint64_t key)
{
    uint64_t *known = wf_map_get(map, key);

    if (known != NULL) {
        return known;
    }
    if (3 * (map->n + 1) > 2 * map->capacity) {
        grow(map);
    }
    struct wf_map_entry *entry = slot_of(map, key);
    *entry = (struct wf_map_entry){.key = key};
    map->has_zero |= key == 0;
    map->n++;
    return &entry->value;
}

bool wf_map_remove(struct wf_map *map, uint64_t key)
{
    if (wf_map_get(map, key) == NULL) {
        return false;
    }
    map->n--;
    if (key == 0) {
        map->has_zero = false;
        return true;
    }

    /* Entries that were put after the gap because it was taken move back into it. */
    size_t mask = map->capacity - 1, gap = (size_t)(slot_of(map, key) - map->entries);
    for (size_t at = (gap + 1) & mask; map->entries[at].key != 0; at = (at + 1) & mask) {
        size_t home = home_of(map, map->entries[at].key);
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            map->entries[gap] = map->entries[at];
            gap = at;
        }
    }
    map->entries[gap].key = 0;
    return true;
}

struct wf_map_entry *wf_map_next(const struct wf_map *map, size_t *at)
{
    for (; *at < map->capacity; ++*at) {
        if (map->entries[*at].key != 0) {
            return &map->entries[(*at)++];
        }
    }
    return (*at)++ == map->capacity && map->has_zero ? &map->entries[map->capacity] : NULL;
}
