/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/damaged.h"

#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/damage.h"
#include "model/topo/detour.h"
#include "model/topo/listed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_topo_ops damaged_ops;

struct damaged {
    struct wf_topo_listed listed; /* `links` are the working links */
    const struct wf_topo *whole;
    uint32_t *number; /* number of each vertex in the whole network */
    uint32_t *first, *far;
    struct wf_topo_detours *detours;
};

static const struct damaged *to_damaged(const struct wf_topo *topo)
{
    return (const struct damaged *)topo;
}

/* ---- Creation ---- */

/* The working links between vertices of the whole network. */
static void find_live(const struct wf_topo_damage *damage, struct wf_topo_csr *csr)
{
    const struct wf_topo *topo = damage->topo;
    uint32_t n_links = 0;

    csr->n_vertices = topo->n_vertices;
    csr->first = wf_xcalloc((size_t)topo->n_vertices + 1, sizeof(uint32_t));
    csr->to =
        wf_xcalloc((size_t)wf_topo_first_link(topo, topo->n_vertices) + 1, sizeof(uint32_t));
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = wf_topo_damage_neighbor(damage, v, port);
            if (to != WF_TOPO_NO_VERTEX) {
                csr->to[n_links++] = to;
            }
        }
        csr->first[v + 1] = n_links;
    }
}

/* Keeps in reached[] only the vertices that node 0 reaches through these links. */
static void keep_reached(const struct wf_topo_csr *csr, bool *reached)
{
    uint32_t *dist = wf_xcalloc(csr->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(csr->n_vertices, sizeof(*queue));

    (void)wf_topo_csr_search(csr, 0, dist, queue);
    for (uint32_t v = 0; v < csr->n_vertices; v++) {
        reached[v] = reached[v] && dist[v] != WF_TOPO_CSR_UNREACHED;
    }
    free(dist);
    free(queue);
}

/* The error names a node that is cut off: node 0 if it has failed or reaches at most half of
 * the nodes. */
static enum wf_status check_nodes(const struct wf_topo_damage *damage, const bool *reached,
                                  const char *text, struct wf_err *err)
{
    uint32_t n_nodes = damage->topo->n_nodes, n = 0, lost = 0;

    for (uint32_t v = 0; v < n_nodes; v++) {
        n += reached[v] ? 1 : 0;
    }
    bool isolated = damage->vertices[0] || (n_nodes > 1 && n <= n_nodes / 2);
    while (!isolated && lost < n_nodes && reached[lost]) {
        lost++;
    }
    if (lost == n_nodes) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "damage '%.128s': node %" PRIu32 " is cut off from others; spare a link "
                      "or router next to it, or take another seed:<n>",
                      text, lost);
}

static enum wf_status find_reached(const struct wf_topo_damage *damage, const char *text,
                                   bool *reached, struct wf_err *err)
{
    struct wf_topo_csr live, reverse;

    for (uint32_t v = 0; v < damage->topo->n_vertices; v++) {
        reached[v] = !damage->vertices[v];
    }
    find_live(damage, &live);
    keep_reached(&live, reached);
    if (damage->topo->oneway) {
        wf_topo_csr_reverse(&live, &reverse);
        keep_reached(&reverse, reached);
        wf_topo_csr_release(&reverse);
    }
    wf_topo_csr_release(&live);
    return check_nodes(damage, reached, text, err);
}

/* Numbers the vertices that remain and fills in their links. */
static void number(struct damaged *net, const struct wf_topo_damage *damage,
                   const bool *reached)
{
    const struct wf_topo *whole = net->whole;
    uint32_t *place = wf_xcalloc(whole->n_vertices, sizeof(*place)), n = 0, n_links = 0;
    size_t most = (size_t)wf_topo_first_link(whole, whole->n_vertices) + 1;

    net->number = wf_xcalloc(whole->n_vertices, sizeof(uint32_t));
    for (uint32_t v = 0; v < whole->n_vertices; v++) {
        place[v] = n;
        net->number[n] = v;
        n += reached[v] ? 1 : 0;
    }
    net->first = wf_xcalloc((size_t)n + 1, sizeof(uint32_t));
    net->far = wf_xcalloc(most, sizeof(uint32_t));
    struct wf_topo_csr live = {
        .n_vertices = n,
        .first = wf_xcalloc((size_t)n + 1, sizeof(uint32_t)),
        .to = wf_xcalloc(most, sizeof(uint32_t)),
    };
    for (uint32_t v = 0; v < n; v++) {
        uint32_t n_ports = wf_topo_ports(whole, net->number[v]), n_live = live.first[v];

        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = wf_topo_damage_neighbor(damage, net->number[v], port);
            to = to != WF_TOPO_NO_VERTEX && reached[to] ? place[to] : WF_TOPO_NO_VERTEX;
            net->far[n_links++] = to;
            if (to != WF_TOPO_NO_VERTEX) {
                live.to[n_live++] = to;
            }
        }
        net->first[v + 1] = n_links;
        live.first[v + 1] = n_live;
    }
    net->listed.first = net->first;
    net->listed.far = net->far;
    net->listed.links = live;
    free(place);
}

