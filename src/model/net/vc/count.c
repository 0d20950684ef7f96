/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that take a visit of the whole network: classes of routes, an order of vertices,
 * hops. */
#include "base/mem.h"
#include "base/rng.h"
#include "model/net/vc/kind.h"
#include "model/topo/csr.h"

#include <stdlib.h>
#include <string.h>

/* Above this product of vertices and links, a search from every node takes more than
 * seconds. */
#define SEARCH_MAX (UINT64_C(1) << 31)
/* A number of classes that is not known yet. */
enum { UNKNOWN = UINT8_MAX };
/* Number of vertices to which routes are counted if there are too many for all. */
enum { SAMPLES = 32 };

/* The links of a topology, including ports without a cable. */
struct links {
    const struct wf_topo *topo;
    uint32_t *first, *to; /* as in struct wf_topo_csr, but with WF_TOPO_NO_VERTEX in `to` */
    struct wf_topo_csr cables, reverse;
};

static void links_init(struct links *links, const struct wf_topo *topo)
{
    uint32_t n = topo->n_vertices, n_cables = 0;
    struct wf_topo_csr cables = {.n_vertices = n};

    links->topo = topo;
    links->first = wf_xcalloc((size_t)n + 1, sizeof(uint32_t));
    links->to = wf_xcalloc((size_t)wf_topo_first_link(topo, n) + 1, sizeof(uint32_t));
    cables.first = wf_xcalloc((size_t)n + 1, sizeof(uint32_t));
    cables.to = wf_xcalloc((size_t)wf_topo_first_link(topo, n) + 1, sizeof(uint32_t));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t begin = wf_topo_first_link(topo, v), end = wf_topo_first_link(topo, v + 1);

        links->first[v] = begin;
        for (uint32_t i = begin; i < end; i++) {
            uint32_t to = topo->ops->neighbor(topo, v, i - begin);
            links->to[i] = to;
            if (to != WF_TOPO_NO_VERTEX) {
                cables.to[n_cables++] = to;
            }
        }
        cables.first[v + 1] = n_cables;
    }
    links->first[n] = wf_topo_first_link(topo, n);
    wf_topo_csr_reverse(&cables, &links->reverse);
    links->cables = cables;
}

static void links_fini(struct links *links)
{
    free(links->first);
    free(links->to);
    wf_topo_csr_release(&links->cables);
    wf_topo_csr_release(&links->reverse);
}

/* ---- Classes of routes to one vertex ---- */

struct tally {
    const struct wf_vc_level *level;
    uint32_t *port;   /* [n_vertices] output port of the route; WF_TOPO_NO_PORT at its end */
    uint32_t *walk;   /* [n_vertices] vertices of a walk whose counts are not known yet */
    uint8_t *classes; /* [n_vertices][WF_VC_RANKS] from there on, by the rank of the last hop */
};

static void tally_init(struct tally *tally, const struct wf_vc_level *level)
{
    uint32_t n = level->topo->n_vertices;

    *tally = (struct tally){
        .level = level,
        .port = wf_xcalloc(n, sizeof(uint32_t)),
        .walk = wf_xcalloc(n, sizeof(uint32_t)),
        .classes = wf_xcalloc(n, WF_VC_RANKS),
    };
}

static void tally_fini(struct tally *tally)
{
    free(tally->port);
    free(tally->walk);
    free(tally->classes);
}

/* Sets the classes from `at` on, from those of the next vertex. */
static void tally_vertex(struct tally *tally, uint32_t at)
{
    const struct wf_topo *topo = tally->level->topo;
    const struct wf_vc_kind *kind = tally->level->kind;
    uint8_t *classes = tally->classes + (size_t)at * WF_VC_RANKS;

    if (tally->port[at] == WF_TOPO_NO_PORT) {
        memset(classes, 0, WF_VC_RANKS);
        return;
    }
    uint32_t next = topo->ops->neighbor(topo, at, tally->port[at]);
    struct wf_vc_hop hop = kind->hop(tally->level, at, tally->port[at]);
    for (uint32_t before = 0; before < kind->n_ranks; before++) {
        uint32_t rank = before, more = wf_vc_turns(kind, hop, &rank) ? 1 : 0;
        uint32_t behind = tally->classes[(size_t)next * WF_VC_RANKS + rank] + more;
        classes[before] = (uint8_t)(behind < UNKNOWN ? behind : UNKNOWN - 1);
    }
}

