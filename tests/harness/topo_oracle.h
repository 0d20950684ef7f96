/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* True distances in a topology, found without its own distance functions. */

#include "model/topo/topo.h"

#include <stdlib.h>
#include <string.h>

/* Hops from every vertex to `dst`: a breadth-first search over neighbor(), backwards. */
struct topo_oracle {
    const struct wf_topo *topo;
    uint32_t *dist, *queue; /* [n_vertices] */
    uint32_t *in_first;     /* [n_vertices + 1]: the links that lead to each vertex... */
    uint32_t *in_from;      /* ...and where they come from */
};

static inline void topo_oracle_init(struct topo_oracle *oracle, const struct wf_topo *topo)
{
    uint32_t n = topo->n_vertices;

    *oracle = (struct topo_oracle){
        .topo = topo,
        .dist = malloc(n * sizeof(uint32_t)),
        .queue = malloc(n * sizeof(uint32_t)),
        .in_first = calloc((size_t)n + 2, sizeof(uint32_t)),
        .in_from = malloc(((size_t)wf_topo_first_link(topo, n) + 1) * sizeof(uint32_t)),
    };
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t v = 0; v < n; v++) {
            for (uint32_t p = 0; p < wf_topo_ports(topo, v); p++) {
                uint32_t to = topo->ops->neighbor(topo, v, p);
                if (to == WF_TOPO_NO_VERTEX) {
                    continue;
                }
                if (pass == 0) {
                    oracle->in_first[to + 2]++;
                } else {
                    oracle->in_from[oracle->in_first[to + 1]++] = v;
                }
            }
        }
        for (uint32_t v = 0; pass == 0 && v < n; v++) {
            oracle->in_first[v + 2] += oracle->in_first[v + 1];
        }
    }
}

static inline void topo_oracle_fini(struct topo_oracle *oracle)
{
    free(oracle->dist);
    free(oracle->queue);
    free(oracle->in_first);
    free(oracle->in_from);
}

static inline void topo_oracle_search(struct topo_oracle *oracle, uint32_t dst)
{
    uint32_t head = 0, tail = 0;

    memset(oracle->dist, 0xff, oracle->topo->n_vertices * sizeof(uint32_t));
    oracle->dist[dst] = 0;
    oracle->queue[tail++] = dst;
    while (head < tail) {
        uint32_t at = oracle->queue[head++];
        for (uint32_t i = oracle->in_first[at]; i < oracle->in_first[at + 1]; i++) {
            uint32_t from = oracle->in_from[i];
            if (oracle->dist[from] == UINT32_MAX) {
                oracle->dist[from] = oracle->dist[at] + 1;
                oracle->queue[tail++] = from;
            }
        }
    }
}
