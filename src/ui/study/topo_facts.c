/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/topo_facts.h"

#include "base/columns.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/topo/classes.h"
#include "model/topo/measure.h"
#include "model/topo/nested.h"
#include "model/topo/spec.h"
#include "ui/draw/draw.h"
#include "ui/report/phrase.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Distances are counted by hop up to this number of hops, which takes some hundred
 * megabytes. */
#define HOPS_MAX UINT32_C(20000000)

enum { LABEL_WIDTH = 18 };

static double per_node(const struct wf_topo *topo, double count)
{
    return count / topo->n_nodes;
}

/* The number of cable ends at routers: all except those at nodes that do not forward. */
static double router_ports(const struct wf_topo *topo)
{
    bool nodes_forward = wf_draw_network_routers(topo) > topo->n_vertices - topo->n_nodes;
    uint32_t at_nodes = nodes_forward ? 0 : wf_topo_first_link(topo, topo->n_nodes);

    return 2 * (double)topo->n_links - at_nodes;
}

/* ---- the document ---- */

static void add_histogram(const struct wf_topo_measure *measure, struct wf_value *doc)
{
    struct wf_value *section = wf_doc_section(doc, "distance_histogram");

    for (uint32_t d = 0; d <= measure->diameter; d++) {
        if (measure->counts[d] > 0) {
            char name[16];
            (void)snprintf(name, sizeof(name), "%" PRIu32, d);
            wf_doc_count(section, name, measure->counts[d]);
        }
    }
}

static void add_levels(const struct wf_topo *topo, const char *spec, uint32_t diameter,
                       struct wf_value *doc)
{
    struct wf_value *list = wf_doc_list(doc, "levels");
    struct wf_topo_spec_level level;
    size_t at = 0;

    for (uint32_t i = 0; i < wf_topo_n_levels(topo); i++) {
        const struct wf_topo *network = wf_topo_level(topo, i);
        struct wf_value *entry = wf_doc_section(list, NULL);

        if (wf_topo_spec_next(spec, &at, &level, NULL) == WF_OK && level.ops != NULL) {
            char text[WF_PARAM_TEXT_MAX];
            (void)snprintf(text, sizeof(text), "%.*s", (int)level.len, level.text);
            wf_doc_text(entry, "spec", text);
        }
        wf_doc_count(entry, "nodes", network->n_nodes);
        wf_doc_count(entry, "routers", wf_topo_n_routers(network));
        wf_doc_count(entry, "links", network->n_links);
        wf_doc_count(entry, "diameter",
                     network == topo ? diameter : network->ops->diameter(network));
    }
}

static void add_classes(const struct wf_topo *topo, struct wf_value *doc)
{
    struct wf_value *list = wf_doc_list(doc, "link_classes");

    for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
        wf_doc_text(list, NULL, wf_topo_class_name(topo, i));
    }
}

void wf_study_topo_facts_add(const struct wf_topo *topo, const char *spec, struct wf_value *doc)
{
    struct wf_topo_measure measure;

    wf_topo_measure(topo, &measure);
    wf_doc_text(doc, "spec", spec);
    wf_doc_count(doc, "nodes", topo->n_nodes);
    wf_doc_count(doc, "routers", wf_draw_network_routers(topo));
    wf_doc_count(doc, "vertices", topo->n_vertices);
    wf_doc_count(doc, "links", topo->n_links);
    wf_doc_bool(doc, "one_way", topo->oneway);
    wf_doc_count(doc, "max_ports", topo->n_ports);
    wf_doc_count(doc, "diameter", measure.diameter);
    if (measure.sources < topo->n_nodes) {
        wf_doc_count(doc, "distance_sources", measure.sources);
    }
    wf_doc_real(doc, "average_distance", measure.average);
    if (topo->bisection > 0) {
        wf_doc_count(doc, "bisection_links", topo->bisection);
    } else {
        wf_doc_null(doc, "bisection_links");
    }
    wf_doc_real(doc, "links_per_node", per_node(topo, (double)topo->n_links));
    wf_doc_real(doc, "router_ports_per_node", per_node(topo, router_ports(topo)));
    wf_doc_real(doc, "routers_per_node", per_node(topo, wf_draw_network_routers(topo)));
    add_classes(topo, doc);
    add_levels(topo, spec, measure.diameter, doc);
    add_histogram(&measure, doc);
    wf_topo_measure_release(&measure);
}

/* ---- the table ---- */