/* The most classes of the routes of all vertices to one end, by the ports that are set. */
static uint32_t tally_routes(struct tally *tally)
{
    const struct wf_topo *topo = tally->level->topo;
    uint32_t most = 0;

    memset(tally->classes, UNKNOWN, (size_t)topo->n_vertices * WF_VC_RANKS);
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n = 0;

        for (uint32_t at = v; tally->classes[(size_t)at * WF_VC_RANKS] == UNKNOWN;) {
            tally->walk[n++] = at;
            if (tally->port[at] == WF_TOPO_NO_PORT) {
                break;
            }
            at = topo->ops->neighbor(topo, at, tally->port[at]);
        }
        while (n > 0) {
            tally_vertex(tally, tally->walk[--n]);
        }
        uint32_t here = tally->classes[(size_t)v * WF_VC_RANKS] + UINT32_C(1);
        most = here > most ? here : most;
    }
    return most;
}

static bool is_end(const struct wf_topo *topo, uint32_t vertex)
{
    return vertex < topo->n_nodes || vertex == topo->gate;
}

uint32_t wf_vc_count(const struct wf_vc_level *level, wf_vc_next_fn *next, const void *arg)
{
    const struct wf_topo *topo = level->topo;
    struct tally tally;
    uint32_t most = 1;

    tally_init(&tally, level);
    for (uint32_t dst = 0; dst < topo->n_vertices; dst++) {
        if (!is_end(topo, dst)) {
            continue;
        }
        for (uint32_t at = 0; at < topo->n_vertices; at++) {
            tally.port[at] = next(arg, at, dst);
        }
        uint32_t here = tally_routes(&tally);
        most = here > most ? here : most;
    }
    tally_fini(&tally);
    return most;
}

static void lowest_ports(const struct links *links, const uint32_t *dist, uint32_t *ports)
{
    for (uint32_t v = 0; v < links->topo->n_vertices; v++) {
        uint32_t i = links->first[v];

        bool goes_on = dist[v] != 0 && dist[v] != WF_TOPO_CSR_UNREACHED;

        while (goes_on &&
               (links->to[i] == WF_TOPO_NO_VERTEX || dist[links->to[i]] >= dist[v])) {
            i++;
        }
        ports[v] = goes_on ? i - links->first[v] : WF_TOPO_NO_PORT;
    }
}

static bool takes_too_long(const struct wf_topo *topo)
{
    return (uint64_t)topo->n_vertices * wf_topo_first_link(topo, topo->n_vertices) > SEARCH_MAX;
}

static struct wf_vc_hop hop_between(const struct wf_vc_level *level, const struct links *links,
                                    uint32_t from, uint32_t to)
{
    uint32_t port = 0;

    while (links->to[links->first[from] + port] != to) {
        port++;
    }
    return level->kind->hop(level, from, port);
}

static bool same_hop(struct wf_vc_hop a, struct wf_vc_hop b)
{
    return a.rank == b.rank && a.dateline == b.dateline && a.end == b.end;
}

/* Whether routes to a vertex have the classes of those to another one: both hang on one router, by hops of
 * one kind. `known` has the first such vertex of each router + 1. A network with many nodes on a router
 * takes a search for each router then. */
