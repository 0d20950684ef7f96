/* SPDX-License-Identifier: Apache-2.0 */
/* What a packet decides once: which way around the rings, in which queue it is injected. */
#include "net/router/grid.h"

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

    packet->on.ways = 0;
    for (uint32_t dim = 0; dim < model->grid->n_dims; dim++) {
        uint32_t size = model->grid->size[dim];
        uint32_t up = (there[dim] + size - here[dim]) % size;
        bool down = there[dim] < here[dim];

        if (wf_router_is_ring(model, dim)) {
            down = 2 * up == size ? (lots >> dim & 1) != 0 : 2 * up > size;
        }
        packet->on.ways |= (down ? UINT32_C(1) : 0) << dim;
    }
}

void wf_router_prepare(const struct wf_router_spot *spot, struct wf_router_packet *packet,
                       uint32_t index)
{
    const struct wf_router_net *model = spot->model;

    if (model->grid != NULL) {
        choose_ways(spot, packet, index);
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
        uint32_t hops = (packet->on.ways >> dim & 1) != 0 ? (size - up) % size : up;

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
