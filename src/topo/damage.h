/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_DAMAGE_H
#define WF_TOPO_DAMAGE_H

/* Which links and routers have failed: reads what topo/damaged.h describes. */

#include "topo/topo.h"

struct wf_topo_damage {
    const struct wf_topo *topo;
    bool *links;    /* by number of the directed link: it has failed */
    bool *vertices; /* likewise */
};

/* On failure (WF_EINVAL) nothing is left to release. */
WF_NODISCARD
enum wf_status wf_topo_damage_read(struct wf_topo_damage *damage, const struct wf_topo *topo,
                                   const char *text, struct wf_err *err);
void wf_topo_damage_fini(struct wf_topo_damage *damage);

/* The far end of a cable that works, WF_TOPO_NO_VERTEX if there is none. */
uint32_t wf_topo_damage_neighbor(const struct wf_topo_damage *damage, uint32_t vertex,
                                 uint32_t port);

#endif
