/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The definitions that one location of an OTF2 archive has to itself: which global numbers its
 * own numbers of regions, communicators and metrics stand for, and how far its clock was from
 * the global one. Both are optional: without them numbers and times are global already.
 *
 * Between two measurements of its clock the offset is interpolated, before the first and after
 * the last it is extrapolated, as the library does; a single measurement has no effect.
 */

#include "base/map.h"
#include "base/status.h"

#include <math.h>

/* Local numbers that are not in the table are global ones. */
struct wf_otf2_map {
    bool is_given;
    uint64_t *items; /* what the numbers from 0 to n - 1 stand for */
    uint64_t n, capacity;
    struct wf_map sparse; /* likewise, in tables that have only some numbers */
};

/* A time between two measurements of a clock. */
struct wf_otf2_interval {
    uint64_t begin, end; /* ticks */
    int64_t offset;      /* at the beginning */
    double slope;        /* by which the offset grows with each tick */
};

struct wf_otf2_local {
    struct wf_otf2_map regions, comms, metrics;
    struct wf_otf2_interval *intervals;
    uint32_t n_intervals, intervals_capacity;
    uint32_t current; /* interval of the latest time */
    struct wf_otf2_interval pending;
    bool has_pending;
};

/* Replaces what is there by the definitions in a file. A file that does not exist defines
 * nothing. */
void wf_otf2_local_read(struct wf_otf2_local *local, const char *path, uint64_t chunk_bytes,
                        int64_t rank, struct wf_err *err);
void wf_otf2_local_fini(struct wf_otf2_local *local); /* zeroed is allowed */

static inline uint32_t wf_otf2_map_id(const struct wf_otf2_map *map, uint32_t id)
{
    const uint64_t *found = id < map->n         ? &map->items[id]
                            : map->sparse.n > 0 ? wf_map_get(&map->sparse, id)
                                                : NULL;

    return found != NULL ? (uint32_t)*found : id;
}

/* Returns the global time of a local one. Times should not fall from call to call: an interval
 * that was left is not entered again. */
static inline uint64_t wf_otf2_local_time(struct wf_otf2_local *local, uint64_t time)
{
    if (local->n_intervals == 0) {
        return time;
    }
    while (local->current + 1 < local->n_intervals &&
           time > local->intervals[local->current].end) {
        local->current++;
    }
    const struct wf_otf2_interval *in = &local->intervals[local->current];
    double since = time >= in->begin ? (double)(time - in->begin) : -(double)(in->begin - time);
    double more = rint(in->slope * since);
    /* A slope of damaged definitions may lead out of the range of any number. */
    int64_t grown = more > -0x1p62 && more < 0x1p62 ? (int64_t)more : 0;
    return time + (uint64_t)in->offset + (uint64_t)grown;
}
