/* SPDX-License-Identifier: Apache-2.0 */
/* The topology's one deterministic shortest route: dimension order where that exists. */
#include "net/route/route.h"
#include "net/vc/vc.h"

static enum wf_status minimal_create(const struct wf_topo *topo, const char *file,
                                     struct wf_route **out, struct wf_err *err)
{
    (void)file;
    return wf_vcs_create(topo, (struct wf_vc_plan){.ops = &wf_route_minimal_ops}, out, err);
}

static uint32_t minimal_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_vc_step(query, state, &step);
    return wf_vc_take_fixed(&step, state, step.part.dst);
}

const struct wf_route_ops wf_route_minimal_ops = {
    .name = "minimal",
    .summary = "the topology's deterministic shortest route",
    .is_oblivious = true,
    .create = minimal_create,
    .destroy = wf_vcs_destroy,
    .next = minimal_next,
};
