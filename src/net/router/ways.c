/* SPDX-License-Identifier: Apache-2.0 */
/* What a packet decides once: which way around the rings, in which queue it is injected. */
#include "net/router/grid.h"

/* Which way around each ring. Where both are equally long it is a lot, but one that depends on
 * nothing but the packet and the seed, so that the queue for a message can be known before it
 * is sent. */
static void choose_directions(const struct wf_router_view *view,
                              struct wf_router_packet *packet, uint32_t index)
{
    const struct wf_router_net *model = view->model;
    const uint16_t *here = wf_router_coords_of(model, view->vertex);
    const uint16_t *there = wf_router_coords_of(model, packet->dst);
    uint64_t own = wf_rng_mix(model->seed ^ ((uint64_t)view->vertex << 32 | packet->number));
    uint64_t lots = wf_rng_mix(own + index * WF_RNG_GOLDEN);

    packet->on.down = 0;
    for (uint32_t dim = 0; dim < model->grid->n_dims; dim++) {
        uint32_t size = model->grid->size[dim];
        uint32_t up = (there[dim] + size - here[dim]) % size;
        bool down = there[dim] < here[dim];

        if (wf_router_is_ring(model, dim)) {
            down = 2 * up == size ? (lots >> dim & 1) != 0 : 2 * up > size;
        }
        packet->on.down |= (down ? UINT32_C(1) : 0) << dim;
    }
}

void wf_router_prepare(const struct wf_router_view *view, struct wf_router_packet *packet,
                       uint32_t index)
{
    const struct wf_router_net *model = view->model;

    if (model->grid != NULL) {
        choose_directions(view, packet, index);
    }
}

/* The way by which a packet goes most, or last. */
static uint32_t main_port(const struct wf_router_view *view,
                          const struct wf_router_packet *packet, bool longest)
{
    const struct wf_router_net *model = view->model;
    const uint16_t *here = wf_router_coords_of(model, view->vertex);
    const uint16_t *there = wf_router_coords_of(model, packet->dst);
    uint32_t most = 0, way = 0;

    for (uint32_t dim = 0; dim < model->grid->n_dims; dim++) {
        uint32_t size = model->grid->size[dim];
        uint32_t up = (there[dim] + size - here[dim]) % size;
        uint32_t hops = (packet->on.down >> dim & 1) != 0 ? (size - up) % size : up;

        if (hops > 0 && (!longest || hops > most)) {
            most = hops;
            way = wf_router_dim_port(packet, dim);
        }
    }
    return way;
}

uint32_t wf_router_injector(const struct wf_router_view *view,
                            const struct wf_router_packet *packet)
{
    const struct wf_router_layout *layout = view->layout;
    uint32_t first = layout->n_ports * view->model->vcs, best = first;

    if (view->model->set.injection != WF_ROUTER_INJECT_SHORTEST && view->model->grid != NULL) {
        bool longest = view->model->set.injection == WF_ROUTER_INJECT_LONGEST_PATH;
        return first + main_port(view, packet, longest) % layout->n_injection;
    }
    for (uint32_t i = first + 1; i < layout->n_inputs; i++) {
        if (view->inputs[i].n < view->inputs[best].n) {
            best = i;
        }
    }
    return best;
}
