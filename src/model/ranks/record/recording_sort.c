/* SPDX-License-Identifier: Apache-2.0 */
/* The single spans, messages and calls of a recording, in the order of ranks. */
#include "base/mem.h"
#include "model/ranks/record/recording.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Entries of one size, each with a rank. */
struct entries {
    unsigned char *base;
    uint64_t n;
    size_t entry, rank_at; /* size of an entry, and offset of the rank in it */
    int (*compare)(const void *a, const void *b);
};

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_spans(const void *a, const void *b)
{
    const struct wf_span *x = a, *y = b;
    int by_rank = order(x->rank, y->rank);

    return by_rank != 0 ? by_rank : order((uint64_t)x->from, (uint64_t)y->from);
}

static int compare_messages(const void *a, const void *b)
{
    const struct wf_sent *x = a, *y = b;
    const int by[] = {
        order(x->from, y->from),   order((uint64_t)x->departure, (uint64_t)y->departure),
        order(x->to, y->to),       order((uint64_t)x->arrival, (uint64_t)y->arrival),
        order(x->bytes, y->bytes),
    };

    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
        if (by[i] != 0) {
            return by[i];
        }
    }
    return 0;
}

static uint32_t rank_of(const struct entries *list, size_t i)
{
    uint32_t rank;

    memcpy(&rank, list->base + i * list->entry + list->rank_at, sizeof(rank));
    return rank;
}

static void swap(const struct entries *list, size_t i, size_t j)
{
    unsigned char kept[sizeof(struct wf_sent)];
    unsigned char *a = list->base + i * list->entry, *b = list->base + j * list->entry;

    memcpy(kept, a, list->entry);
    memcpy(a, b, list->entry);
    memcpy(b, kept, list->entry);
}

/* Sorts in place, since there may be many entries. First moves each entry to the range of
 * its rank (McIlroy, Bostic and McIlroy, "Engineering radix sort", Computing Systems 6,
 * 1993), then sorts the entries of each rank. */
static void sort_list(const struct entries *list, uint64_t n_ranks)
{
    size_t *next = wf_xcalloc(n_ranks + 1, sizeof(*next)), *end = next + 1;
    size_t *ends = wf_xcalloc(n_ranks + 1, sizeof(*ends));

    for (size_t i = 0; i < list->n; i++) {
        ends[rank_of(list, i)]++;
    }
    for (uint64_t rank = 0; rank < n_ranks; rank++) {
        ends[rank] += rank > 0 ? ends[rank - 1] : 0;
        *end++ = ends[rank];
    }
    for (uint64_t rank = 0; rank < n_ranks; rank++) {
        while (next[rank] < ends[rank]) {
            uint32_t to = rank_of(list, next[rank]);
            if (to == rank) {
                next[rank]++;
            } else {
                swap(list, next[rank], next[to]++);
            }
        }
        size_t first = rank > 0 ? ends[rank - 1] : 0;
        qsort(list->base + first * list->entry, ends[rank] - first, list->entry, list->compare);
    }
    free(next);
    free(ends);
}

/* Calls that take no time have the same time, so only their order tells which was first: the
 * calls of a rank are in order, but mixed with those of others. */
static void sort_calls(struct wf_call *calls, size_t n, uint64_t n_ranks)
{
    size_t *next = wf_xcalloc(n_ranks + 1, sizeof(*next));
    struct wf_call *sorted = wf_xmalloc(n * sizeof(*sorted));

    for (size_t i = 0; i < n; i++) {
        next[calls[i].rank + 1]++;
    }
    for (uint64_t rank = 0; rank < n_ranks; rank++) {
        next[rank + 1] += next[rank];
    }
    for (size_t i = 0; i < n; i++) {
        sorted[next[calls[i].rank]++] = calls[i];
    }
    memcpy(calls, sorted, n * sizeof(*sorted));
    free(sorted);
    free(next);
}

void wf_recording_sort(struct wf_recording *recording)
{
    const struct wf_recording_limits *limits = &recording->limits;

    if (recording->n_spans > 0 && recording->n_spans <= limits->spans) {
        sort_list(&(struct entries){(void *)wf_recording_spans(recording), recording->n_spans,
                                    sizeof(struct wf_span), offsetof(struct wf_span, rank),
                                    compare_spans},
                  recording->n_ranks);
    }
    if (recording->n_messages > 0 && recording->n_messages <= limits->messages) {
        sort_list(&(struct entries){(void *)wf_recording_messages(recording),
                                    recording->n_messages, sizeof(struct wf_sent),
                                    offsetof(struct wf_sent, from), compare_messages},
                  recording->n_ranks);
    }
    if (recording->n_calls > 0 && recording->n_calls <= limits->calls) {
        sort_calls(wf_recording_calls(recording), recording->n_calls, recording->n_ranks);
    }
}
