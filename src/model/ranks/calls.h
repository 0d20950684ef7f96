/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The MPI calls of a rank. A call may return WF_CALLED_AGAIN; the rank then repeats it.
 * Until then it has done nothing that must not be done twice. */

#include "model/ranks/node.h"

/* The other side of a message. */
struct wf_peer {
    uint32_t rank; /* rank of the run, WF_MATCH_ANY_SOURCE or WF_RANK_PROC_NULL */
    int32_t tag;   /* or WF_MATCH_ANY_TAG */
    uint32_t group;
    uint64_t bytes;
    bool synchronous, buffered;
    bool open; /* the program used a wildcard, although source and tag are known here */
};

/* A set of requests: numbers[0..count-1], or first to first + count - 1. */
struct wf_request_set {
    const uint32_t *numbers;
    uint32_t first, count;
};

static inline uint32_t wf_request_set_at(const struct wf_request_set *set, uint32_t i)
{
    return set->numbers != NULL ? set->numbers[i] : set->first + i;
}

/* Computes; returns how long that takes, interruptions included. Returns 0 if the rank shares
 * its core: wf_rank_served() counts the time. */
int64_t wf_rank_compute(const struct wf_caller *who, int64_t duration);

/* Lets time pass without a core. If cores are shared, the rank has no CPU time left to
 * spend. */
int64_t wf_rank_sleep(const struct wf_caller *who, int64_t duration);
/* With WF_RANK_NO_REQUEST, blocks until the message has left the sender. */
WF_NODISCARD enum wf_called wf_rank_send(const struct wf_caller *who, const struct wf_peer *to,
                                         uint32_t request);
WF_NODISCARD enum wf_called wf_rank_recv(const struct wf_caller *who,
                                         const struct wf_peer *from, uint32_t request);
/* Sends and receives at once; either peer may be WF_RANK_PROC_NULL. */
WF_NODISCARD enum wf_called wf_rank_sendrecv(const struct wf_caller *who,
                                             const struct wf_peer *to,
                                             const struct wf_peer *from);
WF_NODISCARD enum wf_called wf_rank_probe(const struct wf_caller *who,
                                          const struct wf_peer *from);
/* Looks for a message that has arrived by now and sets rank->found. */
WF_NODISCARD enum wf_called wf_rank_iprobe(const struct wf_caller *who,
                                           const struct wf_peer *from);
/* Waits for all requests of a set. Numbers that are not in use count as complete. */
WF_NODISCARD enum wf_called wf_rank_wait(const struct wf_caller *who,
                                         const struct wf_request_set *set);
/* Waits for one request of the set, or with `some` for all that are complete by then.
 * Numbers that are not in use count as complete in a run with live programs; otherwise they
 * are ignored. */
WF_NODISCARD enum wf_called wf_rank_wait_any(const struct wf_caller *who,
                                             const struct wf_request_set *set, bool some);
/* Takes the requests of the set that are complete by now. Sets rank->found if it took any. */
enum wf_take {
    WF_TAKE_ALL, /* nothing unless all are complete */
    WF_TAKE_ONE,
    WF_TAKE_SOME, /* whatever is complete */
};
WF_NODISCARD enum wf_called wf_rank_test(const struct wf_caller *who,
                                         const struct wf_request_set *set, enum wf_take take);
/* Detaches a request: it is freed as soon as it is complete. */
void wf_rank_detach(const struct wf_caller *who, uint32_t request);
/* Cancels a receive if it has not matched a message, and sets rank->found if it was
 * cancelled. */
WF_NODISCARD enum wf_called wf_rank_cancel(const struct wf_caller *who, uint32_t request);
/* Creates a persistent request; one with WF_RANK_PROC_NULL does nothing when it is started. */
void wf_rank_persistent(const struct wf_caller *who, const struct wf_peer *peer, bool receives,
                        uint32_t request);
WF_NODISCARD enum wf_called wf_rank_start_request(const struct wf_caller *who,
                                                  uint32_t request);
struct wf_collective_call {
    uint32_t request; /* or WF_RANK_NO_REQUEST: it is blocking */
    bool any_sizes;   /* sizes may differ between members; if not, a difference ends the run */
};
/* Begins the collective with this cookie (wf_rank_recall()). */
WF_NODISCARD enum wf_called wf_rank_collective(const struct wf_caller *who,
                                               const uint64_t *cookie,
                                               const struct wf_collective_call *call);
WF_NODISCARD enum wf_called wf_rank_put(const struct wf_caller *who, const struct wf_peer *to);
WF_NODISCARD enum wf_called wf_rank_get(const struct wf_caller *who,
                                        const struct wf_peer *from);
/* Waits for the rank's puts and gets. */
WF_NODISCARD enum wf_called wf_rank_flush(const struct wf_caller *who);

