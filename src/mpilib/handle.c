/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of objects. */
#include "mpilib/handle.h"

#include "mpilib/memory.h"

#include <stddef.h>
#include <stdlib.h>

int wl_table_add(struct wl_table *table, enum wl_kind kind, void *object)
{
    uint32_t place = table->first_free;

    while (place < table->n && table->items[place] != NULL) {
        place++;
    }
    WL_GROW(table->items, place, table->capacity);
    table->items[place] = object;
    table->n = place == table->n ? place + 1 : table->n;
    table->first_free = place + 1;
    return wl_handle(kind, place + WL_OBJECT_FIRST);
}

static void **find(const struct wl_table *table, enum wl_kind kind, int handle)
{
    uint32_t place = wl_handle_place(handle);

    if ((uint32_t)handle >> WL_KIND_SHIFT != (uint32_t)kind || place < WL_OBJECT_FIRST ||
        place - WL_OBJECT_FIRST >= table->n) {
        return NULL;
    }
    return &table->items[place - WL_OBJECT_FIRST];
}

void *wl_table_get(const struct wl_table *table, enum wl_kind kind, int handle)
{
    void **item = find(table, kind, handle);

    return item != NULL ? *item : NULL;
}

void *wl_table_take(struct wl_table *table, enum wl_kind kind, int handle)
{
    void **item = find(table, kind, handle);

    if (item == NULL || *item == NULL) {
        return NULL;
    }
    void *object = *item;
    uint32_t place = (uint32_t)(item - table->items);
    *item = NULL;
    table->first_free = place < table->first_free ? place : table->first_free;
    while (table->n > 0 && table->items[table->n - 1] == NULL) {
        table->n--;
    }
    table->first_free = table->first_free < table->n ? table->first_free : table->n;
    return object;
}

void wl_table_fini(struct wl_table *table)
{
    free(table->items);
    *table = (struct wl_table){.items = NULL};
}
