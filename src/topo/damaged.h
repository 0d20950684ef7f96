/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_DAMAGED_H
#define WF_TOPO_DAMAGED_H

/*
 * A network of which some links and routers have failed, as a topology of its own: routes lead
 * around them, and distances are those that remain, found by searches; in large networks as in
 * graphs from files (topo/hubs.h).
 *
 *   damage = item { "," item }
 *   item   = "link:" vertex "-" vertex    the cable between the two, both ways
 *          | "router:" vertex             the vertex and all its cables
 *          | "links:" share               so many cables, at random
 *          | "routers:" share             so many switches, at random
 *          | "seed:" number               of the random choice; 1 if not given
 *   share  = number | number "%"          of those that may fail: 3, 5%, 0.5%
 *
 * Vertices are those of the whole network. Cables and switches without which a vertex would be
 * cut off for certain, being its only one, do not fail at random. Switches that nothing reaches
 * any more are no vertices of the damaged network: those behind them move up. Ports keep their
 * numbers; those without a working cable have none.
 */

#include "topo/topo.h"

/* The network `whole`, which must live as long, after that damage. WF_EINVAL, with the item, if
 * it makes no sense or a compute node is cut off; WF_ELIMIT if distances would take too much
 * memory. Ownership as in ops->create. */
WF_NODISCARD
enum wf_status wf_topo_damaged_create(const struct wf_topo *whole, const char *damage,
                                      struct wf_topo **out, struct wf_err *err);

/* The network before the damage, and the number of a vertex in it; of any other topology itself
 * and the same number. */
const struct wf_topo *wf_topo_damaged_whole(const struct wf_topo *topo);
uint32_t wf_topo_damaged_vertex(const struct wf_topo *topo, uint32_t vertex);

#endif
