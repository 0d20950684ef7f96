/* SPDX-License-Identifier: Apache-2.0 */
/* Turns what a file says into a network: decides which vertices are nodes, numbers the
 * vertices and checks the links. */
#include "base/array.h"
#include "base/mem.h"
#include "model/topo/graph_format.h"

#include <stdlib.h>
#include <string.h>

struct resolver {
    const struct wf_topo_graph_reader *reader;
    struct wf_topo_graph_net *net;
    uint32_t *order;  /* [n]: vertex of the reader by its number in the network */
    uint32_t *number; /* [n]: number in the network by vertex of the reader */
};

struct ranked {
    uint64_t value;
    uint32_t vertex;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Whether a name is a decimal number of at most 18 digits. */
static bool is_number(const char *name, uint64_t *value)
{
    size_t len = strspn(name, "0123456789");

    if (name[len] != '\0' || len > 18) {
        return false;
    }
    *value = strtoull(name, NULL, 10);
    return true;
}

/* Sorts order[0..n-1] by name if all the names are numbers. Otherwise they stay in the order
 * in which the file names them. */
static void sort_numbers(const struct wf_topo_graph_reader *reader, uint32_t *order, uint32_t n)
{
    struct ranked *ranked = wf_xcalloc((size_t)n + 1, sizeof(*ranked));
    uint32_t i = 0;

    while (i < n && is_number(wf_strings_at(&reader->names, order[i]), &ranked[i].value)) {
        ranked[i].vertex = order[i];
        i++;
    }
    if (i == n) {
        WF_SORT(ranked, n, by_value);
        for (i = 0; i < n; i++) {
            order[i] = ranked[i].vertex;
        }
    }
    free(ranked);
}

/* The kind of the vertices whose kind the file does not give. */
static enum wf_topo_graph_kind default_kind(const struct wf_topo_graph_reader *reader)
{
    enum wf_topo_graph_kind kind = WF_TOPO_GRAPH_NODE;

    for (uint32_t v = 0; v < reader->names.n; v++) {
        if (reader->vertices[v].attrs.kind == WF_TOPO_GRAPH_SWITCH) {
            return WF_TOPO_GRAPH_NODE;
        }
        if (reader->vertices[v].attrs.kind == WF_TOPO_GRAPH_NODE) {
            kind = WF_TOPO_GRAPH_SWITCH;
        }
    }
    return kind;
}

static enum wf_status number_vertices(struct resolver *resolver)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    enum wf_topo_graph_kind unsaid = default_kind(reader);
    uint32_t n = reader->names.n, n_nodes = 0, place = 0;

    for (int pass = 0; pass < 2; pass++) {
        enum wf_topo_graph_kind wanted = pass == 0 ? WF_TOPO_GRAPH_NODE : WF_TOPO_GRAPH_SWITCH;
        for (uint32_t v = 0; v < n; v++) {
            enum wf_topo_graph_kind kind = reader->vertices[v].attrs.kind;
            if ((kind != WF_TOPO_GRAPH_UNDECLARED ? kind : unsaid) == wanted) {
                resolver->order[place++] = v;
            }
        }
        n_nodes = pass == 0 ? place : n_nodes;
    }
    if (n_nodes == 0) {
        return wf_topo_graph_fail(
            reader, reader->vertices[0].at,
            "every vertex is declared a switch; at least one must be a node");
    }
    sort_numbers(reader, resolver->order, n_nodes);
    sort_numbers(reader, resolver->order + n_nodes, n - n_nodes);
    for (uint32_t v = 0; v < n; v++) {
        resolver->number[resolver->order[v]] = v;
    }
    resolver->net->n_nodes = n_nodes;
    return WF_OK;
}

static enum wf_status find_gate(struct resolver *resolver)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    uint32_t gate = WF_STRINGS_NONE;

    for (uint32_t v = 0; v < reader->names.n; v++) {
        if (!reader->vertices[v].attrs.gate) {
            continue;
        }
        if (gate != WF_STRINGS_NONE) {
            return wf_topo_graph_fail(reader, reader->vertices[v].at,
                                      "both '%.64s' and '%.64s' are gates; there can be one",
                                      wf_strings_at(&reader->names, gate),
                                      wf_strings_at(&reader->names, v));
        }
        gate = v;
    }
    resolver->net->gate = gate != WF_STRINGS_NONE ? resolver->number[gate] : 0;
    return WF_OK;
}

