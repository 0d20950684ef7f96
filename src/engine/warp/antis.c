/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warp/antis.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>

void wf_antis_init(struct wf_antis *antis, uint32_t stride)
{
    *antis = (struct wf_antis){.stride = stride};
}

void wf_antis_fini(struct wf_antis *antis)
{
    free(antis->slots);
    free(antis->table);
    free(antis->free);
}

static struct wf_event *slot(const struct wf_antis *antis, uint32_t i)
{
    return (void *)(antis->slots + (size_t)i * antis->stride);
}

/* The table position where the search for an event begins; the table's size is a power of
 * two. */
static uint32_t home(const struct wf_antis *antis, const struct wf_event *ev)
{
    uint64_t hash = wf_rng_mix(ev->key.seq * WF_RNG_GOLDEN + ev->key.src);

    return (uint32_t)hash & (2 * antis->capacity - 1);
}

static uint32_t after(const struct wf_antis *antis, uint32_t i)
{
    return (i + 1) & (2 * antis->capacity - 1);
}

static void enter(struct wf_antis *antis, uint32_t number)
{
    uint32_t i = home(antis, slot(antis, number));

    while (antis->table[i] != 0) {
        i = after(antis, i);
    }
    antis->table[i] = number + 1;
}

static void grow(struct wf_antis *antis)
{
    uint32_t old = antis->capacity;

    antis->capacity = old == 0 ? 64 : 2 * old;
    antis->slots = wf_xrealloc(antis->slots, antis->capacity, antis->stride);
    antis->free = wf_xrealloc(antis->free, antis->capacity, sizeof(*antis->free));
    free(antis->table);
    antis->table = wf_xcalloc(2 * (size_t)antis->capacity, sizeof(*antis->table));
    for (uint32_t i = 0; i < old; i++) {
        enter(antis, i);
    }
    /* All slots were in use when it grew, so only the new ones are free. The lowest number
     * is used first. */
    for (uint32_t i = old; i < antis->capacity; i++) {
        antis->free[antis->capacity - 1 - i] = i;
    }
}

void wf_antis_add(struct wf_antis *antis, const struct wf_event *ev)
{
    if (antis->n == antis->capacity) {
        grow(antis);
    }

    uint32_t number = antis->free[antis->capacity - antis->n - 1];
    antis->n++;
    wf_event_copy(slot(antis, number), ev);
    enter(antis, number);
}

/* Empties the table position `hole` and moves back entries that a search could no longer
 * find. */
static void close_gap(struct wf_antis *antis, uint32_t hole)
{
    uint32_t mask = 2 * antis->capacity - 1;

    for (uint32_t i = after(antis, hole); antis->table[i] != 0; i = after(antis, i)) {
        uint32_t wanted = home(antis, slot(antis, antis->table[i] - 1));
        /* An entry can move if its search passes the hole before it reaches i. */
        if (((i - wanted) & mask) >= ((i - hole) & mask)) {
            antis->table[hole] = antis->table[i];
            hole = i;
        }
    }
    antis->table[hole] = 0;
}

bool wf_antis_take(struct wf_antis *antis, const struct wf_event *ev)
{
    if (antis->n == 0) {
        return false;
    }
    for (uint32_t i = home(antis, ev); antis->table[i] != 0; i = after(antis, i)) {
        uint32_t number = antis->table[i] - 1;
        if (wf_event_same(slot(antis, number), ev)) {
            close_gap(antis, i);
            antis->n--;
            antis->free[antis->capacity - antis->n - 1] = number;
            return true;
        }
    }
    return false;
}
