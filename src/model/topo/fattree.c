/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fat trees: extended generalized fat trees, XGFT(h; m_1..m_h; w_1..w_h), after S. R.
 * Ohring, M. Ibel, S. K. Das and M. J. Kumar, "On generalized fat trees", IPPS 1995. Level 0
 * are the nodes; a switch of level l has m_l children; a vertex of level l - 1 has w_l
 * parents. In k-ary n-trees (F. Petrini and M. Vanneschi, IPPS 1997) all m are k, and all w
 * are k except w_1 = 1.
 *
 * Nodes whose numbers divided by m_1 * ... * m_l are equal form a subtree of height l. Above
 * it there are w_1 * ... * w_l switches of level l, its tops. Every top leads down to every
 * node of its subtree, and every path up leads to a top. Hence a level, a subtree and a
 * number among its tops identify a vertex, and distances depend on levels and subtrees only.
 *
 * Ports of a switch lead to its children, then to its parents. Switches are numbered level
 * by level upwards, subtree by subtree.
 */
#include "model/topo/topo.h"

#include "model/topo/classes.h"
#include "model/topo/vector.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { HEIGHT_MAX = 32 };
_Static_assert((int)HEIGHT_MAX <= (int)WF_TOPO_CLASS_LEVELS_MAX, "a class for each level");

struct params {
    char *down, *up, *taper;
    uint64_t k, n, radix, levels;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, down, TEXT, .def = "",
                 .doc = "Children of a switch in each level, from the lowest up, as in 4x4x4"),
    WF_PARAM_ROW(
        struct params, up, TEXT, .def = "",
        .doc =
            "Parents of a node, then of a switch in each level but the highest, as in 1x4x4; "
            "by default one parent of a node and as many parents as children of a switch"),
    WF_PARAM_ROW(struct params, k, COUNT, .def = "0", .max = "4294967294",
                 .doc = "Instead of down: the children, and the parents, of every switch of a "
                        "k-ary n-tree"),
    WF_PARAM_ROW(struct params, n, COUNT, .def = "0", .max = "32",
                 .doc = "Levels of switches of a k-ary n-tree, which has k^n nodes"),
    WF_PARAM_ROW(struct params, radix, COUNT, .def = "0", .max = "4294967294",
                 .doc = "Instead of down: the ports of every switch of the largest tree; half "
                        "of them lead up, except at the top"),
    WF_PARAM_ROW(struct params, levels, COUNT, .def = "0", .max = "32",
                 .doc = "Levels of switches of that radix"),
    WF_PARAM_ROW(struct params, taper, TEXT, .def = "1",
                 .doc = "Divides the number of parents of switches, in all levels alike or in "
                        "each from the lowest up, as in 2x1"),
    WF_PARAM_END,
};

/* Levels are 0, the nodes, to height. */
struct fattree {
    struct wf_topo topo;
    uint32_t height;
    uint32_t down[HEIGHT_MAX + 1];       /* children of a vertex in each level */
    uint32_t up[HEIGHT_MAX + 1];         /* parents of a vertex in each level */
    uint32_t nodes[HEIGHT_MAX + 1];      /* nodes in a subtree of each height */
    uint32_t tops[HEIGHT_MAX + 1];       /* tops of a subtree of each height */
    uint32_t first[HEIGHT_MAX + 2];      /* first vertex of each level; then the end */
    uint32_t first_link[HEIGHT_MAX + 2]; /* first link of each level; then the end */
};

static const struct fattree *to_fattree(const struct wf_topo *topo)
{
    return (const struct fattree *)topo;
}

/* A vertex, located by its level and subtree. */
struct place {
    uint32_t level;
    uint32_t subtree; /* number among the subtrees of height `level` */
    uint32_t top;     /* among the tops of that subtree */
};

static uint32_t level_of(const struct fattree *tree, uint32_t vertex)
{
    uint32_t level = 0;

    while (vertex >= tree->first[level + 1]) {
        level++;
    }
    return level;
}

static struct place place_of(const struct fattree *tree, uint32_t vertex)
{
    uint32_t level = level_of(tree, vertex);
    uint32_t index = vertex - tree->first[level];

    return (struct place){level, index / tree->tops[level], index % tree->tops[level]};
}

static uint32_t fattree_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    const struct fattree *tree = to_fattree(topo);

    if (vertex == topo->n_vertices) {
        return tree->first_link[tree->height + 1];
    }
    uint32_t level = level_of(tree, vertex);
    return tree->first_link[level] +
           (vertex - tree->first[level]) * (tree->down[level] + tree->up[level]);
}

