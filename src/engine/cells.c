/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cells.h"

#include "base/mem.h"

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

static void add_slab(struct wf_cells *cells)
{
    cells->slabs = wf_xrealloc(cells->slabs, (size_t)cells->n_slabs + 1, sizeof(*cells->slabs));
    cells->slabs[cells->n_slabs++] = wf_xaligned(WF_CELLS_PER_SLAB * cells->size);
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
    memset(wf_cells_at(cells, cell), 0, cells->size);
    return cell;
}

void wf_cells_put(struct wf_cells *cells, uint32_t cell)
{
    if (cells->n_spare == cells->spare_room) {
        cells->spare_room += cells->spare_room / 2 + WF_CELLS_PER_SLAB;
        cells->spare = wf_xrealloc(cells->spare, cells->spare_room, sizeof(*cells->spare));
    }
    cells->spare[cells->n_spare++] = cell;
}
