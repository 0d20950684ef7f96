/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/damaged.h"

#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/damage.h"
#include "model/topo/hubs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Distances are kept in a table of 2 bytes for each pair if the table takes at most 128 MiB.
 * A lookup in the table is several times quicker than a lookup by labels. */
#define PAIRS_MAX (UINT64_C(1) << 26)
/* Entries of 8 bytes: 2 GiB. */
#define LABELS_MAX ((size_t)1 << 28)

/* Entry of the table for vertices that do not reach the node. */
enum { TABLE_UNREACHED = UINT16_MAX };

static const struct wf_topo_ops damaged_ops;

struct damaged {
    struct wf_topo topo;
    const struct wf_topo *whole;
    uint32_t *number;        /* number of each vertex in the whole network */
    uint32_t *first;         /* [n_vertices + 1] first link number of each vertex */
    uint32_t *far;           /* [link number] far end; WF_TOPO_NO_VERTEX: no working cable */
    struct wf_topo_csr live; /* the working links */
    uint16_t *table;         /* [n_nodes][n_vertices] hops to the node; null: labels are used */
    struct wf_topo_hubs *hubs; /* null: the table is used */
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
    net->live = (struct wf_topo_csr){
        .n_vertices = n,
        .first = wf_xcalloc((size_t)n + 1, sizeof(uint32_t)),
        .to = wf_xcalloc(most, sizeof(uint32_t)),
    };
    for (uint32_t v = 0; v < n; v++) {
        uint32_t n_ports = wf_topo_ports(whole, net->number[v]), n_live = net->live.first[v];

        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = wf_topo_damage_neighbor(damage, net->number[v], port);
            to = to != WF_TOPO_NO_VERTEX && reached[to] ? place[to] : WF_TOPO_NO_VERTEX;
            net->far[n_links++] = to;
            if (to != WF_TOPO_NO_VERTEX) {
                net->live.to[n_live++] = to;
            }
        }
        net->first[v + 1] = n_links;
        net->live.first[v + 1] = n_live;
        net->topo.n_ports = n_ports > net->topo.n_ports ? n_ports : net->topo.n_ports;
    }
    net->topo.n_vertices = n;
    net->topo.n_links = whole->oneway ? net->live.first[n] : net->live.first[n] / 2;
    free(place);
}

/* Searches backwards from every node. Returns false if a distance does not fit in the table. */
static bool fill_table(struct damaged *net, const struct wf_topo_csr *reverse)
{
    uint32_t n = net->topo.n_vertices;
    uint32_t *dist = wf_xcalloc(n, sizeof(*dist)), *queue = wf_xcalloc(n, sizeof(*queue));
    bool fits = true;

    net->table = wf_xmalloc((size_t)net->topo.n_nodes * n * sizeof(*net->table));
    for (uint32_t dst = 0; dst < net->topo.n_nodes && fits; dst++) {
        uint16_t *row = net->table + (size_t)dst * n;
        (void)wf_topo_csr_search(reverse, dst, dist, queue);
        for (uint32_t v = 0; v < n; v++) {
            fits = fits && (dist[v] < TABLE_UNREACHED || dist[v] == WF_TOPO_CSR_UNREACHED);
            row[v] = (uint16_t)dist[v];
        }
    }
    free(dist);
    free(queue);
    return fits;
}

/* Returns false if the distances would take too much memory. */
static bool find_distances(struct damaged *net)
{
    uint64_t pairs = (uint64_t)net->topo.n_nodes * net->topo.n_vertices;
    struct wf_topo_csr reverse = {.n_vertices = 0};

    if (net->topo.oneway) {
        wf_topo_csr_reverse(&net->live, &reverse);
    }
    if (pairs > PAIRS_MAX || !fill_table(net, net->topo.oneway ? &reverse : &net->live)) {
        free(net->table);
        net->table = NULL;
        net->hubs =
            wf_topo_hubs_create(&net->live, net->topo.oneway ? &reverse : NULL, LABELS_MAX);
    }
    wf_topo_csr_release(&reverse);
    return net->table != NULL || net->hubs != NULL;
}

static void damaged_destroy(struct wf_topo *topo)
{
    struct damaged *net = (struct damaged *)topo;

    free(net->number);
    free(net->first);
    free(net->far);
    wf_topo_csr_release(&net->live);
    free(net->table);
    wf_topo_hubs_free(net->hubs);
    free(net);
}

