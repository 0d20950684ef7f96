/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing policies (model/net/route/route.h) on routers.
 *
 * A policy is asked once for each packet, when the packet is the first of its queue and
 * requests a channel. Its choice stands, as its channels cannot deadlock by themselves. If
 * there are more channels than the policy needs, each class has several, all alike.
 */
#include "base/mem.h"
#include "model/net/router/events/flit.h"

uint64_t wf_router_queue_bytes(const struct wf_router_view *view, uint32_t port)
{
    const struct wf_router_net *model = view->model;
    uint32_t first = port * model->vcs;
    uint64_t packets = view->links[port].waiting, flits = 0;

    if (model->set.switching == WF_ROUTER_WORMHOLE) {
        for (uint32_t vc = 0; vc < model->vcs; vc++) {
            flits += wf_router_flit_channels(view)[first + vc].used;
        }
        return flits * model->set.phit;
    }
    for (uint32_t vc = 0; vc < model->vcs; vc++) {
        packets += view->channels[first + vc].used;
    }
    return packets * model->set.packet;
}

/* Who asks a policy, and how many random numbers it has drawn. */
struct asked {
    const struct wf_router_view *view;
    uint32_t input, draws;
};

/* Bytes that wait at a port of this router, or of a neighbour according to its last notice. */
static uint64_t queue_of(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_router_view *view = ((const struct asked *)query->arg)->view;

    if (vertex == view->vertex) {
        return wf_router_queue_bytes(view, port);
    }
    return view->model->notice_step > 0 ? wf_router_notice_queue(view, vertex, port) : 0;
}

static uint64_t random_of(const struct wf_route_query *query)
{
    struct asked *by = query->arg;
    const struct wf_router_view *view = by->view;

    return wf_router_draw(view->model->seed, view->vertex, by->input, (uint64_t)view->now,
                          by->draws++);
}

/* The flow number, shared by all packets on the same route: net.ecmp. */
static uint64_t flow_of(const struct wf_router_view *view, uint32_t input,
                        const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    uint64_t src = (uint64_t)packet->msg.src_node << 32;

    if (!model->route->ops->is_by_flow || model->set.ecmp == WF_ROUTE_FLOW_MESSAGE) {
        return wf_rng_mix(src | packet->number);
    }
    return model->set.ecmp == WF_ROUTE_FLOW_PAIR
               ? src | packet->dst
               : wf_router_draw(model->seed, view->vertex, input, (uint64_t)view->now,
                                WF_ROUTER_DRAW_FLOW);
}

/* The input port for policies, which know output ports only. */
static uint32_t port_of(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;

    return model->inward.first == NULL && input < view->layout->n_ports * model->vcs
               ? input / model->vcs
               : WF_TOPO_NO_PORT;
}

/* The set of channels by which a packet came, which is that of the epoch in which it was sent;
 * for a packet that is injected, the set of this epoch. */
static uint32_t set_of(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;

    return input < view->layout->n_ports * model->vcs ? input % model->vcs / model->set_vcs
                                                      : view->head->epoch % 2;
}

void wf_router_policy_ask(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;
    uint32_t first = view->inputs[input].first;
    const struct wf_router_cell *seen = wf_cell_read(view->ctx, first);

    if (seen->count != 0 || seen->packet.dst == view->vertex) {
        return;
    }
    struct wf_router_cell *entry = wf_cell_edit(view->ctx, first);
    const struct wf_route *route = model->route;
    uint32_t epoch = view->head->epoch;
    if (model->faults != NULL) {
        route = wf_fault_route(model->faults, epoch);
        if (set_of(view, input) != epoch % 2) { /* another network: the route begins here */
            uint8_t hops = entry->packet.on.route.vcs.hops;
            entry->packet.on.route = (struct wf_route_state){.vcs = {.hops = hops}};
        }
    }
    struct asked by = {view, input, 0};
    const struct wf_route_query query = {
        .topo = route->vcs.topo,
        .route = route,
        .at = view->vertex,
        .dst = entry->packet.dst,
        .in_port = port_of(view, input),
        .flow = flow_of(view, input, &entry->packet),
        .queue = queue_of,
        .random = random_of,
        .arg = &by,
    };
    struct wf_route_state *state = &entry->packet.on.route;
    uint32_t port = route->ops->next(&query, state);
    state->vcs.hops = (uint8_t)(state->vcs.hops + (state->vcs.hops < UINT8_MAX ? 1 : 0));
    entry->count = port * model->vcs + epoch % 2 * model->set_vcs + state->vcs.vc + 1;
}

uint32_t wf_router_policy_channels(const struct wf_router_view *view, uint32_t input,
                                   uint16_t *channels)
{
    const struct wf_router_net *model = view->model;
    const struct wf_router_cell *entry = wf_cell_read(view->ctx, view->inputs[input].first);
    uint32_t n = 0;

    if (entry->count == 0) {
        return 0;
    }
    uint32_t first = entry->count - 1, vc = first % model->vcs % model->set_vcs;
    for (uint32_t more = 0; vc + more < model->set_vcs; more += model->class_vcs) {
        channels[n++] = (uint16_t)(first + more);
    }
    return n;
}
