/* SPDX-License-Identifier: Apache-2.0 */
/* Any shortest path: at each router the minimal port with the shortest queue. */
#include "model/net/route/policy.h"

const struct wf_route_ops wf_route_adaptive_ops = {
    .name = "adaptive",
    .summary = "a shortest route, at each router by the shortest queue",
    .asks_queues = true,
    .is_free = true,
    .next = wf_route_shortest_queue_next,
};
