/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPLAY_TALLY_H
#define WF_REPLAY_TALLY_H

/*
 * What a replay adds up over its ranks: integers only, so that the sum does not depend on the
 * order in which threads and processes contribute.
 */

#include "mpi/rank.h"

#include <stdint.h>

enum { WF_TALLY_BLOCKED = 8 }; /* ranks that are named */

/* A quantity of each rank, or of each message. */
struct wf_stat {
    uint64_t n; /* values */
    int64_t min, max;
    uint64_t sum_low, sum_high; /* of non-negative values, 128 bits */
};

/* A rank that did not come to its end, and the receive it waits for. */
struct wf_blocked {
    uint32_t rank;
    uint32_t waits; /* 1; 0 if it was stopped on its way, and the rest says nothing */
    uint32_t source;
    int32_t tag;
    uint32_t comm;
    uint32_t collective; /* 1 if the receive belongs to a collective */
};

/* Zeroed is empty. */
struct wf_replay_tally {
    uint64_t messages, bytes; /* sent; bytes are UINT64_MAX if there are as many or more */
    uint64_t unreceived;      /* messages that arrived and found no receive */
    uint64_t unfinished;      /* ranks that did not come to their end */
    uint64_t timeless;       /* ranks whose clock ran into WF_TIME_MAX: nothing is right then */
    struct wf_stat finish;   /* picoseconds; of the ranks that did; `max` is the prediction */
    struct wf_stat compute;  /* of all ranks, as the next two */
    struct wf_stat wait;     /* doing nothing but waiting for a message */
    struct wf_stat overhead; /* CPU time spent on messages */
    struct wf_stat latency;  /* of all messages that arrived: from the time at which the network
                                got one to the arrival of its last byte */
    uint64_t ends;           /* fingerprint of the ranks' final clocks */
    struct wf_net_facts net;
    uint32_t n_blocked,
        padding; /* entries used; the unfinished ranks with the lowest numbers */
    struct wf_blocked blocked[WF_TALLY_BLOCKED];
};

void wf_stat_add(struct wf_stat *stat, int64_t value);
int64_t wf_stat_mean(const struct wf_stat *stat); /* rounded down; 0 if there are no values */

void wf_tally_block(struct wf_replay_tally *tally, const struct wf_blocked *blocked);
/* What stands for the run in its result: `events` is the digest of the events, which a model
 * with facts replaces by these and the ranks' ends. */
uint64_t wf_tally_digest(const struct wf_replay_tally *tally, uint64_t events);

void wf_tally_merge(void *into, const void *from); /* wf_merge_fn */
/* Likewise, of tallies that the network's statistics follow. */
void wf_tally_merge_all(void *into, const void *from);

static inline struct wf_net_words *wf_tally_words(struct wf_replay_tally *tally)
{
    return (void *)(tally + 1);
}

#endif
