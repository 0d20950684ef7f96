/* SPDX-License-Identifier: Apache-2.0 */
/* Any network that a file describes. Every vertex forwards, nodes included. */
#include "model/topo/graph.h"

#include "base/file.h"
#include "model/topo/graph_format.h"
#include "model/topo/rows.h"
#include "model/topo/topo.h"

#include <stdlib.h>

/* Memory for distances: half a gigabyte, enough for all pairs of 23,000 vertices; then labels of
 * up to 2 GiB, which only networks of hundreds of thousands of vertices without a centre exceed. */
static const struct wf_topo_rows_limits limits = {
    .row_bytes = (size_t)1 << 29,
    .labels = (size_t)1 << 28,
};

struct graph {
    struct wf_topo topo;
    struct wf_topo_graph_net net;
    struct wf_topo_rows *rows;
};

struct params {
    char *file;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, file, TEXT,
                 .doc = "An edge list, DOT or GraphML file; see docs/reference/graph-files.md"),
    WF_PARAM_END,
};

static const struct graph *to_graph(const struct wf_topo *topo)
{
    return (const struct graph *)topo;
}

/* Takes ownership of the network. */
static struct wf_topo *finish(const struct wf_topo_graph_net *net)
{
    const struct wf_topo_csr *links = &net->links;
    uint32_t n_ports = 0, n_links = links->first[links->n_vertices];

    for (uint32_t v = 0; v < links->n_vertices; v++) {
        uint32_t degree = links->first[v + 1] - links->first[v];
        n_ports = degree > n_ports ? degree : n_ports;
    }
    struct graph graph = {
        .topo = {.ops = &wf_topo_graph_ops,
                 .n_nodes = net->n_nodes,
                 .n_vertices = links->n_vertices,
                 .n_ports = n_ports,
                 .gate = net->gate,
                 .n_links = net->oneway ? n_links : n_links / 2,
                 .oneway = net->oneway},
        .net = *net,
    };
    graph.topo.classes = (const char *const *)net->classes;
    graph.topo.n_classes = net->n_classes;
    struct graph *kept = (struct graph *)wf_topo_keep(&graph, sizeof(graph));
    kept->rows = wf_topo_rows_create(&kept->net.links, net->oneway, limits);
    return &kept->topo;
}

enum wf_status wf_topo_graph_create_text(const char *name, const char *text, size_t size,
                                         struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo_graph_net net;

    WF_TRY(wf_topo_graph_read(name, text, size, &net, err));
    *out = finish(&net);
    return WF_OK;
}

static enum wf_status graph_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    struct wf_buf text = {.data = NULL};

    enum wf_status status = wf_file_read(given->file, WF_TOPO_GRAPH_TEXT_MAX, &text, err);
    if (status == WF_OK) {
        status = wf_topo_graph_create_text(given->file, (const char *)text.data, text.size, out,
                                           err);
    }
    wf_buf_fini(&text);
    return status;
}

static void graph_destroy(struct wf_topo *topo)
{
    struct graph *graph = (struct graph *)topo;

    wf_topo_rows_free(graph->rows);
    wf_topo_graph_net_release(&graph->net);
    free(graph);
}

static uint32_t graph_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    return to_graph(topo)->net.links.first[vertex];
}

static uint32_t graph_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct wf_topo_csr *links = &to_graph(topo)->net.links;

    return links->to[links->first[vertex] + port];
}

static uint32_t graph_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    return wf_topo_rows_distance(to_graph(topo)->rows, at, dst);
}

/* Takes the lowest port that leads closer to the destination. */
static uint32_t graph_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct graph *graph = to_graph(topo);
    const struct wf_topo_csr *links = &graph->net.links;
    uint32_t left = wf_topo_rows_distance(graph->rows, at, dst), port = 0;

    if (left == 0) {
        return WF_TOPO_NO_PORT;
    }
    while (wf_topo_rows_distance(graph->rows, links->to[links->first[at] + port], dst) >=
           left) {
        port++;
    }
    return port;
}

static uint32_t graph_diameter(const struct wf_topo *topo)
{
    return wf_topo_csr_measure(&to_graph(topo)->net.links, topo->n_nodes, NULL);
}

static void graph_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    (void)wf_topo_csr_measure(&to_graph(topo)->net.links, topo->n_nodes, counts);
}

static uint64_t *graph_pairs(const struct wf_topo *topo, uint32_t *n)
{
    return wf_topo_csr_pairs(&to_graph(topo)->net.links, topo->n_nodes, n);
}

static uint32_t graph_coords(const struct wf_topo *topo, uint32_t vertex,
                             uint32_t coord[WF_TOPO_COORDS_MAX])
{
    coord[0] = vertex;
    return 1;
}

static struct wf_topo_link_props graph_link_props(const struct wf_topo *topo, uint32_t vertex,
                                                  uint32_t port)
{
    const struct wf_topo_graph_net *net = &to_graph(topo)->net;

    return net->props != NULL ? net->props[net->links.first[vertex] + port]
                              : (struct wf_topo_link_props){.latency = 0};
}

static uint32_t graph_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct wf_topo_graph_net *net = &to_graph(topo)->net;

    return net->class_of != NULL ? net->class_of[net->links.first[vertex] + port] : 0;
}

/* A spec names a file, and no file exists on every machine: tests write their own. */
static const char *const no_examples[] = {NULL};

const struct wf_topo_ops wf_topo_graph_ops = {
    .name = "graph",
    .args = "<file>",
    .summary = "any network, from an edge list, DOT or GraphML file",
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .vc_class = WF_TOPO_VC_LOWEST_PORT,
    .examples = no_examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = graph_create,
    .destroy = graph_destroy,
    .first_link = graph_first_link,
    .neighbor = graph_neighbor,
    .distance = graph_distance,
    .next_port = graph_next_port,
    .diameter = graph_diameter,
    .histogram = graph_histogram,
    .pairs = graph_pairs,
    .coords = graph_coords,
    .link_props = graph_link_props,
    .link_class = graph_link_class,
};
