/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTE_DETOUR_H
#define WF_NET_ROUTE_DETOUR_H

/*
 * Ways over an intermediate node, within the level of a hierarchy where the way turns. The
 * decision is made at the first router that has a choice: the source itself in a direct
 * network, its router in an indirect one. In the latter the way does not lead into the
 * intermediate node, but turns at its router.
 */

#include "net/vc/vc.h"

/* Where a packet may be sent first. */
struct wf_route_detour {
    uint32_t via;                   /* a node of the level; WF_TOPO_NO_VERTEX: none */
    uint32_t direct, over;          /* hops to the destination without and with it */
    uint32_t port_direct, port_via; /* with which the two begin */
};

/* Whether the packet is where the decision is to be made. */
bool wf_route_detour_is_due(const struct wf_vc_step *step, const struct wf_route_state *state);

/* Draws a node and says what is known of the way over it. It is none if it is no detour: at the
 * router of the source, or source and destination have the same router. */
struct wf_route_detour wf_route_detour_draw(const struct wf_route_query *query,
                                            const struct wf_vc_step *step);

/* Decides for `via`, or against a detour if that is WF_TOPO_NO_VERTEX. */
void wf_route_detour_decide(struct wf_vc_step *step, struct wf_route_state *state,
                            uint32_t via);

/* Goes on to the intermediate node or to the destination: ends a next(). */
uint32_t wf_route_detour_go(struct wf_vc_step *step, struct wf_route_state *state);

/* Whether the minimal way looks at least as quick, by bytes that wait times hops (A. Singh,
 * "Load-balanced routing in interconnection networks", PhD thesis, Stanford, 2005). */
bool wf_route_detour_prefers_direct(uint64_t waits_direct, uint64_t waits_via,
                                    const struct wf_route_detour *detour);

#endif