/* The levels of a nested topology. */
static void print_levels(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *level = wf_doc_find(doc, "levels")->first;

    for (int i = 0; level != NULL && (i > 0 || level->next != NULL); level = level->next, i++) {
        struct wf_phrase phrase = {.used = 0};
        char label[24];

        (void)snprintf(label, sizeof(label), "Level %d", i);
        if (wf_phrase_fill(&phrase, level,
                           "{spec}, {nodes:plain} nodes, diameter {diameter:plain}")) {
            (void)fprintf(out, "%-*s%s\n", LABEL_WIDTH, label, phrase.text);
        }
    }
}

static bool line_routers(const struct wf_value *doc, struct wf_phrase *out)
{
    bool are_nodes = wf_doc_get_count(doc, "vertices", 0) == wf_doc_get_count(doc, "nodes", 0);

    return wf_phrase_fill(out, doc, are_nodes ? "{routers} (the nodes)" : "{routers}");
}

static bool line_classes(const struct wf_value *list, struct wf_phrase *out)
{
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        wf_phrase_add(out, "%s%s", v == list->first ? "" : ", ", v->text);
    }
    return true;
}

static const struct wf_phrase_line spec_lines[] = {
    {"Topology", .text = "{spec}[ (links are one-way){one_way?}]"},
    {.label = NULL},
};

static const struct wf_phrase_line lines[] = {
    {"Nodes", .text = "{nodes}"},
    {"Routers", .write = line_routers},
    {"Links", .text = "{links}"},
    {"Link classes", "link_classes", .write = line_classes},
    {"Ports per router", .text = "{max_ports} at most"},
    {"Diameter", .text = "{diameter:hop|hops}[ at least{distance_sources?}]"},
    {"Average distance",
     .text = "{average_distance:.4g} hops[ from {distance_sources} of the nodes, because "
             "all would take long]"},
    {"Bisection", .text = "[{bisection_links:link|links}][unknown{bisection_links!}]"},
    {"Cost per node", .text = "links {links_per_node:.4g}, router ports "
                              "{router_ports_per_node:.4g}, routers {routers_per_node:.4g}"},
    {.label = NULL},
};

void wf_study_topo_facts_print(const struct wf_value *doc, FILE *out)
{
    wf_phrase_print_lines(spec_lines, doc, LABEL_WIDTH, out);
    print_levels(doc, out);
    wf_phrase_print_lines(lines, doc, LABEL_WIDTH, out);
}

/* ---- routes ---- */

/* A hop of a route, and the other minimal ports. */
struct hop {
    uint32_t at, port, next;
    uint32_t *minimal; /* [n_minimal]: the ports where a shortest path begins */
    uint32_t n_minimal;
};

/* Sets all members but `at` for the next hop to `dst`; false if `at` is `dst`. */
static bool take_hop(const struct wf_topo *topo, uint32_t dst, struct hop *hop)
{
    hop->port = topo->ops->next_port(topo, hop->at, dst);
    if (hop->port == WF_TOPO_NO_PORT) {
        return false;
    }
    hop->next = topo->ops->neighbor(topo, hop->at, hop->port);
    hop->n_minimal = wf_topo_minimal_ports(topo, hop->at, dst, hop->minimal);
    return true;
}

static const char *class_of(const struct wf_topo *topo, const struct hop *hop)
{
    return wf_topo_class_name(topo, wf_topo_link_class(topo, hop->at, hop->port));
}

static void add_coords(const struct wf_topo *topo, uint32_t vertex, struct wf_value *parent)
{
    struct wf_value *list = wf_doc_list(parent, "coords");
    uint32_t coord[WF_TOPO_COORDS_MAX];
    uint32_t n = topo->ops->coords(topo, vertex, coord);

    for (uint32_t i = 0; i < n; i++) {
        if (coord[i] == WF_TOPO_NO_VERTEX) {
            wf_doc_null(list, NULL);
        } else {
            wf_doc_count(list, NULL, coord[i]);
        }
    }
}

void wf_study_topo_route_add(const struct wf_topo *topo, uint32_t from, uint32_t to,
                             struct wf_value *doc)
{
    struct wf_value *route = wf_doc_section(doc, "route");
    struct hop hop = {.at = from, .minimal = wf_xcalloc(topo->n_ports, sizeof(uint32_t))};
    char name[WF_DRAW_VERTEX_NAME_MAX];

    wf_doc_count(route, "from", from);
    wf_doc_count(route, "to", to);
    wf_doc_count(route, "hops", topo->ops->distance(topo, from, to));

