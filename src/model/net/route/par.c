/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progressive adaptive routing in dragonflies (N. Jiang, J. Kim and W. J. Dally, "Indirect
 * adaptive routing on large scale interconnection networks", ISCA 2009): like ugal_l, but a
 * packet that left its router on the minimal route may still take a detour at the next
 * router of the same group. Hierarchy levels that are not dragonflies are passed minimally.
 */
#include "model/net/route/policy.h"

static enum wf_status par_check(const struct wf_route *route, struct wf_err *err)
{
    for (uint32_t i = 0; i < route->vcs.n_levels; i++) {
        if (wf_vc_is_dragonfly(&route->vcs.levels[i])) {
            return WF_OK;
        }
    }
    return wf_err_set(err, WF_EINVAL,
                      "routing 'par' needs a dragonfly, not a %s; 'ugal_l' is the "
                      "nearest elsewhere",
                      route->vcs.levels[0].topo->ops->name);
}

static uint32_t group_of(const struct wf_topo *topo, uint32_t vertex)
{
    uint32_t coord[WF_TOPO_COORDS_MAX];

    (void)topo->ops->coords(topo, vertex, coord);
    return coord[0];
}

/* Whether the minimal route leaves the group from another of its routers. */
static bool stays(const struct wf_topo_part *part)
{
    const struct wf_topo *topo = part->topo;
    uint32_t port = topo->ops->next_port(topo, part->at, part->dst);
    uint32_t next = topo->ops->neighbor(topo, part->at, port);
    uint32_t group = group_of(topo, part->at);

    return group_of(topo, next) == group && group_of(topo, part->dst) != group;
}

static bool prefers_direct(const struct wf_route_query *query, const struct wf_vc_step *step,
                           const struct wf_route_detour *detour)
{
    uint32_t first = step->part.first_port;

    return detour->via == WF_TOPO_NO_VERTEX ||
           wf_route_detour_prefers_direct(
               query->route, query->queue(query, query->at, first + detour->port_direct),
               query->queue(query, query->at, first + detour->port_via), detour);
}

/* Stage 0 ends with the decision for a detour, at the second router of the route, or where the
 * minimal route leaves the group. */
static void decide(const struct wf_route_query *query, struct wf_vc_step *step,
                   struct wf_route_state *state)
{
    struct wf_route_detour detour = wf_route_detour_draw(query, step);
    bool is_first = !wf_vc_has_rank(&state->vcs);

    if (!prefers_direct(query, step, &detour)) {
        wf_route_detour_decide(step, state, detour.via);
    } else if (!is_first || !stays(&step->part)) {
        wf_route_detour_decide(step, state, WF_TOPO_NO_VERTEX);
    }
}

static uint32_t par_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    if (wf_vc_is_dragonfly(step.level) && wf_route_detour_is_due(&step, state)) {
        decide(query, &step, state);
    }
    return wf_route_detour_go(&step, state);
}

const struct wf_route_ops wf_route_par_ops = {
    .name = "par",
    .summary = "dragonflies: as ugal_l, revised at the next router of the source's group",
    .asks_queues = true,
    .detour = WF_VC_LATE_DETOUR,
    .check = par_check,
    .next = par_next,
};
