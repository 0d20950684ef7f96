/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/defs.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/trace/kit/infile.h"

#include <stdlib.h>
#include <string.h>

/* Prefix of the regions with which programs mark their phases for TraceR. */
#define TRACER_MARK "TRACER_WallTime_"

void wf_otf2_defs_fini(struct wf_otf2_defs *defs)
{
    for (uint32_t i = 0; i < defs->n_strings; i++) {
        free(defs->strings[i].text);
    }
    for (uint32_t i = 0; i < defs->n_groups; i++) {
        free(defs->groups[i].members);
    }
    for (uint32_t i = 0; i < defs->n_comms; i++) {
        free(defs->comms[i].ranks);
    }
    free(defs->strings);
    free(defs->regions);
    free(defs->locations);
    free(defs->processes);
    free(defs->streams);
    free(defs->groups);
    free(defs->comms);
    free(defs->places);
    free(defs->region_ids.places);
    free(defs->comm_ids.places);
    wf_otf2_metrics_fini(&defs->metrics);
    *defs = (struct wf_otf2_defs){.resolution = 0};
}

/* ---- looking up ---- */

/* All definitions but locations begin with a 32-bit id. */
static int by_id(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

static int by_location(const void *a, const void *b)
{
    const struct wf_otf2_location *x = a, *y = b;

    return WF_ORDER(x->id, y->id);
}

static void *find_by_id(const void *items, uint32_t n, size_t size, uint32_t id)
{
    return n > 0 ? bsearch(&id, items, n, size, by_id) : NULL;
}

/* Notes where sorted definitions are, as far as their ids are not much larger than their
 * number. */
static void index_ids(struct wf_otf2_ids *ids, const void *items, uint32_t n, size_t size)
{
    enum { SPARE = 1024 };
    const char *item = items;
    uint32_t id = 0;

    ids->n = n < UINT32_MAX / 8 ? 4 * n + SPARE : n;
    ids->places = wf_xcalloc(ids->n, sizeof(*ids->places));
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&id, item + i * size, sizeof(id));
        if (id < ids->n) {
            ids->places[id] = i + 1;
        }
    }
}

struct wf_otf2_region *wf_otf2_defs_find_region(const struct wf_otf2_defs *defs, uint32_t id)
{
    if (id < defs->region_ids.n) {
        uint32_t place = defs->region_ids.places[id];
        return place != 0 ? &defs->regions[place - 1] : NULL;
    }
    return find_by_id(defs->regions, defs->n_regions, sizeof(*defs->regions), id);
}

const struct wf_otf2_comm *wf_otf2_defs_find_comm(const struct wf_otf2_defs *defs, uint32_t id)
{
    if (id < defs->comm_ids.n) {
        uint32_t place = defs->comm_ids.places[id];
        return place != 0 ? &defs->comms[place - 1] : NULL;
    }
    return find_by_id(defs->comms, defs->n_comms, sizeof(*defs->comms), id);
}

struct wf_otf2_location *wf_otf2_defs_find_location(const struct wf_otf2_defs *defs,
                                                    uint64_t id)
{
    const struct wf_otf2_location wanted = {.id = id};

    return defs->n_locations > 0 ? bsearch(&wanted, defs->locations, defs->n_locations,
                                           sizeof(*defs->locations), by_location)
                                 : NULL;
}

const char *wf_otf2_defs_string_at(const struct wf_otf2_defs *defs, uint32_t id)
{
    const struct wf_otf2_string *string =
        find_by_id(defs->strings, defs->n_strings, sizeof(*defs->strings), id);

    return string != NULL ? string->text : "";
}

const char *wf_otf2_defs_name(const struct wf_otf2_defs *defs,
                              const struct wf_otf2_region *region)
{
    return wf_otf2_defs_string_at(defs, region->name);
}

/* ---- ranks ---- */

static void add_place(struct wf_otf2_defs *defs, struct wf_otf2_location *location)
{
    location->rank = defs->n_ranks;
    defs->places[defs->n_ranks++] = location->id;
}

/* Takes the ranks that a group lists. Returns false if one is no location, or appears twice. */
static bool take_places(struct wf_otf2_defs *defs, const struct wf_otf2_group *group)
{
    for (uint32_t i = 0; i < group->n; i++) {
        struct wf_otf2_location *location = wf_otf2_defs_find_location(defs, group->members[i]);
        if (location == NULL || location->rank != WF_OTF2_NONE) {
            return false;
        }
        add_place(defs, location);
    }
    return true;
}

