/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/lockstep/host.h"

#include "model/net/router/lockstep/inside.h"
#include "model/net/router/rules/draw.h"

#include <string.h>

uint32_t wf_lockstep_route_ports(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                 uint32_t slot, uint16_t *ports)
{
    const struct wf_lockstep_packet own = wf_lockstep_read(net, r, input, slot);
    const struct wf_router_view view = {.model = wf_lockstep_of(net)->model, .vertex = r};
    struct wf_router_packet packet = {.dst = own.dst, .hops = (uint16_t)(own.way >> 16)};
    uint32_t list[WF_ROUTER_INPUTS_MAX];

    if (net->has_more != 0) {
        packet.msg.src_node = wf_lockstep_more(net, r, input, slot)->src;
    }
    uint32_t n = wf_router_ports(&view, &packet, list);
    for (uint32_t i = 0; i < n; i++) {
        ports[i] = (uint16_t)list[i];
    }
    return n;
}

/* ---- routing policies: the rules of model/net/router/events/policy.c ---- */

/* Who asks a policy, and how many random numbers it has drawn. */
struct asked {
    const struct wf_lockstep_net *net;
    uint32_t router, input, cycle, draws;
};

static uint64_t queue_of(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct asked *by = query->arg;
    const struct wf_lockstep_net *net = by->net;
    uint64_t packets = wf_lockstep_link(net, vertex, port)->waiting;

    for (uint32_t vc = 0; vc < net->vcs; vc++) {
        packets += wf_lockstep_channel(net, vertex, port * net->vcs + vc)->used;
    }
    return packets * wf_lockstep_of(net)->model->set.packet;
}

static uint64_t random_of(const struct wf_route_query *query)
{
    struct asked *by = query->arg;

    return wf_router_draw(by->net->seed, by->router, by->input, by->cycle, by->draws++);
}

static uint64_t flow_of(const struct asked *by, uint32_t dst,
                        const struct wf_lockstep_more *more)
{
    const struct wf_router_net *model = wf_lockstep_of(by->net)->model;
    uint64_t src = (uint64_t)more->src << 32;

    if (!model->route->ops->is_by_flow || model->set.ecmp == WF_ROUTE_FLOW_MESSAGE) {
        return wf_rng_mix(src | more->number);
    }
    return model->set.ecmp == WF_ROUTE_FLOW_PAIR
               ? src | dst
               : wf_router_draw(by->net->seed, by->router, by->input, by->cycle,
                                WF_ROUTER_DRAW_FLOW);
}

uint32_t wf_lockstep_route_choose(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                  uint32_t cycle)
{
    const struct wf_router_net *model = wf_lockstep_of(net)->model;
    uint32_t slot = wf_lockstep_input(net, r, input)->first;
    struct wf_lockstep_more *more = wf_lockstep_more(net, r, input, slot);
    uint32_t dst = wf_lockstep_read(net, r, input, slot).dst;
    struct asked by = {net, r, input, cycle, 0};
    struct wf_route_state state;

    if (dst == r) {
        return 0;
    }
    const struct wf_route_query query = {
        .topo = model->route->vcs.topo,
        .route = model->route,
        .at = r,
        .dst = dst,
        .in_port = net->before != NULL || wf_lockstep_is_injected(net, r, input)
                       ? WF_TOPO_NO_PORT /* policies know output ports only */
                       : input / net->vcs,
        .flow = flow_of(&by, dst, more),
        .queue = queue_of,
        .random = random_of,
        .arg = &by,
    };
    memcpy(&state, &more->route, sizeof(state));
    uint32_t port = model->route->ops->next(&query, &state);
    state.vcs.hops = (uint8_t)(state.vcs.hops + (state.vcs.hops < UINT8_MAX ? 1 : 0));
    memcpy(&more->route, &state, sizeof(state));
    return port * net->vcs + state.vcs.vc + 1;
}

/* ---- traffic ---- */

uint32_t wf_lockstep_host_destination(const struct wf_lockstep_net *net, uint32_t node,
                                      uint32_t message, uint32_t *count)
{
    struct wf_traffic_draw draw = {
        .seed = net->seed, .node = node, .message = message, .count = *count};
    int64_t dst = wf_traffic_pattern_next(wf_lockstep_of(net)->traffic->pattern, &draw);

    *count = draw.count;
    return dst < 0 ? WF_LOCKSTEP_NONE : (uint32_t)dst;
}

uint64_t wf_lockstep_host_size(const struct wf_lockstep_net *net, uint32_t node,
                               uint32_t message, uint32_t *count)
{
    struct wf_traffic_draw draw = {
        .seed = net->seed, .node = node, .message = message, .count = *count};

    return wf_traffic_size(wf_lockstep_of(net)->traffic, &draw);
}

int64_t wf_lockstep_host_gap(const struct wf_lockstep_net *net, uint32_t node, uint32_t burst,
                             int64_t now)
{
    return wf_traffic_gap(wf_lockstep_of(net)->traffic, node, burst, now);
}
