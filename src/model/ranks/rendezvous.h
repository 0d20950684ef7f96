/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Long and synchronous messages. They are announced first; the receiver asks for them when it
 * has a receive for them, and only then the data follows:
 *
 *     sender                      receiver
 *       |  ------ ANNOUNCE ------>   |   request with a handle of the sender
 *       |  <-------- ASK ---------   |   once a receive matches: a handle of the receiver
 *       |  -------- DATA -------->   |
 *       |  <------ CONFIRM -------   |   with mpi.rendezvous=read only
 *
 * With mpi.rendezvous=write the sender sends the data, and its send is complete when the last
 * byte has left. With read the sender's network interface sends the data, whatever its CPU
 * does, and the send is complete when the confirmation has arrived. Private to ranks/.
 */

#include "model/ranks/msg_header.h"

/* Announces a message at the time `start`; returns the cell of its request. */
uint32_t wf_rendezvous_announce(const struct wf_caller *who, const struct wf_peer *to,
                                uint32_t context, int64_t start, uint32_t owner);

/* The receive in `cell` has matched the announcement `message`: asks for the data, now or in
 * the rank's next call. */
void wf_rendezvous_match(const struct wf_caller *who, uint32_t cell,
                         const struct wf_rank_request *message);

/* Arrivals. */
void wf_rendezvous_asked(const struct wf_arrival *arrival);
void wf_rendezvous_data(const struct wf_arrival *arrival);
void wf_rendezvous_part(const struct wf_arrival *arrival);
void wf_rendezvous_confirmed(const struct wf_arrival *arrival);

/* Continues an operation that was deferred to a call of the rank at the time `at`. */
void wf_rendezvous_run_deferred(const struct wf_caller *who, uint32_t cell, int64_t at);

/* Whether a send waits for the last byte of this message to leave... */
bool wf_rendezvous_awaits_leaving(const struct wf_ranks *ranks,
                                  const struct wf_msg_header *header);
/* ...which it does at the time `at`: completes the send of the rank. */
void wf_rendezvous_left(const struct wf_caller *who, const struct wf_msg_header *header,
                        int64_t at);
