/* SPDX-License-Identifier: Apache-2.0 */
/* The topology's one deterministic shortest route: dimension order where that exists. */
#include "model/net/route/policy.h"

static uint32_t minimal_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    return wf_vc_hop_fixed(&query->route->vcs, query->at, query->dst, &state->vcs);
}

const struct wf_route_ops wf_route_minimal_ops = {
    .name = "minimal",
    .summary = "the topology's deterministic shortest route",
    .is_oblivious = true,
    .follows_topology = true,
    .next = minimal_next,
};
