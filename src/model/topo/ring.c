/* SPDX-License-Identifier: Apache-2.0 */
/* A torus of one dimension, or, with one-way links, a ring in which the only port of a node
 * leads to the next higher node, as in register-insertion and slotted rings. */
#include "model/topo/grid.h"
#include "model/topo/topo.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

struct params {
    uint64_t size;
    bool oneway;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, COUNT, .min = "1",
                 .max = "2147483647", /* two directed links per node */
                 .doc = "Nodes on the ring"),
    WF_PARAM_ROW(struct params, oneway, BOOL, .def = "false",
                 .doc = "Whether links lead only from a node to the next higher one"),
    WF_PARAM_END,
};

static enum wf_status ring_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    struct wf_topo_grid grid;
    char size[32];

    (void)snprintf(size, sizeof(size), "%" PRIu64, given->size);
    WF_TRY(wf_topo_grid_parse(&grid, &wf_topo_ring_ops, size, err));
    grid.wrap[0] = true;

    struct wf_topo *topo = wf_topo_grid_finish(&grid);
    topo->classes = NULL;
    topo->n_classes = 0;
    if (given->oneway) {
        topo->oneway = true;
        topo->n_ports = 1;
        topo->n_links = topo->n_nodes > 1 ? topo->n_nodes : 0;
        topo->bisection = topo->n_nodes > 1 ? 1 : 0; /* in each direction */
    }
    *out = topo;
    return WF_OK;
}

static uint32_t ring_neighbor(const struct wf_topo *topo, uint32_t node, uint32_t port)
{
    if (!topo->oneway) {
        return wf_topo_grid_neighbor(topo, node, port);
    }
    assert(node < topo->n_nodes && port == 0);
    if (topo->n_nodes == 1) {
        return WF_TOPO_NO_VERTEX;
    }
    return node + 1 < topo->n_nodes ? node + 1 : 0;
}

static uint32_t ring_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    if (!topo->oneway) {
        return wf_topo_grid_distance(topo, at, dst);
    }
    return at <= dst ? dst - at : topo->n_nodes - (at - dst);
}

static uint32_t ring_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    if (!topo->oneway) {
        return wf_topo_grid_next_port(topo, at, dst);
    }
    return at != dst ? 0 : WF_TOPO_NO_PORT;
}

static uint32_t ring_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                   uint32_t *ports)
{
    if (!topo->oneway) {
        return wf_topo_grid_minimal_ports(topo, at, dst, ports);
    }
    ports[0] = 0;
    return at != dst ? 1 : 0;
}

static uint32_t ring_diameter(const struct wf_topo *topo)
{
    return topo->oneway ? topo->n_nodes - 1 : wf_topo_grid_diameter(topo);
}

static void ring_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    if (!topo->oneway) {
        wf_topo_grid_histogram(topo, counts);
        return;
    }
    for (uint32_t d = 0; d < topo->n_nodes; d++) {
        counts[d] = topo->n_nodes;
    }
}

static const char *const examples[] = {
    "ring:8",        "ring:1",        "ring:2",        "ring:3",        "ring:9",
    "ring:1,oneway", "ring:2,oneway", "ring:3,oneway", "ring:8,oneway", NULL,
};

const struct wf_topo_ops wf_topo_ring_ops = {
    .name = "ring",
    .args = "<nodes>[,oneway]",
    .summary = "a ring, in both directions or one",
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .vc_class = WF_TOPO_VC_GRID,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = ring_create,
    .neighbor = ring_neighbor,
    .distance = ring_distance,
    .next_port = ring_next_port,
    .minimal_ports = ring_minimal_ports,
    .diameter = ring_diameter,
    .histogram = ring_histogram,
    .coords = wf_topo_grid_coords,
};
