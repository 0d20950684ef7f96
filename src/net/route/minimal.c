/* SPDX-License-Identifier: Apache-2.0 */
/* The topology's one deterministic shortest route: dimension order where that exists. */
#include "net/route/policy.h"

static uint32_t minimal_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    return wf_vc_take_fixed(&step, &state->vcs, step.part.dst);
}

const struct wf_route_ops wf_route_minimal_ops = {
    .name = "minimal",
    .summary = "the topology's deterministic shortest route",
    .is_oblivious = true,
    .follows_topology = true,
    .next = minimal_next,
};
