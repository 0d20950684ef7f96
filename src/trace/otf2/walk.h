/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * From the events of an OTF2 archive to ops, rank by rank.
 *
 * Where a nonblocking receive or collective begins, the archive has nothing but the number of
 * its request: what it was is known when it is complete. A second reader of the same events
 * reads as far ahead as it must to find that out, so that no more is held than requests are
 * open.
 */

#include "base/buf.h"
#include "trace/kit/open_requests.h"
#include "trace/kit/records.h"
#include "trace/kit/spool.h"
#include "trace/otf2/in.h"
#include "trace/otf2/sums.h"

struct wf_otf2_walk {
    struct wf_otf2_in *in, *ahead; /* two readers of one archive */
    struct wf_otf2_defs *defs;
    const struct wf_otf2_sums *sums; /* null: no call needs them */
    struct wf_records *records;
    struct wf_spool *spool;
    struct wf_trace_place place;   /* the event that is read, and its rank */
    uint32_t names[WF_OTF2_KINDS]; /* of records */
    uint32_t coll_names[32];
    uint64_t n_lost, n_unfinished, n_off, n_equal, n_inter; /* for notes */

    /* Of the rank that is read. */
    uint32_t rank;
    bool begun, ahead_ended;
    uint64_t first, latest, entered;     /* ticks */
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

/* Writes all ops and counts all records. The caller has set the first members, up to `place`. */
void wf_otf2_walk(struct wf_otf2_walk *walk);
