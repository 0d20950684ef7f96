/* SPDX-License-Identifier: Apache-2.0 */
/* Every node has a separate link to every other node. Port p leads to node p; the node
 * itself is left out. */
#include "model/topo/topo.h"

struct params {
    uint64_t size;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, COUNT, .min = "1",
                 .max =
                     "65536", /* 65536 * 65535 directed links are just below WF_TOPO_LINK_MAX */
                 .doc = "Number of nodes, each linked to all others"),
    WF_PARAM_END,
};

static enum wf_status full_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    uint64_t size = given->size;

    (void)err; /* the table of parameters has checked everything */
    struct wf_topo topo = {
        .ops = &wf_topo_full_ops,
        .n_nodes = (uint32_t)size,
        .n_vertices = (uint32_t)size,
        .n_ports = (uint32_t)size - 1,
        .n_links = size * (size - 1) / 2,
        .bisection = size / 2 * (size - size / 2),
    };
    *out = wf_topo_keep(&topo, sizeof(topo));
    return WF_OK;
}

static uint32_t full_neighbor(const struct wf_topo *topo, uint32_t node, uint32_t port)
{
    return port < node ? port : port + 1;
}

static uint32_t full_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    return at == dst ? 0 : 1;
}

static uint32_t full_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    if (at == dst) {
        return WF_TOPO_NO_PORT;
    }
    return dst < at ? dst : dst - 1;
}

static uint32_t full_diameter(const struct wf_topo *topo)
{
    return topo->n_nodes > 1 ? 1 : 0;
}

static void full_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    uint64_t nodes = topo->n_nodes;

    counts[0] = nodes;
    if (nodes > 1) {
        counts[1] = nodes * (nodes - 1);
    }
}

static uint32_t full_coords(const struct wf_topo *topo, uint32_t node,
                            uint32_t coord[WF_TOPO_COORDS_MAX])
{
    coord[0] = node;
    return 1;
}

static const char *const examples[] = {"full:8", "full:1", "full:2", "full:9", NULL};

const struct wf_topo_ops wf_topo_full_ops = {
    .name = "full",
    .args = "<nodes>",
    .summary = "a link between every two nodes",
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .vc_class = WF_TOPO_VC_ONE_HOP,
    .one_path = true,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = full_create,
    .neighbor = full_neighbor,
    .distance = full_distance,
    .next_port = full_next_port,
    .diameter = full_diameter,
    .histogram = full_histogram,
    .coords = full_coords,
};
