/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The state of a rank: MPI semantics in virtual time, on any network model.
 *
 * A rank has its own clock, which runs ahead of the engine's time where the network allows
 * it: computing costs no event, and a message departs at the rank's clock. This does not
 * change which message a receive matches: messages match in the order of their arrival,
 * receives in the order of their posting, whichever comes first. A receive is complete at
 * the later of the rank's clock and the arrival. See docs/models/mpi.md.
 */

#include "engine/cellmap.h"
#include "model/ranks/match.h"

enum wf_rank_state {
    WF_RANK_READY,   /* running, or about to run */
    WF_RANK_WAITING, /* waits for `missing` awaited requests */
    WF_RANK_PROBING, /* waits for any message */
    WF_RANK_POLLING, /* waits before its next poll, or until something arrives or completes */
    WF_RANK_ENDED,
    WF_RANK_FAILED, /* stopped by an error of the program, see `failure` */
};

/* The work for a rank at the end of the event (model/ranks/resume.h). */
enum wf_rank_due {
    WF_DUE_NOTHING,
    WF_DUE_PROGRAM, /* its wait has ended: its next ops */
    WF_DUE_READ,    /* mpi.progress=waits: it reads what has arrived */
};

/* What a waiting rank waits for. */
enum wf_rank_waits {
    WF_WAITS_FOR_ALL,   /* its awaited requests, or its blocking collective */
    WF_WAITS_FOR_ANY,   /* one of the awaited requests */
    WF_WAITS_FOR_FLUSH, /* its puts and gets */
    WF_WAITS_FOR_FILE,  /* what it asked servers of files for */
};

/* The kind of call in which a rank waits; or it waits for its core (model/ranks/timeshare.h). */
enum wf_rank_in {
    WF_IN_SEND,
    WF_IN_RECV,
    WF_IN_COLLECTIVE,
    WF_IN_FILE,
    WF_IN_CORE,
    WF_IN_KINDS
};

enum wf_failure {
    WF_FAILURE_NONE,
    WF_FAILURE_TRUNCATED,  /* a message is longer than its receive */
    WF_FAILURE_UNEXPECTED, /* unexpected messages exceed mpi.unexpected_limit */
    WF_FAILURE_REQUEST,    /* a request number is used twice, or a request cannot be started */
    WF_FAILURE_OP,         /* an op that is invalid */
    WF_FAILURE_FORMULA,    /* the user's formula gives no compute time */
    WF_FAILURE_STALL,      /* its clock stands still */
    WF_FAILURE_SIZES,      /* ranks call a collective with different sizes */
};

/* At least as many as a stencil in three dimensions has receives; its sends are mostly eager, and then
 * have none. */
enum { WF_RANK_SMALL_REQUESTS = 8 };

/* A list of complete requests. The last one completed last, the others are in no order. */
struct wf_done {
    uint32_t head, tail; /* cells; 0 if the list is empty */
};

/* All zero at the start. The members that most messages use come first. */
struct wf_rank {
    int64_t clock;
    uint8_t state; /* enum wf_rank_state */
    uint8_t failure;
    uint8_t overhead_paid; /* the overhead of a send that waits for the engine's time is paid */
    uint8_t due;           /* enum wf_rank_due; 0 between events */
    uint8_t noted;         /* this event has left its note for commit, or counted a message */
    uint8_t waits_for;     /* enum wf_rank_waits */
    uint8_t computes;      /* the clock is the end of a computation, not of a call */
    uint8_t found;         /* the last iprobe, test or cancel was successful */
    union {
        uint32_t awaited; /* requests that the rank waits for... */
        uint32_t posted;  /* cell of the receive of a sendrecv that has yet to send */
    };
    uint32_t missing;    /* ...and how many of them are not complete */
    struct wf_done done; /* complete requests that no call has taken yet, except for... */
    struct wf_done done_awaited;  /* ...those that the current call waits for, and... */
    struct wf_done done_in_colls; /* ...those that belong to a collective */
    struct wf_match match;
    uint32_t small_requests[WF_RANK_SMALL_REQUESTS]; /* cells of requests with small numbers */
    struct wf_cellmap requests;                      /* cells of the others, by number */

    int64_t wait_ps[WF_IN_CORE]; /* time in which the rank only waited in calls */
    int64_t overhead_ps;         /* CPU time spent on messages */
    uint64_t sent_messages, sent_bytes;
    union {
        uint64_t unexpected_bytes;
        uint64_t fail_own; /* failure by sizes: the bytes that the rank expected */
    };
    uint32_t cold;   /* cell with a struct wf_rank_cold; 0: all its members are zero */
    uint32_t ticket; /* events that resume the rank with another ticket are stale */
    union {
        uint32_t done_order; /* number of requests completed so far */
        uint32_t fail_context;
    };
    uint32_t longest; /* bytes of the longest message sent, at most UINT32_MAX */
};

/* The cold part of a rank's state: what it needs for anything but eager messages from known
 * sources, in a cell that it gets on first use. Most ranks of a large run never need it. See
 * wf_rank_cold(). */
struct wf_rank_cold {
    struct wf_cellmap handles; /* cells that messages from other ranks refer to, by handle */
    /* Collectives begun, by communicator, all but the first; and with WF_RANK_LINES the
     * cell of each line (model/ranks/coll_line.h). */
    struct wf_cellmap colls;
    uint32_t collectives; /* collectives begun on communicator 0 */
    uint32_t current;     /* cell of the current blocking collective, or 0 */
    uint32_t next_handle;
    uint32_t deferred;        /* list of cells that wait for the rank's next call; or 0 */
    int64_t coll_overhead_ps; /* CPU time of the current blocking collective */
    int64_t one_sided_since;  /* when the latest complete put or get began... */
    union {
        int64_t one_sided_at; /* ...and when it completed */
        uint64_t fail_other;  /* failure by sizes: the bytes that came */
    };
    uint32_t one_sided; /* puts and gets that are not complete */
    uint32_t reading;   /* 1: deferred operations that have left the list are being continued */
    int64_t attended;   /* WF_PROGRESS_WAITS: what arrived until then has been read */
    uint32_t seen_source;  /* source of the last wildcard receive: a rank of the job */
    int32_t seen_tag;      /* its tag */
    uint32_t blocked_peer; /* the other side of the failure, or of the blocking probe... */
    int32_t blocked_tag;   /* ...and its tag */
    uint32_t files;        /* cell with what it does with files; or 0 */
};

#define WF_RANK_LINES UINT32_C(0x80000000) /* no communicator has such a number */

#define WF_RANK_NO_REQUEST UINT32_C(0xffffffff) /* for blocking calls */
#define WF_RANK_PROC_NULL  UINT32_C(0xfffffffe) /* MPI_PROC_NULL */
