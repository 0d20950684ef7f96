/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * mpi.progress: when a rank handles control messages, and the operations that wait for its next call
 * because it does not handle them now: asking for the data of a long message, sending or confirming
 * it, the next step of a collective. Private to ranks/.
 */

#include "model/ranks/request.h"

/* When an arrival at the time `at` is handled: at once, or WF_NET_LATER if it must wait for
 * the rank's next call. */
int64_t wf_rank_progress(const struct wf_caller *who, int64_t at);
/* The same for a control message that arrived at `arrived`. With mpi.progress=waits the rank
 * reads such messages only while it waits or tests. */
int64_t wf_rank_attend(const struct wf_caller *who, int64_t at, int64_t arrived);
/* Whether the rank reads messages: in a call that waits. */
bool wf_rank_is_attentive(const struct wf_caller *who);
/* With mpi.progress=waits, at the end of a step that has begun to wait: whether the rank reads
 * what has arrived. */
static inline bool wf_rank_wants_to_read(const struct wf_caller *who)
{
    return wf_ranks_read_in_waits(who->ranks) && wf_rank_cold(who)->deferred != 0 &&
           wf_rank_is_attentive(who);
}
/* The rank has read all that arrived until then. */
static inline void wf_rank_attended(const struct wf_caller *who, int64_t at)
{
    if (wf_ranks_read_in_waits(who->ranks) && at > wf_rank_cold(who)->attended) {
        wf_rank_cold_edit(who)->attended = at;
    }
}

/* Continues all of them; the rank makes a call now. */
void wf_rank_run_deferred(const struct wf_caller *who);

/* With mpi.progress=waits: those that wait now, the earliest first. */
struct wf_deferred {
    uint32_t cell; /* the next one, or 0 */
    bool any;      /* there was one at the beginning */
    int64_t at;
};
struct wf_deferred wf_deferred_begin(const struct wf_caller *who);
/* Continues the next one; false if there is none. To be called until then. */
bool wf_deferred_next(const struct wf_caller *who, struct wf_deferred *list);
