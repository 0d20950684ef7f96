/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A directed graph as two arrays (compressed sparse rows): the links of vertex v lead to
 * to[first[v]], ..., to[first[v + 1] - 1]. */

#include <stdint.h>

struct wf_topo_csr {
    uint32_t n_vertices;
    uint32_t *first; /* [n_vertices + 1] */
    uint32_t *to;    /* [first[n_vertices]] */
};

#define WF_TOPO_CSR_UNREACHED UINT32_MAX /* as WF_TOPO_UNREACHED */

void wf_topo_csr_release(struct wf_topo_csr *csr);

/* Sets `out` to the same links in reverse direction. The caller releases it. */
void wf_topo_csr_reverse(const struct wf_topo_csr *csr, struct wf_topo_csr *out);

/* Searches breadth first. Sets dist[v] to the hops from `from` to v, or to
 * WF_TOPO_CSR_UNREACHED, and `queue` to the reached vertices in the order of their distance.
 * Both have n_vertices entries. Returns the number of reached vertices. */
uint32_t wf_topo_csr_search(const struct wf_topo_csr *csr, uint32_t from, uint32_t *dist,
                            uint32_t *queue);

/* Adds to counts[d] the number of pairs at distance d, from one of the `n` vertices from `first`
 * on to one of the vertices below n_nodes; pairs without a path do not count. Returns the
 * largest d. `counts` has n_vertices entries. Searches from many vertices at once, which takes
 * about a tenth of the time of single searches. */
uint32_t wf_topo_csr_count(const struct wf_topo_csr *csr, uint32_t first, uint32_t n,
                           uint32_t n_nodes, uint64_t *counts);

/* The number of ordered pairs of the vertices below n_nodes at each distance from 0 to the
 * largest. Sets *n to the number of entries; the caller frees the array. If more vertices and links
 * than `budget` would have to be visited, pairs from some of the vertices only are counted, as many as
 * counts[0] says, and the largest distance is the largest one that was found. */
uint64_t *wf_topo_csr_pairs(const struct wf_topo_csr *csr, uint32_t n_nodes, uint64_t budget,
                            uint32_t *n);

/* Searches from each of the vertices 0 to n_nodes - 1. Returns their largest distance. If
 * `counts` is not null, counts[d] becomes the number of ordered pairs at distance d. Pairs that
 * do not reach each other do not count. */
uint32_t wf_topo_csr_measure(const struct wf_topo_csr *csr, uint32_t n_nodes, uint64_t *counts);
