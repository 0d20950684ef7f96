/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_CSR_H
#define WF_TOPO_CSR_H

/* A directed graph as two arrays: the links of vertex v are to[first[v]] to to[first[v + 1] -
 * 1].
 */

#include <stdint.h>

struct wf_topo_csr {
    uint32_t n_vertices;
    uint32_t *first; /* [n_vertices + 1] */
    uint32_t *to;    /* [first[n_vertices]] */
};

#define WF_TOPO_CSR_UNREACHED UINT32_MAX

void wf_topo_csr_release(struct wf_topo_csr *csr);

/* The same links the other way round, into `out`, which the caller releases. */
void wf_topo_csr_reverse(const struct wf_topo_csr *csr, struct wf_topo_csr *out);

/* Breadth first: sets dist[v] to the hops from `from` to v, or WF_TOPO_CSR_UNREACHED; `queue` gets
 * the reached vertices by distance. Both have n_vertices entries. Returns how many it reached.
 */
uint32_t wf_topo_csr_search(const struct wf_topo_csr *csr, uint32_t from, uint32_t *dist,
                            uint32_t *queue);

/* The largest distance between the vertices 0 to n_nodes - 1, which reach each other, by a
 * search from each; and, unless it is null, their ordered pairs by distance into
 * counts[0..that]. */
uint32_t wf_topo_csr_measure(const struct wf_topo_csr *csr, uint32_t n_nodes, uint64_t *counts);

#endif
