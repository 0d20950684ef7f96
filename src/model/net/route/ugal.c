/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Universal globally adaptive load-balanced routing (A. Singh, "Load-balanced routing in
 * interconnection networks", PhD thesis, Stanford, 2005). At the source a packet takes the
 * minimal route or one over a random node, whichever has fewer waiting bytes times hops. The
 * local version knows the queues of the router itself. The global one adds the queues that the
 * packet would meet at the next router, which neighbours report. In a dragonfly that covers the
 * whole group of the source, as in J. Kim et al., "Technology-driven, highly-scalable dragonfly
 * topology", ISCA 2008.
 */
#include "base/units.h"
#include "model/net/route/policy.h"

/* Bytes that wait at the vertex after `port` on a route to `via`, or to the destination if
 * `via` is WF_TOPO_NO_VERTEX. */
static uint64_t waits_behind(const struct wf_route_query *query, const struct wf_vc_step *step,
                             uint32_t port, uint32_t via)
{
    const struct wf_topo *topo = query->topo;
    uint32_t next = topo->ops->neighbor(topo, query->at, step->part.first_port + port);

    if (next == query->dst) {
        return 0;
    }
    struct wf_topo_part part = wf_topo_next_part(topo, next, query->dst);
    uint32_t dst = via != WF_TOPO_NO_VERTEX && part.level == step->part.level ? via : part.dst;
    dst = part.at == dst ? part.dst : dst;
    uint32_t onward = part.topo->ops->next_port(part.topo, part.at, dst);
    return query->queue(query, next, part.first_port + onward);
}

static uint64_t waits_on(const struct wf_route_query *query, const struct wf_vc_step *step,
                         uint32_t port, uint32_t via)
{
    uint64_t here = query->queue(query, query->at, step->part.first_port + port);

    return query->route->ops == &wf_route_ugal_g_ops
               ? wf_count_add(here, waits_behind(query, step, port, via))
               : here;
}

static uint32_t ugal_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    if (wf_route_detour_is_due(&step, state)) {
        struct wf_route_detour detour = wf_route_detour_draw(query, &step);
        if (detour.via != WF_TOPO_NO_VERTEX) {
            uint64_t direct = waits_on(query, &step, detour.port_direct, WF_TOPO_NO_VERTEX);
            uint64_t over = waits_on(query, &step, detour.port_via, detour.via);
            if (wf_route_detour_prefers_direct(query->route, direct, over, &detour)) {
                detour.via = WF_TOPO_NO_VERTEX;
            }
        }
        wf_route_detour_decide(&step, state, detour.via);
    }
    return wf_route_detour_go(&step, state);
}

const struct wf_route_ops wf_route_ugal_l_ops = {
    .name = "ugal_l",
    .summary = "minimal or over a random node, by the queues of the source's router",
    .asks_queues = true,
    .detour = WF_VC_ONE_DETOUR,
    .next = ugal_next,
};

const struct wf_route_ops wf_route_ugal_g_ops = {
    .name = "ugal_g",
    .summary = "likewise, by the queues of the next router too",
    .asks_queues = true,
    .asks_far = true,
    .detour = WF_VC_ONE_DETOUR,
    .next = ugal_next,
};