static uint32_t fattree_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct fattree *tree = to_fattree(topo);
    struct place place = place_of(tree, vertex), to = place;

    assert(port < tree->down[place.level] + tree->up[place.level]);
    if (port < tree->down[place.level]) {
        to.level--;
        to.subtree = place.subtree * tree->down[place.level] + port;
        to.top = place.top % tree->tops[to.level];
    } else {
        to.level++;
        to.subtree = place.subtree / tree->down[to.level];
        to.top = place.top + (port - tree->down[place.level]) * tree->tops[place.level];
    }
    return tree->first[to.level] + to.subtree * tree->tops[to.level] + to.top;
}

/* The level of the lowest subtree that contains both the place and the node. */
static uint32_t turn_level(const struct fattree *tree, struct place at, uint32_t dst)
{
    uint32_t subtree = dst / tree->nodes[at.level];

    while (subtree != at.subtree) {
        at.level++;
        at.subtree /= tree->down[at.level];
        subtree /= tree->down[at.level];
    }
    return at.level;
}

static uint32_t fattree_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct fattree *tree = to_fattree(topo);
    struct place place = place_of(tree, at);
    uint32_t turn = turn_level(tree, place, dst);

    return 2 * turn - place.level;
}

static uint32_t port_down(const struct fattree *tree, uint32_t level, uint32_t dst)
{
    return dst / tree->nodes[level - 1] % tree->down[level];
}

/* On the way up, all routes to a node use the same ports, and routes to neighbouring nodes
 * use different ports: the rule of E. Zahavi, "D-Mod-K routing providing non-blocking
 * traffic for shift permutations on real life fat trees", 2010. */
static uint32_t fattree_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct fattree *tree = to_fattree(topo);
    struct place place = place_of(tree, at);
    uint32_t level = place.level;

    if (at == dst) {
        return WF_TOPO_NO_PORT;
    }
    if (place.subtree == dst / tree->nodes[level]) {
        return port_down(tree, level, dst);
    }
    return tree->down[level] + dst / tree->tops[level] % tree->up[level];
}

static uint32_t fattree_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                      uint32_t *ports)
{
    const struct fattree *tree = to_fattree(topo);
    struct place place = place_of(tree, at);

    if (at == dst) {
        return 0;
    }
    if (place.subtree == dst / tree->nodes[place.level]) {
        ports[0] = port_down(tree, place.level, dst);
        return 1;
    }
    for (uint32_t i = 0; i < tree->up[place.level]; i++) {
        ports[i] = tree->down[place.level] + i;
    }
    return tree->up[place.level];
}

static uint32_t fattree_diameter(const struct wf_topo *topo)
{
    const struct fattree *tree = to_fattree(topo);
    uint32_t level = tree->height;

    while (level > 0 && tree->down[level] == 1) {
        level--;
    }
    return 2 * level;
}

static void fattree_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    const struct fattree *tree = to_fattree(topo);
    uint32_t diameter = fattree_diameter(topo);

    counts[0] = topo->n_nodes;
    for (uint32_t d = 1; d <= diameter; d++) {
        /* Both terms are equal at odd distances, where there are no pairs. */
        counts[d] = (uint64_t)topo->n_nodes * (tree->nodes[d / 2] - tree->nodes[(d - 1) / 2]);
    }
}

static uint32_t fattree_coords(const struct wf_topo *topo, uint32_t vertex,
                               uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct fattree *tree = to_fattree(topo);

    coord[0] = level_of(tree, vertex);
    coord[1] = vertex - tree->first[coord[0]];
    return 2;
}

/* The class of the links between two levels is that of the lower one. */
static uint32_t fattree_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct fattree *tree = to_fattree(topo);
    uint32_t level = level_of(tree, vertex);

    return port < tree->down[level] ? level - 1 : level;
}

/* A half that takes no switches costs the cables above its subtrees. The best height of
 * these subtrees is where there are fewest cables per node. No cut is cheaper: if every top
 * switch sends the same amount to every node, evenly down all paths, half of the traffic
 * crosses the cut, and no cable carries more than the cables below the best height. If
 * subtrees of that height do not divide the half evenly, the bisection is unknown. */
static uint64_t bisection(const struct fattree *tree)
{
    uint32_t half = tree->topo.n_nodes / 2, best = 0;

    if (tree->topo.n_nodes % 2 != 0) {
        return 0;
    }
    for (uint32_t level = 1; level < tree->height; level++) {
        uint64_t here = (uint64_t)tree->tops[level + 1] * tree->nodes[best];
        uint64_t there = (uint64_t)tree->tops[best + 1] * tree->nodes[level];
        if (here < there || (here == there && half % tree->nodes[level] == 0)) {
            best = level;
        }
    }
    return half % tree->nodes[best] == 0
               ? (uint64_t)(half / tree->nodes[best]) * tree->tops[best + 1]
               : 0;
}

