/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Transports on the packet model (net.transport): queues of finite size, lost and marked
 * packets, acknowledgements, retransmission and congestion control. The equations are in
 * docs/models/transport.md.
 *
 * A transport has functions of its own for everything that happens in a run. The packet model
 * without a transport is not touched by any of this.
 */

#include "model/net/packet/packet.h"

struct wf_packet_net;

/* The size of a model with a transport; the packet model is its first member. */
size_t wf_transport_size(void);

/* Makes a packet model that is complete otherwise, and of that size, one with a transport. Fails
 * if parameters do not go together. Nothing has to be released. */
WF_NODISCARD
enum wf_status wf_transport_setup(struct wf_packet_net *packet,
                                  const struct wf_packet_params *given, struct wf_err *err);
