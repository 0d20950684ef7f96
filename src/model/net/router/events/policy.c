/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing policies (model/net/route/route.h) on routers.
 *
 * A policy is asked once for each packet, when the packet is the first of its queue and
 * requests a channel. Its choice stands, as its channels cannot deadlock by themselves. If
 * there are more channels than the policy needs, each class has several, all alike.
 */
#include "model/net/router/events/flit.h"

uint64_t wf_router_queue_bytes(const struct wf_router_view *view, uint32_t port)
{
    const struct wf_router_net *model = view->model;
    uint32_t first = port * model->rules.vcs;
    uint64_t packets = view->links[port].waiting, flits = 0;

    if (model->set.switching == WF_ROUTER_WORMHOLE) {
        for (uint32_t vc = 0; vc < model->rules.vcs; vc++) {
            flits += wf_router_flit_channels(view)[first + vc].used;
        }
        return flits * model->set.phit;
    }
    for (uint32_t vc = 0; vc < model->rules.vcs; vc++) {
        packets += view->channels[first + vc].used;
    }
    return packets * model->set.packet;
}

/* Who asks a policy, and how many random numbers it has drawn. */
struct asked {
    const struct wf_router_net *model;
    const struct wf_router_traveller *who;
    uint32_t draws;
};

static uint64_t queue_of(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_router_traveller *who = ((const struct asked *)query->arg)->who;

    return who->queue(who->router, vertex, port);
}

static uint64_t draw(const struct wf_router_net *model, const struct wf_router_traveller *who,
                     uint32_t count)
{
    return wf_router_draw(model->rules.seed, who->vertex, who->input, who->cycle, count);
}

static uint64_t random_of(const struct wf_route_query *query)
{
    struct asked *by = query->arg;

    return draw(by->model, by->who, by->draws++);
}

/* The flow number, shared by all packets on the same route: net.ecmp. */
static uint64_t flow_of(const struct wf_router_net *model,
                        const struct wf_router_traveller *who)
{
    uint64_t src = (uint64_t)who->src << 32;

    if (!model->route->ops->is_by_flow || model->set.ecmp == WF_ROUTE_FLOW_MESSAGE) {
        return wf_rng_mix(src | who->number);
    }
    return model->set.ecmp == WF_ROUTE_FLOW_PAIR ? src | who->dst
                                                 : draw(model, who, WF_ROUTER_DRAW_FLOW);
}

uint32_t wf_router_policy_choose(const struct wf_router_net *model,
                                 const struct wf_router_traveller *who,
                                 struct wf_route_state *state)
{
    uint32_t vcs = model->rules.vcs;
    struct asked by = {model, who, 0};
    const struct wf_route_query query = {
        .topo = who->route->vcs.topo,
        .route = who->route,
        .at = who->vertex,
        .dst = who->dst,
        .in_port = model->inward.first != NULL || who->injected
                       ? WF_TOPO_NO_PORT /* policies know output ports only */
                       : who->input / vcs,
        .flow = flow_of(model, who),
        .queue = queue_of,
        .random = random_of,
        .arg = &by,
    };
    uint32_t port = who->route->ops->next(&query, state);

    state->vcs.hops = (uint8_t)(state->vcs.hops + (state->vcs.hops < UINT8_MAX ? 1 : 0));
    return port * vcs + state->vcs.vc;
}

/* ---- events ---- */

/* Bytes that wait at a port of this router, or of a neighbour according to its last notice. */
static uint64_t bytes_at(const void *router, uint32_t vertex, uint32_t port)
{
    const struct wf_router_view *view = router;

    if (vertex == view->vertex) {
        return wf_router_queue_bytes(view, port);
    }
    return view->model->notice_step > 0 ? wf_router_notice_queue(view, vertex, port) : 0;
}

/* The set of channels by which a packet came, which is that of the epoch in which it was sent;
 * for a packet that is injected, the set of this epoch. */
static uint32_t set_of(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;

    return input < view->layout->n_ports * model->rules.vcs
               ? input % model->rules.vcs / model->rules.set_vcs
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
    const struct wf_router_traveller who = {
        .route = route,
        .vertex = view->vertex,
        .dst = entry->packet.dst,
        .src = entry->packet.msg.src_node,
        .number = entry->packet.number,
        .input = input,
        .injected = input >= view->layout->n_ports * model->rules.vcs,
        .cycle = (uint64_t)view->now,
        .router = view,
        .queue = bytes_at,
    };
    entry->count = wf_router_policy_choose(model, &who, &entry->packet.on.route) +
                   epoch % 2 * model->rules.set_vcs + 1;
}
