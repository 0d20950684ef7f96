/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The MPI calls of a rank. A call may return WF_CALLED_AGAIN; the rank then repeats it.
 * Until then it has done nothing that must not be done twice. */

#include "model/ranks/clock.h"
#include "model/ranks/rank_program.h"

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

/* With WF_RANK_NO_REQUEST, blocks until the message has left the sender. */
enum wf_called wf_rank_send(const struct wf_caller *who, const struct wf_peer *to,
                            uint32_t request);
enum wf_called wf_rank_recv(const struct wf_caller *who, const struct wf_peer *from,
                            uint32_t request);
/* Sends and receives at once; either peer may be WF_RANK_PROC_NULL. */
enum wf_called wf_rank_sendrecv(const struct wf_caller *who, const struct wf_peer *to,
                                const struct wf_peer *from);
enum wf_called wf_rank_probe(const struct wf_caller *who, const struct wf_peer *from);
/* Looks for a message that has arrived by now and sets rank->found. */
enum wf_called wf_rank_iprobe(const struct wf_caller *who, const struct wf_peer *from);
/* Waits for all requests of a set. Numbers that are not in use count as complete. */
enum wf_called wf_rank_wait(const struct wf_caller *who, const struct wf_request_set *set);
/* Waits for one request of the set, or with `some` for all that are complete by then.
 * Numbers that are not in use count as complete in a run with live programs; otherwise they
 * are ignored. */
enum wf_called wf_rank_wait_any(const struct wf_caller *who, const struct wf_request_set *set,
                                bool some);
/* Takes the requests of the set that are complete by now. Sets rank->found if it took any. */
enum wf_take {
    WF_TAKE_ALL, /* nothing unless all are complete */
    WF_TAKE_ONE,
    WF_TAKE_SOME, /* whatever is complete */
};
enum wf_called wf_rank_test(const struct wf_caller *who, const struct wf_request_set *set,
                            enum wf_take what);
/* Detaches a request: it is freed as soon as it is complete. */
void wf_rank_detach(const struct wf_caller *who, uint32_t request);
/* Cancels a receive if it has not matched a message, and sets rank->found if it was
 * cancelled. */
enum wf_called wf_rank_cancel(const struct wf_caller *who, uint32_t request);
/* Creates a persistent request; one with WF_RANK_PROC_NULL does nothing when it is started. */
void wf_rank_persistent(const struct wf_caller *who, const struct wf_peer *peer, bool receives,
                        uint32_t request);
enum wf_called wf_rank_start_request(const struct wf_caller *who, uint32_t request);
struct wf_collective_call {
    uint32_t request; /* or WF_RANK_NO_REQUEST: it is blocking */
    bool any_sizes;   /* sizes may differ between members; if not, a difference ends the run */
};
/* Begins the collective with this cookie (wf_rank_recall()). */
enum wf_called wf_rank_collective(const struct wf_caller *who, const uint64_t *cookie,
                                  const struct wf_collective_call *call);
enum wf_called wf_rank_put(const struct wf_caller *who, const struct wf_peer *to);
enum wf_called wf_rank_get(const struct wf_caller *who, const struct wf_peer *from);
/* Waits for the rank's puts and gets. */
enum wf_called wf_rank_flush(const struct wf_caller *who);

/* ---- the state of a rank ---- */

void wf_rank_end(const struct wf_caller *who);
void wf_rank_fail(const struct wf_caller *who, enum wf_failure failure, uint32_t peer);
/* Stops the rank because a message with this key has the wrong size: `own` bytes were
 * expected, `other` came. */
void wf_rank_fail_sizes(const struct wf_caller *who, const struct wf_match_key *key,
                        uint64_t own, uint64_t other);

/* The communicator context of messages: collectives have a separate context. */
static inline uint32_t wf_rank_context(uint32_t group, bool collective)
{
    return 2 * group + (collective ? 1 : 0);
}

static inline bool wf_rank_context_is_collective(uint32_t context)
{
    return context % 2 != 0;
}
