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
}

static void add_slab(struct wf_cells *cells)
{
    cells->slabs = wf_xrealloc(cells->slabs, (size_t)cells->n_slabs + 1, sizeof(*cells->slabs));
    cells->slabs[cells->n_slabs++] = wf_xaligned(WF_CELLS_PER_SLAB * cells->size);
}

uint32_t wf_cells_get(struct wf_cells *cells)
{
    uint32_t cell = cells->free;

    if (cell != 0) {
        memcpy(&cells->free, wf_cells_at(cells, cell), sizeof(cells->free));
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
    memcpy(wf_cells_at(cells, cell), &cells->free, sizeof(cells->free));
    cells->free = cell;
}
