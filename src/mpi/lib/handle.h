/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Handles of MPI objects. A handle is an int that is valid in one rank: the kind of the object
 * in the upper byte, its index below. Indices below WL_OBJECT_FIRST are predefined objects,
 * which all ranks share. Index 0 is the null handle.
 */

#include <stddef.h>
#include <stdint.h>

enum wl_kind {
    WL_COMM = 0x41,
    WL_TYPE = 0x42,
    WL_OP = 0x43,
    WL_REQUEST = 0x44,
    WL_GROUP = 0x45,
    WL_INFO = 0x46,
    WL_ERRHANDLER = 0x47,
    WL_WIN = 0x48,
    WL_MESSAGE = 0x49,
    WL_FILE = 0x4a,
    WL_KEYVAL = 0x4b,
    WL_SESSION = 0x4c,
    WL_TOOL_CVAR = 0x4d,
    WL_TOOL_SESSION = 0x4e,
    WL_TOOL_PVAR = 0x4f,
};

enum { WL_KIND_SHIFT = 24, WL_OBJECT_FIRST = 256 };

/* The objects of one kind that a rank has created. A zeroed table is empty; most tables of most
 * ranks are, and have a pointer only. */
struct wl_slots {
    uint32_t n, capacity;
    uint32_t first_free; /* no lower place is free */
    void *items[];       /* null: free */
};

struct wl_table {
    struct wl_slots *slots;
};

/* The places in use: wl_table_at() of lower ones is an object, or null. */
static inline uint32_t wl_table_n(const struct wl_table *table)
{
    return table->slots != NULL ? table->slots->n : 0;
}

static inline void *wl_table_at(const struct wl_table *table, uint32_t place)
{
    return table->slots->items[place];
}

static inline uint32_t wl_handle_place(int handle)
{
    return (uint32_t)handle & ((UINT32_C(1) << WL_KIND_SHIFT) - 1);
}

static inline int wl_handle(enum wl_kind kind, uint32_t place)
{
    return (int)((uint32_t)kind << WL_KIND_SHIFT | place);
}

/* Adds an object and returns its handle. */
int wl_table_add(struct wl_table *table, enum wl_kind kind, void *object);
/* The object of a handle; null if the handle is of another kind, predefined or not in use. */
void *wl_table_get(const struct wl_table *table, enum wl_kind kind, int handle);
/* Likewise, and removes the object from the table. The caller frees the object. */
void *wl_table_take(struct wl_table *table, enum wl_kind kind, int handle);
void wl_table_fini(struct wl_table *table);
