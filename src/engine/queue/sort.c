/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/sort.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { INSERTION_MAX = 24 };

void wf_sorter_fini(struct wf_sorter *sorter)
{
    free(sorter->events);
    free(sorter->scratch);
    *sorter = (struct wf_sorter){.capacity = 0};
}

void wf_sorter_reserve(struct wf_sorter *sorter, size_t n)
{
    if (n <= sorter->capacity) {
        return;
    }

    size_t capacity = n < 1024 ? 1024 : n + n / 2;
    free(sorter->events);
    free(sorter->scratch);
    sorter->events = wf_xmalloc(capacity * sizeof(struct wf_event *));
    sorter->scratch = wf_xmalloc(capacity * sizeof(struct wf_event *));
    sorter->capacity = capacity;
}

static void insertion_sort(struct wf_event **events, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct wf_event *ev = events[i];
        size_t j = i;
        for (; j > 0 && wf_key_before(&ev->key, &events[j - 1]->key); j--) {
            events[j] = events[j - 1];
        }
        events[j] = ev;
    }
}

/* Merges the sorted events[0..half) and events[half..n), using `scratch`. */
static void merge(struct wf_event **events, size_t half, size_t n, struct wf_event **scratch)
{
    size_t left = 0, right = half, to = 0;

    if (!wf_key_before(&events[half]->key, &events[half - 1]->key)) {
        return;
    }
    memcpy(scratch, events, half * sizeof(struct wf_event *));
    while (left < half) {
        if (right < n && wf_key_before(&events[right]->key, &scratch[left]->key)) {
            events[to++] = events[right++];
        } else {
            events[to++] = scratch[left++];
        }
    }
}

void wf_sort_by_key(struct wf_event **events, size_t n, struct wf_event **scratch)
{
    for (size_t i = 0; i < n; i += INSERTION_MAX) {
        insertion_sort(events + i, n - i < INSERTION_MAX ? n - i : INSERTION_MAX);
    }
    for (size_t run = INSERTION_MAX; run < n; run *= 2) {
        for (size_t i = 0; i + run < n; i += 2 * run) {
            merge(events + i, run, n - i < 2 * run ? n - i : 2 * run, scratch);
        }
    }
}
