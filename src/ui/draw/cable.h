/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/topo/topo.h"

/* A cable, described from its end with the lower number; a one-way link is described from where
 * it begins. */
struct wf_draw_cable {
    uint32_t from, from_port;
    uint32_t to, to_port; /* to_port is WF_TOPO_NO_PORT if links are one-way */
};

/* Steps through all cables, vertex by vertex. */
struct wf_draw_cables {
    const struct wf_topo *topo;
    uint32_t vertex, port;
    uint32_t *hint; /* [n_vertices]: the port to look at first for the other end */
};

void wf_draw_cables_begin(struct wf_draw_cables *cables, const struct wf_topo *topo);
bool wf_draw_cables_next(struct wf_draw_cables *cables,
                         struct wf_draw_cable *cable); /* false at the end */
void wf_draw_cables_end(struct wf_draw_cables *cables);
