/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Sorting networks: for each number of entries a fixed sequence of compare-and-exchange steps that
 * sorts them. The steps have no branches that a processor could mispredict, so they sort a few
 * entries in random order faster than insertion does.
 */

#include <stdint.h>
#include <string.h>

struct wf_event;

/* An event in the sorted list of a window. `order` is the part of its key that fits into 64 bits: of
 * two events of a process the one with the smaller order comes first; if both are equal, their
 * keys decide. */
struct wf_window_entry {
    uint64_t order;
    struct wf_event *ev;
};

enum { WF_EXCHANGE_MAX = 16, WF_EXCHANGE_STEPS = 63 };

/* The steps for each number of entries: which entry is compared with which later one. */
struct wf_exchanges {
    uint8_t n[WF_EXCHANGE_MAX + 1];
    uint8_t first[WF_EXCHANGE_MAX + 1][WF_EXCHANGE_STEPS];
    uint8_t second[WF_EXCHANGE_MAX + 1][WF_EXCHANGE_STEPS];
};

void wf_exchanges_init(struct wf_exchanges *exchanges);

/* Exchanges the events of two entries if `swaps` is all ones, and not if it is 0. */
static inline void wf_exchange_events(struct wf_window_entry *a, struct wf_window_entry *b,
                                      uint64_t swaps)
{
    uintptr_t x, y;

    memcpy(&x, &a->ev, sizeof(x));
    memcpy(&y, &b->ev, sizeof(y));
    uintptr_t change = (x ^ y) & (uintptr_t)swaps;
    x ^= change;
    y ^= change;
    memcpy(&a->ev, &x, sizeof(x));
    memcpy(&b->ev, &y, sizeof(y));
}

/* Sorts n <= WF_EXCHANGE_MAX entries by their order. */
static inline void wf_exchange_sort(const struct wf_exchanges *exchanges,
                                    struct wf_window_entry *entries, uint32_t n)
{
    for (uint32_t i = 0, steps = exchanges->n[n]; i < steps; i++) {
        struct wf_window_entry *a = &entries[exchanges->first[n][i]];
        struct wf_window_entry *b = &entries[exchanges->second[n][i]];
        uint64_t swaps = UINT64_C(0) - (uint64_t)(b->order < a->order); /* all bits, or none */
        uint64_t change = (a->order ^ b->order) & swaps;
        a->order ^= change;
        b->order ^= change;
        wf_exchange_events(a, b, swaps);
    }
}
