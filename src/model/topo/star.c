/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes around one switch, whose port p leads to node p. The switch is the last vertex. */
#include "model/topo/classes.h"
#include "model/topo/topo.h"

#include <assert.h>

struct params {
    uint64_t size;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, COUNT, .min = "1",
                 .max = "2147483647", /* two directed links each */
                 .doc = "Nodes around the switch"),
    WF_PARAM_END,
};

static enum wf_status star_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    uint32_t size = (uint32_t)given->size;

    (void)err; /* the table of parameters has checked everything */
    struct wf_topo topo = {
        .ops = &wf_topo_star_ops,
        .n_nodes = size,
        .n_vertices = size + 1,
        .n_ports = size,
        .gate = size,
        .n_links = size,
        .bisection = size / 2, /* cuts the cables of the half without the switch */
        .classes = wf_topo_class_groups,
        .n_classes = WF_TOPO_CLASS_TERMINAL + 1,
    };
    *out = wf_topo_keep(&topo, sizeof(topo));
    return WF_OK;
}

static uint32_t star_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    return vertex <= topo->n_nodes ? vertex : 2 * topo->n_nodes;
}

static uint32_t star_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    assert(vertex < topo->n_vertices);
    return vertex == topo->gate ? port : topo->gate;
}

static uint32_t star_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    if (at == dst) {
        return 0;
    }
    return at == topo->gate || dst == topo->gate ? 1 : 2;
}

static uint32_t star_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    if (at == dst) {
        return WF_TOPO_NO_PORT;
    }
    return at == topo->gate ? dst : 0;
}

static uint32_t star_diameter(const struct wf_topo *topo)
{
    return topo->n_nodes > 1 ? 2 : 0;
}

static void star_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    uint64_t nodes = topo->n_nodes;

    counts[0] = nodes;
    if (nodes > 1) {
        counts[1] = 0;
        counts[2] = nodes * (nodes - 1);
    }
}

static uint32_t star_coords(const struct wf_topo *topo, uint32_t vertex,
                            uint32_t coord[WF_TOPO_COORDS_MAX])
{
    coord[0] = vertex == topo->gate ? WF_TOPO_NO_VERTEX : vertex;
    return 1;
}

static const char *const examples[] = {"star:8", "star:1", "star:2", "star:9", NULL};

const struct wf_topo_ops wf_topo_star_ops = {
    .name = "star",
    .args = "<nodes>",
    .summary = "nodes around one switch",
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .vc_class = WF_TOPO_VC_TREE,
    .one_path = true,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = star_create,
    .first_link = star_first_link,
    .neighbor = star_neighbor,
    .distance = star_distance,
    .next_port = star_next_port,
    .diameter = star_diameter,
    .histogram = star_histogram,
    .coords = star_coords,
};
