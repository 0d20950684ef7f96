/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How messages travel: eager and rendezvous. Private to ranks/. */

#include "model/ranks/request.h"

struct wf_arrival;

/* The CPU time of the sender before a message departs, if that depends on its bytes... */
int64_t wf_protocol_send_bytes_ps(const struct wf_caller *who, const struct wf_peer *to);
/* ...and in general. */
static inline int64_t wf_protocol_send_ps(const struct wf_caller *who, const struct wf_peer *to)
{
    const struct wf_node_costs *costs = &who->ranks->costs;

    return costs->send_takes_time ? wf_protocol_send_bytes_ps(who, to) : costs->o_send;
}

/* Sends a message at the time `start`. If the message has to wait for its receiver, it
 * becomes a request with this owner, whose cell is returned; else returns 0. */
uint32_t wf_protocol_send(const struct wf_caller *who, const struct wf_peer *to,
                          uint32_t context, int64_t start, uint32_t owner);

/* What a receive is for: a collective, a request of the program, or a call that waits for it. */
struct wf_recv_use {
    uint32_t owner;  /* cell of the collective, or 0 */
    uint32_t number; /* of the request, to be registered by the caller; or WF_RANK_NO_REQUEST */
};

/* Posts a receive at the time `at`; returns its cell, which may be complete. */
uint32_t wf_protocol_recv(const struct wf_caller *who, const struct wf_peer *from,
                          uint32_t context, int64_t at, struct wf_recv_use use);

/* Tells a live program that a wildcard receive matched a message when it was posted... */
void wf_protocol_tell_live(const struct wf_caller *who, uint32_t cell);

/* ...and any program. */
static inline void wf_protocol_tell_posted(const struct wf_caller *who, uint32_t cell)
{
    if (who->ranks->live != NULL) {
        wf_protocol_tell_live(who, cell);
    }
}

/* A message has arrived at its rank, which has not failed. */
void wf_protocol_receive(const struct wf_arrival *arrival);
/* Whether MPI does not care which messages arrive before this one (struct wf_net_user). */
bool wf_protocol_may_overtake(const struct wf_net_message *msg);
/* Whether a message only prepares or confirms that data moves (struct wf_net_user). */
bool wf_protocol_is_control(const struct wf_net_message *msg);
