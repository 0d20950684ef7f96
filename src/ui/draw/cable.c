/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/cable.h"

#include "base/mem.h"

#include <stdlib.h>

void wf_draw_cables_begin(struct wf_draw_cables *cables, const struct wf_topo *topo)
{
    *cables = (struct wf_draw_cables){
        .topo = topo,
        .hint = wf_xcalloc(topo->n_vertices, sizeof(*cables->hint)),
    };
}

void wf_draw_cables_end(struct wf_draw_cables *cables)
{
    free(cables->hint);
    cables->hint = NULL;
}

/* The port of cable->to at the other end of the cable. The search begins after the port that
 * it found last: where neighbours are in order, as in a full mesh, the next port is the
 * right one. */
static uint32_t other_end(const struct wf_draw_cables *cables,
                          const struct wf_draw_cable *cable)
{
    const struct wf_topo *topo = cables->topo;
    uint32_t n = wf_topo_ports(topo, cable->to), port = cables->hint[cable->to];

    for (uint32_t tried = 0; tried < n; tried++, port++) {
        port = port < n ? port : 0;
        if (topo->ops->neighbor(topo, cable->to, port) == cable->from) {
            cables->hint[cable->to] = port + 1;
            return port;
        }
    }
    return WF_TOPO_NO_PORT;
}

bool wf_draw_cables_next(struct wf_draw_cables *cables, struct wf_draw_cable *cable)
{
    const struct wf_topo *topo = cables->topo;

    for (; cables->vertex < topo->n_vertices; cables->vertex++, cables->port = 0) {
        uint32_t n_ports = wf_topo_ports(topo, cables->vertex);

        while (cables->port < n_ports) {
            uint32_t port = cables->port++;
            uint32_t to = topo->ops->neighbor(topo, cables->vertex, port);

            if (to == WF_TOPO_NO_VERTEX || (!topo->oneway && to < cables->vertex)) {
                continue;
            }
            *cable = (struct wf_draw_cable){cables->vertex, port, to, WF_TOPO_NO_PORT};
            if (!topo->oneway) {
                cable->to_port = other_end(cables, cable);
            }
            return true;
        }
    }
    return false;
}
