/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_LATENCY_H
#define WF_NET_LATENCY_H

/*
 * The latency model of xSim: a message of s bytes over h hops takes h * l + s / b, from its
 * first byte's leaving to its last byte's arrival, whatever else is under way. It needs a
 * topology to count hops and keeps no state. See docs/models/latency.md.
 */

#include "net/net.h"

struct wf_latency_params {
    int64_t link_latency; /* l */
    uint64_t bandwidth;   /* b, bytes per second */
};

extern const struct wf_net_ops wf_latency_ops;

#endif
