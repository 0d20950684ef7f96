/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni and Zahavi, "Dragonfly+: low cost
 * topology for scaling datacenters", HiPINEB 2017): a dragonfly whose groups are two-level
 * fat trees. Every leaf of a group is joined to every spine of the group. Nodes are attached
 * to leaves, and links to other groups to spines (model/topo/global.h).
 *
 * Vertices: the nodes, the leaves group by group, the spines group by group. The ports of a
 * leaf lead to its nodes, then to the spines; those of a spine lead to the leaves, then to
 * other groups.
 *
 * A leaf is joined to all spines of its group. The shortest path from a leaf to another
 * group therefore always passes a spine that leads to that group, the spine at the other end
 * and the leaf; no path through a third group is shorter. From a spine that does not lead to
 * the group, a path through a third group can be shorter.
 */
#include "model/topo/classes.h"
#include "model/topo/global.h"
#include "model/topo/topo.h"
#include "model/topo/vector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct params {
    uint64_t h, spines, leaves, p, g;
    int global;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, h, COUNT, .min = "1",
                 .doc = "Links from each spine to other groups"),
    WF_PARAM_ROW(struct params, spines, COUNT, .def = "0",
                 .doc = "Spines in each group; 0 means h, which gives all routers 2h ports"),
    WF_PARAM_ROW(struct params, leaves, COUNT, .def = "0",
                 .doc = "Leaves in each group; 0 means as many as spines"),
    WF_PARAM_ROW(struct params, p, COUNT, .def = "0",
                 .doc = "Nodes at each leaf; 0 means as many as spines in a group"),
    WF_PARAM_ROW(struct params, g, COUNT, .def = "0",
                 .doc = "Number of groups, at most spines*h + 1; 0 means that maximum"),
    WF_PARAM_ROW(struct params, global, ENUM, .def = "relative",
                 .choices = wf_topo_global_orders, .doc = WF_TOPO_GLOBAL_DOC),
    WF_PARAM_END,
};

struct plus {
    struct wf_topo topo;
    struct wf_topo_global global;     /* its routers are the spines */
    uint32_t leaves, spines;          /* per group */
    uint32_t nodes;                   /* per leaf */
    uint32_t first_leaf, first_spine; /* vertex numbers */
};

static const struct plus *to_plus(const struct wf_topo *topo)
{
    return (const struct plus *)topo;
}

static bool is_spine(const struct plus *plus, uint32_t vertex)
{
    return vertex >= plus->first_spine;
}

/* The leaf, numbered from 0, that a vertex is or is attached to. The vertex is not a spine. */
static uint32_t leaf_of(const struct plus *plus, uint32_t vertex)
{
    return vertex < plus->first_leaf ? vertex / plus->nodes : vertex - plus->first_leaf;
}

static uint32_t group_of(const struct plus *plus, uint32_t vertex)
{
    return is_spine(plus, vertex) ? (vertex - plus->first_spine) / plus->spines
                                  : leaf_of(plus, vertex) / plus->leaves;
}

static uint32_t plus_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    const struct plus *plus = to_plus(topo);
    uint32_t leaf_ports = plus->nodes + plus->spines;

    if (vertex <= plus->first_leaf) {
        return vertex;
    }
    if (vertex <= plus->first_spine) {
        return plus->first_leaf + (vertex - plus->first_leaf) * leaf_ports;
    }
    return plus->first_leaf + (plus->first_spine - plus->first_leaf) * leaf_ports +
           (vertex - plus->first_spine) * (plus->leaves + plus->global.ports);
}

static uint32_t plus_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct plus *plus = to_plus(topo);
    uint32_t group = group_of(plus, vertex);

    assert(vertex < topo->n_vertices && port < wf_topo_ports(topo, vertex));
    if (vertex < plus->first_leaf) {
        return plus->first_leaf + leaf_of(plus, vertex);
    }
    if (!is_spine(plus, vertex)) {
        return port < plus->nodes
                   ? leaf_of(plus, vertex) * plus->nodes + port
                   : plus->first_spine + group * plus->spines + (port - plus->nodes);
    }
    if (port < plus->leaves) {
        return plus->first_leaf + group * plus->leaves + port;
    }
    uint32_t far =
        wf_topo_global_far(&plus->global, vertex - plus->first_spine)[port - plus->leaves];
    return far == WF_TOPO_NO_VERTEX ? far : plus->first_spine + far;
}

