/* SPDX-License-Identifier: Apache-2.0 */
/* The formats follow OTF2's own sources (OTF2_DefReader_inc.c, otf2_id_map.c of version 2
 * and 3). */
#include "program/trace/otf2/local.h"

#include "base/array.h"
#include "program/trace/otf2/file.h"

#include <stdlib.h>

/* Types of records. All others are passed over. */
enum { MAPPING = 5, CLOCK_OFFSET = 6 };
/* Kinds of mappings. Those of other numbers have no effect on what is read of events. */
enum { OF_REGIONS = 3, OF_METRICS = 5, OF_COMMS = 6 };
enum { DENSE = 0, SPARSE = 1 };

static void clear_map(struct wf_otf2_map *map)
{
    map->is_given = false;
    map->n = 0;
    wf_map_clear(&map->sparse);
}

static void fini_map(struct wf_otf2_map *map)
{
    free(map->items);
    wf_map_fini(&map->sparse);
}

void wf_otf2_local_fini(struct wf_otf2_local *local)
{
    fini_map(&local->regions);
    fini_map(&local->comms);
    fini_map(&local->metrics);
    free(local->intervals);
    *local = (struct wf_otf2_local){.n_intervals = 0};
}

/* ---- mappings ---- */

static struct wf_otf2_map *find_map(struct wf_otf2_local *local, uint8_t kind)
{
    return kind == OF_REGIONS   ? &local->regions
           : kind == OF_COMMS   ? &local->comms
           : kind == OF_METRICS ? &local->metrics
                                : NULL;
}

/* Reads the items of a mapping. Returns false if the record is too short for them. */
static bool read_items(struct wf_otf2_file *file, uint64_t end, struct wf_otf2_map *map,
                       uint64_t n, uint8_t mode)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t own = i, global = 0;
        if ((mode == SPARSE && !wf_otf2_file_number(file, end, &own)) ||
            !wf_otf2_file_number(file, end, &global)) {
            return false;
        }
        if (mode == SPARSE) {
            *wf_map_put(&map->sparse, own) = global;
        } else {
            WF_GROW(map->items, i, map->capacity);
            map->items[i] = global;
            map->n = i + 1;
        }
    }
    return true;
}

static void read_mapping(struct wf_otf2_local *local, struct wf_otf2_file *file, uint64_t end)
{
    uint64_t n = 0;
    uint8_t kind = 0, mode = 0;

    if (!wf_otf2_file_byte(file, end, &kind) || !wf_otf2_file_number(file, end, &n) ||
        !wf_otf2_file_byte(file, end, &mode) || n > end - wf_infile_at(&file->in)) {
        wf_otf2_file_damaged(file, file->record,
                             "a mapping has more items than there is room for");
        return;
    }
    struct wf_otf2_map *map = find_map(local, kind);
    if (mode != DENSE && mode != SPARSE) {
        wf_otf2_file_damaged(file, file->record, "a mapping is of a mode that is not known");
    } else if (map != NULL && map->is_given) {
        wf_otf2_file_damaged(file, file->record, "a second mapping of the same kind");
    } else if (map != NULL) {
        map->is_given = true;
        if (!read_items(file, end, map, n, mode)) {
            wf_otf2_file_damaged(file, file->record,
                                 "a mapping has more items than there is room for");
        }
    }
}

/* ---- clock offsets ---- */

static void read_offset(struct wf_otf2_local *local, struct wf_otf2_file *file, uint64_t end)
{
    uint64_t time = 0, offset = 0;

    if (!wf_otf2_file_eight(file, end, &time) || !wf_otf2_file_number(file, end, &offset)) {
        wf_otf2_file_damaged(file, file->record, "an offset of the clock ends early");
        return;
    }
    struct wf_otf2_interval *before = &local->pending;
    if (local->has_pending && before->begin >= time) {
        wf_otf2_file_damaged(file, file->record,
                             "offsets of the clock are not in the order of time");
        return;
    }
    if (local->has_pending) {
        before->end = time;
        before->slope = (double)(int64_t)(offset - (uint64_t)before->offset) /
                        (double)(time - before->begin);
        WF_PUSH(local->intervals, local->n_intervals, local->intervals_capacity, *before);
    }
    *before = (struct wf_otf2_interval){.begin = time, .offset = (int64_t)offset};
    local->has_pending = true;
}

/* ---- the file ---- */

void wf_otf2_local_read(struct wf_otf2_local *local, const char *path, uint64_t chunk_bytes,
                        int64_t rank, struct wf_err *err)
{
    struct wf_otf2_file file;
    struct wf_err unopened = {.status = WF_OK};
    uint64_t end = 0;
    uint8_t type = 0;

    clear_map(&local->regions);
    clear_map(&local->comms);
    clear_map(&local->metrics);
    local->n_intervals = 0;
    local->current = 0;
    local->has_pending = false;
    if (wf_otf2_file_open(&file, path, chunk_bytes, rank, &unopened) != WF_OK) {
        if (wf_otf2_file_exists(path)) {
            *err = unopened;
        }
        return;
    }
    file.in.place.err = err;
    while (wf_otf2_file_next(&file, &type, &end)) {
        if (type == MAPPING) {
            read_mapping(local, &file, end);
        } else if (type == CLOCK_OFFSET) {
            read_offset(local, &file, end);
        }
        wf_infile_seek(&file.in, end);
    }
    wf_otf2_file_close(&file);
}
