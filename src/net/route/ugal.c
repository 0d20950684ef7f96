/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Universal globally adaptive load-balanced routing (A. Singh, "Load-balanced routing in
 * interconnection networks", PhD thesis, Stanford, 2005): at the source a packet takes the
 * minimal way or one over a random node, whichever promises to be quicker by the bytes that
 * wait there times its hops. The local version knows the queues of the router itself; the
 * global one adds those that the packet would meet at the next, which its neighbours tell it
 * of. In a dragonfly that is all there is to know of the source's group, as J. Kim et al. have
 * it ("Technology-driven, highly-scalable dragonfly topology", ISCA 2008).
 */
#include "net/route/detour.h"
#include "net/route/route.h"

static enum wf_status ugal_l_create(const struct wf_topo *topo, const char *file,
                                    struct wf_route **out, struct wf_err *err)
{
    (void)file;
    return wf_vcs_create(
        topo, (struct wf_vc_plan){.ops = &wf_route_ugal_l_ops, .detour = WF_VC_ONE_DETOUR}, out,
        err);
}

static enum wf_status ugal_g_create(const struct wf_topo *topo, const char *file,
                                    struct wf_route **out, struct wf_err *err)
{
    (void)file;
    return wf_vcs_create(
        topo, (struct wf_vc_plan){.ops = &wf_route_ugal_g_ops, .detour = WF_VC_ONE_DETOUR}, out,
        err);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

/* What waits at the vertex behind `port` on a way to `via`, or to the destination if that is
 * WF_TOPO_NO_VERTEX. */
static uint64_t waits_behind(const struct wf_route_query *query, const struct wf_vc_step *step,
                             uint32_t port, uint32_t via)
{
    const struct wf_topo *topo = query->topo;
    uint32_t next = topo->ops->neighbor(topo, query->at, step->part.first_port + port);

    if (next == query->dst) {
        return 0;
    }
    struct wf_part part = wf_topo_next_part(topo, next, query->dst);
    uint32_t dst = via != WF_TOPO_NO_VERTEX && part.level == step->part.level ? via : part.dst;
    dst = part.at == dst ? part.dst : dst;
    uint32_t onward = part.topo->ops->next_port(part.topo, part.at, dst);
    return query->queue(query, next, part.first_port + onward);
}

static uint64_t waits_on(const struct wf_route_query *query, const struct wf_vc_step *step,
                         uint32_t port, uint32_t via)
{
    uint64_t here = query->queue(query, query->at, step->part.first_port + port);

    return query->route->ops == &wf_route_ugal_g_ops
               ? add(here, waits_behind(query, step, port, via))
               : here;
}

static uint32_t ugal_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    struct wf_vc_step step;

    wf_vc_step(query, state, &step);
    if (wf_route_detour_is_due(&step, state)) {
        struct wf_route_detour detour = wf_route_detour_draw(query, &step);
        if (detour.via != WF_TOPO_NO_VERTEX) {
            uint64_t direct = waits_on(query, &step, detour.port_direct, WF_TOPO_NO_VERTEX);
            uint64_t over = waits_on(query, &step, detour.port_via, detour.via);
            if (wf_route_detour_prefers_direct(direct, over, &detour)) {
                detour.via = WF_TOPO_NO_VERTEX;
            }
        }
        wf_route_detour_decide(&step, state, detour.via);
    }
    return wf_route_detour_go(&step, state);
}

const struct wf_route_ops wf_route_ugal_l_ops = {
    .name = "ugal_l",
    .summary = "minimal or over a random node, by the queues of the source's router",
    .asks_queues = true,
    .create = ugal_l_create,
    .destroy = wf_vcs_destroy,
    .next = ugal_next,
};

const struct wf_route_ops wf_route_ugal_g_ops = {
    .name = "ugal_g",
    .summary = "likewise, by the queues of the next router too",
    .asks_queues = true,
    .asks_far = true,
    .create = ugal_g_create,
    .destroy = wf_vcs_destroy,
    .next = ugal_next,
};
