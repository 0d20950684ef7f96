/* SPDX-License-Identifier: Apache-2.0 */
/* Any shortest path: at each router the minimal port with the shortest queue. */
#include "net/route/route.h"
#include "net/route/shortest_queue.h"

static enum wf_status adaptive_create(const struct wf_topo *topo, const char *file,
                                      struct wf_route **out, struct wf_err *err)
{
    (void)file;
    return wf_vcs_create(
        topo, (struct wf_vc_plan){.ops = &wf_route_adaptive_ops, .is_free = true}, out, err);
}

const struct wf_route_ops wf_route_adaptive_ops = {
    .name = "adaptive",
    .summary = "a shortest route, at each router by the shortest queue",
    .asks_queues = true,
    .create = adaptive_create,
    .destroy = wf_vcs_destroy,
    .next = wf_route_shortest_queue_next,
};
