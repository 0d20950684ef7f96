/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_BLOCKED_H
#define WF_RANKS_BLOCKED_H

/* What a rank that did not come to its end waits for, to be told at the end of a run. */

#include "ranks/rank.h"

enum wf_blocked_in {
    WF_BLOCKED_NOWHERE, /* it was stopped on its way */
    WF_BLOCKED_RECV,    /* no message for a receive */
    WF_BLOCKED_SEND,    /* no receive for a message */
    WF_BLOCKED_DATA,    /* a long message that has not come yet */
    WF_BLOCKED_PROBE,
    WF_BLOCKED_ONE_SIDED,
};

struct wf_blocked_on {
    uint32_t in;   /* enum wf_blocked_in */
    uint32_t peer; /* a rank of the run; WF_MATCH_ANY_SOURCE */
    int32_t tag;   /* WF_MATCH_ANY_TAG */
    uint32_t group;
    uint32_t coll;  /* enum wf_coll_kind + 1 of the collective it is in; 0: in none */
    uint32_t other; /* likewise, of the one that the peer called instead, if that is known */
    uint32_t root,
        other_root; /* of these; WF_BLOCKED_NO_ROOT if there is none or it is unknown */
    /* Of a rank that failed by sizes: what it asked for and what came. Of one that waits in a
     * collective: what came from the peer that no such call can send, or both 0. */
    uint64_t bytes, other_bytes;
};

#define WF_BLOCKED_NO_ROOT UINT32_MAX

/* Of a rank that did not come to its end. */
void wf_rank_find_blocked(const struct wf_caller *who, struct wf_blocked_on *out);

/* What others sent to a rank and it never asked for. */
struct wf_leftover {
    uint64_t messages; /* without a receive */
    uint64_t calls;    /* that others made of collectives by a formula, and it did not */
    /* Of the first of them: */
    uint32_t peer; /* who sent it, a rank of the run; WF_MATCH_ANY_SOURCE of a collective */
    int32_t tag;
    uint32_t coll; /* enum wf_coll_kind + 1; 0: of no collective */
    uint32_t root; /* likewise of the collective, or WF_BLOCKED_NO_ROOT */
};

void wf_rank_find_leftover(const struct wf_caller *who, struct wf_leftover *out);

#endif
