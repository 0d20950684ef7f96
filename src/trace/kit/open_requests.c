/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/kit/open_requests.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 64, WORD = 64 };

static uint32_t bucket_of(const struct wf_open_requests *all, int64_t name)
{
    return (uint32_t)(((uint64_t)name * UINT64_C(0x9e3779b97f4a7c15)) >> 40) &
           (all->n_buckets - 1);
}

void wf_open_requests_init(struct wf_open_requests *all)
{
    *all = (struct wf_open_requests){.n = 1, .n_buckets = BUCKETS_MIN};
    all->buckets = wf_xcalloc(all->n_buckets, sizeof(*all->buckets));
}

void wf_open_requests_fini(struct wf_open_requests *all)
{
    free(all->items);
    free(all->buckets);
    free(all->taken);
    *all = (struct wf_open_requests){.n = 0};
}

/* ---- numbers ---- */

static uint32_t take_number(struct wf_open_requests *all)
{
    uint32_t word = all->lowest;

    while (word < all->n_words && all->taken[word] == UINT64_MAX) {
        word++;
    }
    if (word == all->n_words) {
        all->n_words = all->n_words * 2 + 1;
        all->taken = wf_xrealloc(all->taken, all->n_words, sizeof(*all->taken));
        memset(all->taken + word, 0, (all->n_words - word) * sizeof(*all->taken));
    }
    uint32_t bit = (uint32_t)__builtin_ctzll(~all->taken[word]);
    all->taken[word] |= UINT64_C(1) << bit;
    all->lowest = word;
    return word * WORD + bit + 1;
}

static void give_number(struct wf_open_requests *all, uint32_t number)
{
    uint32_t word = (number - 1) / WORD;

    all->taken[word] &= ~(UINT64_C(1) << ((number - 1) % WORD));
    all->lowest = word < all->lowest ? word : all->lowest;
}

/* ---- the table ---- */

static void append(struct wf_open_requests *all, uint32_t item)
{
    struct wf_request_bucket *bucket = &all->buckets[bucket_of(all, all->items[item].name)];

    all->items[item].newer = 0;
    if (bucket->oldest == 0) {
        bucket->oldest = item;
    } else {
        all->items[bucket->newest].newer = item;
    }
    bucket->newest = item;
}

/* More buckets; the order of those with the same name stays. */
static void grow(struct wf_open_requests *all)
{
    uint32_t n_before = all->n_buckets;
    struct wf_request_bucket *before = all->buckets;

    all->n_buckets *= 4;
    all->buckets = wf_xcalloc(all->n_buckets, sizeof(*all->buckets));
    for (uint32_t b = 0; b < n_before; b++) {
        for (uint32_t item = before[b].oldest, next; item != 0; item = next) {
            next = all->items[item].newer;
            append(all, item);
        }
    }
    free(before);
}

struct wf_open_request *wf_open_requests_add(struct wf_open_requests *all, int64_t name)
{
    uint32_t item = all->free;

    if (all->n_open >= all->n_buckets) {
        grow(all);
    }
    if (item != 0) {
        all->free = all->items[item].newer;
    } else {
        if (all->n >= all->capacity) {
            all->capacity = all->capacity * 2 + 16;
            all->items = wf_xrealloc(all->items, all->capacity, sizeof(*all->items));
        }
        item = all->n++;
    }
    all->items[item] = (struct wf_open_request){.name = name, .number = take_number(all)};
    append(all, item);
    all->n_open++;
    return &all->items[item];
}

void wf_open_requests_call(struct wf_open_requests *all)
{
    all->call++;
}

struct wf_open_request *wf_open_requests_find(struct wf_open_requests *all, int64_t name)
{
    uint32_t item = all->buckets[bucket_of(all, name)].oldest;

    while (item != 0 && (all->items[item].name != name || all->items[item].call == all->call)) {
        item = all->items[item].newer;
    }
    if (item == 0) {
        return NULL;
    }
    all->items[item].call = all->call;
    return &all->items[item];
}

void wf_open_requests_forget(struct wf_open_requests *all, struct wf_open_request *request)
{
    uint32_t item = (uint32_t)(request - all->items);
    struct wf_request_bucket *bucket = &all->buckets[bucket_of(all, request->name)];
    uint32_t *link = &bucket->oldest, older = 0;

    while (*link != item) {
        older = *link;
        link = &all->items[older].newer;
    }
    *link = request->newer;
    bucket->newest = bucket->newest == item ? older : bucket->newest;
    request->newer = all->free;
    all->free = item;
    all->n_open--;
}

void wf_open_requests_remove(struct wf_open_requests *all, struct wf_open_request *request)
{
    give_number(all, request->number);
    wf_open_requests_forget(all, request);
}

uint32_t wf_open_requests_clear(struct wf_open_requests *all, struct wf_buf *numbers)
{
    uint32_t n = all->n_open;

    for (uint32_t word = 0; word < all->n_words; word++) {
        for (uint64_t bits = all->taken[word]; bits != 0; bits &= bits - 1) {
            uint32_t number = word * WORD + (uint32_t)__builtin_ctzll(bits) + 1;
            wf_buf_append(numbers, &number, sizeof(number));
        }
    }
    wf_open_requests_fini(all);
    wf_open_requests_init(all);
    return n;
}
