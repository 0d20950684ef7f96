/* SPDX-License-Identifier: Apache-2.0 */
/* Any network that a file describes. Every vertex forwards, nodes included. */
#include "model/topo/graph.h"

#include "base/file.h"
#include "base/mem.h"
#include "model/topo/graph_format.h"
#include "model/topo/listed.h"
#include "model/topo/topo.h"

#include <stdlib.h>

struct graph {
    struct wf_topo_listed listed;
    struct wf_topo_graph_net net;
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
static struct wf_topo *keep_net(const struct wf_topo_graph_net *net)
{
    struct graph *graph = wf_xcalloc(1, sizeof(*graph));

    graph->net = *net;
    graph->listed = (struct wf_topo_listed){
        .topo = {.ops = &wf_topo_graph_ops,
                 .n_nodes = net->n_nodes,
                 .gate = net->gate,
                 .oneway = net->oneway,
                 .classes = (const char *const *)net->classes,
                 .n_classes = net->n_classes,
                 .names = net->names},
        .first = net->links.first,
        .far = net->links.to,
        .links = net->links,
    };
    wf_topo_listed_init(&graph->listed);
    return &graph->listed.topo;
}

enum wf_status wf_topo_graph_create_text(const char *name, const char *text, size_t size,
                                         struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo_graph_net net;

    WF_TRY(wf_topo_graph_read(name, text, size, &net, err));
    *out = keep_net(&net);
    return WF_OK;
}

static enum wf_status graph_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    struct wf_buf text = {.data = NULL};

    enum wf_status status = wf_file_read(given->file, WF_TOPO_GRAPH_TEXT_MAX, &text, err);
    WF_THEN(status, wf_topo_graph_create_text(given->file, (const char *)text.data, text.size,
                                              out, err));
    wf_buf_fini(&text);
    return status;
}

static void graph_destroy(struct wf_topo *topo)
{
    struct graph *graph = (struct graph *)topo;

    wf_topo_listed_fini(&graph->listed);
    wf_topo_graph_net_release(&graph->net);
    free(graph);
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
    .examples = no_examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = graph_create,
    .destroy = graph_destroy,
    WF_TOPO_LISTED_OPS,
    .link_props = graph_link_props,
    .link_class = graph_link_class,
};
