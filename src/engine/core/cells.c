/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/core/cells.h"

#include "base/mem.h"
#include "engine/tuning.h"

#include <stdlib.h>
#include <string.h>

void wf_cells_init(struct wf_cells *cells, const uint32_t *sizes, uint32_t n)
{
    *cells = (struct wf_cells){.n_classes = n};
    for (uint32_t i = 0; i < n; i++) {
        cells->classes[i].size = (sizes[i] + 7) / 8 * 8;
    }
}

void wf_cells_fini(struct wf_cells *cells)
{
    for (uint32_t i = 0; i < cells->n_slabs; i++) {
        if (cells->slabs[i].begins_area) {
            free(cells->slabs[i].memory);
        }
    }
    for (uint32_t i = 0; i < cells->n_classes; i++) {
        free(cells->classes[i].spare);
    }
    free(cells->slabs);
}

void wf_cells_adopt(struct wf_cells *cells, const struct wf_cells *from)
{
    cells->slabs = wf_xrealloc(cells->slabs, from->n_slabs, sizeof(*cells->slabs));
    cells->n_slabs = from->n_slabs;
    for (uint32_t i = 0; i < from->n_slabs; i++) {
        cells->slabs[i] = from->slabs[i];
        cells->slabs[i].begins_area = false;
    }
}

/* How many slabs of a class fill huge pages, or come near to it. */
static uint32_t slabs_of_area(size_t slab_bytes)
{
    enum { MOST = 8 };
    uint32_t n = 1;

    while (n < MOST && n * slab_bytes % WF_TUNE_SLAB != 0) {
        n++;
    }
    return n;
}

/* Small runs touch a part of the first slab only, so that gets no huge page. The others come from
 * areas of several slabs. */
static void add_slab(struct wf_cells *cells, struct wf_cell_class *class)
{
    size_t bytes = (size_t)WF_CELLS_PER_SLAB * class->size;
    bool begins_area = class->n_left == 0;

    if (begins_area) {
        class->n_left = class->end == 0 ? 1 : slabs_of_area(bytes);
        class->area =
            class->end == 0 ? wf_xaligned(bytes) : wf_xaligned_huge(class->n_left * bytes);
    }
    cells->slabs = wf_xrealloc(cells->slabs, (size_t)cells->n_slabs + 1, sizeof(*cells->slabs));
    cells->slabs[cells->n_slabs] = (struct wf_cell_slab){
        .memory = class->area,
        .size = class->size,
        .class = (uint16_t)(class - cells->classes),
        .begins_area = begins_area,
    };
    class->area += bytes;
    class->n_left--;
    class->next = cells->n_slabs++ * WF_CELLS_PER_SLAB;
    class->end = class->next + WF_CELLS_PER_SLAB;
    class->next += class->next == 0 ? 1 : 0; /* no cell has the number 0 */
}

/* ---- shelves: the next shelf, and the numbers of the cells below this one on the stack ---- */

static size_t shelf_room(const struct wf_cell_class *class)
{
    return class->size / sizeof(uint32_t) - 1;
}

/* Moves the lower half of a full stack to shelves. */
static void shelve(struct wf_cells *cells, struct wf_cell_class *class)
{
    size_t room = shelf_room(class), at = 0;

    for (; at + room < WF_TUNE_CELLS_SPARE / 2; at += room + 1) {
        uint32_t cell = class->spare[at + room], *shelf = wf_cells_at(cells, cell);
        shelf[0] = class->shelf;
        memcpy(shelf + 1, class->spare + at, room * sizeof(*shelf));
        class->shelf = cell;
    }
    class->n_spare -= (uint32_t)at;
    memmove(class->spare, class->spare + at, class->n_spare * sizeof(*class->spare));
}

/* Takes the uppermost shelf, and puts what is on it on the stack, which is empty. */
static uint32_t clear_shelf(struct wf_cells *cells, struct wf_cell_class *class)
{
    uint32_t cell = class->shelf;
    const uint32_t *shelf = wf_cells_at(cells, cell);

    class->n_spare = (uint32_t)shelf_room(class);
    memcpy(class->spare, shelf + 1, class->n_spare * sizeof(*shelf));
    class->shelf = shelf[0];
    return cell;
}

/* ---- cells ---- */

/* A cell where the stack of freed ones is empty. Not inlined, so that the common case needs few
 * registers. */
__attribute__((noinline)) static uint32_t take_other(struct wf_cells *cells,
                                                     struct wf_cell_class *class)
{
    if (class->shelf != 0) {
        return clear_shelf(cells, class);
    }
    if (class->next == class->end) {
        add_slab(cells, class);
    }
    return class->next++;
}

/* A few instructions for the usual sizes, not a call. */
static inline void clear(unsigned char *cell, uint32_t size)
{
    if (size == WF_TUNE_CELL_USUAL) {
        memset(cell, 0, WF_TUNE_CELL_USUAL);
    } else if (size == WF_TUNE_CELL_SMALL) {
        memset(cell, 0, WF_TUNE_CELL_SMALL);
    } else {
        memset(cell, 0, size);
    }
}

uint32_t wf_cells_get(struct wf_cells *cells, size_t bytes)
{
    struct wf_cell_class *class = cells->classes, *last = class + cells->n_classes - 1;

    while (class->size < bytes && class < last) {
        class ++;
    }

    uint32_t cell =
        class->n_spare > 0 ? class->spare[--class->n_spare] : take_other(cells, class);
    clear(wf_cells_at(cells, cell), class->size);
    cells->in_use++;
    return cell;
}

void wf_cells_put(struct wf_cells *cells, uint32_t cell)
{
    struct wf_cell_class *class = &cells->classes[wf_cells_slab(cells, cell)->class];

    if (class->spare == NULL) {
        class->spare = wf_xmalloc(WF_TUNE_CELLS_SPARE * sizeof(*class->spare));
    } else if (class->n_spare == WF_TUNE_CELLS_SPARE) {
        shelve(cells, class);
    }
    class->spare[class->n_spare++] = cell;
    cells->in_use--;
}
