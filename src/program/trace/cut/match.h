/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Finds out which ops of a cut trace still have their partners, by counting. In a first pass
 * the ops of each rank are noted in order, with whether they are kept. In a second pass they
 * are asked for in the same order.
 *
 * On a channel, sends meet receives in order. A call is a collective on one communicator, which
 * all members call in the same order.
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

/* Before the ops of a rank, in both passes. */
void wf_cut_match_begin(struct wf_cut_matches *table);
/* After the ops of a rank, in the first pass. */
void wf_cut_match_end(struct wf_cut_matches *table);

/* First pass: notes the next send (or receive) on a channel, or the next call. */
void wf_cut_match_note(struct wf_cut_matches *table, struct wf_cut_key key, bool sends,
                       bool kept);

/* Between the passes. */
void wf_cut_match_turn(struct wf_cut_matches *table);

/* Second pass: whether the next send or receive has its partner, or the next call is made by
 * `n_members` ranks. */
bool wf_cut_match_has(struct wf_cut_matches *table, struct wf_cut_key key, bool sends,
                      uint32_t n_members);
