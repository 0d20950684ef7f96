/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_ROUTE_SET_H
#define WF_TESTS_HARNESS_ROUTE_SET_H

#include "base/rng.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A set of pairs of numbers, each with a number. */
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

/* Valid until the next call. */
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

#endif
