/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_TALLY_H
#define WF_RANKS_TALLY_H

/*
 * What a replay adds up over its ranks: integers only, so that the sum does not depend on the
 * order in which threads and processes contribute.
 */

#include "ranks/blocked.h"
#include "ranks/marks.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WF_TALLY_BLOCKED = 8, /* ranks that are named */
    WF_TALLY_WAITS = 8,   /* likewise, of those that wait longest */
    WF_TALLY_JOBS = WF_MARKS_JOBS,
};

/* A rank that did not come to its end, and why. */
struct wf_blocked {
    uint32_t rank;    /* of the run */
    uint32_t failure; /* enum wf_failure; if it is none, the rest says what it waits for */
    uint32_t fail_peer, padding;
    struct wf_blocked_on on; /* its communicator is numbered as in its job */
};

/* A rank that waited long. */
struct wf_waited {
    int64_t time;
    uint32_t rank, in; /* enum wf_rank_in */
};

/* A rank that did not receive a message, or did not call a collective that others called. */
struct wf_rank_leftover {
    uint32_t rank, padding; /* of the run */
    struct wf_leftover what;
};

struct wf_job_tally {
    uint64_t messages, bytes; /* sent; bytes are UINT64_MAX if there are as many or more */
    struct wf_stat finish;    /* picoseconds; of the ranks that came to their end */
    struct wf_stat compute;   /* of all ranks, as the next ones */
    struct wf_stat wait[WF_IN_KINDS]; /* doing nothing but waiting, by what for... */
    struct wf_stat waits;             /* ...and for whatever */
    struct wf_stat overhead;          /* CPU time spent on messages */
};

/* Zeroed is empty. */
struct wf_ranks_tally {
    uint64_t unreceived;    /* messages that arrived and found no receive */
    uint64_t uncalled;      /* collectives by a formula, counted at each rank that others waited
                               for or told of them, and that did not call them */
    uint64_t unfinished;    /* ranks that did not come to their end */
    uint64_t failed;        /* of those, ranks that made an error */
    uint64_t timeless;      /* ranks whose clock ran into WF_TIME_MAX: nothing is right then */
    struct wf_stat latency; /* of all messages that arrived: from the time at which the network
                               got one to the arrival of its last byte */
    uint64_t ends;          /* fingerprint of the ranks' final clocks */
    struct wf_net_totals net;
    struct wf_job_tally jobs[WF_TALLY_JOBS];
    struct wf_marks marks;
    uint32_t n_blocked, n_waits, n_leftover, padding; /* entries used */
    struct wf_blocked blocked[WF_TALLY_BLOCKED];      /* failed ranks first, then those that
                                                    know why they wait, then by number */
    struct wf_waited waits[WF_TALLY_WAITS];           /* the longest first, then by number */
    struct wf_rank_leftover leftover[1];              /* of the rank with the lowest number */
    uint64_t recording_at; /* bytes from here to a struct wf_recording, behind the network's
                              statistics; 0 if there is none */
    uint64_t path_at;      /* likewise to a struct wf_path, behind that */
};

void wf_tally_block(struct wf_ranks_tally *tally, const struct wf_blocked *blocked);
/* What stands for the run in its result: `events` is the digest of the events, which a model
 * with facts replaces by these and the ranks' ends. */
uint64_t wf_tally_digest(const struct wf_ranks_tally *tally, uint64_t events);

void wf_tally_wait(struct wf_ranks_tally *tally, const struct wf_waited *waited);
void wf_tally_leftover(struct wf_ranks_tally *tally, const struct wf_rank_leftover *leftover);
void wf_tally_merge(void *into, const void *from); /* wf_merge_fn */
/* Likewise, of tallies that the network's statistics and perhaps a recording follow. */
void wf_tally_merge_all(void *into, const void *from);
/* The recordings alone. */
void wf_tally_merge_recordings(struct wf_ranks_tally *into, const struct wf_ranks_tally *from);

static inline struct wf_net_counters *wf_tally_words(struct wf_ranks_tally *tally)
{
    return (void *)(tally + 1);
}

/* The recording behind it; null if there is none. */
struct wf_recording *wf_tally_recording(struct wf_ranks_tally *tally);
/* Likewise, what the critical path is found by. */
struct wf_path *wf_tally_path(struct wf_ranks_tally *tally);

/* A rank, or PE, whose clock stands there at the end. */
void wf_tally_end(struct wf_ranks_tally *tally, uint32_t rank, int64_t clock);

/* A message that took so long; `words` are the network's statistics, or null. */
void wf_tally_latency(struct wf_ranks_tally *tally, struct wf_net_counters *words,
                      int64_t latency);

/* Bytes of a tally of `size` bytes with the statistics of a network behind it, if it has any.
 */
size_t wf_tally_size(size_t size, const struct wf_net *net);

#endif
