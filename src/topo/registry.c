/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/kinds.h"

#include <stdlib.h>

/* The one place that lists topologies, in the order of help: simple ones first. */
static const struct wf_topo_ops *const topo_table[] = {
    &wf_topo_star_ops,          &wf_topo_ring_ops,
    &wf_topo_mesh_ops,          &wf_topo_torus_ops,
    &wf_topo_ttorus_ops,        &wf_topo_tree_ops,
    &wf_topo_fattree_ops,       &wf_topo_dragonfly_ops,
    &wf_topo_dragonflyplus_ops, &wf_topo_hyperx_ops,
    &wf_topo_slimfly_ops,       &wf_topo_full_ops,
    &wf_topo_graph_ops,         NULL,
};

const struct wf_topo_ops *const *wf_topo_table(void)
{
    return topo_table;
}

uint32_t wf_topo_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                               uint32_t *ports)
{
    if (topo->ops->minimal_ports != NULL) {
        return topo->ops->minimal_ports(topo, at, dst, ports);
    }

    uint32_t left = topo->ops->distance(topo, at, dst), n = 0;
    uint32_t n_ports = wf_topo_ports(topo, at);
    for (uint32_t port = 0; port < n_ports && left > 0; port++) {
        uint32_t to = topo->ops->neighbor(topo, at, port);
        if (to != WF_TOPO_NO_VERTEX && topo->ops->distance(topo, to, dst) + 1 == left) {
            ports[n++] = port;
        }
    }
    return n;
}

void wf_topo_free(struct wf_topo *topo)
{
    if (topo != NULL) {
        topo->ops->destroy(topo);
    }
}
