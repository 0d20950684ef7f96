/* SPDX-License-Identifier: Apache-2.0 */
/* Which networks with wormhole switching lock step simulates. */
#include "model/net/router/lockstep/flits.h"
#include "model/net/router/lockstep/inside.h"

/* Whether routes cannot deadlock, and are those of route(). */
static bool is_simple(const struct wf_router_net *model)
{
    return model->grid != NULL && !model->atomic &&
           (model->rules.scheme == WF_ROUTER_DATELINE ||
            (model->rules.scheme == WF_ROUTER_DOR && model->rules.rings == 0));
}

const char *wf_lockstep_flits_limit(const struct wf_router_net *model)
{
    const struct wf_router_params *set = &model->set;
    uint32_t n_ports = model->node.n_ports + 1;
    const struct wf_router_link_kind *kind = &model->kinds[0];
    const struct {
        bool applies;
        const char *what;
    } limits[] = {
        {!is_simple(model),
         "net.switching=wormhole without dateline routing on grids, or dor on meshes,"},
        {model->kind_of != NULL || kind->pace != 1, "net.switching=wormhole with net.links"},
        {set->hold_switch, "net.hold_switch"},
        {set->speculative, "net.speculative"},
        {n_ports > WF_LOCKSTEP_FLIT_PORTS ||
             n_ports * model->rules.vcs > WF_LOCKSTEP_FLIT_QUEUES,
         "net.switching=wormhole with more than 7 links or 64 queues a router"},
        {kind->queue > WF_LOCKSTEP_FLIT_PACKETS ||
             (uint64_t)kind->queue * model->rules.phits > UINT16_MAX,
         "net.switching=wormhole with queues of more than 250 packets or 65,535 flits"},
        {set->stats == WF_NET_STATS_LINKS, "net.switching=wormhole with net.stats=links"},
        {model->packets_limit > 0, "net.switching=wormhole with net.global_restriction"},
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].applies) {
            return limits[i].what;
        }
    }
    return NULL;
}
