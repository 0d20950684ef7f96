/* SPDX-License-Identifier: Apache-2.0 */
/* To a random node first, then to the destination, both by the deterministic shortest route;
 * each packet for itself (L. G. Valiant and G. J. Brebner, "Universal schemes for parallel
 * communication", STOC 1981). */
#include "net/route/detour.h"
#include "net/route/route.h"

static enum wf_status valiant_create(const struct wf_topo *topo, const char *file,
                                     struct wf_route **out, struct wf_err *err)
{
    (void)file;
    return wf_vcs_create(
        topo, (struct wf_vc_plan){.ops = &wf_route_valiant_ops, .detour = WF_VC_ONE_DETOUR},
        out, err);
}

static uint32_t valiant_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_vc_step(query, state, &step);
    if (wf_route_detour_is_due(&step, state)) {
        wf_route_detour_decide(&step, state, wf_route_detour_draw(query, &step).via);
    }
    return wf_route_detour_go(&step, state);
}

const struct wf_route_ops wf_route_valiant_ops = {
    .name = "valiant",
    .summary = "over a random node, another one for each packet",
    .create = valiant_create,
    .destroy = wf_vcs_destroy,
    .next = valiant_next,
};
