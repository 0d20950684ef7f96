/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/sort.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

void wf_sorter_fini(struct wf_sorter *sorter)
{
    free(sorter->entries);
    free(sorter->scratch);
    *sorter = (struct wf_sorter){.capacity = 0};
}

void wf_sorter_reserve(struct wf_sorter *sorter, size_t n)
{
    if (n <= sorter->capacity) {
        return;
    }

    size_t capacity = n < 1024 ? 1024 : n + n / 2;
    free(sorter->entries);
    free(sorter->scratch);
    sorter->entries = wf_xmalloc(capacity * sizeof(struct wf_sort_entry));
    sorter->scratch = wf_xmalloc(capacity * sizeof(struct wf_sort_entry));
    sorter->capacity = capacity;
}

static bool before(const struct wf_sort_entry *a, const struct wf_sort_entry *b)
{
    return a->order != b->order ? a->order < b->order : wf_key_before(&a->ev->key, &b->ev->key);
}

void wf_sort_equal(struct wf_sort_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct wf_sort_entry entry = entries[i];
        size_t j = i;
        for (; j > 0 && before(&entry, &entries[j - 1]); j--) {
            entries[j] = entries[j - 1];
        }
        entries[j] = entry;
    }
}

/* Merges the sorted entries[0..half) and entries[half..n), using `scratch`. */
static void merge(struct wf_sort_entry *entries, size_t half, size_t n,
                  struct wf_sort_entry *scratch)
{
    size_t left = 0, right = half, to = 0;

    if (!before(&entries[half], &entries[half - 1])) {
        return;
    }
    memcpy(scratch, entries, half * sizeof(*entries));
    while (left < half) {
        if (right < n && before(&entries[right], &scratch[left])) {
            entries[to++] = entries[right++];
        } else {
            entries[to++] = scratch[left++];
        }
    }
}

void wf_sort_many(struct wf_sort_entry *to, struct wf_sort_entry *from, size_t n)
{
    for (size_t i = 0; i < n; i += WF_SORT_FEW) {
        wf_sort_few(to + i, from + i, n - i < WF_SORT_FEW ? n - i : WF_SORT_FEW);
    }
    for (size_t run = WF_SORT_FEW; run < n; run *= 2) {
        for (size_t i = 0; i + run < n; i += 2 * run) {
            merge(to + i, run, n - i < 2 * run ? n - i : 2 * run, from);
        }
    }
}
