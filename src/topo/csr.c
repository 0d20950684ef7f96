/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/csr.h"

#include "base/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void wf_topo_csr_release(struct wf_topo_csr *csr)
{
    free(csr->first);
    free(csr->to);
    *csr = (struct wf_topo_csr){.n_vertices = 0};
}

void wf_topo_csr_reverse(const struct wf_topo_csr *csr, struct wf_topo_csr *out)
{
    uint32_t n = csr->n_vertices, n_links = csr->first[n];
    uint32_t *place = wf_xcalloc((size_t)n + 1, sizeof(*place));

    out->n_vertices = n;
    out->first = wf_xcalloc((size_t)n + 1, sizeof(*out->first));
    out->to = wf_xcalloc((size_t)n_links + 1, sizeof(*out->to));
    for (uint32_t i = 0; i < n_links; i++) {
        out->first[csr->to[i] + 1]++;
    }
    for (uint32_t v = 0; v < n; v++) {
        out->first[v + 1] += out->first[v];
        place[v] = out->first[v];
    }
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t i = csr->first[v]; i < csr->first[v + 1]; i++) {
            out->to[place[csr->to[i]]++] = v;
        }
    }
    free(place);
}

uint32_t wf_topo_csr_search(const struct wf_topo_csr *csr, uint32_t from, uint32_t *dist,
                            uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    memset(dist, 0xff, csr->n_vertices * sizeof(*dist));
    dist[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t i = csr->first[at]; i < csr->first[at + 1]; i++) {
            uint32_t to = csr->to[i];
            if (dist[to] == WF_TOPO_CSR_UNREACHED) {
                dist[to] = dist[at] + 1;
                queue[tail++] = to;
            }
        }
    }
    return tail;
}

uint32_t wf_topo_csr_measure(const struct wf_topo_csr *csr, uint32_t n_nodes, uint64_t *counts)
{
    uint32_t *dist = wf_xcalloc(csr->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(csr->n_vertices, sizeof(*queue));
    uint64_t *all = wf_xcalloc(csr->n_vertices, sizeof(*all)); /* counts[] may be shorter */
    uint32_t diameter = 0;

    for (uint32_t from = 0; from < n_nodes; from++) {
        (void)wf_topo_csr_search(csr, from, dist, queue);
        for (uint32_t to = 0; to < n_nodes; to++) {
            if (dist[to] != WF_TOPO_CSR_UNREACHED) {
                diameter = dist[to] > diameter ? dist[to] : diameter;
                all[dist[to]]++;
            }
        }
    }
    for (uint32_t d = 0; d <= diameter && counts != NULL; d++) {
        counts[d] = all[d];
    }
    free(dist);
    free(queue);
    free(all);
    return diameter;
}