static uint32_t plus_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct plus *plus = to_plus(topo);

    if (vertex < plus->first_leaf || (!is_spine(plus, vertex) && port < plus->nodes)) {
        return WF_TOPO_CLASS_TERMINAL;
    }
    return is_spine(plus, vertex) && port >= plus->leaves ? WF_TOPO_CLASS_GLOBAL
                                                          : WF_TOPO_CLASS_LOCAL;
}

/* Whether a spine, numbered from 0, does not lead to `group` itself but is joined to a spine
 * of another group that does. */
static bool leads_by_one(const struct plus *plus, uint32_t spine, uint32_t group)
{
    const uint32_t *far = wf_topo_global_far(&plus->global, spine);

    for (uint32_t i = 0; i < plus->global.ports && far[i] != WF_TOPO_NO_VERTEX; i++) {
        if (wf_topo_global_leads(&plus->global, far[i], group)) {
            return true;
        }
    }
    return false;
}

/* Hops from a spine, numbered from 0, to the nodes of a group. */
static uint32_t spine_distance(const struct plus *plus, uint32_t spine, uint32_t group)
{
    if (spine / plus->spines == group) {
        return 2;
    }
    if (wf_topo_global_leads(&plus->global, spine, group)) {
        return 3;
    }
    return leads_by_one(plus, spine, group) ? 4 : 5;
}

/* Hops from a leaf to a node of another leaf. */
static uint32_t leaf_distance(bool same_group)
{
    return same_group ? 3 : 4;
}

static uint32_t plus_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct plus *plus = to_plus(topo);
    uint32_t group = group_of(plus, dst);

    if (at == dst) {
        return 0;
    }
    if (is_spine(plus, at)) {
        return spine_distance(plus, at - plus->first_spine, group);
    }
    uint32_t up = at < plus->first_leaf ? 1 : 0;
    return up + (leaf_of(plus, at) == leaf_of(plus, dst)
                     ? 1
                     : leaf_distance(group_of(plus, at) == group));
}

static uint32_t leaf_next_port(const struct plus *plus, uint32_t at, uint32_t dst)
{
    uint32_t from = group_of(plus, at), to = group_of(plus, dst);

    if (leaf_of(plus, at) == leaf_of(plus, dst)) {
        return dst % plus->nodes;
    }
    if (from == to) {
        return plus->nodes + dst % plus->spines;
    }
    uint32_t link = dst % wf_topo_global_count(&plus->global, from, to);
    return plus->nodes + wf_topo_global_exit(&plus->global, from, to, link) % plus->spines;
}

/* All ports of a spine with which a shortest path begins, in ascending order. */
static uint32_t spine_ports(const struct plus *plus, uint32_t at, uint32_t dst, uint32_t *ports)
{
    uint32_t spine = at - plus->first_spine, group = group_of(plus, dst), n = 0;
    uint32_t left = spine_distance(plus, spine, group);
    const uint32_t *far = wf_topo_global_far(&plus->global, spine);
    uint32_t own = leaf_of(plus, dst) % plus->leaves;

    for (uint32_t i = 0; i < plus->leaves; i++) {
        uint32_t hops = left == 2 && i == own ? 1 : leaf_distance(left == 2);
        if (hops + 1 == left) {
            ports[n++] = i;
        }
    }
    for (uint32_t i = 0; i < plus->global.ports && far[i] != WF_TOPO_NO_VERTEX; i++) {
        if (spine_distance(plus, far[i], group) + 1 == left) {
            ports[n++] = plus->leaves + i;
        }
    }
    return n;
}

/* The port of a spine to another spine, which is in the group of `dst` (`in_group`) or leads
 * to that group. The caller knows that there is such a spine. Several of them share the
 * load. */
