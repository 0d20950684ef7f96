/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of a given degree, packed to the left, in two sorts.
 *
 * leaves: the nodes are the leaves. A level has one switch for each `degree` vertices of the
 * level below; the last switch may have fewer. The first level with one switch is the top.
 * Place i of a level is below place i / degree of the next level, so a level and a place
 * identify a vertex.
 *
 * all: every vertex is a node. Vertices are numbered as in a heap: level by level from the
 * root. The parent of v is (v - 1) / degree.
 *
 * In both sorts the ports of a vertex lead to its children; the last port leads to its
 * parent.
 */
#include "model/topo/topo.h"

#include "model/topo/classes.h"
#include "model/topo/measure.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* A tree of degree 2 with 2^32 vertices. */
enum { LEVELS_MAX = 33 };
_Static_assert((int)LEVELS_MAX <= (int)WF_TOPO_CLASS_LEVELS_MAX, "a class for each level");

enum sort { SORT_LEAVES, SORT_ALL };

static const char *const sorts[] = {"leaves", "all", NULL};

struct params {
    uint64_t size, degree;
    int nodes;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, COUNT, .min = "1", .max = "2147483647",
                 .doc = "Number of compute nodes; the tree need not be complete"),
    WF_PARAM_ROW(struct params, degree, COUNT, .def = "2", .min = "2", .max = "2147483647",
                 .doc = "Most children of a vertex"),
    WF_PARAM_ROW(struct params, nodes, ENUM, .def = "leaves", .choices = sorts,
                 .doc = "Which vertices are compute nodes: the leaves below switches, or all"),
    WF_PARAM_END,
};

/* Level 0 is the lowest; level `height` has one vertex, the root. */
struct tree {
    struct wf_topo topo;
    enum sort sort;
    uint32_t degree;
    uint32_t height;
    uint32_t width[LEVELS_MAX];      /* vertices in each level */
    uint32_t first[LEVELS_MAX];      /* first vertex of each level */
    uint32_t first_link[LEVELS_MAX]; /* first link of each level; sort `leaves` only */
};

static const struct tree *to_tree(const struct wf_topo *topo)
{
    return (const struct tree *)topo;
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* A vertex of either sort. */
struct place {
    uint32_t level;
    uint32_t index; /* place in the level */
};

static struct place place_of(const struct tree *tree, uint32_t vertex)
{
    uint32_t level = 0;

    while (vertex < tree->first[level] || vertex - tree->first[level] >= tree->width[level]) {
        level++;
    }
    return (struct place){level, vertex - tree->first[level]};
}

static struct place parent(const struct tree *tree, struct place place)
{
    return (struct place){place.level + 1, place.index / tree->degree};
}

static uint32_t n_children(const struct tree *tree, struct place place)
{
    uint64_t before = (uint64_t)place.index * tree->degree;

    if (place.level == 0 || before >= tree->width[place.level - 1]) {
        return 0; /* the second case occurs in the last but one level of a heap */
    }
    return smaller(tree->degree, tree->width[place.level - 1] - before);
}

/* Sort `leaves`: all switches of a level before the last one have the same number of links.
 * Sort `all`: all vertices except the root are children, in order, so that the vertices
 * before v have v * degree children, or all that there are. */
static uint32_t tree_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    const struct tree *tree = to_tree(topo);

    if (tree->sort == SORT_ALL) {
        uint32_t down = smaller((uint64_t)vertex * tree->degree, topo->n_nodes - 1);
        return down + (vertex > 0 ? vertex - 1 : 0);
    }
    if (vertex == topo->n_vertices) {
        return (uint32_t)(2 * topo->n_links);
    }
    struct place place = place_of(tree, vertex);
    uint32_t each = place.level == 0 ? 1 : tree->degree + 1;
    return tree->first_link[place.level] + place.index * each;
}

static uint32_t tree_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct tree *tree = to_tree(topo);
    struct place place = place_of(tree, vertex);

    if (port < n_children(tree, place)) {
        return tree->first[place.level - 1] + place.index * tree->degree + port;
    }
    assert(place.level < tree->height);
    struct place up = parent(tree, place);
    return tree->first[up.level] + up.index;
}

static uint32_t tree_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct tree *tree = to_tree(topo);
    struct place a = place_of(tree, at), b = place_of(tree, dst);
    uint32_t hops = 0;

    for (; a.level < b.level; hops++) {
        a = parent(tree, a);
    }
    for (; b.level < a.level; hops++) {
        b = parent(tree, b);
    }
    for (; a.index != b.index; hops += 2) {
        a.index /= tree->degree;
        b.index /= tree->degree;
    }
    return hops;
}

static uint32_t tree_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct tree *tree = to_tree(topo);
    struct place a = place_of(tree, at), b = place_of(tree, dst);

    if (at == dst) {
        return WF_TOPO_NO_PORT;
    }
    while (b.level + 1 < a.level) {
        b = parent(tree, b);
    }
    if (b.level < a.level && b.index / tree->degree == a.index) {
        return b.index % tree->degree;
    }
    return n_children(tree, a);
}

