/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/lockstep/host.h"

#include "model/net/router/lockstep/inside.h"

#include <string.h>

uint32_t wf_lockstep_route_ports(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                 uint32_t slot, uint32_t *ports)
{
    const struct wf_lockstep_packet own = wf_lockstep_read(net, r, input, slot);
    const struct wf_router_view view = {.model = wf_lockstep_of(net)->model, .vertex = r};
    struct wf_router_packet packet = {.dst = own.dst, .hops = (uint16_t)(own.way >> 16)};

    if (net->has_more != 0) {
        packet.msg.src_node = wf_lockstep_more(net, r, input, slot)->src;
    }
    return wf_router_ports(&view, &packet, ports);
}

/* Bytes that wait at a port of the router. */
static uint64_t queue_of(const void *router, uint32_t vertex, uint32_t port)
{
    const struct wf_lockstep_net *net = router;
    uint64_t packets = wf_lockstep_link(net, vertex, port)->waiting;

    for (uint32_t vc = 0; vc < net->rules.vcs; vc++) {
        packets += wf_lockstep_channel(net, vertex, port * net->rules.vcs + vc)->used;
    }
    return packets * wf_lockstep_of(net)->model->set.packet;
}

uint32_t wf_lockstep_route_choose(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                  uint32_t cycle)
{
    const struct wf_router_net *model = wf_lockstep_of(net)->model;
    uint32_t slot = wf_lockstep_input(net, r, input)->first;
    struct wf_lockstep_more *more = wf_lockstep_more(net, r, input, slot);
    const struct wf_router_traveller who = {
        .route = model->route,
        .vertex = r,
        .dst = wf_lockstep_read(net, r, input, slot).dst,
        .src = more->src,
        .number = more->number,
        .input = input,
        .injected = wf_lockstep_is_injected(net, r, input),
        .cycle = cycle,
        .router = net,
        .queue = queue_of,
    };
    struct wf_route_state state;

    if (who.dst == r) {
        return 0;
    }
    memcpy(&state, &more->route, sizeof(state));
    uint32_t channel = wf_router_policy_choose(model, &who, &state);
    memcpy(&more->route, &state, sizeof(state));
    return channel + 1;
}

/* ---- traffic ---- */

uint32_t wf_lockstep_host_destination(const struct wf_lockstep_net *net, uint32_t node,
                                      uint32_t message, uint32_t *count)
{
    struct wf_traffic_draw draw = {
        .seed = net->rules.seed, .node = node, .message = message, .count = *count};
    int64_t dst = wf_traffic_pattern_next(wf_lockstep_of(net)->traffic->pattern, &draw);

    *count = draw.count;
    return dst < 0 ? WF_LOCKSTEP_NONE : (uint32_t)dst;
}

uint64_t wf_lockstep_host_size(const struct wf_lockstep_net *net, uint32_t node,
                               uint32_t message, uint32_t *count)
{
    struct wf_traffic_draw draw = {
        .seed = net->rules.seed, .node = node, .message = message, .count = *count};

    return wf_traffic_size(wf_lockstep_of(net)->traffic, &draw);
}

int64_t wf_lockstep_host_gap(const struct wf_lockstep_net *net, uint32_t node, uint32_t burst,
                             int64_t now)
{
    return wf_traffic_gap(wf_lockstep_of(net)->traffic, node, burst, now);
}
