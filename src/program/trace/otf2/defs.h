/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The definitions of an OTF2 archive that matter for a replay: which location is which rank of
 * MPI, what regions are called, and which ranks a communicator has.
 *
 * program/trace/otf2/globals.c adds them as they come, in any order; they are looked up when all are
 * there.
 */

#include "base/status.h"
#include "program/ops/op.h"
#include "program/trace/otf2/metrics.h"

#include <stdbool.h>
#include <stdint.h>

#define WF_OTF2_NONE UINT32_MAX

enum wf_otf2_group_type {
    WF_OTF2_OTHER_GROUP,
    WF_OTF2_LOCATIONS, /* which locations the ranks of MPI are */
    WF_OTF2_RANKS,     /* ranks of MPI */
    WF_OTF2_PLACES,    /* likewise, as locations */
    WF_OTF2_SELF,      /* the asking rank alone */
};

struct wf_otf2_string {
    uint32_t id;
    char *text;
};

/* What an accelerator does in a region. */
enum wf_otf2_work { WF_OTF2_KERNEL, WF_OTF2_COPY, WF_OTF2_NO_WORK };

struct wf_otf2_region {
    uint32_t id, name;
    enum wf_otf2_work work;
    bool is_mpi;
    bool is_mark;         /* one of those with which programs mark their phases for TraceR */
    enum wf_op_kind call; /* of a region of MPI: what it is, WF_OP_CALL if it is no op */
};

struct wf_otf2_location {
    uint64_t id, n_events;
    uint32_t group, rank; /* rank: WF_OTF2_NONE if no rank runs there */
    bool is_thread;
    bool is_stream; /* of an accelerator */
    bool is_metric; /* has values of metrics only */
};

/* A process, or the streams of a process on one accelerator. */
struct wf_otf2_process {
    uint32_t id, creator; /* creator: the process that uses the accelerator, or WF_OTF2_NONE */
};

/* A stream of an accelerator that a rank uses. */
struct wf_otf2_stream {
    uint32_t rank;
    uint64_t location;
};

struct wf_otf2_group {
    uint32_t id;
    enum wf_otf2_group_type type;
    uint32_t n;
    uint64_t *members;
};

struct wf_otf2_comm {
    uint32_t id, group;
    bool is_inter;
    bool is_self, is_world;
    uint32_t n;
    uint32_t *ranks; /* of the program; null if that is not known */
};

/* Where definitions are in their array, by their id, if ids are as small as they mostly are. */
struct wf_otf2_ids {
    uint32_t *places; /* 1 + the index, 0 if there is none */
    uint32_t n;       /* ids below this are here; the others have to be searched for */
};

struct wf_otf2_defs {
    uint64_t resolution; /* ticks in a second */
    struct wf_otf2_string *strings;
    struct wf_otf2_region *regions;
    struct wf_otf2_location *locations;
    struct wf_otf2_process *processes;
    struct wf_otf2_group *groups;
    struct wf_otf2_comm *comms;
    uint32_t n_strings, n_regions, n_locations, n_processes, n_groups, n_comms;
    uint32_t strings_capacity, regions_capacity, locations_capacity, processes_capacity,
        groups_capacity, comms_capacity;
    struct wf_otf2_ids region_ids, comm_ids;
    struct wf_otf2_metrics metrics;
    uint32_t n_ranks;
    uint64_t *places;               /* the location of each rank */
    uint32_t n_others;              /* threads that are no rank */
    uint64_t n_metric_events;       /* of locations that have metrics only */
    struct wf_otf2_stream *streams; /* that have events, in the order of ranks */
    uint32_t n_streams;
    uint32_t n_lost_streams; /* that belong to no rank */
};

void wf_otf2_defs_fini(struct wf_otf2_defs *defs);

/* ---- when all are there ---- */

/* Finds the ranks and the members of communicators. Fails if there is no rank. */
void wf_otf2_defs_finish(struct wf_otf2_defs *defs, const char *path, struct wf_err *err);

/* Null if there is none of this number. */
struct wf_otf2_region *wf_otf2_defs_find_region(const struct wf_otf2_defs *defs, uint32_t id);
const struct wf_otf2_comm *wf_otf2_defs_find_comm(const struct wf_otf2_defs *defs, uint32_t id);
struct wf_otf2_location *wf_otf2_defs_find_location(const struct wf_otf2_defs *defs,
                                                    uint64_t id);
/* The first stream of a rank; those after it belong to it, too, as long as they say so. Null if
 * it has none. */
const struct wf_otf2_stream *wf_otf2_defs_streams(const struct wf_otf2_defs *defs,
                                                  uint32_t rank);
/* The text of a string; "" if there is none of this number. */
const char *wf_otf2_defs_string_at(const struct wf_otf2_defs *defs, uint32_t id);
/* The name of a region; never null. */
const char *wf_otf2_defs_name(const struct wf_otf2_defs *defs,
                              const struct wf_otf2_region *region);
