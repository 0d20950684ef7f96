/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/neighbor.h"

#include "mpilib/memory.h"
#include "mpilib/topology.h"

static uint32_t *to_members(const int *list, uint32_t n)
{
    uint32_t *out = wl_malloc(n * sizeof(uint32_t));

    for (uint32_t i = 0; i < n; i++) {
        out[i] = list[i] == MPI_PROC_NULL ? WF_PROC_NULL : (uint32_t)list[i];
    }
    return out;
}

/* On a grid: in each dimension the one before and the one behind. */
static uint32_t *cart_neighbors(const struct wl_topology *cart)
{
    uint32_t *out = wl_malloc(2 * (size_t)cart->n * sizeof(uint32_t));

    for (int i = 0; i < 2 * cart->n; i++) {
        int place = wl_cart_neighbor(cart, i / 2, i % 2 == 0 ? -1 : 1);
        out[i] = place == MPI_PROC_NULL ? WF_PROC_NULL : (uint32_t)place;
    }
    return out;
}

void wl_neighbors(struct wl_rank *rank, const struct wl_view *view, struct wl_coll *coll)
{
    const struct wl_topology *topology = *view->extra != NULL ? (*view->extra)->topology : NULL;

    if (topology == NULL) {
        wl_fatal(rank, coll->function, "the communicator has no topology");
    }
    if (topology->kind == MPI_CART) {
        coll->mirrored = true;
        coll->n_sources = coll->n_destinations = 2 * (uint32_t)topology->n;
        coll->sources = cart_neighbors(topology);
        coll->destinations = cart_neighbors(topology);
    } else if (topology->kind == MPI_GRAPH) {
        int first = view->rank > 0 ? topology->index[view->rank - 1] : 0;
        uint32_t n = (uint32_t)(topology->index[view->rank] - first);
        coll->n_sources = coll->n_destinations = n;
        coll->sources = to_members(topology->edges + first, n);
        coll->destinations = to_members(topology->edges + first, n);
    } else {
        coll->n_sources = (uint32_t)topology->n_sources;
        coll->n_destinations = (uint32_t)topology->n_destinations;
        coll->sources = to_members(topology->sources, coll->n_sources);
        coll->destinations = to_members(topology->destinations, coll->n_destinations);
    }
}
