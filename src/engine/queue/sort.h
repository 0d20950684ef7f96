/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sorting of pointers to events. */

#include "engine/event.h"

/* Memory that sorting needs, kept from one call to the next. */
struct wf_sorter {
    struct wf_event **events; /* result */
    struct wf_event **scratch;
    size_t capacity;
};

void wf_sorter_fini(struct wf_sorter *sorter);
/* Makes room for `n` pointers in both arrays; their contents are lost. */
void wf_sorter_reserve(struct wf_sorter *sorter, size_t n);

/* Sorts events[0..n) by key; fast when n is small or the order is nearly right. */
void wf_sort_by_key(struct wf_event **events, size_t n, struct wf_event **scratch);
