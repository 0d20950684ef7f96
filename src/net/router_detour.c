/* SPDX-License-Identifier: Apache-2.0 */
/* What a packet decides once: which way around the rings, by which node, in which queue. */
#include "net/router_grid.h"

/* ---- detours ---- */

/* Whether a packet is where it had to pass: at the node, or at the router of the node. */
static bool is_via(const struct wf_router_spot *spot, uint32_t via)
{
    const struct wf_topo *topo = spot->model->topo;

    return topo->ops->distance(topo, spot->vertex, via) <= (wf_topo_is_direct(topo) ? 0u : 1u);
}

/* Packets that wait for the first link of the way to a node. */
static uint32_t waiting_for(const struct wf_router_spot *spot, uint32_t node)
{
    const struct wf_topo *topo = spot->model->topo;
    uint32_t port = topo->ops->next_port(topo, spot->vertex, node), sum = 0;

    for (uint32_t vc = 0; port != WF_TOPO_NO_PORT && vc < spot->model->vcs; vc++) {
        sum += spot->channels[port * spot->model->vcs + vc].used;
    }
    return sum;
}

/* Universal globally adaptive load balancing (Singh, "Load-balanced routing in interconnection
 * networks", 2005): by a random node if the queue on the direct way, times its length, is
 * longer. */
static void choose_detour(const struct wf_router_spot *spot, struct wf_router_packet *packet)
{
    const struct wf_topo *topo = spot->model->topo;
    uint32_t via = wf_router_below(spot, spot->model->net.n_nodes);

    if (is_via(spot, via) || via == packet->dst) {
        return;
    }
    if (spot->model->scheme == WF_ROUTER_UGAL) {
        uint64_t direct = topo->ops->distance(topo, spot->vertex, packet->dst);
        uint64_t around = (uint64_t)topo->ops->distance(topo, spot->vertex, via) +
                          topo->ops->distance(topo, via, packet->dst);
        if (waiting_for(spot, packet->dst) * direct <= waiting_for(spot, via) * around) {
            return;
        }
    }
    packet->via = via + 1;
}

/* The first router decides. */
void wf_router_note_via(const struct wf_router_spot *spot, struct wf_router_packet *packet)
{
    const struct wf_router_net *model = spot->model;
    bool direct = wf_topo_is_direct(model->topo);

    if (packet->via != 0) {
        packet->via = is_via(spot, packet->via - 1) ? 0 : packet->via;
    } else if ((model->scheme == WF_ROUTER_VALIANT || model->scheme == WF_ROUTER_UGAL) &&
               packet->hops == (direct ? 0 : 1) && !is_via(spot, packet->dst)) {
        choose_detour(spot, packet);
    }
}

/* ---- injection ---- */

/* Which way around each ring. Where both are equally long it is a lot, but one that depends on
 * nothing but the packet and the seed, so that the queue for a message can be known before it
 * is sent. */
static void choose_ways(const struct wf_router_spot *spot, struct wf_router_packet *packet,
                        uint32_t index)
{
    const struct wf_router_net *model = spot->model;
    const uint16_t *here = wf_router_coords_of(model, spot->vertex);
    const uint16_t *there = wf_router_coords_of(model, packet->dst);
    uint64_t own = wf_rng_mix(model->seed ^ ((uint64_t)spot->vertex << 32 | packet->number));
    uint64_t lots = wf_rng_mix(own + index * WF_RNG_GOLDEN);

    packet->ways = 0;
    for (uint32_t dim = 0; dim < model->grid->n_dims; dim++) {
        uint32_t size = model->grid->size[dim];
        uint32_t up = (there[dim] + size - here[dim]) % size;
        bool down = there[dim] < here[dim];

        if (wf_router_is_ring(model, dim)) {
            down = 2 * up == size ? (lots >> dim & 1) != 0 : 2 * up > size;
        }
        packet->ways |= (uint8_t)((down ? 1 : 0) << dim);
    }
}

void wf_router_prepare(const struct wf_router_spot *spot, struct wf_router_packet *packet,
                       uint32_t index)
{
    const struct wf_router_net *model = spot->model;

    packet->via = 0;
    if (model->grid != NULL) {
        choose_ways(spot, packet, index);
    } else {
        wf_router_note_via(spot, packet);
    }
}

/* The way by which a packet goes most, or last. */
static uint32_t main_way(const struct wf_router_spot *spot,
                         const struct wf_router_packet *packet, bool longest)
{
    const struct wf_router_net *model = spot->model;
    const uint16_t *here = wf_router_coords_of(model, spot->vertex);
    const uint16_t *there = wf_router_coords_of(model, packet->dst);
    uint32_t most = 0, way = 0;

    for (uint32_t dim = 0; dim < model->grid->n_dims; dim++) {
        uint32_t size = model->grid->size[dim];
        uint32_t up = (there[dim] + size - here[dim]) % size;
        uint32_t hops = (packet->ways >> dim & 1) != 0 ? (size - up) % size : up;

        if (hops > 0 && (!longest || hops > most)) {
            most = hops;
            way = wf_router_way_port(packet, dim);
        }
    }
    return way;
}

uint32_t wf_router_injector(const struct wf_router_spot *spot,
                            const struct wf_router_packet *packet)
{
    const struct wf_router_layout *layout = spot->layout;
    uint32_t first = layout->n_ports * spot->model->vcs, best = first;

    if (spot->model->set.injection != WF_ROUTER_INJECT_SHORTEST && spot->model->grid != NULL) {
        bool longest = spot->model->set.injection == WF_ROUTER_INJECT_LONGEST_PATH;
        return first + main_way(spot, packet, longest) % layout->n_injection;
    }
    for (uint32_t i = first + 1; i < layout->n_inputs; i++) {
        if (spot->inputs[i].n < spot->inputs[best].n) {
            best = i;
        }
    }
    return best;
}
