/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTER_GRID_H
#define WF_NET_ROUTER_GRID_H

/* Small things that choosing a way takes. */

#include "base/rng.h"
#include "net/router/net.h"

static inline const uint16_t *wf_router_coords_of(const struct wf_router_net *model,
                                                  uint32_t vertex)
{
    return model->coords + (size_t)vertex * model->grid->n_dims;
}

/* Whether a dimension can be gone around. */
static inline bool wf_router_is_ring(const struct wf_router_net *model, uint32_t dim)
{
    return model->grid->wrap[dim] && model->grid->size[dim] > 2;
}

/* The port by which a packet goes on in a dimension. */
static inline uint32_t wf_router_dim_port(const struct wf_router_packet *packet, uint32_t dim)
{
    return 2 * dim + ((packet->on.down >> dim & 1));
}

/* A random number below n. */
static inline uint32_t wf_router_below(const struct wf_router_view *view, uint32_t n)
{
    return n == 1 ? 0 : (uint32_t)wf_rng_below(wf_random(view->ctx), n);
}

/* router_route.c: the ports by which a packet may leave, of a router that is not of a grid;
 * returns how many. With requests in a fixed order there is one. */
uint32_t wf_router_ports(const struct wf_router_view *view,
                         const struct wf_router_packet *packet, uint32_t *ports);

#endif
