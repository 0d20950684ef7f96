/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/open_requests.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>

enum { WORD = 64 };

void wf_open_requests_fini(struct wf_open_requests *all)
{
    free(all->items);
    free(all->taken);
    free(all->names);
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

enum { NAMES_MIN = 16 };

/* The place of a name, or the free place where it belongs. */
static struct wf_open_name *place_of(const struct wf_open_requests *all, int64_t name)
{
    uint32_t mask = all->names_capacity - 1;
    uint32_t at = (uint32_t)((uint64_t)name * WF_RNG_GOLDEN >> 32) & mask;

    while (all->names[at].epoch != 0 && all->names[at].name != name) {
        at = (at + 1) & mask;
    }
    return &all->names[at];
}

static bool has_requests(const struct wf_open_requests *all, const struct wf_open_name *named)
{
    return named->epoch == all->epoch && named->oldest != 0;
}

/* Makes room for names, and forgets those without requests. */
static void rebuild(struct wf_open_requests *all)
{
    struct wf_open_name *old = all->names;
    uint32_t n_old = all->names_capacity, n = 0;

    for (uint32_t i = 0; i < n_old; i++) {
        n += has_requests(all, &old[i]) ? 1 : 0;
    }
    all->names_capacity = NAMES_MIN;
    while (all->names_capacity < 4 * n) {
        all->names_capacity *= 2;
    }
    all->names = wf_xcalloc(all->names_capacity, sizeof(*all->names));
    all->n_names = n;
    for (uint32_t i = 0; i < n_old; i++) {
        if (has_requests(all, &old[i])) {
            *place_of(all, old[i].name) = old[i];
        }
    }
    all->epoch = all->epoch == 0 ? 1 : all->epoch;
    free(old);
}

/* The name, which is added if it is new. */
static struct wf_open_name *put_name(struct wf_open_requests *all, int64_t name)
{
    struct wf_open_name *named = all->names_capacity == 0 ? NULL : place_of(all, name);

    if (named == NULL || named->epoch == 0) {
        if (2 * (all->n_names + 1) > all->names_capacity) {
            rebuild(all);
        }
        named = place_of(all, name);
        all->n_names++;
    }
    if (!has_requests(all, named)) {
        *named = (struct wf_open_name){.name = name, .epoch = all->epoch};
    }
    return named;
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
    struct wf_open_name *named = put_name(all, name);
    if (named->oldest == 0) {
        named->oldest = item;
    } else {
        all->items[named->newest].newer = item;
    }
    named->newest = item;
    all->n_open++;
    return &all->items[item];
}

void wf_open_requests_call(struct wf_open_requests *all)
{
    all->call++;
}

struct wf_open_request *wf_open_requests_find(struct wf_open_requests *all, int64_t name)
{
    const struct wf_open_name *named = all->n_open == 0 ? NULL : place_of(all, name);
    uint32_t item = named != NULL && has_requests(all, named) ? named->oldest : 0;

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
    struct wf_open_name *named = place_of(all, request->name);

    if (named->oldest == item) {
        named->oldest = named->newest == item ? 0 : request->newer;
    } else {
        uint32_t older = named->oldest;
        while (all->items[older].newer != item) {
            older = all->items[older].newer;
        }
        all->items[older].newer = request->newer;
        named->newest = named->newest == item ? older : named->newest;
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

void wf_open_requests_hand_over(struct wf_open_requests *from, struct wf_open_requests *to)
{
    bool is_unused = from->n_open == 0;

    for (uint32_t word = 0; word < from->n_words && is_unused; word++) {
        is_unused = from->taken[word] == 0;
    }
    if (is_unused) {
        *to = *from;
        *from = (struct wf_open_requests){.n = 0};
    }
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
    if (++all->epoch == 0) { /* after 2^32 calls: begins again */
        free(all->names);
        all->names = NULL;
        all->n_names = 0;
        all->names_capacity = 0;
    }
    all->n = 0;
    all->free = 0;
    all->n_open = 0;
    all->lowest = 0;
    return n;
}