static void damaged_destroy(struct wf_topo *topo)
{
    struct damaged *net = (struct damaged *)topo;

    wf_topo_detours_free(net->detours);
    wf_topo_listed_fini(&net->listed);
    wf_topo_csr_release(&net->listed.links);
    free(net->listed.topo.names);
    free(net->number);
    free(net->first);
    free(net->far);
    free(net);
}

static struct wf_topo *build(const struct wf_topo_damage *damage, const bool *reached)
{
    struct damaged *net = wf_xcalloc(1, sizeof(*net));

    net->whole = damage->topo;
    net->listed.topo = (struct wf_topo){
        .ops = &damaged_ops,
        .n_nodes = damage->topo->n_nodes,
        .oneway = damage->topo->oneway,
        .classes = damage->topo->classes,
        .n_classes = damage->topo->n_classes,
    };
    number(net, damage, reached);
    wf_topo_listed_init(&net->listed);
    net->detours = wf_topo_detours_create(&net->listed, net->whole, net->number);
    if (net->whole->names != NULL) {
        uint32_t n = net->listed.topo.n_vertices;
        net->listed.topo.names = wf_xcalloc(n, sizeof(char *));
        for (uint32_t v = 0; v < n; v++) {
            net->listed.topo.names[v] = net->whole->names[net->number[v]];
        }
    }
    return &net->listed.topo;
}

enum wf_status wf_topo_damaged_create(const struct wf_topo *whole, const char *text,
                                      struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo_damage damage;

    WF_TRY(wf_topo_damage_read(&damage, whole, text, err));
    bool *reached = wf_xcalloc(whole->n_vertices, sizeof(*reached));
    enum wf_status status = find_reached(&damage, text, reached, err);
    if (status == WF_OK) {
        *out = build(&damage, reached);
    }
    free(reached);
    wf_topo_damage_fini(&damage);
    return status;
}

struct wf_topo *wf_topo_damaged_create_all(const struct wf_topo_damage *damage)
{
    bool *kept = wf_xmalloc(damage->topo->n_vertices);

    memset(kept, true, damage->topo->n_vertices);
    struct wf_topo *topo = build(damage, kept);
    free(kept);
    return topo;
}

const struct wf_topo *wf_topo_damaged_whole(const struct wf_topo *topo)
{
    return topo->ops == &damaged_ops ? to_damaged(topo)->whole : topo;
}

uint32_t wf_topo_damaged_vertex(const struct wf_topo *topo, uint32_t vertex)
{
    return topo->ops == &damaged_ops ? to_damaged(topo)->number[vertex] : vertex;
}

/* ---- Answers ---- */

static uint32_t damaged_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    return wf_topo_detours_distance(to_damaged(topo)->detours, at, dst);
}

/* Up to `most` ports with which a shortest path begins, the lowest first. */
static uint32_t find_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst, uint32_t most,
                           uint32_t *ports)
{
    const struct damaged *net = to_damaged(topo);
    uint32_t left = damaged_distance(topo, at, dst), n = 0;
    uint32_t n_ports = net->first[at + 1] - net->first[at];

    if (left == 0 || left == WF_TOPO_UNREACHED) {
        return 0;
    }
    for (uint32_t port = 0; port < n_ports && n < most; port++) {
        uint32_t to = net->far[net->first[at] + port];
        if (to != WF_TOPO_NO_VERTEX && wf_topo_detours_is_nearer(net->detours, to, dst, left)) {
            ports[n++] = port;
        }
    }
    return n;
}

static uint32_t damaged_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    uint32_t port;

    return find_ports(topo, at, dst, 1, &port) == 1 ? port : WF_TOPO_NO_PORT;
}

static uint32_t damaged_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                      uint32_t *ports)
{
    return find_ports(topo, at, dst, UINT32_MAX, ports);
}

static struct wf_topo_link_props damaged_link_props(const struct wf_topo *topo, uint32_t vertex,
                                                    uint32_t port)
{
    const struct damaged *net = to_damaged(topo);

    return net->whole->ops->link_props != NULL
               ? net->whole->ops->link_props(net->whole, net->number[vertex], port)
               : (struct wf_topo_link_props){.latency = 0};
}

static uint32_t damaged_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct damaged *net = to_damaged(topo);

    return wf_topo_link_class(net->whole, net->number[vertex], port);
}

static const struct wf_topo_ops damaged_ops = {
    .name = "damaged network",
    .summary = "a network some of whose links or routers have failed",
    .destroy = damaged_destroy,
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .vc_class = WF_TOPO_VC_LOWEST_PORT,
    .first_link = wf_topo_listed_first_link,
    .neighbor = wf_topo_listed_neighbor,
    .distance = damaged_distance,
    .next_port = damaged_next_port,
    .minimal_ports = damaged_minimal_ports,
    .diameter = wf_topo_listed_diameter,
    .histogram = wf_topo_listed_histogram,
    .pairs = wf_topo_listed_pairs,
    .coords = wf_topo_listed_coords,
    .link_props = damaged_link_props,
    .link_class = damaged_link_class,
};
