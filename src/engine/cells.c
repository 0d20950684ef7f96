/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cells.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void wf_cells_init(struct wf_cells *cells, size_t size)
{
    *cells = (struct wf_cells){.size = (size + 7) / 8 * 8};
}

void wf_cells_fini(struct wf_cells *cells)
{
    for (uint32_t i = 0; i < cells->n_slabs; i++) {
        free(cells->slabs[i]);
    }
    free(cells->slabs);
    free(cells->spare);
}

enum { HUGE_PAGE = 2 << 20, SPARE_STEP = 1024, USUAL = 64 };

/* Small runs touch a part of the first slab only, so that gets no huge page. */
static void add_slab(struct wf_cells *cells)
{
    size_t bytes = WF_CELLS_PER_SLAB * cells->size;
    bool huge = cells->n_slabs > 0 && bytes >= HUGE_PAGE;

    cells->slabs = wf_xrealloc(cells->slabs, (size_t)cells->n_slabs + 1, sizeof(*cells->slabs));
    cells->slabs[cells->n_slabs++] = huge ? wf_xaligned_huge(bytes) : wf_xaligned(bytes);
}

uint32_t wf_cells_get(struct wf_cells *cells)
{
    uint32_t cell;

    if (cells->n_spare > 0) {
        cell = cells->spare[--cells->n_spare];
    } else {
        if (cells->next == cells->n_slabs * WF_CELLS_PER_SLAB) {
            add_slab(cells);
        }
        cell = ++cells->next;
    }
    if (cells->size == USUAL) {
        memset(wf_cells_at(cells, cell), 0, USUAL); /* a few instructions, not a call */
    } else {
        memset(wf_cells_at(cells, cell), 0, cells->size);
    }
    return cell;
}

void wf_cells_put(struct wf_cells *cells, uint32_t cell)
{
    if (cells->n_spare == cells->spare_room) {
        cells->spare_room += cells->spare_room / 2 + SPARE_STEP;
        cells->spare = wf_xrealloc(cells->spare, cells->spare_room, sizeof(*cells->spare));
    }
    cells->spare[cells->n_spare++] = cell;
}
