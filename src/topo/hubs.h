/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_HUBS_H
#define WF_TOPO_HUBS_H

/*
 * Exact distances in any graph without a table of all pairs: pruned landmark labelling (Akiba,
 * Iwata, Yoshida, "Fast exact shortest-path distance queries on large networks by pruned
 * landmark labeling", SIGMOD 2013).
 *
 * Every vertex keeps its distances to and from some others, its hubs, chosen so that any two
 * vertices have a hub in common that lies on a shortest path between them. What that takes
 * depends on the graph: some entries a vertex in trees and in networks with few central
 * vertices, some hundreds in thousands of vertices without any centre.
 */

#include "topo/csr.h"

#include <stddef.h>

struct wf_topo_hubs;

/* Labels the vertices of `csr`, of which all can reach all. `reverse` are its links the other
 * way round; null if that is the same graph. Both are only borrowed. Returns null if it would
 * take more than `limit` entries of 8 bytes. Never changes afterwards. */
struct wf_topo_hubs *wf_topo_hubs_create(const struct wf_topo_csr *csr,
                                         const struct wf_topo_csr *reverse, size_t limit);
void wf_topo_hubs_free(struct wf_topo_hubs *hubs); /* null is allowed */

uint32_t wf_topo_hubs_distance(const struct wf_topo_hubs *hubs, uint32_t from, uint32_t to);

/* How many entries there are. */
size_t wf_topo_hubs_size(const struct wf_topo_hubs *hubs);

#endif
