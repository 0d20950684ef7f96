/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * From the events of an OTF2 archive to ops, rank by rank.
 *
 * Where a nonblocking receive or collective begins, the archive has nothing but the number of
 * its request: what it was is known when it is complete. The walk looks ahead as far as it must
 * to find that out. If that is very far, a second reader of the same events does it, so that
 * memory is bounded.
 */

#include "base/buf.h"
#include "program/trace/kit/open_requests.h"
#include "program/trace/kit/records.h"
#include "program/trace/otf2/devices.h"
#include "program/trace/otf2/events.h"
#include "program/trace/otf2/sums.h"
#include "program/trace/otf2/tally.h"
#include "program/trace/reader.h"
#include "program/trace/spool/spool.h"

/* How long what an accelerator does takes, relative to what was recorded. */
struct wf_otf2_factors {
    double kernels, copies;
};

/* A time of a rank, and what has been summed up by then. */
struct wf_otf2_moment {
    uint64_t time;   /* ticks */
    uint64_t metric; /* the sum of metrics that are used, picoseconds */
    struct wf_otf2_busy busy;
};

struct wf_otf2_walk {
    struct wf_otf2_events events; /* its first members are set */
    const struct wf_otf2_defs *defs;
    const struct wf_otf2_sums *sums; /* null: no call needs them */
    struct wf_records *records;
    struct wf_spool *spool;
    struct wf_otf2_factors factors;
    struct wf_trace_device *all_devices; /* of all ranks; null if no rank has any */
    struct wf_trace_place place;         /* the event that is read, and its rank */
    struct wf_otf2_tally tally;
    bool *is_told;       /* the spool knows the name of the region */
    uint64_t ps_of_tick; /* of the clock; 0: no whole number */
    uint64_t *metrics;   /* of each class: the latest sum of metrics that are used */
    uint64_t n_lost, n_unfinished, n_off, n_equal, n_inter; /* for notes */

    /* Of the rank that is read. */
    uint32_t rank;
    bool begun, ahead_ended;
    size_t n_ahead;                 /* events after the present one that have been looked at */
    uint64_t n_events;              /* that have been read */
    bool is_far;                    /* a second reader looks ahead */
    struct wf_otf2_events far;      /* the second reader... */
    struct wf_otf2_event far_event; /* ...and its latest event */
    uint64_t first;                 /* ticks */
    struct wf_otf2_moment latest, entered;
    uint64_t metric; /* the sum of metrics that are used, now */
    bool has_metric;
    struct wf_trace_device *device;      /* its accelerators; null if it has none... */
    struct wf_otf2_devices devices;      /* ...and what they do */
    struct wf_otf2_events stream;        /* the reader of their events */
    const struct wf_otf2_region *call;   /* outermost call of MPI that it is in, or null */
    enum wf_op_kind kind;                /* of the call */
    uint32_t depth;                      /* of regions within the call */
    bool has_op, has_sent, has_received; /* in the call */
    struct wf_otf2_event sent, received; /* of a sendrecv */
    struct wf_open_requests requests;    /* that are open */
    struct wf_open_requests found;       /* by the reader ahead, complete */
    struct wf_otf2_event *outcomes;      /* of these, by their numbers */
    uint32_t outcomes_capacity;
    struct wf_buf done;    /* numbers of requests that this call completed */
    struct wf_buf regions; /* numbers of the program's regions that are open */
    struct wf_buf counts;  /* of a collective */
};

/* Sets the members after `place`. The caller has set those before. */
void wf_otf2_walk_begin(struct wf_otf2_walk *walk);
/* Writes the ops of a rank and counts its records. Failures are kept in `err`. */
void wf_otf2_walk_rank(struct wf_otf2_walk *walk, uint32_t rank, struct wf_err *err);
void wf_otf2_walk_end(struct wf_otf2_walk *walk); /* releases what the walk has allocated */
