/* SPDX-License-Identifier: Apache-2.0 */
/* Trees and fat trees: up by the shortest queue as far as needed, then down the only way there
 * is. */
#include "net/route/route.h"
#include "net/route/shortest_queue.h"

static enum wf_status updown_create(const struct wf_topo *topo, const char *file,
                                    struct wf_route **out, struct wf_err *err)
{
    const struct wf_vc_plan plan = {.ops = &wf_route_updown_ops, .is_free = true};
    struct wf_route *route = NULL;

    (void)file;
    enum wf_status status = wf_vcs_create(topo, plan, &route, err);
    if (status != WF_OK) {
        return status;
    }
    const struct wf_vcs *vcs = (const struct wf_vcs *)route;
    for (uint32_t i = 0; i < vcs->n_levels; i++) {
        if (!wf_vc_is_tree(&vcs->levels[i])) {
            status = wf_err_set(err, WF_EINVAL,
                                "routing 'updown' needs a tree, fattree or star, not a %s; "
                                "'adaptive' does the same elsewhere",
                                vcs->levels[i].topo->ops->name);
            wf_vcs_destroy(route);
            return status;
        }
    }
    *out = route;
    return WF_OK;
}

const struct wf_route_ops wf_route_updown_ops = {
    .name = "updown",
    .summary = "trees and fat trees: up by the shortest queue, then down",
    .asks_queues = true,
    .create = updown_create,
    .destroy = wf_vcs_destroy,
    .next = wf_route_shortest_queue_next,
};
