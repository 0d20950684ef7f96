/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/kit/open_requests.h"

#include "base/array.h"

#include <stdlib.h>

enum { WORD = 64 };

void wf_open_requests_fini(struct wf_open_requests *all)
{
    free(all->items);
    free(all->taken);
    wf_map_fini(&all->names);
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
        WF_GROW(all->taken, word, all->words_capacity);
        all->taken[all->n_words++] = 0;
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

static uint64_t ends(uint32_t oldest, uint32_t newest)
{
    return (uint64_t)oldest << 32 | newest;
}

struct wf_open_request *wf_open_requests_add(struct wf_open_requests *all, int64_t name)
{
    uint32_t item = all->free;

    if (item != 0) {
        all->free = all->items[item].newer;
    } else {
        item = ++all->n;
        WF_GROW(all->items, item, all->capacity);
    }
    all->items[item] = (struct wf_open_request){.name = name, .number = take_number(all)};
    uint64_t *named = wf_map_put(&all->names, (uint64_t)name);
    if (*named == 0) {
        *named = ends(item, item);
    } else {
        all->items[(uint32_t)*named].newer = item;
        *named = ends((uint32_t)(*named >> 32), item);
    }
    all->n_open++;
    return &all->items[item];
}

void wf_open_requests_call(struct wf_open_requests *all)
{
    all->call++;
}

struct wf_open_request *wf_open_requests_find(struct wf_open_requests *all, int64_t name)
{
    const uint64_t *named = wf_map_get(&all->names, (uint64_t)name);
    uint32_t item = named != NULL ? (uint32_t)(*named >> 32) : 0;

    while (item != 0 && all->items[item].call == all->call) {
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
    uint64_t *named = wf_map_get(&all->names, (uint64_t)request->name);
    uint32_t oldest = (uint32_t)(*named >> 32), newest = (uint32_t)*named;

    if (oldest == item && newest == item) {
        (void)wf_map_remove(&all->names, (uint64_t)request->name);
    } else if (oldest == item) {
        *named = ends(request->newer, newest);
    } else {
        uint32_t older = oldest;
        while (all->items[older].newer != item) {
            older = all->items[older].newer;
        }
        all->items[older].newer = request->newer;
        *named = ends(oldest, newest == item ? older : newest);
    }
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
        all->taken[word] = 0;
    }
    wf_map_clear(&all->names);
    all->n = 0;
    all->free = 0;
    all->n_open = 0;
    all->lowest = 0;
    return n;
}
