/* SPDX-License-Identifier: Apache-2.0 */
/* To a random node first, then to the destination, both by the deterministic shortest route;
 * each packet draws its own node (L. G. Valiant and G. J. Brebner, "Universal schemes for
 * parallel communication", STOC 1981). */
#include "model/net/route/policy.h"

static uint32_t valiant_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_route_step(query, state, &step);
    if (wf_route_detour_is_due(&step, state)) {
        wf_route_detour_decide(&step, state, wf_route_detour_draw(query, &step).via);
    }
    return wf_route_detour_go(&step, state);
}

const struct wf_route_ops wf_route_valiant_ops = {
    .name = "valiant",
    .summary = "over a random node, another one for each packet",
    .detour = WF_VC_ONE_DETOUR,
    .next = valiant_next,
};
