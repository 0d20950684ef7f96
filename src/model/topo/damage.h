/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The set of links and routers that have failed, read from the notation of model/topo/damaged.h. */

#include "model/topo/topo.h"

struct wf_topo_damage {
    const struct wf_topo *topo;
    bool *links;    /* [number of directed link] whether it has failed */
    bool *vertices; /* [number of vertex] whether it has failed */
};

/* Reads `text`. The caller releases `damage`, but not after a failure (WF_EINVAL). */
enum wf_status wf_topo_damage_read(struct wf_topo_damage *damage, const struct wf_topo *topo,
                                   const char *text, struct wf_err *err);
void wf_topo_damage_fini(struct wf_topo_damage *damage);

/* The vertex at the far end of the cable in a port; WF_TOPO_NO_VERTEX if it has failed. */
uint32_t wf_topo_damage_neighbor(const struct wf_topo_damage *damage, uint32_t vertex,
                                 uint32_t port);
