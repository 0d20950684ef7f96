/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a rank that did not reach its end is blocked on, for the report at the end of a run. */

#include "model/ranks/rank.h"

struct wf_caller;

enum wf_blocked_in {
    WF_BLOCKED_NOWHERE, /* the run was stopped */
    WF_BLOCKED_RECV,    /* no message for a receive */
    WF_BLOCKED_SEND,    /* no receive for a message */
    WF_BLOCKED_DATA,    /* the data of a long message has not arrived */
    WF_BLOCKED_PROBE,
    WF_BLOCKED_ONE_SIDED,
};

struct wf_blocked_on {
    uint32_t in;   /* enum wf_blocked_in */
    uint32_t peer; /* rank of the run, or WF_MATCH_ANY_SOURCE */
    int32_t tag;   /* WF_MATCH_ANY_TAG */
    uint32_t group;
    uint32_t coll;  /* 1 + enum wf_coll_kind of its collective; 0: none */
    uint32_t other; /* 1 + kind of collective that the peer called instead; 0: unknown */
    uint32_t root,
        other_root; /* their roots; WF_BLOCKED_NO_ROOT if there is none or it is unknown */
    /* Failure by sizes: the bytes expected and the bytes that came. In a collective: the
     * same for a message of the peer that no matching call can send; both are 0 if there is
     * none. */
    uint64_t bytes, other_bytes;
};

#define WF_BLOCKED_NO_ROOT UINT32_MAX

/* Describes what a rank that did not reach its end is blocked on. */
void wf_rank_find_blocked(const struct wf_caller *who, struct wf_blocked_on *out);

/* Messages and calls of others that a rank never received or joined; in a program that runs also
 * its own receives that no message matched. */
struct wf_leftover {
    uint64_t messages; /* messages without a receive */
    uint64_t calls;    /* formula collectives that others called and the rank did not */
    uint64_t receives; /* receives without a message */
    /* The first of these: */
    uint32_t peer; /* sender, a rank of the run; WF_MATCH_ANY_SOURCE for a collective, or for a
                      receive with a wildcard */
    int32_t tag;
    uint32_t coll; /* 1 + enum wf_coll_kind; 0: no collective */
    uint32_t root; /* root of the collective, or WF_BLOCKED_NO_ROOT */
};

void wf_rank_find_leftover(const struct wf_caller *who, struct wf_leftover *out);
