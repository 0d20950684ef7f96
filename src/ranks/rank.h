/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RANK_H
#define WF_RANKS_RANK_H

/*
 * Ranks: MPI semantics in virtual time, on any network model.
 *
 * A rank has a clock of its own, which runs ahead of the engine's time where the network
 * allows it: computing costs no event, and a message departs at the rank's clock. What a
 * receive gets does not depend on that, because messages are matched in the order of their
 * arrival with receives in the order of their posting, whichever comes first; and when it is
 * complete is the later of clock and arrival. See docs/models/mpi.md.
 */

#include "ranks/cellmap.h"
#include "ranks/match.h"
#include "ranks/node.h"

enum wf_rank_state {
    WF_RANK_READY,   /* running, or about to */
    WF_RANK_WAITING, /* for `missing` awaited requests */
    WF_RANK_PROBING, /* for any message */
    WF_RANK_ENDED,
    WF_RANK_FAILED, /* stopped by an error of the program, see `failure` */
};

/* What a rank waits in, for the account of its time. */
enum wf_rank_in { WF_IN_SEND, WF_IN_RECV, WF_IN_COLLECTIVE, WF_IN_KINDS };

enum wf_failure {
    WF_FAILURE_NONE,
    WF_FAILURE_TRUNCATED,  /* a message longer than its receive */
    WF_FAILURE_UNEXPECTED, /* more than mpi.unexpected_limit */
    WF_FAILURE_REQUEST,    /* a request number made while it is in use */
    WF_FAILURE_OP,         /* an op that makes no sense */
    WF_FAILURE_FORMULA,    /* a compute time that the user's formula does not give */
    WF_FAILURE_SIZES,      /* a collective that ranks call with different sizes */
};

enum { WF_RANK_SMALL_REQUESTS = 16 };

/* Flights that are complete, by time. */
struct wf_done {
    uint32_t head, tail; /* cells; 0 if there is none */
};

/* Zeroed at the start. What most messages touch comes first. */
struct wf_rank {
    int64_t clock;
    uint8_t state; /* enum wf_rank_state */
    uint8_t failure;
    uint8_t overhead_paid; /* of the send that is to be made when the engine's time is here */
    uint8_t flushing;      /* waits for its puts and gets */
    uint8_t noted;         /* the layer above has used the note of this event */
    uint8_t any;           /* the rank goes on when one of the awaited is complete */
    uint8_t computes;      /* its clock is where a computation will end, not a call */
    uint8_t found;         /* what its last iprobe or test asked for was there */
    uint32_t awaited;      /* requests that it waits for... */
    uint32_t missing;      /* ...and of those, that are not complete */
    struct wf_done done;   /* requests that are complete and not yet waited for... */
    struct wf_done done_awaited;  /* ...and those that it waits for, with others... */
    struct wf_done done_in_colls; /* ...and messages of the steps of collectives */
    struct wf_match match;
    uint32_t small_requests
        [WF_RANK_SMALL_REQUESTS]; /* the program's requests with small numbers, cells... */
    struct wf_cellmap requests;   /* ...and the others, by number */

    int64_t wait_ps[WF_IN_KINDS]; /* time in which it did nothing but wait */
    int64_t overhead_ps;          /* CPU time spent on messages */
    uint64_t sent_messages, sent_bytes;
    union {
        uint64_t unexpected_bytes;
        uint64_t fail_own; /* of a rank that failed by sizes: the bytes it asked for... */
    };
    union {
        int64_t one_sided_at; /* when the last of the puts and gets that are complete was */
        uint64_t fail_other;  /* ...and those that came */
    };
    int64_t one_sided_since;   /* when that one began */
    int64_t coll_overhead_ps;  /* of the blocking collective it is in */
    struct wf_cellmap handles; /* what a message from elsewhere will ask for, by handle */
    struct wf_cellmap colls;   /* collectives begun on each communicator but the first */
    uint32_t collectives;      /* begun on communicator 0 */
    uint32_t current;          /* the blocking collective it is in, a cell; or 0 */
    uint32_t ticket;           /* of the event that resumes it: others come too late */
    uint32_t next_handle;
    uint32_t deferred;    /* cells that wait for the next call, linked */
    uint32_t one_sided;   /* puts and gets that are not complete */
    uint32_t seen_source; /* of the last receive that left something open: a rank of the run */
    int32_t seen_tag;
    uint32_t fail_peer; /* whom its failure has to do with, or its probe */
    int32_t probe_tag;  /* likewise its tag */
    union {
        uint32_t done_order; /* requests that were complete so far */
        uint32_t fail_context;
    };
};

/* On whose behalf a call is made. */
struct wf_caller {
    const struct wf_mpi *mpi;
    struct wf_ctx *ctx;
    void *node;
    struct wf_rank *rank;
    uint32_t slot;   /* on the node */
    uint32_t number; /* in the run */
};

enum wf_called {
    WF_CALLED_DONE,
    WF_CALLED_BLOCKED, /* the rank is resumed once the call is complete */
    WF_CALLED_AGAIN,   /* the rank is resumed to make the same call again */
};

#define WF_RANK_NO_REQUEST UINT32_C(0xffffffff) /* of a blocking call */
#define WF_RANK_PROC_NULL  UINT32_C(0xfffffffe) /* a peer that there is not */

struct wf_caller wf_caller_at(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                              uint32_t slot);

/* Lets others run: resumes the rank when the engine's time has come to its clock. */
void wf_rank_yield(const struct wf_caller *who);
/* WF_CALLED_DONE if the engine's time has come to the rank's clock; else yields. */
WF_NODISCARD enum wf_called wf_rank_sync(const struct wf_caller *who);
/* Goes on with what waited for the rank's next call, which is now. */
void wf_rank_run_deferred(const struct wf_caller *who);
void wf_rank_end(const struct wf_caller *who);
void wf_rank_fail(const struct wf_caller *who, enum wf_failure failure, uint32_t peer);
/* Likewise, because of a message with this key: `own` bytes were asked for, and not `other`. */
void wf_rank_fail_sizes(const struct wf_caller *who, const struct wf_match_key *key,
                        uint64_t own, uint64_t other);

#endif
