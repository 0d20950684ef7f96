/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/listed.h"

#include "model/topo/rows.h"

/* Memory for distances: half a gigabyte, enough for all pairs of 23,000 vertices; then labels of
 * up to 2 GiB, which only networks of hundreds of thousands of vertices without a centre exceed. */
static const struct wf_topo_rows_limits limits = {
    .row_bytes = (size_t)1 << 29,
    .labels = (size_t)1 << 28,
};

/* Visits of vertices and links for statistics of all pairs: a few seconds. */
#define PAIRS_BUDGET (UINT64_C(1) << 28)

static const struct wf_topo_listed *to_listed(const struct wf_topo *topo)
{
    return (const struct wf_topo_listed *)topo;
}

void wf_topo_listed_init(struct wf_topo_listed *listed)
{
    struct wf_topo *topo = &listed->topo;

    topo->n_vertices = listed->links.n_vertices;
    topo->n_links = listed->links.first[topo->n_vertices] / (topo->oneway ? 1 : 2);
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = listed->first[v + 1] - listed->first[v];
        topo->n_ports = n_ports > topo->n_ports ? n_ports : topo->n_ports;
    }
    listed->rows = wf_topo_rows_create(&listed->links, topo->oneway, limits);
}

void wf_topo_listed_fini(struct wf_topo_listed *listed)
{
    wf_topo_rows_free(listed->rows);
}

uint32_t wf_topo_listed_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    return to_listed(topo)->first[vertex];
}

uint32_t wf_topo_listed_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct wf_topo_listed *listed = to_listed(topo);

    return listed->far[listed->first[vertex] + port];
}

uint32_t wf_topo_listed_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    return wf_topo_rows_distance(to_listed(topo)->rows, at, dst);
}

uint32_t wf_topo_listed_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct wf_topo_listed *listed = to_listed(topo);
    const uint32_t *far = listed->far + listed->first[at];
    uint32_t left = wf_topo_rows_distance(listed->rows, at, dst), port = 0;

    if (left == 0 || left == WF_TOPO_UNREACHED) {
        return WF_TOPO_NO_PORT;
    }
    while (far[port] == WF_TOPO_NO_VERTEX ||
           wf_topo_rows_distance(listed->rows, far[port], dst) >= left) {
        port++;
    }
    return port;
}

uint32_t wf_topo_listed_diameter(const struct wf_topo *topo)
{
    return wf_topo_csr_measure(&to_listed(topo)->links, topo->n_nodes, NULL);
}

void wf_topo_listed_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    (void)wf_topo_csr_measure(&to_listed(topo)->links, topo->n_nodes, counts);
}

uint64_t *wf_topo_listed_pairs(const struct wf_topo *topo, uint32_t *n)
{
    return wf_topo_csr_pairs(&to_listed(topo)->links, topo->n_nodes, PAIRS_BUDGET, n);
}

uint32_t wf_topo_listed_coords(const struct wf_topo *topo, uint32_t vertex,
                               uint32_t coord[WF_TOPO_COORDS_MAX])
{
    coord[0] = vertex;
    return 1;
}