static enum wf_status read_vectors(struct fattree *tree, const struct params *given,
                                   struct wf_err *err)
{
    uint32_t n_up = 0;

    WF_TRY(wf_topo_vector_parse("fattree: down", given->down, tree->down + 1, HEIGHT_MAX,
                                &tree->height, err));
    if (given->up[0] == '\0') {
        tree->up[0] = 1;
        memcpy(tree->up + 1, tree->down + 1, (tree->height - 1) * sizeof(tree->up[0]));
        return WF_OK;
    }
    WF_TRY(wf_topo_vector_parse("fattree: up", given->up, tree->up, HEIGHT_MAX, &n_up, err));
    if (n_up != tree->height) {
        return wf_err_set(err, WF_EINVAL,
                          "fattree: up '%.64s': expected %" PRIu32 " numbers, as many as in "
                          "down '%.64s', but there are %" PRIu32,
                          given->up, tree->height, given->down, n_up);
    }
    return WF_OK;
}

/* All levels have the same number of children, except perhaps the top. Parents likewise. */
static void fill(struct fattree *tree, uint64_t levels, uint64_t each, uint64_t top)
{
    tree->height = (uint32_t)levels;
    for (uint32_t level = 1; level <= tree->height; level++) {
        tree->down[level] = (uint32_t)(level < levels ? each : top);
        tree->up[level - 1] = (uint32_t)(level == 1 ? 1 : each);
    }
}

/* Sets height, down and up without taper. */
static enum wf_status read_shape(struct fattree *tree, const struct params *given,
                                 struct wf_err *err)
{
    bool by_vector = given->down[0] != '\0' || given->up[0] != '\0';
    bool by_k = given->k != 0 || given->n != 0;
    bool by_radix = given->radix != 0 || given->levels != 0;
    int given_by = by_vector + by_k + by_radix;

    if (given_by != 1) {
        return wf_err_set(
            err, WF_EINVAL,
            "fattree needs %s of down, as in fattree:4x4x4, k and n, as in "
            "fattree:k=4,n=3, or radix and levels, as in fattree:radix=36,levels=2",
            given_by == 0 ? "one" : "only one");
    }
    if (by_vector) {
        return given->down[0] != '\0'
                   ? read_vectors(tree, given, err)
                   : wf_err_set(err, WF_EINVAL,
                                "fattree: up needs down, as in fattree:down=4x4,up=1x2");
    }
    if (by_k) {
        fill(tree, given->n, given->k, given->k);
        return given->k > 0 && given->n > 0
                   ? WF_OK
                   : wf_err_set(err, WF_EINVAL,
                                "fattree: k and n need each other, as in fattree:k=4,n=3");
    }
    if (given->radix == 0 || given->levels == 0) {
        return wf_err_set(err, WF_EINVAL,
                          "fattree: radix and levels need each other, as in "
                          "fattree:radix=36,levels=2");
    }
    if (given->radix % 2 != 0 && given->levels > 1) {
        return wf_err_set(err, WF_EINVAL,
                          "fattree: radix %" PRIu64 ": expected an even number, as half of the "
                          "ports lead up",
                          given->radix);
    }
    fill(tree, given->levels, given->radix / 2, given->radix);
    return WF_OK;
}

static enum wf_status apply_taper(struct fattree *tree, const char *text, struct wf_err *err)
{
    uint32_t taper[HEIGHT_MAX], n = 0;

    WF_TRY(wf_topo_vector_parse("fattree: taper", text, taper, HEIGHT_MAX, &n, err));
    if (tree->height == 1 && (n > 1 || taper[0] != 1)) {
        return wf_err_set(err, WF_EINVAL,
                          "fattree: taper '%.64s': the only level of switches has no parents; "
                          "leave it out",
                          text);
    }
    if (n > 1 && n != tree->height - 1) {
        return wf_err_set(err, WF_EINVAL,
                          "fattree: taper '%.64s': expected one number, or one for each of "
                          "%" PRIu32 " levels of switches below the highest",
                          text, tree->height - 1);
    }
    for (uint32_t level = 1; level < tree->height; level++) {
        uint32_t by = taper[n > 1 ? level - 1 : 0];
        if (by == 0 || tree->up[level] % by != 0) {
            return wf_err_set(err, WF_EINVAL,
                              "fattree: taper '%.64s': %" PRIu32 " does not divide the %" PRIu32
                              " parents of a switch of level %" PRIu32,
                              text, by, tree->up[level], level);
        }
        tree->up[level] /= by;
    }
    return WF_OK;
}

