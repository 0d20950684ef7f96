/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receivers decide who sends, after NDP (M. Handley et al., "Re-architecting datacenter networks
 * and stacks for low latency and high performance", SIGCOMM 2017), EQDS and Ultra Ethernet. A flow
 * begins with a window of packets that nobody asked for. From then on it sends one packet for
 * each pull. A receiver sends a pull for each packet that arrives, with or without its data,
 * in turn to its flows, and no faster than packets can arrive (model/net/transport/receiver.c). Only
 * the last packet of what a flow has to send is not answered by a pull.
 */
#include "base/arith.h"
#include "model/net/transport/model.h"

/* flow->control[0]: pulls that will come. */

/* The packets of the first window. */
static uint64_t first_window(const struct wf_transport_net *net,
                             const struct wf_transport_sender *flow)
{
    return wf_transport_window(net, flow) / WF_TRANSPORT_ONE;
}

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    flow->credit = first_window(net, flow);
}

/* A flow that has something to send again after a pause begins with a new window. */
static void refill(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    uint64_t most = first_window(net, flow);

    if (flow->control[0] == 0 && flow->pipe < most) {
        flow->credit = most - flow->pipe;
    }
}

static void sent(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, uint64_t bytes)
{
    flow->control[0] += flow->lost != 0 || flow->sent < flow->end ? 1 : 0;
}

static void pulled(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    flow->control[0] -= flow->control[0] > 0 ? 1 : 0;
    flow->credit = wf_min_u64(flow->credit + 1, first_window(net, flow));
}

static void lost(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, bool by_timeout)
{
    if (by_timeout) { /* pulls are lost, too */
        flow->control[0] = 0;
        flow->credit = first_window(net, flow);
    }
}

const struct wf_transport_control wf_transport_pull = {
    .name = "pull",
    .summary = "receivers ask for every packet, as in NDP and Ultra Ethernet",
    .full = WF_TRANSPORT_TRIM,
    .repair = WF_TRANSPORT_SELECTIVE,
    .queue = 8,
    .wants_pulls = true,
    .begin = begin,
    .refill = refill,
    .pulled = pulled,
    .lost = lost,
    .sent = sent,
};
