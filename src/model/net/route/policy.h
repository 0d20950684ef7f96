/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What several routing policies share. */

#include "model/net/route/route.h"

/* Begins a next(): finds the position of the packet on its route. */
static inline void wf_route_step(const struct wf_route_query *query,
                                 struct wf_route_state *state, struct wf_vc_step *step)
{
    wf_vc_step(&query->route->vcs, query->at, query->dst, &state->vcs, step);
}

/* A number that spreads flows over ports; it differs from router to router. */
WF_PLUGIN_API uint64_t wf_route_flow_hash(const struct wf_route_query *query);

/* The next() of policies that take the minimal port with the shortest queue. Ties go to the
 * first port after a position that flow and router determine. This fills idle networks
 * evenly, without random numbers. */
WF_PLUGIN_API uint32_t wf_route_shortest_queue_next(const struct wf_route_query *query,
                                                    struct wf_route_state *state);

/*
 * Detours: routes over an intermediate node, within the level of a hierarchy where the route
 * turns. The first router that has a choice decides: the source itself in a direct network, its
 * router in an indirect one. In an indirect network the route turns at the router of the
 * intermediate node and does not enter the node.
 */

/* A random intermediate node. */
struct wf_route_detour {
    uint32_t via;                   /* a node of the level; WF_TOPO_NO_VERTEX: no detour */
    uint32_t direct, over;          /* hops to the destination without and with the detour */
    uint32_t port_direct, port_via; /* first ports of the two routes */
};

/* Whether the packet is at the router that decides. */
WF_PLUGIN_API bool wf_route_detour_is_due(const struct wf_vc_step *step,
                                          const struct wf_route_state *state);

/* Draws a node. There is no detour if the node is at the router of the source or cut off, or if
 * source and destination have the same router. */
WF_PLUGIN_API struct wf_route_detour wf_route_detour_draw(const struct wf_route_query *query,
                                                          const struct wf_vc_step *step);

/* Decides for `via`, or against a detour if `via` is WF_TOPO_NO_VERTEX. */
WF_PLUGIN_API void wf_route_detour_decide(struct wf_vc_step *step, struct wf_route_state *state,
                                          uint32_t via);

/* Continues to the intermediate node or to the destination. Ends a next(). */
WF_PLUGIN_API uint32_t wf_route_detour_go(struct wf_vc_step *step,
                                          struct wf_route_state *state);

/* Whether the minimal route looks at least as quick, by waiting bytes times hops, to which the
 * route's threshold is added on the detour (A. Singh, "Load-balanced routing in interconnection
 * networks", PhD thesis, Stanford, 2005). */
bool wf_route_detour_prefers_direct(const struct wf_route *route, uint64_t waits_direct,
                                    uint64_t waits_via, const struct wf_route_detour *detour);
