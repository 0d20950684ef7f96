/* SPDX-License-Identifier: Apache-2.0 */
/* Equal-cost multi-path: any shortest path, at each router by a hash of the flow (C. Hopps,
 * "Analysis of an equal-cost multi-path algorithm", RFC 2992, 2000). */
#include "base/rng.h"
#include "model/net/route/policy.h"

static uint32_t ecmp_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    uint32_t ports[WF_VC_PORTS_MAX];
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    uint32_t n = wf_vc_choices(&step, &state->vcs, ports);
    uint32_t pick = n > 1 ? (uint32_t)wf_rng_below(wf_route_flow_hash(query), n) : 0;
    return wf_vc_take(&step, &state->vcs, ports[pick]);
}

const struct wf_route_ops wf_route_ecmp_ops = {
    .name = "ecmp",
    .summary = "a shortest route, at each router by a hash of the flow",
    .is_oblivious = true,
    .is_by_flow = true,
    .is_free = true,
    .next = ecmp_next,
};