static uint32_t pick_global(const struct plus *plus, uint32_t spine, uint32_t dst,
                            bool in_group)
{
    const uint32_t *far = wf_topo_global_far(&plus->global, spine);
    uint32_t group = group_of(plus, dst), i = dst % plus->global.ports;

    while (far[i] == WF_TOPO_NO_VERTEX ||
           (in_group ? far[i] / plus->spines != group
                     : !wf_topo_global_leads(&plus->global, far[i], group))) {
        i = i + 1 < plus->global.ports ? i + 1 : 0;
    }
    return plus->leaves + i;
}

static uint32_t spine_next_port(const struct plus *plus, uint32_t at, uint32_t dst)
{
    uint32_t spine = at - plus->first_spine;
    uint32_t left = spine_distance(plus, spine, group_of(plus, dst));

    if (left == 2) {
        return leaf_of(plus, dst) % plus->leaves;
    }
    /* The route goes back down to any leaf, and from there through a spine that leads to the
     * group. */
    return left == 5 ? dst % plus->leaves : pick_global(plus, spine, dst, left == 3);
}

static uint32_t plus_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct plus *plus = to_plus(topo);

    if (at == dst) {
        return WF_TOPO_NO_PORT;
    }
    if (at < plus->first_leaf) {
        return 0;
    }
    return is_spine(plus, at) ? spine_next_port(plus, at, dst) : leaf_next_port(plus, at, dst);
}

static uint32_t plus_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                   uint32_t *ports)
{
    const struct plus *plus = to_plus(topo);
    uint32_t n = 0;

    if (at == dst) {
        return 0;
    }
    if (is_spine(plus, at)) {
        return spine_ports(plus, at, dst, ports);
    }
    if (at < plus->first_leaf || leaf_of(plus, at) == leaf_of(plus, dst)) {
        ports[0] = plus_next_port(topo, at, dst);
        return 1;
    }
    uint32_t from = group_of(plus, at), to = group_of(plus, dst);
    for (uint32_t i = 0; i < plus->spines; i++) {
        if (from == to || wf_topo_global_leads(&plus->global, from * plus->spines + i, to)) {
            ports[n++] = plus->nodes + i;
        }
    }
    return n;
}

static uint32_t plus_diameter(const struct wf_topo *topo)
{
    const struct plus *plus = to_plus(topo);

    if (plus->global.groups > 1) {
        return 5;
    }
    return plus->leaves > 1 ? 4 : plus->nodes > 1 ? 2 : 0;
}

static void plus_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    const struct plus *plus = to_plus(topo);
    uint64_t all = topo->n_nodes, in_group = (uint64_t)plus->leaves * plus->nodes;
    uint64_t by_hops[6] = {[0] = all,
                           [2] = all * (plus->nodes - UINT64_C(1)),
                           [4] = all * (in_group - plus->nodes),
                           [5] = all * (all - in_group)};

    memcpy(counts, by_hops, ((size_t)plus_diameter(topo) + 1) * sizeof(*counts));
}

/* The numbers of leaves and nodes of a network whose groups and spines are known. */
struct plus_size {
    uint64_t leaves, nodes;
};

/* Sets all counts. Fails if the network is too large. */
static enum wf_status set_sizes(struct plus *plus, struct plus_size size, struct wf_err *err)
{
    const uint64_t max = WF_TOPO_LINK_MAX;
    uint64_t groups = plus->global.groups, spines = plus->global.routers;
    uint64_t leaves = groups, nodes, ports = plus->global.ports;

