/* SPDX-License-Identifier: Apache-2.0 */
#include "study/topo_facts.h"

#include "base/mem.h"
#include "draw/draw.h"

#include <inttypes.h>
#include <stdlib.h>

/* A hop of a route, and how many ports would do as well. */
struct hop {
    uint32_t at, port, next;
    uint32_t *minimal; /* [n_minimal]: the ports with which a shortest path begins */
    uint32_t n_minimal;
};

/* Sets all but `at` for the way to `dst`; false if it is reached. */
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

void wf_topo_route_add(const struct wf_topo *topo, uint32_t from, uint32_t to,
                       struct wf_value *doc)
{
    struct wf_value *route = wf_doc_section(doc, "route");
    struct hop hop = {.at = from, .minimal = wf_xcalloc(topo->n_ports, sizeof(uint32_t))};
    char name[WF_VERTEX_NAME_MAX];

    wf_doc_count(route, "from", from);
    wf_doc_count(route, "to", to);
    wf_doc_count(route, "hops", topo->ops->distance(topo, from, to));

    struct wf_value *path = wf_doc_list(route, "path");
    for (; take_hop(topo, to, &hop); hop.at = hop.next) {
        struct wf_value *entry = wf_doc_section(path, NULL);

        wf_doc_text(entry, "vertex", wf_vertex_name(topo, hop.at, name));
        add_coords(topo, hop.at, entry);
        wf_doc_count(entry, "port", hop.port);
        wf_doc_text(entry, "next", wf_vertex_name(topo, hop.next, name));

        struct wf_value *minimal = wf_doc_list(entry, "minimal_ports");
        for (uint32_t i = 0; i < hop.n_minimal; i++) {
            wf_doc_count(minimal, NULL, hop.minimal[i]);
        }
    }
    free(hop.minimal);
}

void wf_topo_route_print(const struct wf_topo *topo, uint32_t from, uint32_t to, FILE *out)
{
    struct hop hop = {.at = from, .minimal = wf_xcalloc(topo->n_ports, sizeof(uint32_t))};
    uint32_t n = topo->ops->distance(topo, from, to), done = 0;
    char name[WF_VERTEX_NAME_MAX], next[WF_VERTEX_NAME_MAX], coords[WF_VERTEX_COORDS_MAX];

    (void)fprintf(out, "Route from %" PRIu32 " to %" PRIu32 ": %" PRIu32 " %s\n", from, to, n,
                  n == 1 ? "hop" : "hops");
    if (n > 0) {
        (void)fprintf(out, "%6s  %-11s %-16s %5s  %-11s %s\n", "Hop", "Vertex", "Coordinates",
                      "Port", "Next", "Shortest by");
    }
    for (; take_hop(topo, to, &hop); hop.at = hop.next) {
        (void)fprintf(out, "%6" PRIu32 "  %-11s %-16s %5" PRIu32 "  %-11s %" PRIu32 " %s\n",
                      ++done, wf_vertex_name(topo, hop.at, name),
                      wf_vertex_coords(topo, hop.at, ',', coords), hop.port,
                      wf_vertex_name(topo, hop.next, next), hop.n_minimal,
                      hop.n_minimal == 1 ? "port" : "ports");
    }
    free(hop.minimal);
}
