/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The data of long messages on nodes with several network interfaces (node.nic_policy): by the
 * interfaces of the two ranks, by the next interface in turn, or in parts by all interfaces. A
 * part goes from an interface to the interface of the same number. A receive is complete when
 * all parts have arrived, and a send when all have left. Private to ranks/.
 */

#include "model/ranks/msg_header.h"

/* Sends the data of the send request `cell`, whose header this is, at the time `at`. Returns
 * when the last byte leaves, or WF_NET_LATER. */
int64_t wf_stripe_send(const struct wf_caller *who, uint32_t cell, struct wf_msg_header *header,
                       int64_t at);

/* A part of the receive request `cell` has arrived. Returns whether it was the last one; then
 * changes bytes and time of the arrival to those of the whole message. */
bool wf_stripe_arrived(uint32_t cell, struct wf_arrival *arrival);

/* The last byte of a part of the send request `cell` leaves at the time *at. Returns whether it
 * was the last part; then changes *at to the time when all have left. */
bool wf_stripe_left(const struct wf_caller *who, uint32_t cell, int64_t *at);