/* The root has two children unless the tree is a heap of two. If both subtrees reach the
 * lowest level, the leaves below them are farthest apart. Otherwise one of the subtrees ends
 * one level above the lowest. */
static uint32_t tree_diameter(const struct wf_topo *topo)
{
    const struct tree *tree = to_tree(topo);
    uint32_t second = 1; /* the first vertex below the second child of the root */

    if (topo->n_nodes <= 2) {
        return tree->sort == SORT_ALL ? topo->n_nodes - 1 : 2 * (topo->n_nodes - 1);
    }
    for (uint32_t level = tree->height - 1; level > 0; level--) {
        uint64_t below = (uint64_t)second * tree->degree;
        if (below >= tree->width[level - 1]) {
            return 2 * tree->height - 1;
        }
        second = (uint32_t)below;
    }
    return 2 * tree->height;
}

/* Counts the vertices in each level of the subtree below a place, beginning with the place
 * itself. Returns the number of levels. */
static uint32_t profile(const struct tree *tree, struct place place, uint64_t *counts)
{
    uint64_t begin = place.index, end = begin + 1;
    uint32_t n = 0;

    for (uint32_t level = place.level; begin < tree->width[level]; level--) {
        end = smaller(end, tree->width[level]);
        counts[n++] = end - begin;
        if (level == 0) {
            break;
        }
        begin *= tree->degree;
        end *= tree->degree;
    }
    return n;
}

/* For all pairs of vertices in the subtree of the place, adds `weight` to the entry for the
 * sum of their hops from the place. */
static void add_pairs(const struct tree *tree, struct place place, uint64_t weight,
                      uint64_t *sums)
{
    uint64_t counts[LEVELS_MAX] = {0}, pairs[2 * LEVELS_MAX];
    uint32_t n = profile(tree, place, counts);

    wf_topo_measure_product(counts, n, counts, n, pairs);
    for (uint32_t d = 0; d < 2 * n - 1; d++) {
        sums[d] += weight * pairs[d];
    }
}

/* Adds the pairs of a whole level. All subtrees to the left of the one with the last vertex
 * of the lowest level are alike, and so are all subtrees to its right. */
static void add_level(const struct tree *tree, uint32_t level, uint64_t *sums)
{
    uint32_t middle = tree->width[0] - 1, last = tree->width[level] - 1;

    for (uint32_t l = 0; l < level; l++) {
        middle /= tree->degree;
    }
    add_pairs(tree, (struct place){level, 0}, middle, sums);
    add_pairs(tree, (struct place){level, middle}, 1, sums);
    add_pairs(tree, (struct place){level, last}, last - middle, sums);
}

/* The distance of a pair is the sum of both distances from the lowest vertex above both.
 * Pairs are counted at each vertex above them, less the pairs below the same child, which
 * were counted with two hops too many. The sums may overflow in between; the result does
 * not. */
static void histogram_all(const struct tree *tree, uint64_t *counts)
{
    uint64_t all[2 * LEVELS_MAX] = {0};
    uint32_t diameter = tree_diameter(&tree->topo);

    for (uint32_t level = 0; level <= tree->height; level++) {
        uint64_t sums[2 * LEVELS_MAX] = {0};

        add_level(tree, level, sums);
        for (uint32_t d = 0; d <= 2 * level; d++) {
            all[d] += sums[d];
            if (level < tree->height) {
                all[d + 2] -= sums[d];
            }
        }
    }
    memcpy(counts, all, ((size_t)diameter + 1) * sizeof(*counts));
}

/* Counts pairs below the same switch of a level, less those below the same switch of the
 * level under it. */
static void histogram_leaves(const struct tree *tree, uint64_t *counts)
{
    uint64_t nodes = tree->topo.n_nodes, each = 1, before = 0;

    memset(counts, 0, ((size_t)tree_diameter(&tree->topo) + 1) * sizeof(*counts));
    for (uint32_t level = 0; level <= tree->height; level++) {
        each *= level > 0 ? tree->degree : 1; /* reaches `nodes` in the last level only */
        uint64_t rest = nodes % each;
        uint64_t pairs = nodes / each * each * each + rest * rest;

        if (pairs > before) {
            counts[(size_t)2 * level] = pairs - before;
        }
        before = pairs;
    }
}

static void tree_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    const struct tree *tree = to_tree(topo);

    if (tree->sort == SORT_ALL) {
        histogram_all(tree, counts);
    } else {
        histogram_leaves(tree, counts);
    }
}

static uint32_t tree_coords(const struct wf_topo *topo, uint32_t vertex,
                            uint32_t coord[WF_TOPO_COORDS_MAX])
{
    struct place place = place_of(to_tree(topo), vertex);

    coord[0] = place.level;
    coord[1] = place.index;
    return 2;
}

/* The class of the links between two levels is that of the lower one. */
static uint32_t tree_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct tree *tree = to_tree(topo);
    struct place place = place_of(tree, vertex);

    return port < n_children(tree, place) ? place.level - 1 : place.level;
}

