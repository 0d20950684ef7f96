/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_OTF2_WALK_H
#define WF_TRACE_OTF2_WALK_H

/*
 * From the events of an OTF2 archive to ops, rank by rank.
 *
 * Where a nonblocking receive or collective begins, the archive says nothing but the number of
 * its request: what it was is known when it is complete. A second reader of the same events
 * that is as far ahead as it must be finds that out, so that no more is held than requests are
 * open.
 */

#include "base/buf.h"
#include "trace/kit/open_requests.h"
#include "trace/kit/records.h"
#include "trace/kit/spool.h"
#include "trace/otf2/in.h"
#include "trace/otf2/sums.h"

/* What the calls of MPI are for whoever reads their messages. */
enum wf_otf2_role {
    WF_OTF2_CALLS, /* no messages of its own, or those that are recorded in it */
    WF_OTF2_SENDS, /* in a mode */
    WF_OTF2_BOTH,  /* sendrecv */
};

struct wf_otf2_call {
    const char *name;
    enum wf_otf2_role role;
    enum wf_op_kind kind;
};

struct wf_otf2_walk {
    struct wf_otf2_in *in, *ahead; /* two readers of one archive */
    struct wf_otf2_defs *defs;
    const struct wf_otf2_sums *sums; /* null: no call needs them */
    struct wf_records *records;
    struct wf_spool *spool;
    uint32_t names[WF_OTF2_KINDS]; /* of records */
    uint32_t coll_names[32];
    uint64_t n_lost, n_unfinished, n_off, n_equal, n_inter; /* for notes */
    struct wf_err *err;

    /* Of the rank that is read. */
    uint32_t rank;
    bool begun, ahead_ended, in_sendrecv;
    uint64_t first, latest, entered;     /* ticks */
    const struct wf_otf2_region *call;   /* outermost call of MPI that it is in, or null */
    uint32_t depth;                      /* of regions within the call */
    struct wf_otf2_call role;            /* of the call */
    bool has_op, has_sent, has_received; /* in the call */
    struct wf_otf2_event sent, received; /* of a sendrecv */
    struct wf_open_requests requests;    /* that are open */
    struct wf_open_requests found;       /* by the reader ahead, complete */
    struct wf_otf2_event *outcomes;      /* of these, by their numbers */
    uint32_t outcomes_room;
    struct wf_buf done;    /* numbers of requests that this call completed */
    struct wf_buf regions; /* numbers of the program's regions that are open */
    struct wf_buf counts;  /* of a collective */
    uint64_t *told;        /* communicators that the writer knows, as bits */
    uint64_t number;       /* of the event */
};

/* Writes all ops and counts all records. The caller has set all but what is of a rank. */
WF_NODISCARD
enum wf_status wf_otf2_walk(struct wf_otf2_walk *walk);

/* ---- of trace/otf2/ops.c: what events become ---- */

/* Puts an op of the rank; a fault names the event. */
WF_NODISCARD
enum wf_status wf_otf2_put(struct wf_otf2_walk *walk, const struct wf_op *op);
/* The call itself, with its time; for calls that are nothing else. */
WF_NODISCARD
enum wf_status wf_otf2_put_call(struct wf_otf2_walk *walk, uint64_t now);
/* A message, a request that begins, a collective, what a call completed. */
WF_NODISCARD
enum wf_status wf_otf2_message(struct wf_otf2_walk *walk, const struct wf_otf2_event *event);
WF_NODISCARD
enum wf_status wf_otf2_sendrecv(struct wf_otf2_walk *walk);
WF_NODISCARD
enum wf_status wf_otf2_begin_request(struct wf_otf2_walk *walk,
                                     const struct wf_otf2_event *event);
WF_NODISCARD
enum wf_status wf_otf2_collective(struct wf_otf2_walk *walk, const struct wf_otf2_event *event,
                                  bool blocking, uint32_t request);
void wf_otf2_complete(struct wf_otf2_walk *walk, uint64_t request);
WF_NODISCARD
enum wf_status wf_otf2_put_waits(struct wf_otf2_walk *walk);

/* The time between two readings of the clock, in picoseconds. */
int64_t wf_otf2_ps(const struct wf_otf2_walk *walk, uint64_t from, uint64_t to);

#endif
