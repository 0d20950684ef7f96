/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of model/net/router/lockstep/routes.h. */
#include "base/mem.h"
#include "base/units.h"
#include "model/net/router/lockstep/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)WF_LOCKSTEP_STAGES == WF_VC_STAGES &&
                   (int)WF_LOCKSTEP_FLOW_PACKET == WF_ROUTE_FLOW_PACKET,
               "routes");

/* Entries of a table by vertex and node: a second of set-up for each 2^25 or so. */
#define PAIRS_MAX (UINT64_C(1) << 29)

/* The policies, and which tables they need. */
static const struct policy {
    const struct wf_route_ops *ops;
    enum wf_lockstep_policy policy;
    bool distances;
} policies[] = {
    {&wf_route_minimal_ops, WF_LOCKSTEP_MINIMAL, false},
    {&wf_route_table_ops, WF_LOCKSTEP_GIVEN, false},
    {&wf_route_ecmp_ops, WF_LOCKSTEP_ECMP, true},
    {&wf_route_adaptive_ops, WF_LOCKSTEP_SHORTEST_QUEUE, true},
    {&wf_route_updown_ops, WF_LOCKSTEP_SHORTEST_QUEUE, true},
    {&wf_route_valiant_ops, WF_LOCKSTEP_VALIANT, true},
    {&wf_route_ugal_l_ops, WF_LOCKSTEP_UGAL, true},
    {&wf_route_par_ops, WF_LOCKSTEP_PAR, true},
};

static const struct policy *policy_of(const struct wf_router_net *model)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (model->route != NULL && policies[i].ops == model->route->ops) {
            return &policies[i];
        }
    }
    return NULL;
}

/* The first vertex of the tables: nodes that have one link each, which leads to a switch, need no
 * rows. */
static uint32_t first_of(const struct wf_topo *topo)
{
    for (uint32_t node = 0; node < topo->n_nodes; node++) {
        if (wf_topo_ports(topo, node) != 1 ||
            topo->ops->neighbor(topo, node, 0) < topo->n_nodes ||
            topo->ops->neighbor(topo, node, 0) == WF_TOPO_NO_VERTEX) {
            return 0;
        }
    }
    return topo->n_nodes;
}

static uint64_t pairs_of(const struct wf_topo *topo)
{
    return (uint64_t)(topo->n_vertices - first_of(topo)) * topo->n_nodes;
}

const char *wf_lockstep_routes_limit(const struct wf_router_net *model)
{
    if (model->scheme != WF_ROUTER_POLICY && model->scheme != WF_ROUTER_UPDOWN) {
        return NULL;
    }
    if (model->scheme == WF_ROUTER_POLICY &&
        (policy_of(model) == NULL || model->route->vcs.n_levels > 1)) {
        return policy_of(model) == NULL ? "this routing policy"
                                        : "a routing policy on a network of several levels";
    }
    if (pairs_of(model->topo) > PAIRS_MAX) {
        return "routing by tables of more than 2^29 pairs of routers and nodes";
    }
    return model->topo->ops->diameter(model->topo) >= WF_LOCKSTEP_UNREACHED
               ? "routing by tables in a network with a diameter above 254 hops"
               : NULL;
}

bool wf_lockstep_same_routes(const struct wf_lockstep_net *a, const struct wf_lockstep_net *b)
{
    const struct wf_router_net *x = wf_lockstep_of(a)->model, *y = wf_lockstep_of(b)->model;

    if (a->scheme != WF_LOCKSTEP_POLICY || b->scheme != WF_LOCKSTEP_POLICY) {
        return a->scheme == b->scheme;
    }
    return x->route->ops == y->route->ops && x->set.ecmp == y->set.ecmp &&
           strcmp(x->set.routing_file, y->set.routing_file) == 0;
}

/* ---- filling ---- */

/* What the tables are made from. */
struct source {
    const struct wf_topo *topo;
    const struct wf_route *route; /* null: up and down, without a policy */
    const struct wf_vc_level *level;
    uint32_t first;
};

/* The port of the deterministic route. */
static uint32_t port_of(const struct source *from, uint32_t at, uint32_t dst)
{
    if (from->route != NULL && from->route->ops == &wf_route_table_ops) {
        return wf_route_table_port(from->route, at, dst);
    }
    return from->topo->ops->next_port(from->topo, at, dst);
}

static uint16_t entry_of(const struct source *from, uint32_t at, uint32_t dst)
{
    uint32_t port = port_of(from, at, dst);
    bool second = port != WF_TOPO_NO_PORT && from->level != NULL &&
                  wf_vc_is_by_place(from->level) &&
                  wf_vc_place_channel(from->level, at, port, dst) != 0;

    return (uint16_t)((port & (WF_LOCKSTEP_SECOND - 1)) | (second ? WF_LOCKSTEP_SECOND : 0));
}

static void fill_next(const struct source *from, uint16_t *next)
{
    const struct wf_topo *topo = from->topo;

    for (uint32_t at = from->first; at < topo->n_vertices; at++) {
        for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
            *next++ = at == dst ? 0 : entry_of(from, at, dst);
        }
    }
}

