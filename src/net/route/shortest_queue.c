/* SPDX-License-Identifier: Apache-2.0 */
#include "net/route/shortest_queue.h"

#include "base/rng.h"

uint64_t wf_route_flow_hash(const struct wf_route_query *query)
{
    return wf_rng_mix(query->flow + (query->at + UINT64_C(1)) * WF_RNG_GOLDEN);
}

uint32_t wf_route_shortest_queue_next(const struct wf_route_query *query,
                                      struct wf_route_state *state)
{
    uint32_t ports[WF_VC_PORTS_MAX];
    uint64_t least = UINT64_MAX;
    struct wf_vc_step step;

    wf_vc_step(query, state, &step);
    uint32_t n = wf_vc_choices(&step, state, ports);
    uint32_t i = n > 1 ? (uint32_t)wf_rng_below(wf_route_flow_hash(query), n) : 0,
             best = ports[i];
    for (uint32_t k = 0; k < n && n > 1; k++) {
        uint64_t waits = query->queue(query, query->at, step.part.first_port + ports[i]);
        if (waits < least) {
            least = waits;
            best = ports[i];
        }
        i = i + 1 < n ? i + 1 : 0;
    }
    return wf_vc_take(&step, state, best);
}
