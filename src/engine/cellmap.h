/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A map from numbers to numbers (often cells), stored in cells of the engine so that
 * rollback restores it. It holds any number of entries; up to seven take one cell. The cells
 * must have at least WF_CELLMAP_CELL_SIZE bytes.
 *
 * More entries make a tree: an inner cell has eight branches, by the first three bits in
 * which the keys differ. The depth is about the logarithm of the number of entries, at most
 * 11.
 */

#include "engine/model.h"

enum { WF_CELLMAP_CELL_SIZE = 64 };

/* Part of a process's state; all zero means empty. The caller has announced it (wf_touch()). */
struct wf_cellmap {
    uint32_t root;  /* cell; 0 if the map is empty */
    uint32_t count; /* entries */
};

/* Maps `key`, which is not UINT32_MAX, to `value`, which is not 0; the key must not be in the
 * map. */
void wf_cellmap_put(struct wf_ctx *ctx, struct wf_cellmap *map, uint32_t key, uint32_t value);

/* The value of `key`, or 0. */
uint32_t wf_cellmap_get(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t key);

/* The value of `key`, which is in the map, to change it to another than 0; until the handler
 * returns or changes the map. */
uint32_t *wf_cellmap_edit(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t key);

/* Removes `key` and returns its value, or 0 if it is not in the map. */
uint32_t wf_cellmap_take(struct wf_ctx *ctx, struct wf_cellmap *map, uint32_t key);

/* Steps through the entries in ascending order of keys. Returns the value of the first entry
 * whose key is at least *key and sets *key to that key; 0 if there is none. Start with *key
 * = 0, continue with *key + 1. */
uint32_t wf_cellmap_next(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t *key);