/* Lays out the links by vertex, those of a vertex in the order of the file. edge_of[] has
 * one entry per link and gets the edge that the link comes from. */
static void lay_out(struct resolver *resolver, uint32_t *edge_of)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    struct wf_topo_csr *links = &resolver->net->links;
    uint32_t n = reader->names.n;
    uint32_t *place = wf_xcalloc((size_t)n + 1, sizeof(*place));

    links->n_vertices = n;
    links->first = wf_xcalloc((size_t)n + 1, sizeof(*links->first));
    links->to = wf_xcalloc(2 * reader->n_edges, sizeof(*links->to));
    for (size_t i = 0; i < reader->n_edges; i++) {
        const struct wf_topo_graph_edge *edge = &reader->edges[i];
        links->first[resolver->number[edge->from] + 1]++;
        links->first[resolver->number[edge->to] + 1] += edge->oneway ? 0 : 1;
    }
    for (uint32_t v = 0; v < n; v++) {
        links->first[v + 1] += links->first[v];
        place[v] = links->first[v];
    }
    for (size_t i = 0; i < reader->n_edges; i++) {
        const struct wf_topo_graph_edge *edge = &reader->edges[i];
        uint32_t from = resolver->number[edge->from], to = resolver->number[edge->to];
        edge_of[place[from]] = (uint32_t)i;
        links->to[place[from]++] = to;
        if (edge->oneway) {
            resolver->net->oneway = true;
        } else {
            edge_of[place[to]] = (uint32_t)i;
            links->to[place[to]++] = from;
        }
    }
    free(place);
}

static const char *name_of(const struct resolver *resolver, uint32_t number)
{
    return wf_strings_at(&resolver->reader->names, resolver->order[number]);
}

static enum wf_status check_twice(const struct resolver *resolver, const uint32_t *edge_of)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    const struct wf_topo_csr *links = &resolver->net->links;
    uint32_t *seen_from = wf_xcalloc(links->n_vertices, sizeof(*seen_from)); /* number + 1 */
    enum wf_status status = WF_OK;

    for (uint32_t v = 0; v < links->n_vertices && status == WF_OK; v++) {
        for (uint32_t i = links->first[v]; i < links->first[v + 1]; i++) {
            uint32_t to = links->to[i];
            if (seen_from[to] == v + 1) {
                status =
                    wf_topo_graph_fail(reader, reader->edges[edge_of[i]].at,
                                       "the link between '%.64s' and '%.64s' is named twice; "
                                       "once is for both directions",
                                       name_of(resolver, v), name_of(resolver, to));
                break;
            }
            seen_from[to] = v + 1;
        }
    }
    free(seen_from);
    return status;
}

static enum wf_status check_connected(const struct resolver *resolver)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    const struct wf_topo_csr *links = &resolver->net->links;
    bool oneway = resolver->net->oneway;
    uint32_t *dist = wf_xcalloc(links->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(links->n_vertices, sizeof(*queue));
    enum wf_status status = WF_OK;

    for (int backward = 0; backward < (oneway ? 2 : 1) && status == WF_OK; backward++) {
        struct wf_topo_csr reverse = {.n_vertices = 0};
        if (backward) {
            wf_topo_csr_reverse(links, &reverse);
        }
        uint32_t n = wf_topo_csr_search(backward ? &reverse : links, 0, dist, queue), lost = 0;
        wf_topo_csr_release(&reverse);
        if (n == links->n_vertices) {
            continue;
        }
        while (dist[lost] != WF_TOPO_CSR_UNREACHED) {
            lost++;
        }
        status = wf_topo_graph_fail(reader, reader->vertices[resolver->order[lost]].at,
                                    "no path from '%.64s' to '%.64s'; %s",
                                    name_of(resolver, backward ? lost : 0),
                                    name_of(resolver, backward ? 0 : lost),
                                    oneway ? "links lead one way here, but all must reach all"
                                           : "link the parts or leave one out");
    }
    free(dist);
    free(queue);
    return status;
}

