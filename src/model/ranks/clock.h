/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The clock of a rank: computing, CPU time of messages, waiting for the engine's time or for
 * messages. Private to ranks/.
 */

#include "model/ranks/caller.h"

enum WF_NODISCARD_TYPE wf_called {
    WF_CALLED_DONE,
    WF_CALLED_BLOCKED, /* the rank is resumed once the call is complete */
    WF_CALLED_AGAIN,   /* the rank is resumed to make the same call again */
};

/* Computes; returns how long that takes, interruptions included. Returns 0 if the rank shares
 * its core: wf_rank_served() counts the time. */
int64_t wf_rank_compute(const struct wf_caller *who, int64_t duration);

/* Lets time pass without a core. If cores are shared, the rank has no CPU time left to
 * spend. */
int64_t wf_rank_sleep(const struct wf_caller *who, int64_t duration);

/* Resumes the rank when the engine's time has reached its clock. */
void wf_rank_yield(const struct wf_caller *who);
/* WF_CALLED_DONE if the engine's time has reached the rank's clock, and the rank has spent all
 * CPU time that it was charged; else the rank is resumed as soon as that is so. */
enum wf_called wf_rank_sync(const struct wf_caller *who);
/* Resumes the rank at the time `at`, unless something resumes it before. */
void wf_rank_resume_at(const struct wf_caller *who, int64_t at);

/* How the clock moves in calls where cores are shared or the run is recorded (wf_ranks.clock). In
 * all other runs it takes a few instructions, below. */
struct wf_clock_ops {
    void (*advance)(const struct wf_caller *who, int64_t at, enum wf_rank_in in);
    void (*charge)(const struct wf_caller *who, int64_t overhead);
    void (*receive)(const struct wf_caller *who, int64_t at, int64_t overhead);
};

/* The table for a run whose wf_ranks is complete except for it, or null. */
const struct wf_clock_ops *wf_ranks_clock_ops(const struct wf_ranks *ranks);

/* Moves the clock to `at` if that is later; the rank waits until then. */
static inline void wf_rank_advance(const struct wf_caller *who, int64_t at, enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;

    if (who->ranks->clock != NULL) {
        who->ranks->clock->advance(who, at, in);
    } else if (at > rank->clock) {
        rank->wait_ps[in] += at - rank->clock;
        rank->clock = at;
    }
}

/* Charges CPU time of a message to the rank. If the rank shares its core, the clock moves when
 * the rank has had the core for that time; see wf_rank_sync(). */
static inline void wf_rank_charge(const struct wf_caller *who, int64_t overhead)
{
    struct wf_rank *rank = who->rank;

    if (who->ranks->clock != NULL) {
        who->ranks->clock->charge(who, overhead);
        return;
    }
    rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    rank->clock = wf_time_add(rank->clock, overhead);
}

/* The rank waits for a message until `at`, unless that is over, and then receives it. */
static inline void wf_rank_receive(const struct wf_caller *who, int64_t at, int64_t overhead)
{
    if (who->ranks->clock != NULL) {
        who->ranks->clock->receive(who, at, overhead);
        return;
    }
    wf_rank_advance(who, at, WF_IN_RECV);
    wf_rank_charge(who, overhead);
}

/* The core has served the rank's claim (model/ranks/timeshare.h): moves the clock. */
void wf_rank_served(const struct wf_caller *who);
/* The CPU time of receives in a claim that has been served, in the unit of wf_cause.taken. */
uint64_t wf_rank_taken(const struct wf_caller *who, const struct wf_timeshare_claim *claim);

/* The claim of the rank on the core that it shares, to read and to change. */
static inline const struct wf_timeshare_claim *wf_rank_claim(const struct wf_caller *who)
{
    return wf_timeshare_claim(who->ranks->timeshare, who->node, who->slot);
}

static inline struct wf_timeshare_claim *wf_rank_claim_edit(const struct wf_caller *who)
{
    return wf_timeshare_edit(who->ranks->timeshare, who->ctx, who->node, who->slot);
}

/* Ends the rank's wait: its program goes on at the end of the event (model/ranks/resume.h). */
static inline void wf_rank_wake(const struct wf_caller *who)
{
    who->rank->state = WF_RANK_READY;
    who->rank->due = WF_DUE_PROGRAM;
}
