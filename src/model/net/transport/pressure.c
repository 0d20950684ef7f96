/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-pressure on single flows, as Slingshot has it (D. De Sensi et al., "An in-depth analysis of
 * the Slingshot interconnect", SC 2020): a router whose queue is too long stops exactly the flows
 * that fill it, at their sources, and no other. A packet that finds q bytes, more than
 * `pressure_at`, makes the router tell the packet's source to pause the flow:
 *
 *     told:       nothing is sent for (q - pressure_at) / bandwidth; window /= 2, at least one
 *                packet, once in a round trip
 *     answered:   window += 1/2 packet for each packet that found a short queue
 *
 * With k flows the queue settles at about `pressure_at` and k packets: each then sends a packet
 * in the time of k packets.
 */
#include "base/arith.h"
#include "model/net/transport/model.h"

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    flow->window = wf_transport_window(net, flow);
}

static void answered(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                     const struct wf_transport_answer *answer)
{
    if (!answer->is_marked) {
        flow->window = wf_min_u64(flow->window + WF_TRANSPORT_ONE / 2 * answer->n_new,
                                  wf_transport_window(net, flow));
    }
}

static void noticed(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                    int64_t now, uint64_t pause_ps)
{
    int64_t pause = (int64_t)wf_min_u64(pause_ps, (uint64_t)WF_TIME_MAX / 4);

    if (now >= (int64_t)flow->control[0]) { /* once in a round trip */
        flow->window = wf_max_u64(flow->window / 2, WF_TRANSPORT_ONE);
        flow->control[0] = (uint64_t)wf_time_add(now, flow->round_trip);
    }
    flow->next_at = wf_max_i64(flow->next_at, wf_time_add(now, pause));
}

const struct wf_transport_control wf_transport_pressure = {
    .name = "pressure",
    .summary = "routers stop the flows that fill a queue, as in Slingshot",
    .full = WF_TRANSPORT_PAUSE,
    .repair = WF_TRANSPORT_SELECTIVE,
    .queue = 256,
    .routers_notify = true,
    .begin = begin,
    .answered = answered,
    .noticed = noticed,
};
