/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing policies (net/route/route.h) in routers. A policy is asked once, when the packet is the
 * first of its queue and asks for a channel; what it chose stands, as its channels are free of
 * deadlock by themselves. With more channels than it needs there are several of each class, all
 * alike.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "net/router/scheme.h"

/* Bytes that wait before a port: on its links' channels, or in the queues behind them. */
static uint64_t queue_of(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_router_view *view = query->arg;
    uint32_t vcs = view->model->vcs;
    uint64_t sum = view->links[port].waiting;

    (void)vertex; /* none of the policies looks further */
    for (uint32_t vc = 0; vc < vcs; vc++) {
        sum += view->channels[port * vcs + vc].used;
    }
    return sum * view->model->set.packet;
}

static uint64_t random_of(const struct wf_route_query *query)
{
    const struct wf_router_view *view = query->arg;

    return wf_random(view->ctx);
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
    const struct wf_route_query query = {
        .topo = model->topo,
        .route = model->route,
        .at = view->vertex,
        .dst = entry->packet.dst,
        .in_port =
            input < view->layout->n_ports * model->vcs ? input / model->vcs : WF_TOPO_NO_PORT,
        .flow = wf_rng_mix((uint64_t)entry->packet.msg.src_node << 32 | entry->packet.number),
        .queue = queue_of,
        .random = random_of,
        .arg = wf_unconst(view), /* only read */
    };
    struct wf_route_state *state = &entry->packet.on.route;
    uint32_t port = model->route->ops->next(&query, state);
    state->vcs.hops = (uint8_t)(state->vcs.hops + (state->vcs.hops < UINT8_MAX ? 1 : 0));
    entry->count = port * model->vcs + state->vcs.vc + 1;
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
    uint32_t first = entry->count - 1, vc = first % model->vcs;
    for (uint32_t lane = 0; vc + lane < model->vcs; lane += model->route->vcs.n_vcs) {
        channels[n++] = (uint16_t)(first + lane);
    }
    return n;
}
