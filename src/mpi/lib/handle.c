/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of objects. */
#include "mpi/lib/handle.h"

#include "mpi/lib/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more object. */
static struct wl_slots *grow(struct wl_table *table)
{
    enum { FIRST = 4 };
    uint32_t capacity = table->slots != NULL ? 2 * table->slots->capacity : FIRST;
    bool fresh = table->slots == NULL;

    table->slots =
        wl_realloc(table->slots, 1, sizeof(struct wl_slots) + capacity * sizeof(void *));
    if (fresh) {
        *table->slots = (struct wl_slots){.n = 0};
    }
    table->slots->capacity = capacity;
    return table->slots;
}

int wl_table_add(struct wl_table *table, enum wl_kind kind, void *object)
{
    struct wl_slots *slots = table->slots;
    uint32_t place = slots != NULL ? slots->first_free : 0;

    while (slots != NULL && place < slots->n && slots->items[place] != NULL) {
        place++;
    }
    if (slots == NULL || place == slots->capacity) {
        slots = grow(table);
    }
    slots->items[place] = object;
    slots->n = place == slots->n ? place + 1 : slots->n;
    slots->first_free = place + 1;
    return wl_handle(kind, place + WL_OBJECT_FIRST);
}

static void **find_entry(const struct wl_table *table, enum wl_kind kind, int handle)
{
    uint32_t place = wl_handle_place(handle);

    if ((uint32_t)handle >> WL_KIND_SHIFT != (uint32_t)kind || place < WL_OBJECT_FIRST ||
        place - WL_OBJECT_FIRST >= wl_table_n(table)) {
        return NULL;
    }
    return &table->slots->items[place - WL_OBJECT_FIRST];
}

void *wl_table_get(const struct wl_table *table, enum wl_kind kind, int handle)
{
    void **item = find_entry(table, kind, handle);

    return item != NULL ? *item : NULL;
}

void *wl_table_take(struct wl_table *table, enum wl_kind kind, int handle)
{
    void **item = find_entry(table, kind, handle);

    if (item == NULL || *item == NULL) {
        return NULL;
    }
    struct wl_slots *slots = table->slots;
    void *object = *item;
    uint32_t place = (uint32_t)(item - slots->items);
    *item = NULL;
    slots->first_free = place < slots->first_free ? place : slots->first_free;
    while (slots->n > 0 && slots->items[slots->n - 1] == NULL) {
        slots->n--;
    }
    slots->first_free = slots->first_free < slots->n ? slots->first_free : slots->n;
    return object;
}

void wl_table_fini(struct wl_table *table)
{
    free(table->slots);
    *table = (struct wl_table){.slots = NULL};
}
