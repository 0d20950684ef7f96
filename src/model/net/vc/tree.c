/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/vc/tree.h"

#include "base/mem.h"

#include <stdlib.h>

/* The vertices of a branch have consecutive numbers. */
struct wf_vc_tree {
    const struct wf_topo *topo;
    uint32_t *up;    /* port to the parent; WF_TOPO_NO_PORT: the root */
    uint32_t *begin; /* number of the vertex, the lowest in its branch */
    uint32_t *end;   /* highest number in its branch, + 1 */
    uint32_t depth;
};

static bool is_child(const struct wf_vc_tree *tree, uint32_t parent, uint32_t vertex)
{
    return vertex != WF_TOPO_NO_VERTEX && tree->up[vertex] != WF_TOPO_NO_PORT &&
           tree->topo->ops->neighbor(tree->topo, vertex, tree->up[vertex]) == parent;
}

/* The port of `to` that leads to `at`. */
static uint32_t port_back(const struct wf_topo *topo, uint32_t to, uint32_t at)
{
    uint32_t port = 0;

    while (topo->ops->neighbor(topo, to, port) != at) {
        port++;
    }
    return port;
}

#define UNSEEN UINT32_MAX

/* A breadth-first search from `root`; appends its visits to order[], of which there are *n, and
 * sets the depths. */
static void grow(struct wf_vc_tree *tree, uint32_t root, uint32_t *order, uint32_t *n,
                 uint32_t *dist)
{
    const struct wf_topo *topo = tree->topo;
    uint32_t i = *n;

    order[(*n)++] = root;
    dist[root] = 0;
    for (; i < *n; i++) {
        uint32_t at = order[i], n_ports = wf_topo_ports(topo, at);

        tree->depth = dist[at] > tree->depth ? dist[at] : tree->depth;
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, at, port);
            if (to != WF_TOPO_NO_VERTEX && dist[to] == UNSEEN) {
                tree->up[to] = port_back(topo, to, at);
                dist[to] = dist[at] + 1;
                order[(*n)++] = to;
            }
        }
    }
}

/* Numbers the branches: first their sizes, from the leaves up, then the numbers, from the root
 * down. */
static void number(struct wf_vc_tree *tree, const uint32_t *order, uint32_t *size)
{
    const struct wf_topo *topo = tree->topo;
    uint32_t n_numbered = 0; /* in the trees before */

    for (uint32_t i = topo->n_vertices; i-- > 0;) {
        uint32_t at = order[i];
        size[at]++;
        if (tree->up[at] != WF_TOPO_NO_PORT) {
            size[topo->ops->neighbor(topo, at, tree->up[at])] += size[at];
        }
    }
    for (uint32_t i = 0; i < topo->n_vertices; i++) {
        uint32_t at = order[i], n_ports = wf_topo_ports(topo, at);

        if (tree->up[at] == WF_TOPO_NO_PORT) {
            tree->begin[at] = n_numbered;
            n_numbered += size[at];
        }
        uint32_t next = tree->begin[at] + 1;
        tree->end[at] = tree->begin[at] + size[at];
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = topo->ops->neighbor(topo, at, port);
            if (is_child(tree, at, to)) {
                tree->begin[to] = next;
                next += size[to];
            }
        }
    }
}

struct wf_vc_tree *wf_vc_tree_create(const struct wf_topo *topo)
{
    struct wf_vc_tree *tree = wf_xcalloc(1, sizeof(*tree));
    uint32_t n = topo->n_vertices, n_seen = 0;
    uint32_t *order = wf_xcalloc(n, sizeof(*order)), *work = wf_xcalloc(n, sizeof(*work));

    tree->topo = topo;
    tree->up = wf_xcalloc(n, sizeof(uint32_t));
    tree->begin = wf_xcalloc(n, sizeof(uint32_t));
    tree->end = wf_xcalloc(n, sizeof(uint32_t));
    for (uint32_t v = 0; v < n; v++) {
        tree->up[v] = WF_TOPO_NO_PORT;
        work[v] = UNSEEN;
    }
    for (uint32_t v = 0; v < n; v++) {
        if (work[v] == UNSEEN) {
            grow(tree, v, order, &n_seen, work);
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        work[v] = 0;
    }
    number(tree, order, work);
    free(order);
    free(work);
    return tree;
}

void wf_vc_tree_free(struct wf_vc_tree *tree)
{
    if (tree != NULL) {
        free(tree->up);
        free(tree->begin);
        free(tree->end);
        free(tree);
    }
}

static bool is_in_branch(const struct wf_vc_tree *tree, uint32_t vertex, uint32_t of)
{
    return tree->begin[vertex] >= tree->begin[of] && tree->begin[vertex] < tree->end[of];
}

uint32_t wf_vc_tree_next(const struct wf_vc_tree *tree, uint32_t at, uint32_t dst)
{
    const struct wf_topo *topo = tree->topo;
    uint32_t port = 0;

    if (!is_in_branch(tree, dst, at)) {
        return tree->up[at];
    }
    for (;; port++) {
        uint32_t to = topo->ops->neighbor(topo, at, port);
        if (is_child(tree, at, to) && is_in_branch(tree, dst, to)) {
            return port;
        }
    }
}

uint32_t wf_vc_tree_hops(const struct wf_vc_tree *tree)
{
    return 2 * tree->depth;
}
