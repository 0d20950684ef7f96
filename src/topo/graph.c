/* SPDX-License-Identifier: Apache-2.0 */
/* Any network that a file describes. Every vertex forwards, nodes included. */
#include "topo/graph.h"

#include "base/file.h"
#include "topo/graph_format.h"
#include "topo/hubs.h"
#include "topo/topo.h"

#include <stdlib.h>

/* Entries of 8 bytes: 2 GiB. Only networks of hundreds of thousands of vertices without a
 * centre need more. */
#define LABELS_MAX ((size_t)1 << 28)

struct graph {
    struct wf_topo topo;
    struct wf_topo_graph_net net;
    struct wf_topo_hubs *hubs;
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

static struct wf_topo_hubs *label(const struct wf_topo_graph_net *net)
{
    struct wf_topo_csr reverse = {.n_vertices = 0};

    if (net->oneway) {
        wf_topo_csr_reverse(&net->links, &reverse);
    }
    struct wf_topo_hubs *hubs =
        wf_topo_hubs_create(&net->links, net->oneway ? &reverse : NULL, LABELS_MAX);
    wf_topo_csr_release(&reverse);
    return hubs;
}

/* Takes ownership of the network. */
static enum wf_status finish(const char *name, struct wf_topo_graph_net *net,
                             struct wf_topo **out, struct wf_err *err)
{
    const struct wf_topo_csr *links = &net->links;
    uint32_t n_ports = 0, n_links = links->first[links->n_vertices];
    struct wf_topo_hubs *hubs = label(net);

    if (hubs == NULL) {
        wf_topo_graph_net_release(net);
        return wf_err_set(err, WF_ELIMIT,
                          "%.128s: distances in this graph would take more than %zu MiB; use a "
                          "topology that computes them, or a smaller graph",
                          name, LABELS_MAX * 8 >> 20);
    }
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
        .hubs = hubs,
    };
    graph.topo.classes = (const char *const *)net->classes;
    graph.topo.n_classes = net->n_classes;
    *out = wf_topo_keep(&graph, sizeof(graph));
    return WF_OK;
}

enum wf_status wf_topo_graph_create_text(const char *name, const char *text, size_t size,
                                         struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo_graph_net net;

    WF_TRY(wf_topo_graph_read(name, text, size, &net, err));
    return finish(name, &net, out, err);
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

    wf_topo_graph_net_release(&graph->net);
    wf_topo_hubs_free(graph->hubs);
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
    return wf_topo_hubs_distance(to_graph(topo)->hubs, at, dst);
}

/* Takes the lowest port that leads closer to the destination. */
static uint32_t graph_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct graph *graph = to_graph(topo);
    const struct wf_topo_csr *links = &graph->net.links;
    uint32_t left = wf_topo_hubs_distance(graph->hubs, at, dst), port = 0;

    if (left == 0) {
        return WF_TOPO_NO_PORT;
    }
    while (wf_topo_hubs_distance(graph->hubs, links->to[links->first[at] + port], dst) >=
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
    .coords = graph_coords,
    .link_props = graph_link_props,
    .link_class = graph_link_class,
};
