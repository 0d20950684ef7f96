/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/kit/records.h"

#include "base/mem.h"
#include "base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A table by rank and name: most ranks of a large program have few of all the names. */
struct cell {
    uint64_t key; /* rank and name, plus 1; 0 is free */
    struct wf_record_count count;
};

struct wf_records {
    uint32_t n_ranks, n;
    char **names;
    struct cell *cells;
    uint64_t n_cells, n_used; /* cells are a power of two */
};

enum { CELLS_MIN = 256 };

struct wf_records *wf_records_new(uint32_t n_ranks)
{
    struct wf_records *records = wf_xcalloc(1, sizeof(*records));

    records->n_ranks = n_ranks;
    records->n_cells = CELLS_MIN;
    records->cells = wf_xcalloc(records->n_cells, sizeof(*records->cells));
    return records;
}

void wf_records_free(struct wf_records *records)
{
    if (records == NULL) {
        return;
    }
    for (uint32_t i = 0; i < records->n; i++) {
        free(records->names[i]);
    }
    free(records->names);
    free(records->cells);
    free(records);
}

uint32_t wf_records_name(struct wf_records *records, const char *name)
{
    for (uint32_t i = 0; i < records->n; i++) {
        if (strcmp(records->names[i], name) == 0) {
            return i;
        }
    }
    records->names =
        wf_xrealloc(records->names, (size_t)records->n + 1, sizeof(*records->names));
    records->names[records->n] = wf_xstrdup(name);
    return records->n++;
}

/* The cell of this key, or the free one where it belongs. */
static struct cell *find_cell(const struct wf_records *records, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    struct cell *cell = &records->cells[at & (records->n_cells - 1)];

    while (cell->key != 0 && cell->key != key) {
        cell = &records->cells[++at & (records->n_cells - 1)];
    }
    return cell;
}

static uint64_t key_of(uint32_t rank, uint32_t name)
{
    return ((uint64_t)rank << 32 | name) + 1;
}

static void grow(struct wf_records *records)
{
    struct cell *before = records->cells;
    uint64_t n_before = records->n_cells;

    records->n_cells *= 2;
    records->cells = wf_xcalloc(records->n_cells, sizeof(*records->cells));
    for (uint64_t i = 0; i < n_before; i++) {
        if (before[i].key != 0) {
            *find_cell(records, before[i].key) = before[i];
        }
    }
    free(before);
}

void wf_records_add(struct wf_records *records, uint32_t rank, uint32_t name, uint64_t bytes)
{
    assert(rank < records->n_ranks && name < records->n);
    struct cell *cell = find_cell(records, key_of(rank, name));

    if (cell->key == 0) {
        if (records->n_used + 1 > records->n_cells / 2) {
            grow(records);
            cell = find_cell(records, key_of(rank, name));
        }
        cell->key = key_of(rank, name);
        records->n_used++;
    }
    cell->count.n++;
    cell->count.bytes = wf_count_add(cell->count.bytes, bytes);
}

const char *wf_records_at(const struct wf_records *records, uint32_t name)
{
    return name < records->n ? records->names[name] : NULL;
}

struct wf_record_count wf_records_of(const struct wf_records *records, uint32_t rank,
                                     uint32_t name)
{
    return find_cell(records, key_of(rank, name))->count;
}
