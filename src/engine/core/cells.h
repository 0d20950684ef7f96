/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The cells of a thread: small blocks of memory of a few sizes, numbered from 1. The processes of
 * a thread share them, so that idle processes need no memory here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cells of 64 bytes fill a huge page. All cells of a slab have one size. */
enum { WF_CELLS_PER_SLAB = 32768, WF_CELL_SIZES_MAX = 8 };

struct wf_cell_slab {
    unsigned char *memory;
    uint32_t size;    /* of a cell */
    uint16_t class;   /* index into wf_cells.classes */
    bool begins_area; /* `memory` is that of an area of slabs, to be freed */
};

/* The cells of one size. */
struct wf_cell_class {
    uint32_t size;
    uint32_t next, end; /* the cells of its latest slab that were never handed out */
    /* The freed cells, a stack. It is not a list through the cells themselves: a cell that is not
     * in the cache would have to be read before the next one is known. If there are many, the
     * lower part of the stack is kept in freed cells: each shelf has the cells below it. */
    uint32_t *spare;
    uint32_t n_spare;    /* without those on shelves */
    uint32_t shelf;      /* the uppermost; 0 if there is none */
    unsigned char *area; /* memory of slabs to come... */
    uint32_t n_left;     /* ...and how many */
};

struct wf_cells {
    struct wf_cell_slab *slabs;
    uint32_t n_slabs, n_classes;
    struct wf_cell_class classes[WF_CELL_SIZES_MAX]; /* by size */
    uint32_t in_use;
};

/* Cells of these sizes, which ascend; there are 1 to WF_CELL_SIZES_MAX. */
void wf_cells_init(struct wf_cells *cells, const uint32_t *sizes, uint32_t n);
void wf_cells_fini(struct wf_cells *cells);
/* Lets these cells, which are new, know those of `from`, under the same numbers: processes that have
 * them may move here. Each cell is used by one of the two. The memory stays that of `from`. */
void wf_cells_adopt(struct wf_cells *cells, const struct wf_cells *from);
/* A zeroed cell of the smallest size that is at least `bytes`, or of the largest size. */
uint32_t wf_cells_get(struct wf_cells *cells, size_t bytes);
void wf_cells_put(struct wf_cells *cells, uint32_t cell);

static inline const struct wf_cell_slab *wf_cells_slab(const struct wf_cells *cells,
                                                       uint32_t cell)
{
    return &cells->slabs[cell / WF_CELLS_PER_SLAB];
}

static inline void *wf_cells_at(const struct wf_cells *cells, uint32_t cell)
{
    const struct wf_cell_slab *slab = wf_cells_slab(cells, cell);

    return slab->memory + (size_t)(cell % WF_CELLS_PER_SLAB) * slab->size;
}
