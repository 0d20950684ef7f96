/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Exact distances in any graph without a table of all pairs: pruned landmark labelling (Akiba,
 * Iwata, Yoshida, "Fast exact shortest-path distance queries on large networks by pruned
 * landmark labeling", SIGMOD 2013).
 *
 * Every vertex keeps its distances to and from some others, its hubs. Any two vertices have a
 * hub in common that lies on a shortest path between them. The memory depends on the graph: a
 * few entries per vertex in trees and in networks with few central vertices, some hundreds per
 * vertex in networks of thousands of vertices without a centre.
 */

#include "model/topo/csr.h"

#include <stddef.h>

struct wf_topo_hubs;

/* Labels the vertices of `csr`. `reverse` has its links in
 * reverse direction; it is null if that is the same graph. Both are borrowed. Returns null if
 * the labels would take more than `limit` entries of 8 bytes. The result never changes. */
struct wf_topo_hubs *wf_topo_hubs_create(const struct wf_topo_csr *csr,
                                         const struct wf_topo_csr *reverse, size_t limit);
void wf_topo_hubs_free(struct wf_topo_hubs *hubs); /* null is allowed */

/* WF_TOPO_CSR_UNREACHED if there is no path. */
uint32_t wf_topo_hubs_distance(const struct wf_topo_hubs *hubs, uint32_t from, uint32_t to);

/* The number of label entries. */
size_t wf_topo_hubs_size(const struct wf_topo_hubs *hubs);
