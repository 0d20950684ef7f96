/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_PROTOCOL_H
#define WF_RANKS_PROTOCOL_H

/* How messages travel. Shared by the files of mpi/ alone. */

#include "ranks/request_record.h"

/* Sends a message at the time `start`; if it has to wait for its receiver, a request with this
 * request and owner is made, and its cell returned; else 0. */
uint32_t wf_protocol_send(const struct wf_caller *who, const struct wf_peer *to,
                          uint32_t context, int64_t start, uint32_t owner);

/* Posts a receive at the time `at`; returns its cell, which may be done. */
uint32_t wf_protocol_recv(const struct wf_caller *who, const struct wf_peer *from,
                          uint32_t context, int64_t at, uint32_t owner);

/* Says, if somebody wants to know, that a receive that left something open has met the message
 * with this key; or, once it is registered, that it did so when it was posted. */
void wf_protocol_tell(const struct wf_caller *who, uint32_t cell,
                      const struct wf_match_key *key);
void wf_protocol_tell_posted(const struct wf_caller *who, uint32_t cell);

/* Events. */
void wf_protocol_arrived(void *mpi, struct wf_ctx *ctx, void *node,
                         const struct wf_net_message *msg, int64_t at);
void wf_protocol_deliver(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                         const struct wf_net_message *msg, int64_t at);
void wf_protocol_sent(void *mpi, struct wf_ctx *ctx, void *node,
                      const struct wf_net_message *msg);
void wf_protocol_depart(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                        const struct wf_net_message *msg);

#endif