static void fill_distance(const struct source *from, uint8_t *distance)
{
    const struct wf_topo *topo = from->topo;

    for (uint32_t at = from->first; at < topo->n_vertices; at++) {
        for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
            uint32_t hops = topo->ops->distance(topo, at, dst);
            *distance++ =
                (uint8_t)(hops < WF_LOCKSTEP_UNREACHED ? hops : WF_LOCKSTEP_UNREACHED);
        }
    }
}

static void fill_climb(const struct source *from, uint16_t *climb)
{
    const struct wf_topo *topo = from->topo;

    for (uint32_t at = from->first; at < topo->n_vertices; at++) {
        for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
            *climb++ = at == dst ? 0 : (uint16_t)wf_vc_tree_next(from->level->tree, at, dst);
        }
    }
}

static uint8_t hop_of(const struct source *from, uint32_t at, uint32_t port)
{
    const struct wf_vc_facts facts = wf_vc_facts(from->level, at, port);

    return (uint8_t)((facts.rank & WF_LOCKSTEP_HOP_RANK) |
                     (facts.dateline ? WF_LOCKSTEP_HOP_DATELINE : 0) |
                     (facts.end ? WF_LOCKSTEP_HOP_END : 0));
}

static void fill_hops(const struct source *from, const struct wf_lockstep_net *net,
                      uint8_t *hops)
{
    const struct wf_topo *topo = from->topo;

    for (uint32_t at = 0; at < net->n; at++) {
        uint8_t *own = &hops[wf_lockstep_port(net, at, 0)];
        for (uint32_t port = 0; port < net->n_ports; port++) {
            if (net->neighbor[wf_lockstep_port(net, at, port)] != WF_LOCKSTEP_NONE) {
                own[port] = hop_of(from, at, port);
            }
        }
        if (wf_topo_ports(topo, at) > 1) {
            own[0] |= WF_LOCKSTEP_HOP_OF_MANY;
        }
    }
}

static void fill_group(const struct wf_topo *topo, uint32_t *group)
{
    uint32_t coord[WF_TOPO_COORDS_MAX];

    for (uint32_t at = 0; at < topo->n_vertices; at++) {
        (void)topo->ops->coords(topo, at, coord);
        group[at] = coord[0];
    }
}

/* What the channels of a policy are. */
static void set_channels(struct wf_lockstep_routes *routes, const struct wf_router_net *model)
{
    const struct wf_vc_level *level = &model->route->vcs.levels[0];

    routes->policy = policy_of(model)->policy;
    routes->flow = model->route->ops->is_by_flow ? (uint32_t)model->set.ecmp
                                                 : (uint32_t)WF_LOCKSTEP_FLOW_MESSAGE;
    routes->free = level->free;
    routes->fixed = level->fixed;
    for (uint32_t i = 0; i < WF_LOCKSTEP_STAGES; i++) {
        routes->start[i] = level->start[i];
    }
    routes->strict = wf_vc_is_strict(level);
    routes->single = wf_vc_is_single(level);
    routes->by_place = wf_vc_is_by_place(level);
}

/* Tables that only policies need. */
static void fill_policy(struct wf_lockstep_net *net, const struct source *from, uint64_t pairs)
{
    struct wf_lockstep_routes *routes = &net->routes;
    uint8_t *hops = wf_xcalloc((size_t)net->n * net->n_ports, sizeof(*hops));

    fill_hops(from, net, hops);
    routes->hops = hops;
    if (from->level->tree != NULL) {
        uint16_t *climb = wf_xcalloc(pairs, sizeof(*climb));
        fill_climb(from, climb);
        routes->climb = climb;
    }
    if (wf_vc_is_dragonfly(from->level)) {
        uint32_t *group = wf_xcalloc(net->n, sizeof(*group));
        fill_group(from->topo, group);
        routes->group = group;
    }
}

void wf_lockstep_routes_fill(struct wf_lockstep_net *net, const struct wf_router_net *model)
{
    struct wf_lockstep_routes *routes = &net->routes;
    struct source from = {
        .topo = model->topo, .route = model->route, .first = first_of(model->topo)};
    uint64_t pairs = pairs_of(model->topo);

    if (net->n_dims > 0) {
        return;
    }
    if (model->scheme == WF_ROUTER_POLICY) {
        from.topo = model->route->vcs.topo;
        from.level = &model->route->vcs.levels[0];
        set_channels(routes, model);
        fill_policy(net, &from, pairs);
    }
    uint16_t *next = wf_xcalloc(pairs, sizeof(*next));
    routes->first = from.first;
    fill_next(&from, next);
    routes->next = next;
    if (net->pattern == WF_LOCKSTEP_LOCAL ||
        (model->scheme == WF_ROUTER_UPDOWN ? net->request != WF_LOCKSTEP_FIRST
                                           : policy_of(model)->distances)) {
        uint8_t *distance = wf_xcalloc(pairs, sizeof(*distance));
        fill_distance(&from, distance);
        routes->distance = distance;
    }
}

void wf_lockstep_routes_free(struct wf_lockstep_net *net)
{
    struct wf_lockstep_routes *routes = &net->routes;

    free(wf_unconst(routes->next));
    free(wf_unconst(routes->climb));
    free(wf_unconst(routes->distance));
    free(wf_unconst(routes->hops));
    free(wf_unconst(routes->group));
}