static enum wf_status build(const struct wf_topo_damage *damage, const bool *reached,
                            struct wf_topo **out, struct wf_err *err)
{
    struct damaged *net = wf_xcalloc(1, sizeof(*net));

    net->whole = damage->topo;
    net->topo = (struct wf_topo){
        .ops = &damaged_ops,
        .n_nodes = damage->topo->n_nodes,
        .oneway = damage->topo->oneway,
        .classes = damage->topo->classes,
        .n_classes = damage->topo->n_classes,
    };
    number(net, damage, reached);
    if (!find_distances(net)) {
        damaged_destroy(&net->topo);
        return wf_err_set(err, WF_ELIMIT,
                          "distances in a damaged %s of %" PRIu32 " nodes would take more than "
                          "%zu MiB; use a smaller network",
                          damage->topo->ops->name, damage->topo->n_nodes, LABELS_MAX * 8 >> 20);
    }
    *out = &net->topo;
    return WF_OK;
}

enum wf_status wf_topo_damaged_create(const struct wf_topo *whole, const char *text,
                                      struct wf_topo **out, struct wf_err *err)
{
    struct wf_topo_damage damage;

    WF_TRY(wf_topo_damage_read(&damage, whole, text, err));
    bool *reached = wf_xcalloc(whole->n_vertices, sizeof(*reached));
    enum wf_status status = find_reached(&damage, text, reached, err);
    if (status == WF_OK) {
        status = build(&damage, reached, out, err);
    }
    free(reached);
    wf_topo_damage_fini(&damage);
    return status;
}

enum wf_status wf_topo_damaged_create_all(const struct wf_topo_damage *damage,
                                          struct wf_topo **out, struct wf_err *err)
{
    bool *kept = wf_xmalloc(damage->topo->n_vertices);

    memset(kept, true, damage->topo->n_vertices);
    enum wf_status status = build(damage, kept, out, err);
    free(kept);
    return status;
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

static uint32_t damaged_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    return to_damaged(topo)->first[vertex];
}

static uint32_t damaged_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct damaged *net = to_damaged(topo);

    return net->far[net->first[vertex] + port];
}

static uint32_t damaged_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct damaged *net = to_damaged(topo);

    if (net->table == NULL) {
        return wf_topo_hubs_distance(net->hubs, at, dst);
    }
    uint16_t dist = net->table[(size_t)dst * topo->n_vertices + at];
    return dist != TABLE_UNREACHED ? dist : WF_TOPO_UNREACHED;
}

/* Takes the lowest port that leads closer to the destination. */
static uint32_t damaged_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct damaged *net = to_damaged(topo);
    uint32_t left = damaged_distance(topo, at, dst), first = net->first[at], i = first;

    if (left == 0 || left == WF_TOPO_UNREACHED) {
        return WF_TOPO_NO_PORT;
    }
    while (net->far[i] == WF_TOPO_NO_VERTEX ||
           damaged_distance(topo, net->far[i], dst) >= left) {
        i++;
    }
    return i - first;
}

static uint32_t damaged_diameter(const struct wf_topo *topo)
{
    return wf_topo_csr_measure(&to_damaged(topo)->live, topo->n_nodes, NULL);
}

static void damaged_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    (void)wf_topo_csr_measure(&to_damaged(topo)->live, topo->n_nodes, counts);
}

static uint64_t *damaged_pairs(const struct wf_topo *topo, uint32_t *n)
{
    return wf_topo_csr_pairs(&to_damaged(topo)->live, topo->n_nodes, n);
}

static uint32_t damaged_coords(const struct wf_topo *topo, uint32_t vertex,
                               uint32_t coord[WF_TOPO_COORDS_MAX])
{
    coord[0] = vertex;
    return 1;
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

static const struct wf_param no_params[] = {WF_PARAM_END};
static const char *const no_examples[] = {NULL};

static const struct wf_topo_ops damaged_ops = {
    .name = "damaged network",
    .vc_class = WF_TOPO_VC_LOWEST_PORT,
    .args = "",
    .summary = "a network some of whose links or routers have failed",
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .examples = no_examples,
    .params = no_params,
    .params_size = 0,
    .create = NULL,
    .destroy = damaged_destroy,
    .first_link = damaged_first_link,
    .neighbor = damaged_neighbor,
    .distance = damaged_distance,
    .next_port = damaged_next_port,
    .diameter = damaged_diameter,
    .histogram = damaged_histogram,
    .pairs = damaged_pairs,
    .coords = damaged_coords,
    .link_props = damaged_link_props,
    .link_class = damaged_link_class,
};
