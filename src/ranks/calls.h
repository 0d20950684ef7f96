/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_CALLS_H
#define WF_RANKS_CALLS_H

/* The calls that a rank makes. One that returns WF_CALLED_AGAIN has done nothing that making it
 * again would repeat. */

#include "ranks/rank.h"

/* The other side of a message. */
struct wf_peer {
    uint32_t rank; /* of the run, or WF_MATCH_ANY_SOURCE */
    int32_t tag;   /* or WF_MATCH_ANY_TAG */
    uint32_t group;
    uint64_t bytes;
    bool synchronous, buffered;
    bool open; /* the program left its source or tag open, although they are known here */
};

/* A set of requests: numbers[0..count-1], or first to first + count - 1. */
struct wf_request_set {
    const uint32_t *numbers;
    uint32_t first, count;
};

/* The calls. */
void wf_rank_compute(const struct wf_caller *who, int64_t duration);
/* With WF_RANK_NO_REQUEST it blocks until the message is out of the sender's hands. */
WF_NODISCARD enum wf_called wf_rank_send(const struct wf_caller *who, const struct wf_peer *to,
                                         uint32_t request);
WF_NODISCARD enum wf_called wf_rank_recv(const struct wf_caller *who,
                                         const struct wf_peer *from, uint32_t request);
/* Both at once; either may be with WF_RANK_PROC_NULL. */
WF_NODISCARD enum wf_called wf_rank_sendrecv(const struct wf_caller *who,
                                             const struct wf_peer *to,
                                             const struct wf_peer *from);
WF_NODISCARD enum wf_called wf_rank_probe(const struct wf_caller *who,
                                          const struct wf_peer *from);
/* Looks for a message that has arrived by now; rank->found says whether there is one. */
WF_NODISCARD enum wf_called wf_rank_iprobe(const struct wf_caller *who,
                                           const struct wf_peer *from);
/* Waits for all of a set. Numbers that are not in use are done. */
WF_NODISCARD enum wf_called wf_rank_wait(const struct wf_caller *who,
                                         const struct wf_request_set *set);
/* Waits for one of the set, or if `some` for all that are complete by then. With
 * wf_mpi.taken, numbers that are not in use are complete, else they are not there. */
WF_NODISCARD enum wf_called wf_rank_wait_any(const struct wf_caller *who,
                                             const struct wf_request_set *set, bool some);
/* Takes what is complete by now of the set; rank->found says whether there was anything. */
enum wf_take {
    WF_TAKE_ALL, /* or nothing, if a part of it is not complete */
    WF_TAKE_ONE,
    WF_TAKE_SOME, /* whatever is */
};
WF_NODISCARD enum wf_called wf_rank_test(const struct wf_caller *who,
                                         const struct wf_request_set *set, enum wf_take take);
/* Nobody will wait for it: it is gone as soon as it is complete. */
void wf_rank_detach(const struct wf_caller *who, uint32_t request);
/* Withdraws a receive that has not met its message; rank->found says whether it was one. */
WF_NODISCARD enum wf_called wf_rank_cancel(const struct wf_caller *who, uint32_t request);
/* Makes a request that can be started again and again; with WF_RANK_PROC_NULL that does nothing.
 */
void wf_rank_persistent(const struct wf_caller *who, const struct wf_peer *peer, bool receives,
                        uint32_t request);
WF_NODISCARD enum wf_called wf_rank_start_request(const struct wf_caller *who,
                                                  uint32_t request);
WF_NODISCARD enum wf_called wf_rank_collective(const struct wf_caller *who,
                                               const uint64_t *cookie, uint32_t request);
/* One-sided traffic, and the wait for its end. */
WF_NODISCARD enum wf_called wf_rank_put(const struct wf_caller *who, const struct wf_peer *to);
WF_NODISCARD enum wf_called wf_rank_get(const struct wf_caller *who,
                                        const struct wf_peer *from);
WF_NODISCARD enum wf_called wf_rank_flush(const struct wf_caller *who);

#endif