/* ---- the rank's clock and state (model/ranks/rank.c) ---- */

/* Resumes the rank when the engine's time has reached its clock. */
void wf_rank_yield(const struct wf_caller *who);
/* WF_CALLED_DONE if the engine's time has reached the rank's clock, and the rank has spent all
 * CPU time that it was charged; else the rank is resumed as soon as that is so. */
WF_NODISCARD enum wf_called wf_rank_sync(const struct wf_caller *who);
/* Resumes the rank at the time `at`, unless something resumes it before. */
void wf_rank_resume_at(const struct wf_caller *who, int64_t at);
/* Ends the rank's wait: executes its next ops. */
void wf_rank_wake(const struct wf_caller *who);
/* Continues operations that were deferred to the rank's next call, which is now
 * (model/ranks/rendezvous.c). */
void wf_rank_run_deferred(const struct wf_caller *who);
/* The same with mpi.progress=waits: the earliest first, and nothing that is deferred
 * meanwhile. */
void wf_rank_read_deferred(const struct wf_caller *who);
void wf_rank_end(const struct wf_caller *who);
void wf_rank_fail(const struct wf_caller *who, enum wf_failure failure, uint32_t peer);
/* Stops the rank because a message with this key has the wrong size: `own` bytes were
 * expected, `other` came. */
void wf_rank_fail_sizes(const struct wf_caller *who, const struct wf_match_key *key,
                        uint64_t own, uint64_t other);

/* wf_rank_advance() and wf_rank_charge() where cores are shared or the run is recorded. */
void wf_rank_advance_any(const struct wf_caller *who, int64_t at, enum wf_rank_in in);
void wf_rank_charge_any(const struct wf_caller *who, int64_t overhead);

/* Moves the clock to `at` if that is later; the rank waits until then. */
static inline void wf_rank_advance(const struct wf_caller *who, int64_t at, enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;

    if (!who->ranks->is_simple) {
        wf_rank_advance_any(who, at, in);
    } else if (at > rank->clock) {
        rank->wait_ps[in] += at - rank->clock;
        rank->clock = at;
    }
}
/* The core has served the rank's claim (model/ranks/turns.h): moves the clock and continues the
 * program. */
void wf_rank_served(const struct wf_caller *who);
/* Charges CPU time of a message to the rank. If the rank shares its core, the clock moves when
 * the rank has had the core for that time; see wf_rank_sync(). */
static inline void wf_rank_charge(const struct wf_caller *who, int64_t overhead)
{
    struct wf_rank *rank = who->rank;

    if (!who->ranks->is_simple) {
        wf_rank_charge_any(who, overhead);
        return;
    }
    rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    rank->clock = wf_time_add(rank->clock, overhead);
}
/* wf_rank_receive() where cores are shared or the run is recorded. */
void wf_rank_receive_any(const struct wf_caller *who, int64_t at, int64_t overhead);
/* The rank waits for a message until `at`, unless that is over, and then receives it. */
static inline void wf_rank_receive(const struct wf_caller *who, int64_t at, int64_t overhead)
{
    if (!who->ranks->is_simple) {
        wf_rank_receive_any(who, at, overhead);
        return;
    }
    wf_rank_advance(who, at, WF_IN_RECV);
    wf_rank_charge(who, overhead);
}
/* The CPU time of receives in a claim that has been served, in the unit of wf_cause.taken. */
uint64_t wf_rank_taken(const struct wf_caller *who, const struct wf_turns_claim *claim);
/* When an arrival at the time `at` is handled: at once, or WF_NET_LATER if it must wait for
 * the rank's next call. */
int64_t wf_rank_progress(const struct wf_caller *who, int64_t at);
/* The same for a control message that arrived at `arrived`. With mpi.progress=waits the rank
 * reads such messages only while it waits or tests. */
int64_t wf_rank_attend(const struct wf_caller *who, int64_t at, int64_t arrived);
/* With mpi.progress=waits, at the end of a call that has begun to wait: the rank reads what has
 * arrived. It may go on at once, so nothing may follow this. */
void wf_rank_look(const struct wf_caller *who);
/* The rank has read all that arrived until then. */
static inline void wf_rank_attended(const struct wf_caller *who, int64_t at)
{
    if (who->ranks->in_step && who->ranks->mpi->progress == WF_PROGRESS_WAITS &&
        at > wf_rank_more(who)->attended) {
        wf_rank_more_edit(who)->attended = at;
    }
}

/* The communicator context of messages: collectives have a separate context. */
static inline uint32_t wf_rank_context(uint32_t group, bool collective)
{
    return 2 * group + (collective ? 1 : 0);
}

static inline bool wf_rank_context_is_collective(uint32_t context)
{
    return context % 2 != 0;
}
