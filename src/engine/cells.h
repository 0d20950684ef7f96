/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The cells of a thread: small blocks of memory of one size, numbered from 1. The processes of
 * a thread share one pool, so that idle processes need no memory here.
 */

#include <stddef.h>
#include <stdint.h>

/* Cells of 64 bytes fill a huge page. */
enum { WF_CELLS_PER_SLAB = 32768 };

struct wf_cells {
    size_t size; /* of a cell; at least 4 */
    unsigned char **slabs;
    uint32_t n_slabs;
    uint32_t next; /* number of cells ever handed out */
    /* The freed cells, a stack. It is not a list through the cells themselves: a cell that is
     * not in the cache would have to be read before the next one is known. */
    uint32_t *spare;
    uint32_t n_spare, spare_room;
};

void wf_cells_init(struct wf_cells *cells, size_t size);
void wf_cells_fini(struct wf_cells *cells);
uint32_t wf_cells_get(struct wf_cells *cells); /* zeroed */
void wf_cells_put(struct wf_cells *cells, uint32_t cell);

static inline void *wf_cells_at(const struct wf_cells *cells, uint32_t cell)
{
    uint32_t i = cell - 1;

    return cells->slabs[i / WF_CELLS_PER_SLAB] + (size_t)(i % WF_CELLS_PER_SLAB) * cells->size;
}