    WF_TRY(wf_topo_vector_multiply("dragonfly+: leaves", &leaves, size.leaves, max, err));
    nodes = leaves;
    WF_TRY(wf_topo_vector_multiply("dragonfly+: nodes", &nodes, size.nodes, max, err));
    uint64_t links = 2 * nodes + 2 * leaves * spines + groups * spines * ports;
    if (links > max) {
        return wf_err_set(err, WF_EINVAL, "dragonfly+: links: too large, more than %u",
                          (unsigned)max);
    }
    plus->spines = (uint32_t)spines;
    plus->leaves = (uint32_t)size.leaves;
    plus->nodes = (uint32_t)size.nodes;
    plus->first_leaf = (uint32_t)nodes;
    plus->first_spine = (uint32_t)(nodes + leaves);
    uint64_t leaf_ports = size.nodes + spines, spine_ports_max = size.leaves + ports;
    plus->topo = (struct wf_topo){
        .ops = &wf_topo_dragonflyplus_ops,
        .n_nodes = (uint32_t)nodes,
        .n_vertices = (uint32_t)(nodes + leaves + groups * spines),
        .n_ports = (uint32_t)(leaf_ports > spine_ports_max ? leaf_ports : spine_ports_max),
        .n_links = nodes + leaves * spines,
        .classes = wf_topo_class_groups,
        .n_classes = WF_TOPO_CLASS_GROUPS,
    };
    return WF_OK;
}

static enum wf_status plus_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    uint64_t spines = given->spines != 0 ? given->spines : given->h;
    struct plus_size size = {given->leaves != 0 ? given->leaves : spines,
                             given->p != 0 ? given->p : spines};
    struct plus plus = {.leaves = 0};

    WF_TRY(wf_topo_global_plan(&plus.global, wf_topo_dragonflyplus_ops.name,
                               (struct wf_topo_global_size){given->g, spines, given->h},
                               (enum wf_topo_global_order)given->global, err));
    WF_TRY(set_sizes(&plus, size, err));
    wf_topo_global_join(&plus.global);
    plus.topo.n_links += plus.global.n_links;
    *out = wf_topo_keep(&plus, sizeof(plus));
    return WF_OK;
}

static void plus_destroy(struct wf_topo *topo)
{
    wf_topo_global_release(&((struct plus *)topo)->global);
    free(topo);
}

/* In a group the leaves come first, then the spines. */
static uint32_t plus_coords(const struct wf_topo *topo, uint32_t vertex,
                            uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct plus *plus = to_plus(topo);

    coord[0] = group_of(plus, vertex);
    coord[1] = is_spine(plus, vertex)
                   ? plus->leaves + (vertex - plus->first_spine) % plus->spines
                   : leaf_of(plus, vertex) % plus->leaves;
    return 2;
}

static const char *const examples[] = {
    "dragonfly+:2",
    "dragonfly+:1",
    "dragonfly+:3,p=2",
    "dragonfly+:3,p=2,global=absolute",
    "dragonfly+:3,p=1,global=circulant",
    "dragonfly+:h=2,spines=4,leaves=3,p=2",
    "dragonfly+:h=2,spines=4,leaves=2,p=1,g=5",
    "dragonfly+:h=2,spines=3,leaves=4,p=1,g=4,global=circulant",
    "dragonfly+:h=1,spines=1,leaves=3,p=2",
    "dragonfly+:h=4,spines=2,leaves=2,p=2,g=2",
    "dragonfly+:h=4,spines=2,leaves=2,p=2,g=1",
    "dragonfly+:h=1,spines=2,leaves=1,p=3,g=1",
    "dragonfly+:h=1,leaves=1,p=1,g=1",
    NULL,
};

const struct wf_topo_ops wf_topo_dragonflyplus_ops = {
    .name = "dragonfly+",
    .args = "<h>[,spines=<n>][,leaves=<n>][,p=<nodes per leaf>][,g=<groups>][,global=<order>]",
    .summary = "a dragonfly whose groups are two-level fat trees",
    .shape = WF_TOPO_SHAPE_GROUPS,
    .vc_class = WF_TOPO_VC_TREES,
    .usual_routing = "ugal_l",
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = plus_create,
    .destroy = plus_destroy,
    .coords = plus_coords,
    .first_link = plus_first_link,
    .neighbor = plus_neighbor,
    .distance = plus_distance,
    .next_port = plus_next_port,
    .minimal_ports = plus_minimal_ports,
    .diameter = plus_diameter,
    .histogram = plus_histogram,
    .link_class = plus_link_class,
};
