/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The dependency graph of virtual channels, and whether it has a cycle. */

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A map from pairs of numbers to numbers. */
struct route_set {
    uint64_t (*keys)[2]; /* the first is never UINT64_MAX, which is a free slot */
    uint32_t *values;
    size_t n, slots;
};

static inline size_t route_set_slot(const struct route_set *set, uint64_t a, uint64_t b)
{
    size_t slot = wf_rng_mix(wf_rng_mix(a) + b) & (set->slots - 1);

    while (set->keys[slot][0] != UINT64_MAX &&
           (set->keys[slot][0] != a || set->keys[slot][1] != b)) {
        slot = (slot + 1) & (set->slots - 1);
    }
    return slot;
}

static inline void route_set_init(struct route_set *set, size_t slots)
{
    set->n = 0;
    set->slots = slots;
    set->keys = malloc(slots * sizeof(*set->keys));
    set->values = calloc(slots, sizeof(*set->values));
    memset(set->keys, 0xff, slots * sizeof(*set->keys));
}

static inline void route_set_fini(struct route_set *set)
{
    free(set->keys);
    free(set->values);
}

/* Finds the value of a pair. The pointer is valid until the next call. */
static inline uint32_t *route_set_find(struct route_set *set, uint64_t a, uint64_t b)
{
    if (2 * set->n >= set->slots) {
        struct route_set more;

        route_set_init(&more, 2 * set->slots);
        for (size_t i = 0; i < set->slots; i++) {
            if (set->keys[i][0] != UINT64_MAX) {
                size_t slot = route_set_slot(&more, set->keys[i][0], set->keys[i][1]);
                memcpy(more.keys[slot], set->keys[i], sizeof(set->keys[i]));
                more.values[slot] = set->values[i];
                more.n++;
            }
        }
        route_set_fini(set);
        *set = more;
    }
    size_t slot = route_set_slot(set, a, b);
    if (set->keys[slot][0] == UINT64_MAX) {
        set->keys[slot][0] = a;
        set->keys[slot][1] = b;
        set->n++;
    }
    return &set->values[slot];
}

static int route_by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Whether the edges (channel, next channel) have a cycle. Removes channels without incoming
 * edges until none are left; channels that cannot be removed are on cycles or after them. */
static inline bool route_has_cycle(struct route_set *edges)
{
    uint64_t(*list)[2] = malloc((edges->n + 1) * sizeof(*list));
    struct route_set number, first;
    size_t n = 0, head = 0, tail = 0;

    route_set_init(&number, 64);
    route_set_init(&first, 64);
    for (size_t i = 0; i < edges->slots; i++) {
        if (edges->keys[i][0] != UINT64_MAX) {
            memcpy(list[n++], edges->keys[i], sizeof(*list));
        }
    }
    qsort(list, n, sizeof(*list), route_by_first);
    for (size_t i = n; i-- > 0;) {
        *route_set_find(&first, list[i][0], 0) = (uint32_t)i + 1;
        (void)route_set_find(&number, list[i][0], 0);
        (*route_set_find(&number, list[i][1], 0))++;
    }
    size_t n_channels = number.n;
    uint64_t *queue = malloc((n_channels + 1) * sizeof(*queue));
    for (size_t i = 0; i < number.slots; i++) {
        if (number.keys[i][0] != UINT64_MAX && number.values[i] == 0) {
            queue[tail++] = number.keys[i][0];
        }
    }
    while (head < tail) {
        uint64_t channel = queue[head++];
        uint32_t begin = *route_set_find(&first, channel, 0);
        for (size_t i = begin; i > 0 && i <= n && list[i - 1][0] == channel; i++) {
            if (--*route_set_find(&number, list[i - 1][1], 0) == 0) {
                queue[tail++] = list[i - 1][1];
            }
        }
    }
    free(list);
    free(queue);
    route_set_fini(&number);
    route_set_fini(&first);
    return tail != n_channels;
}
