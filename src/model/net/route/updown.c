/* SPDX-License-Identifier: Apache-2.0 */
/* Trees and fat trees: up by the shortest queue as far as needed, then down by the only
 * path. */
#include "model/net/route/policy.h"

static enum wf_status updown_check(const struct wf_route *route, struct wf_err *err)
{
    for (uint32_t i = 0; i < route->vcs.n_levels; i++) {
        const struct wf_vc_level *level = &route->vcs.levels[i];
        if (!wf_vc_is_tree(level)) {
            return wf_err_set(err, WF_EINVAL,
                              "routing 'updown' needs a tree, fattree or star, not a %s; "
                              "'adaptive' does the same elsewhere",
                              level->topo->ops->name);
        }
    }
    return WF_OK;
}

const struct wf_route_ops wf_route_updown_ops = {
    .name = "updown",
    .summary = "trees and fat trees: up by the shortest queue, then down",
    .asks_queues = true,
    .is_free = true,
    .check = updown_check,
    .next = wf_route_shortest_queue_next,
};