/* Sets nodes and tops of subtrees of each height. */
static enum wf_status multiply(struct fattree *tree, struct wf_err *err)
{
    uint64_t nodes = 1, tops = 1;

    tree->nodes[0] = tree->tops[0] = 1;
    for (uint32_t level = 1; level <= tree->height; level++) {
        WF_TRY(wf_topo_vector_multiply("fattree: nodes", &nodes, tree->down[level],
                                       WF_TOPO_LINK_MAX, err));
        WF_TRY(wf_topo_vector_multiply("fattree: switches of the highest level", &tops,
                                       tree->up[level - 1], WF_TOPO_LINK_MAX, err));
        tree->nodes[level] = (uint32_t)nodes;
        tree->tops[level] = (uint32_t)tops;
    }
    return WF_OK;
}

/* Numbers the vertices and links; there are no more vertices than directed links. */
static enum wf_status number(struct fattree *tree, struct wf_err *err)
{
    uint64_t links = 0, nodes = tree->nodes[tree->height];
    struct wf_topo *topo = &tree->topo;

    for (uint32_t level = 0; level <= tree->height; level++) {
        uint64_t width = nodes / tree->nodes[level] * tree->tops[level];
        uint64_t ports = (uint64_t)tree->down[level] + tree->up[level];

        if (width > WF_TOPO_LINK_MAX || ports > (WF_TOPO_LINK_MAX - links) / width) {
            return wf_err_set(err, WF_EINVAL,
                              "fattree: too large, more than %" PRIu32 " links below level "
                              "%" PRIu32,
                              WF_TOPO_LINK_MAX, level + 1);
        }
        links += width * ports;
        tree->first[level + 1] = tree->first[level] + (uint32_t)width;
        tree->first_link[level + 1] = (uint32_t)links;
        topo->n_ports = (uint32_t)ports > topo->n_ports ? (uint32_t)ports : topo->n_ports;
    }
    topo->ops = &wf_topo_fattree_ops;
    topo->n_nodes = (uint32_t)nodes;
    topo->n_vertices = tree->first[tree->height + 1];
    topo->n_links = links / 2;
    topo->bisection = bisection(tree);
    topo->classes = wf_topo_class_levels;
    topo->n_classes = tree->height;
    return WF_OK;
}

static enum wf_status fattree_create(const void *params, struct wf_topo **out,
                                     struct wf_err *err)
{
    const struct params *given = params;
    struct fattree tree = {.height = 0};

    WF_TRY(read_shape(&tree, given, err));
    WF_TRY(apply_taper(&tree, given->taper, err));
    WF_TRY(multiply(&tree, err));
    WF_TRY(number(&tree, err));
    *out = wf_topo_keep(&tree, sizeof(tree));
    return WF_OK;
}

static const char *const examples[] = {
    "fattree:4x4x4",
    "fattree:5",
    "fattree:1",
    "fattree:1x1",
    "fattree:2x1x3",
    "fattree:3x5,up=1x2",
    "fattree:2x3,up=1x6",
    "fattree:3x2x3,up=2x1x3",
    "fattree:4x4x4,taper=2",
    "fattree:4x6x2,taper=4x2",
    "fattree:k=4,n=2",
    "fattree:k=2,n=5",
    "fattree:k=3,n=1",
    "fattree:radix=8,levels=2",
    "fattree:radix=6,levels=3",
    "fattree:radix=8,levels=3,taper=2x1",
    NULL,
};

const struct wf_topo_ops wf_topo_fattree_ops = {
    .name = "fattree",
    .args = "<children>x<children>...[,up=<parents>x...] | k=<n>,n=<levels> | "
            "radix=<ports>,levels=<n>, each [,taper=<n>[x<n>...]]",
    .summary = "fat tree (k-ary n-tree, XGFT, folded Clos), up by destination, then down",
    .shape = WF_TOPO_SHAPE_LEVELS,
    .vc_class = WF_TOPO_VC_FAT_TREE,
    .usual_routing = "adaptive",
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = fattree_create,
    .first_link = fattree_first_link,
    .neighbor = fattree_neighbor,
    .distance = fattree_distance,
    .next_port = fattree_next_port,
    .minimal_ports = fattree_minimal_ports,
    .diameter = fattree_diameter,
    .histogram = fattree_histogram,
    .coords = fattree_coords,
    .link_class = fattree_link_class,
};
