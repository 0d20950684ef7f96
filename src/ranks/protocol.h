/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How messages travel: eager and rendezvous. Private to ranks/. */

#include "ranks/request.h"

/* The CPU time that the sender spends before a message departs. */
int64_t wf_protocol_send_ps(const struct wf_caller *who, const struct wf_peer *to);

/* Sends a message at the time `start`. If the message has to wait for its receiver, it
 * becomes a request with this owner, whose cell is returned; else returns 0. */
uint32_t wf_protocol_send(const struct wf_caller *who, const struct wf_peer *to,
                          uint32_t context, int64_t start, uint32_t owner);

/* Posts a receive at the time `at`; returns its cell, which may be complete. */
uint32_t wf_protocol_recv(const struct wf_caller *who, const struct wf_peer *from,
                          uint32_t context, int64_t at, uint32_t owner);

/* Tells a live program that a wildcard receive matched a message when it was posted. */
void wf_protocol_tell_posted(const struct wf_caller *who, uint32_t cell);

/* A message has arrived; `ranks` is the run's struct wf_ranks, `part` the interface's part of
 * the node's state (struct wf_net_user). */
void wf_protocol_arrived(void *ranks, struct wf_ctx *ctx, void *part,
                         const struct wf_net_message *msg, int64_t at);
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
