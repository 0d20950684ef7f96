/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/route/policy.h"

#include "base/int128.h"
#include "base/rng.h"

uint64_t wf_route_flow_hash(const struct wf_route_query *query)
{
    return wf_rng_mix(query->flow + (query->at + UINT64_C(1)) * WF_RNG_GOLDEN);
}

uint32_t wf_route_shortest_queue_next(const struct wf_route_query *query,
                                      struct wf_route_state *state)
{
    uint32_t ports[WF_VC_PORTS_MAX];
    uint64_t least = UINT64_MAX;
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    uint32_t n = wf_vc_choices(&step, &state->vcs, ports);
    uint32_t i = n > 1 ? (uint32_t)wf_rng_below(wf_route_flow_hash(query), n) : 0;
    uint32_t best = ports[i];
    for (uint32_t k = 0; k < n && n > 1; k++) {
        uint64_t waits = query->queue(query, query->at, step.part.first_port + ports[i]);
        if (waits < least) {
            least = waits;
            best = ports[i];
            if (waits == 0) {
                break; /* none is shorter */
            }
        }
        i = i + 1 < n ? i + 1 : 0;
    }
    return wf_vc_take(&step, &state->vcs, best);
}

/* ---- Detours ---- */

bool wf_route_detour_is_due(const struct wf_vc_step *step, const struct wf_route_state *state)
{
    return step->turns && wf_vc_stage(&state->vcs) == 0 &&
           wf_topo_ports(step->part.topo, step->part.at) > 1;
}

/* Whether a route to `node` that ends at the node's router has reached its end. */
static bool is_there(const struct wf_topo *topo, uint32_t at, uint32_t node)
{
    if (at < topo->n_nodes) {
        return at == node;
    }
    /* Every packet asks this at every router, and looking at one cable is the quickest way. */
    return wf_topo_ports(topo, node) == 1 && !topo->oneway
               ? topo->ops->neighbor(topo, node, 0) == at
               : topo->ops->distance(topo, at, node) == 1;
}

struct wf_route_detour wf_route_detour_draw(const struct wf_route_query *query,
                                            const struct wf_vc_step *step)
{
    const struct wf_topo *topo = step->part.topo;
    uint32_t at = step->part.at, dst = step->part.dst;
    uint32_t via = (uint32_t)wf_rng_below(query->random(query), topo->n_nodes);

    if (via == dst || is_there(topo, at, via) || (at != dst && is_there(topo, at, dst))) {
        return (struct wf_route_detour){.via = WF_TOPO_NO_VERTEX};
    }
    uint32_t there = topo->ops->distance(topo, at, via);
    uint32_t onward = topo->ops->distance(topo, via, dst);
    if (there == WF_TOPO_UNREACHED || onward == WF_TOPO_UNREACHED) {
        return (struct wf_route_detour){.via = WF_TOPO_NO_VERTEX};
    }
    return (struct wf_route_detour){
        .via = via,
        .direct = topo->ops->distance(topo, at, dst),
        .over = there + onward,
        .port_direct = topo->ops->next_port(topo, at, dst),
        .port_via = topo->ops->next_port(topo, at, via),
    };
}

void wf_route_detour_decide(struct wf_vc_step *step, struct wf_route_state *state, uint32_t via)
{
    wf_vc_set_stage(step, &state->vcs, 1);
    state->via = via != WF_TOPO_NO_VERTEX ? via + 1 : 0;
}

uint32_t wf_route_detour_go(struct wf_vc_step *step, struct wf_route_state *state)
{
    if (!step->turns) {
        return wf_vc_take_fixed(step, &state->vcs, step->part.dst);
    }
    if (state->via != 0 && is_there(step->part.topo, step->part.at, state->via - 1)) {
        wf_vc_set_stage(step, &state->vcs, 2);
        state->via = 0;
    }
    return wf_vc_take_fixed(step, &state->vcs,
                            state->via != 0 ? state->via - 1 : step->part.dst);
}

bool wf_route_detour_prefers_direct(const struct wf_route *route, uint64_t waits_direct,
                                    uint64_t waits_via, const struct wf_route_detour *detour)
{
    return (wf_u128)waits_direct * detour->direct <=
           (wf_u128)waits_via * detour->over + route->threshold;
}