static int by_group(const void *a, const void *b)
{
    const struct wf_otf2_location *x = a, *y = b;

    return 2 * WF_ORDER(x->group, y->group) + WF_ORDER(x->id, y->id);
}

/* Without a list of ranks, the first thread of each process is a rank. */
static void take_first_threads(struct wf_otf2_defs *defs)
{
    uint32_t n = defs->n_locations;
    struct wf_otf2_location *sorted = wf_xcalloc((size_t)n + 1, sizeof(*sorted));
    const struct wf_otf2_location *before = NULL;

    if (n > 0) {
        memcpy(sorted, defs->locations, n * sizeof(*sorted));
    }
    WF_SORT(sorted, n, by_group);
    for (uint32_t i = 0; i < n; i++) {
        if (sorted[i].is_thread && (before == NULL || before->group != sorted[i].group)) {
            before = &sorted[i];
            wf_otf2_defs_find_location(defs, before->id)->rank = 0;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (defs->locations[i].rank == 0) {
            add_place(defs, &defs->locations[i]);
        }
    }
    free(sorted);
}

static void find_ranks(struct wf_otf2_defs *defs, const char *path, struct wf_err *err)
{
    const struct wf_otf2_group *ranks = NULL;

    for (uint32_t i = 0; i < defs->n_groups && ranks == NULL; i++) {
        ranks = defs->groups[i].type == WF_OTF2_LOCATIONS ? &defs->groups[i] : NULL;
    }
    defs->places = wf_xcalloc((size_t)defs->n_locations + 1, sizeof(*defs->places));
    if (ranks != NULL && (ranks->n > defs->n_locations || !take_places(defs, ranks))) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.300s: the definitions list ranks of MPI that are no locations",
                         path);
        return;
    }
    if (ranks == NULL) {
        take_first_threads(defs);
    }
    for (uint32_t i = 0; i < defs->n_locations; i++) {
        const struct wf_otf2_location *location = &defs->locations[i];
        defs->n_others +=
            location->is_thread && location->rank == WF_OTF2_NONE && location->n_events > 0;
        defs->n_metric_events =
            wf_count_add(defs->n_metric_events, location->is_metric ? location->n_events : 0);
    }
    if (defs->n_ranks == 0) {
        (void)wf_err_set(err, WF_EINVAL, "%.300s: the definitions list no rank of MPI", path);
    }
}

/* ---- accelerators ---- */

static int by_rank(const void *a, const void *b)
{
    const struct wf_otf2_stream *x = a, *y = b;

    return 2 * WF_ORDER(x->rank, y->rank) + WF_ORDER(x->location, y->location);
}

/* The rank that is in a process, 1 higher; 0 if there is none. */
static uint32_t rank_in(const struct wf_map *ranks, uint32_t process)
{
    const uint64_t *rank = wf_map_get(ranks, process);

    return rank != NULL ? (uint32_t)*rank : 0;
}

/* Streams were in the group of their process before OTF2 3.0; since then they are in groups of
 * their own, which the process has created. */
static void find_streams(struct wf_otf2_defs *defs)
{
    struct wf_map ranks = {.n = 0};

    for (uint32_t i = 0; i < defs->n_ranks; i++) {
        *wf_map_put(&ranks, wf_otf2_defs_find_location(defs, defs->places[i])->group) = i + 1;
    }
    defs->streams = wf_xcalloc((size_t)defs->n_locations + 1, sizeof(*defs->streams));
    for (uint32_t i = 0; i < defs->n_locations; i++) {
        const struct wf_otf2_location *location = &defs->locations[i];
        /* Locations are sorted: the events of one that is defined again are read once. */
        bool is_again = i > 0 && defs->locations[i - 1].id == location->id;
        if (!location->is_stream || location->n_events == 0 || is_again) {
            continue;
        }
        const struct wf_otf2_process *process =
            find_by_id(defs->processes, defs->n_processes, sizeof(*process), location->group);
        uint32_t rank = rank_in(&ranks, location->group);
        if (rank == 0 && process != NULL) {
            rank = rank_in(&ranks, process->creator);
        }
        if (rank == 0) {
            defs->n_lost_streams++;
        } else {
            defs->streams[defs->n_streams++] =
                (struct wf_otf2_stream){.rank = rank - 1, .location = location->id};
        }
    }
    WF_SORT(defs->streams, defs->n_streams, by_rank);
    wf_map_fini(&ranks);
}

