/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sorting of events, without moving them. */

#include "engine/event.h"

/* An event in a list to be sorted. Of two events the one with the smaller order comes first; events
 * of one order are compared by key. */
struct wf_sort_entry {
    uint64_t order;
    struct wf_event *ev;
};

/* Memory that sorting needs, kept from one call to the next. */
struct wf_sorter {
    struct wf_sort_entry *entries; /* result */
    struct wf_sort_entry *scratch;
    size_t capacity;
};

void wf_sorter_fini(struct wf_sorter *sorter);
/* Makes room for `n` entries in both arrays; their contents are lost. */
void wf_sorter_reserve(struct wf_sorter *sorter, size_t n);

/* Sorts the n entries at `from` into `to`, which is other memory. Entries at `from` are lost. */
void wf_sort_many(struct wf_sort_entry *to, struct wf_sort_entry *from, size_t n);
/* Sorts entries by key that are sorted by order. */
void wf_sort_equal(struct wf_sort_entry *entries, size_t n);

enum { WF_SORT_FEW = 16 };

/* Sorts n <= WF_SORT_FEW entries by counting for each how many come before it: without branches that
 * depend on the order, which a processor would mispredict. */
static inline void wf_sort_few(struct wf_sort_entry *to, const struct wf_sort_entry *from,
                               size_t n)
{
    uint32_t place[WF_SORT_FEW];
    uint32_t equal = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t order = from[i].order;
        uint32_t before = (uint32_t)i;
        for (size_t j = 0; j < i; j++) {
            uint32_t later = from[j].order > order;
            equal |= from[j].order == order;
            place[j] += later;
            before -= later;
        }
        place[i] = before;
    }
    for (size_t i = 0; i < n; i++) {
        to[place[i]] = from[i];
    }
    if (__builtin_expect(equal != 0, 0)) {
        wf_sort_equal(to, n);
    }
}

static inline void wf_sort(struct wf_sort_entry *to, struct wf_sort_entry *from, size_t n)
{
    if (n == 1) {
        to[0] = from[0];
    } else if (n <= WF_SORT_FEW) {
        wf_sort_few(to, from, n);
    } else {
        wf_sort_many(to, from, n);
    }
}