static bool is_like_another(const struct wf_vc_level *level, const struct links *links,
                            uint32_t vertex, uint32_t *known)
{
    const struct wf_topo_csr *reverse = &links->reverse;
    uint32_t out = links->first[vertex], in = reverse->first[vertex];

    if (links->first[vertex + 1] - out != 1 || reverse->first[vertex + 1] - in != 1 ||
        links->to[out] != reverse->to[in]) {
        return false;
    }
    uint32_t router = links->to[out], other = known[router];
    if (other == 0) {
        known[router] = vertex + 1;
        return false;
    }
    return same_hop(hop_between(level, links, vertex, router),
                    hop_between(level, links, other - 1, router)) &&
           same_hop(hop_between(level, links, router, vertex),
                    hop_between(level, links, router, other - 1));
}

uint32_t wf_vc_count_lowest(const struct wf_vc_level *level, bool *is_guess)
{
    const struct wf_topo *topo = level->topo;
    struct links links;
    struct tally tally;
    uint32_t most = 1, n = topo->n_vertices;

    *is_guess = takes_too_long(topo);
    links_init(&links, topo);
    tally_init(&tally, level);
    uint32_t *dist = wf_xcalloc(topo->n_vertices, sizeof(*dist));
    uint32_t *known = wf_xcalloc(topo->n_vertices, sizeof(*known));
    for (uint32_t i = 0; i < (*is_guess ? SAMPLES : n); i++) {
        uint32_t dst =
            *is_guess ? (uint32_t)wf_rng_below(wf_rng_draw(1, 1, i), topo->n_nodes) : i;
        if (is_end(topo, dst) && !is_like_another(level, &links, dst, known)) {
            (void)wf_topo_csr_search(&links.reverse, dst, dist, tally.walk);
            lowest_ports(&links, dist, tally.port);
            uint32_t here = tally_routes(&tally);
            most = here > most ? here : most;
        }
    }
    free(known);
    free(dist);
    tally_fini(&tally);
    links_fini(&links);
    return most;
}

uint32_t *wf_vc_order(const struct wf_topo *topo)
{
    uint32_t *order = wf_xcalloc(topo->n_vertices, sizeof(*order));
    uint32_t *dist = wf_xcalloc(topo->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(topo->n_vertices, sizeof(*queue)), n_ordered = 0;
    bool *is_ordered = wf_xcalloc(topo->n_vertices, sizeof(*is_ordered));
    struct links links;

    links_init(&links, topo);
    for (uint32_t root = 0; root < topo->n_vertices; root++) {
        uint32_t n =
            is_ordered[root] ? 0 : wf_topo_csr_search(&links.reverse, root, dist, queue);
        for (uint32_t i = 0; i < n; i++) {
            if (!is_ordered[queue[i]]) {
                is_ordered[queue[i]] = true;
                order[queue[i]] = n_ordered++;
            }
        }
    }
    free(is_ordered);
    free(dist);
    free(queue);
    links_fini(&links);
    return order;
}

/* The largest distance from node 0 to a node, or to it. */
static uint32_t radius(const struct wf_topo_csr *csr, uint32_t n_nodes)
{
    uint32_t *dist = wf_xcalloc(csr->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(csr->n_vertices, sizeof(*queue)), most = 0;

    (void)wf_topo_csr_search(csr, 0, dist, queue);
    for (uint32_t v = 0; v < n_nodes; v++) {
        most = dist[v] > most && dist[v] != WF_TOPO_CSR_UNREACHED ? dist[v] : most;
    }
    free(dist);
    free(queue);
    return most;
}

/* The largest distance from node 0 plus the largest distance to it. */
static uint32_t twice_radius(const struct wf_topo *topo)
{
    struct links links;

    links_init(&links, topo);
    uint32_t sum = radius(&links.cables, topo->n_nodes) + radius(&links.reverse, topo->n_nodes);
    links_fini(&links);
    return sum;
}

uint32_t wf_vc_hops(const struct wf_topo *topo)
{
    uint32_t n_levels = wf_topo_n_levels(topo);
    bool slow = false;

    for (uint32_t i = 0; i < n_levels; i++) {
        const struct wf_topo *level = wf_topo_level(topo, i);
        slow = slow || (wf_vc_kind_of(level)->is_slow && takes_too_long(level));
    }
    return slow ? twice_radius(topo) : topo->ops->diameter(topo);
}