const struct wf_otf2_stream *wf_otf2_defs_streams(const struct wf_otf2_defs *defs,
                                                  uint32_t rank)
{
    uint32_t low = 0;

    WF_BISECT(low, defs->n_streams, middle, defs->streams[middle].rank < rank);
    return low < defs->n_streams && defs->streams[low].rank == rank ? &defs->streams[low]
                                                                    : NULL;
}

/* ---- communicators ---- */

static uint32_t rank_of(const struct wf_otf2_defs *defs, const struct wf_otf2_group *group,
                        uint32_t i)
{
    uint64_t member = group->members[i];

    if (group->type == WF_OTF2_RANKS) {
        return member < defs->n_ranks ? (uint32_t)member : WF_OTF2_NONE;
    }
    const struct wf_otf2_location *location = wf_otf2_defs_find_location(defs, member);
    return location != NULL ? location->rank : WF_OTF2_NONE;
}

/* Sets the members of a communicator, if they are valid. */
static void find_members(const struct wf_otf2_defs *defs, struct wf_otf2_comm *comm)
{
    const struct wf_otf2_group *group =
        find_by_id(defs->groups, defs->n_groups, sizeof(*defs->groups), comm->group);
    struct wf_map seen = {.n = 0};

    if (group == NULL || comm->is_inter) {
        return;
    }
    comm->is_self = group->type == WF_OTF2_SELF;
    if ((group->type != WF_OTF2_RANKS && group->type != WF_OTF2_PLACES) || group->n == 0 ||
        group->n > defs->n_ranks) {
        return;
    }
    uint32_t *ranks = wf_xmalloc((size_t)group->n * sizeof(*ranks));
    bool known = true;
    comm->is_world = group->n == defs->n_ranks;
    for (uint32_t i = 0; i < group->n && known; i++) {
        ranks[i] = rank_of(defs, group, i);
        known = ranks[i] != WF_OTF2_NONE && wf_map_get(&seen, ranks[i]) == NULL;
        (void)wf_map_put(&seen, ranks[i]);
        comm->is_world = comm->is_world && ranks[i] == i;
    }
    wf_map_fini(&seen);
    if (!known) {
        comm->is_world = false;
        free(ranks);
        return;
    }
    comm->n = group->n;
    comm->ranks = ranks;
}

void wf_otf2_defs_finish(struct wf_otf2_defs *defs, const char *path, struct wf_err *err)
{
    bool has_world = false;

    WF_SORT(defs->strings, defs->n_strings, by_id);
    WF_SORT(defs->regions, defs->n_regions, by_id);
    WF_SORT(defs->groups, defs->n_groups, by_id);
    WF_SORT(defs->comms, defs->n_comms, by_id);
    WF_SORT(defs->locations, defs->n_locations, by_location);
    index_ids(&defs->region_ids, defs->regions, defs->n_regions, sizeof(*defs->regions));
    index_ids(&defs->comm_ids, defs->comms, defs->n_comms, sizeof(*defs->comms));
    WF_SORT(defs->processes, defs->n_processes, by_id);
    find_ranks(defs, path, err);
    if (!wf_trace_failed(err)) {
        find_streams(defs);
    }
    wf_otf2_metrics_finish(defs);
    for (uint32_t i = 0; i < defs->n_comms && !wf_trace_failed(err); i++) {
        find_members(defs, &defs->comms[i]);
        /* If several communicators qualify, the first is the world; the others are copies. */
        defs->comms[i].is_world = defs->comms[i].is_world && !has_world;
        has_world = has_world || defs->comms[i].is_world;
    }
    for (uint32_t i = 0; i < defs->n_regions; i++) {
        const char *name = wf_otf2_defs_name(defs, &defs->regions[i]);
        defs->regions[i].is_mpi = defs->regions[i].is_mpi || strncmp(name, "MPI_", 4) == 0;
        defs->regions[i].is_mark = strncmp(name, TRACER_MARK, strlen(TRACER_MARK)) == 0;
        defs->regions[i].call = wf_op_of_call(name);
        if (defs->regions[i].work == WF_OTF2_KERNEL && strcasestr(name, "memcpy") != NULL) {
            defs->regions[i].work = WF_OTF2_COPY; /* of tools that give it no role */
        }
    }
    if (!wf_trace_failed(err) && defs->resolution == 0) {
        (void)wf_err_set(
            err, WF_EINVAL,
            "%.300s: the definitions do not say how fast the clock of any rank ticks", path);
    }
}
