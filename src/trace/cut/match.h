/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_CUT_MATCH_H
#define WF_TRACE_CUT_MATCH_H

/*
 * Which ops of a cut trace still have their partners, by counting: each rank's ops are noted,
 * in order and with whether they are kept; afterwards they are asked for in the same order.
 *
 * A channel is where sends and receives meet by their order; a call is a collective on one
 * communicator, which all members make in the same order.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_cut_matches;

struct wf_cut_key {
    uint32_t from, to; /* ranks; of calls the first member, and WF_CUT_CALL */
    uint32_t comm;     /* id */
    int32_t tag;
};
#define WF_CUT_CALL UINT32_MAX

struct wf_cut_matches *wf_cut_match_new(void);
void wf_cut_match_free(struct wf_cut_matches *table); /* null is allowed */

/* Before the ops of a rank, both times. */
void wf_cut_match_begin(struct wf_cut_matches *table);
/* Behind the ops of a rank, the first time. */
void wf_cut_match_end(struct wf_cut_matches *table);

/* The first time: the next send (or receive) on a channel, or the next call. */
void wf_cut_match_note(struct wf_cut_matches *table, struct wf_cut_key key, bool sends,
                       bool kept);

/* Between the times. */
void wf_cut_match_turn(struct wf_cut_matches *table);

/* The second time: whether the next one has what it needs: the other end of the channel, or the
 * same call of `n_members` ranks. */
bool wf_cut_match_has(struct wf_cut_matches *table, struct wf_cut_key key, bool sends,
                      uint32_t n_members);

#endif