    struct wf_value *path = wf_doc_list(route, "path");
    for (; take_hop(topo, to, &hop); hop.at = hop.next) {
        struct wf_value *entry = wf_doc_section(path, NULL);

        wf_doc_text(entry, "vertex", wf_draw_vertex_name(topo, hop.at, name));
        add_coords(topo, hop.at, entry);
        wf_doc_count(entry, "port", hop.port);
        wf_doc_text(entry, "next", wf_draw_vertex_name(topo, hop.next, name));
        wf_doc_text(entry, "class", class_of(topo, &hop));

        struct wf_value *minimal = wf_doc_list(entry, "minimal_ports");
        for (uint32_t i = 0; i < hop.n_minimal; i++) {
            wf_doc_count(minimal, NULL, hop.minimal[i]);
        }
    }
    free(hop.minimal);
}

void wf_study_topo_route_print(const struct wf_topo *topo, uint32_t from, uint32_t to,
                               FILE *out)
{
    struct hop hop = {.at = from, .minimal = wf_xcalloc(topo->n_ports, sizeof(uint32_t))};
    uint32_t n = topo->ops->distance(topo, from, to), done = 0;
    char name[WF_DRAW_VERTEX_NAME_MAX], next[WF_DRAW_VERTEX_NAME_MAX],
        coords[WF_DRAW_VERTEX_COORDS_MAX];

    (void)fprintf(out, "Route from %" PRIu32 " to %" PRIu32 ": %" PRIu32 " %s\n", from, to, n,
                  n == 1 ? "hop" : "hops");
    if (n > 0) {
        (void)fprintf(out, "%6s  %-11s %-16s %5s  %-11s %-11s %s\n", "Hop", "Vertex",
                      "Coordinates", "Port", "Next", "Class", "Shortest by");
    }
    for (; take_hop(topo, to, &hop); hop.at = hop.next) {
        (void)fprintf(out,
                      "%6" PRIu32 "  %-11s %-16s %5" PRIu32 "  %-11s %-11s %" PRIu32 " %s\n",
                      ++done, wf_draw_vertex_name(topo, hop.at, name),
                      wf_draw_vertex_coords(topo, hop.at, ',', coords), hop.port,
                      wf_draw_vertex_name(topo, hop.next, next), class_of(topo, &hop),
                      hop.n_minimal, hop.n_minimal == 1 ? "port" : "ports");
    }
    free(hop.minimal);
}

/* ---- lists ---- */

void wf_study_topo_list_add(struct wf_value *doc)
{
    struct wf_value *list = wf_doc_list(doc, "topologies");

    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        struct wf_value *entry = wf_doc_section(list, NULL);

        wf_doc_text(entry, "name", (*ops)->name);
        wf_doc_text(entry, "args", (*ops)->args);
        wf_doc_text(entry, "summary", (*ops)->summary);
        if ((*ops)->examples[0] != NULL) {
            wf_doc_text(entry, "example", (*ops)->examples[0]);
        }
    }
}

/* Breaks "name:args" between words where it does not fit the page. */
static void print_kind(FILE *out, const struct wf_topo_ops *ops)
{
    enum { WIDTH = 80, INDENT = 2, DEEPER = 6 };
    char term[512];

    (void)snprintf(term, sizeof(term), "%s:%s", ops->name, ops->args);
    if (INDENT + strlen(term) <= WIDTH) {
        wf_columns_row(out, term, ops->summary);
        return;
    }
    (void)fprintf(out, "%*s", INDENT, "");
    wf_columns_text(out, DEEPER, term);
    wf_columns_row(out, "", ops->summary);
}

void wf_study_topo_list_print(FILE *out)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        print_kind(out, *ops);
    }
    (void)fputs("\nA slash nests networks: torus:4x4/mesh:2x2 has a mesh in each node.\n"
                "'weft help topo.<name>' explains the parameters of one.\n",
                out);
}

enum wf_status wf_study_topo_check_hops(const struct wf_topo *topo, const char *spec,
                                        struct wf_err *err)
{
    if (topo->n_vertices <= HOPS_MAX) {
        return WF_OK;
    }

    uint32_t diameter = topo->ops->diameter(topo);
    return diameter <= HOPS_MAX
               ? WF_OK
               : wf_err_set(err, WF_ELIMIT,
                            "'%.64s' has distances of up to %" PRIu32
                            " hops, but they are counted up to %" PRIu32 " only",
                            spec, diameter, HOPS_MAX);
}
