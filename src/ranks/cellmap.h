/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_CELLMAP_H
#define WF_RANKS_CELLMAP_H

/*
 * A map from numbers to cells, kept in cells of the engine itself, so that it is undone with
 * them. Meant for a handful of entries, which take one cell, and good for any number. The cells
 * must have at least WF_CELLMAP_CELL_SIZE bytes.
 *
 * More entries than fit into a cell make a tree: a cell parts them eight ways by three bits of
 * the key, the first bits in which they differ. So its depth is about the logarithm of their
 * number, at most 11.
 */

#include "engine/engine.h"

enum { WF_CELLMAP_CELL_SIZE = 64 };

/* Part of a process's state; zeroed is empty. The caller has announced it (wf_touch()). */
struct wf_cellmap {
    uint32_t root;  /* cell; 0 if the map is empty */
    uint32_t count; /* entries */
};

/* Maps `key`, which is not UINT32_MAX, to `value`, which is not 0; the key must not be in the
 * map. */
void wf_cellmap_put(struct wf_ctx *ctx, struct wf_cellmap *map, uint32_t key, uint32_t value);

/* The value of `key`, or 0. */
uint32_t wf_cellmap_get(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t key);

/* Removes `key` and returns its value, or 0 if it is not in the map. */
uint32_t wf_cellmap_take(struct wf_ctx *ctx, struct wf_cellmap *map, uint32_t key);

/* Steps through the entries in ascending order of keys: start with *key = 0 and go on with
 * *key + 1; returns the value of the first entry at or behind *key and sets *key to its own, or
 * 0 if there are no more. */
uint32_t wf_cellmap_next(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t *key);

#endif