static void copy_props(struct resolver *resolver, const uint32_t *edge_of)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    struct wf_topo_graph_net *net = resolver->net;
    uint32_t n_links = net->links.first[net->links.n_vertices];
    bool any = false;

    for (size_t i = 0; i < reader->n_edges && !any; i++) {
        const struct wf_topo_link_props *props = &reader->edges[i].attrs.props;
        any = props->latency != 0 || props->bandwidth != 0;
    }
    if (!any) {
        return;
    }
    net->props = wf_xcalloc(n_links, sizeof(*net->props));
    for (uint32_t i = 0; i < n_links; i++) {
        net->props[i] = reader->edges[edge_of[i]].attrs.props;
    }
}

/* The number of a class that a link names, or of "link" for a link that names none (0). */
static uint16_t find_class(struct resolver *resolver, uint32_t named, uint32_t *number)
{
    struct wf_topo_graph_net *net = resolver->net;
    const struct wf_strings *names = &resolver->reader->classes;

    if (number[named] == 0) {
        const char *name = named > 0 ? wf_strings_at(names, named - 1) : "link";
        net->classes =
            wf_xrealloc(net->classes, (size_t)net->n_classes + 1, sizeof(*net->classes));
        net->classes[net->n_classes++] = wf_xstrdup(name);
        number[named] = net->n_classes;
    }
    return (uint16_t)(number[named] - 1);
}

static void copy_classes(struct resolver *resolver, const uint32_t *edge_of)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;
    struct wf_topo_graph_net *net = resolver->net;
    uint32_t n_links = net->links.first[net->links.n_vertices];
    uint32_t link = wf_strings_find(&reader->classes, "link", strlen("link"));
    bool any = false;

    for (size_t i = 0; i < reader->n_edges && !any; i++) {
        any = reader->edges[i].attrs.link_class != 0;
    }
    if (!any) {
        return;
    }
    /* by number in the file, + 1; the result is the number in the network, + 1 */
    uint32_t *number = wf_xcalloc((size_t)reader->classes.n + 1, sizeof(*number));
    net->class_of = wf_xcalloc(n_links, sizeof(*net->class_of));
    for (uint32_t i = 0; i < n_links; i++) {
        uint32_t named = reader->edges[edge_of[i]].attrs.link_class;
        named = named == 0 && link != WF_STRINGS_NONE ? link + 1 : named;
        net->class_of[i] = find_class(resolver, named, number);
    }
    free(number);
}

/* Names that are the numbers of their vertices are not kept. */
static void copy_names(struct resolver *resolver)
{
    uint32_t n = resolver->reader->names.n, same = 0;
    uint64_t value;

    while (same < n && is_number(name_of(resolver, same), &value) && value == same) {
        same++;
    }
    if (same == n) {
        return;
    }
    resolver->net->names = wf_xcalloc((size_t)n + 1, sizeof(*resolver->net->names));
    for (uint32_t v = 0; v < n; v++) {
        resolver->net->names[v] = wf_xstrdup(name_of(resolver, v));
    }
}

static enum wf_status resolve(struct resolver *resolver)
{
    const struct wf_topo_graph_reader *reader = resolver->reader;

    enum wf_status status = number_vertices(resolver);
    WF_THEN(status, find_gate(resolver));
    if (status != WF_OK) {
        return status;
    }
    uint32_t *edge_of = wf_xcalloc(2 * reader->n_edges, sizeof(*edge_of));
    lay_out(resolver, edge_of);
    status = check_twice(resolver, edge_of);
    WF_THEN(status, check_connected(resolver));
    if (status == WF_OK) {
        copy_props(resolver, edge_of);
        copy_classes(resolver, edge_of);
        copy_names(resolver);
    }
    free(edge_of);
    return status;
}

enum wf_status wf_topo_graph_resolve(const struct wf_topo_graph_reader *reader,
                                     struct wf_topo_graph_net *net)
{
    struct wf_topo_graph_net built = {.n_nodes = 0};
    uint32_t n = reader->names.n;

    if (reader->n_edges == 0) {
        return wf_topo_graph_fail(reader, reader->size,
                                  "no links; a network needs at least one");
    }
    struct resolver resolver = {
        .reader = reader,
        .net = &built,
        .order = wf_xcalloc(n, sizeof(uint32_t)),
        .number = wf_xcalloc(n, sizeof(uint32_t)),
    };
    enum wf_status status = resolve(&resolver);
    free(resolver.order);
    free(resolver.number);
    if (status == WF_OK) {
        *net = built;
    } else {
        wf_topo_graph_net_release(&built);
    }
    return status;
}
