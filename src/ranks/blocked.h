/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_BLOCKED_H
#define WF_RANKS_BLOCKED_H

/* What a rank that did not come to its end waits for, to be told at the end of a run. */

#include "ranks/rank.h"

enum wf_stuck_in {
    WF_STUCK_NOWHERE, /* it was stopped on its way */
    WF_STUCK_RECV,    /* no message for a receive */
    WF_STUCK_SEND,    /* no receive for a message */
    WF_STUCK_DATA,    /* a long message that has not come yet */
    WF_STUCK_PROBE,
    WF_STUCK_ONE_SIDED,
};

struct wf_stuck {
    uint32_t in;   /* enum wf_stuck_in */
    uint32_t peer; /* a rank of the run; WF_MATCH_ANY_SOURCE */
    int32_t tag;   /* WF_MATCH_ANY_TAG */
    uint32_t group;
    uint32_t coll;  /* enum wf_coll_kind + 1 of the collective it is in; 0: in none */
    uint32_t other; /* likewise, of the one that the peer called instead, if that is known */
    uint32_t root,
        other_root; /* of these; WF_STUCK_NO_ROOT if there is none or it is unknown */
    /* Of a rank that failed by sizes: what it asked for and what came. Of one that waits in a
     * collective: what came from the peer that no such call can send, or both 0. */
    uint64_t bytes, other_bytes;
};

#define WF_STUCK_NO_ROOT UINT32_MAX

/* Of a rank that did not come to its end. */
void wf_mpi_stuck(const struct wf_caller *who, struct wf_stuck *out);

/* What others sent to a rank and it never asked for. */
struct wf_left {
    uint64_t messages; /* without a receive */
    uint64_t calls;    /* that others made of collectives by a formula, and it did not */
    /* Of the first of them: */
    uint32_t peer; /* who sent it, a rank of the run; WF_MATCH_ANY_SOURCE of a collective */
    int32_t tag;
    uint32_t coll; /* enum wf_coll_kind + 1; 0: of no collective */
    uint32_t root; /* likewise of the collective, or WF_STUCK_NO_ROOT */
};

void wf_mpi_left(const struct wf_caller *who, struct wf_left *out);

#endif