/* Known if the root has an even number of equal subtrees of leaves, since no cut takes more
 * than one subtree at a time, or if one cable is enough. */
static uint64_t bisection(const struct tree *tree)
{
    uint64_t nodes = tree->topo.n_nodes, each = 1, child = 0;

    if (nodes == 1) {
        return 0;
    }
    if (tree->sort == SORT_LEAVES) {
        for (uint32_t level = 1; level < tree->height; level++) {
            each *= tree->degree;
        }
        return nodes % (2 * each) == 0 ? nodes / each / 2 : 0;
    }

    uint64_t counts[LEVELS_MAX] = {0};
    uint32_t n = profile(tree, (struct place){tree->height - 1, 0}, counts);
    for (uint32_t i = 0; i < n; i++) {
        child += counts[i];
    }
    return child == nodes / 2 || child == nodes - nodes / 2 ? 1 : 0;
}

/* Sets the levels from the leaves up; returns the number of vertices. */
static uint64_t stack_leaves(struct tree *tree, uint32_t nodes)
{
    uint64_t vertices = nodes, links = nodes;
    uint32_t level = 0;

    tree->width[0] = nodes;
    do {
        uint64_t below = tree->width[level++];
        uint64_t width = (below + tree->degree - 1) / tree->degree;

        tree->width[level] = (uint32_t)width;
        tree->first[level] = (uint32_t)vertices;
        tree->first_link[level] = (uint32_t)links;
        vertices += width;
        links += below + width;
    } while (tree->width[level] > 1);
    tree->height = level;
    return vertices;
}

/* Sets the levels from the root down; returns the number of vertices. */
static uint64_t stack_all(struct tree *tree, uint32_t nodes)
{
    uint64_t width = 1;
    uint32_t first = 0, depth = 0;

    for (uint32_t left = nodes; left > width; depth++) {
        left -= (uint32_t)width;
        width *= tree->degree;
    }
    tree->height = depth;
    width = 1;
    for (uint32_t level = depth + 1; level-- > 0; width *= tree->degree) {
        tree->width[level] = smaller(width, nodes - first);
        tree->first[level] = first;
        first += tree->width[level];
    }
    return nodes;
}

static uint32_t most_ports(const struct tree *tree)
{
    uint32_t most = 0;

    for (uint32_t level = 0; level <= tree->height; level++) {
        struct place fullest = {level, 0};
        uint32_t n = n_children(tree, fullest) + (level < tree->height ? 1 : 0);
        most = n > most ? n : most;
    }
    return most;
}

static enum wf_status tree_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    struct tree tree = {.sort = (enum sort)given->nodes, .degree = (uint32_t)given->degree};
    uint32_t nodes = (uint32_t)given->size;
    uint64_t vertices =
        tree.sort == SORT_ALL ? stack_all(&tree, nodes) : stack_leaves(&tree, nodes);

    if (2 * (vertices - 1) > WF_TOPO_LINK_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "tree: size %" PRIu64
                          ": too large, more than %u links between %" PRIu64 " vertices",
                          given->size, (unsigned)WF_TOPO_LINK_MAX, vertices);
    }
    tree.topo = (struct wf_topo){
        .ops = &wf_topo_tree_ops,
        .n_nodes = nodes,
        .n_vertices = (uint32_t)vertices,
        .n_ports = most_ports(&tree),
        .gate = tree.first[tree.height],
        .n_links = vertices - 1,
        .classes = tree.sort == SORT_ALL ? wf_topo_class_node_levels : wf_topo_class_levels,
        .n_classes = tree.height > 0 ? tree.height : 1,
    };
    tree.topo.bisection = bisection(&tree);
    *out = wf_topo_keep(&tree, sizeof(tree));
    return WF_OK;
}

static const char *const examples[] = {
    "tree:8",
    "tree:1",
    "tree:2",
    "tree:3",
    "tree:11",
    "tree:64",
    "tree:27,degree=3",
    "tree:29,degree=3",
    "tree:9,degree=16",
    "tree:15,nodes=all",
    "tree:1,nodes=all",
    "tree:2,nodes=all",
    "tree:3,nodes=all",
    "tree:11,nodes=all",
    "tree:64,nodes=all",
    "tree:13,degree=3,nodes=all",
    "tree:30,degree=3,nodes=all",
    "tree:9,degree=16,nodes=all",
    NULL,
};

const struct wf_topo_ops wf_topo_tree_ops = {
    .name = "tree",
    .args = "<nodes>[,degree=<n>][,nodes=leaves|all]",
    .summary = "a tree, its nodes the leaves below switches or all vertices",
    .shape = WF_TOPO_SHAPE_LEVELS,
    .vc_class = WF_TOPO_VC_TREE,
    .one_path = true,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = tree_create,
    .first_link = tree_first_link,
    .neighbor = tree_neighbor,
    .distance = tree_distance,
    .next_port = tree_next_port,
    .diameter = tree_diameter,
    .histogram = tree_histogram,
    .coords = tree_coords,
    .link_class = tree_link_class,
};
