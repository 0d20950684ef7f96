/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How messages travel: eager and rendezvous. Private to ranks/. */

#include "model/ranks/request.h"

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
    if (who->ranks->has_live) {
        wf_protocol_tell_live(who, cell);
    }
}

/* A message has arrived (struct wf_net_user): its last byte at the time `at`, now or later.
 * `ranks` is the run's struct wf_ranks. For nodes with one network interface, which costs
 * nothing... */
void wf_protocol_arrived(void *ranks, struct wf_ctx *ctx, void *node,
                         const struct wf_net_message *msg, int64_t at);
/* ...and for any others. */
void wf_protocol_arrived_at_nic(void *ranks, struct wf_ctx *ctx, void *part,
                                const struct wf_net_message *msg, int64_t at);
/* Whether MPI does not care which messages arrive before this one (struct wf_net_user). */
bool wf_protocol_may_overtake(const struct wf_net_message *msg);
/* The last byte of a message has left (struct wf_net_user). */
void wf_protocol_sent(void *ranks, struct wf_ctx *ctx, void *part,
                      const struct wf_net_message *msg);
/* Events WF_NODE_LOCAL and WF_NODE_ARRIVED; WF_NODE_DEPART and WF_NODE_INJECT. */
void wf_protocol_local(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev);
void wf_protocol_delayed(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                         const struct wf_event *ev);
void wf_protocol_depart(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                        const struct wf_event *ev);
