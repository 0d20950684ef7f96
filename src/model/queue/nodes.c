/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/nodes.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/topo/topo.h"

#include <stdlib.h>

enum { SAMPLE = 64 }; /* pairs of nodes whose distance is averaged */

/* The first interface of a node (model/net/ends.h). */
static uint32_t vertex_of(const struct wf_queue_nodes *nodes, uint32_t node)
{
    const struct wf_queue_config *config = nodes->config;
    uint32_t in_group = node % config->nic_group;

    return (node - in_group) * config->nics + in_group;
}

uint32_t wf_queue_nodes_distance(const struct wf_queue_nodes *nodes, uint32_t a, uint32_t b)
{
    const struct wf_topo *topo = nodes->config->topo;

    return topo->ops->distance(topo, vertex_of(nodes, a), vertex_of(nodes, b));
}

/* What a machine calls a group: a group of a dragonfly, the nodes of a switch in a tree, a plane of
 * the first two dimensions of a grid, or a row if it has two. Nodes of a group follow each other in
 * all of these. */
static bool same_group(const struct wf_topo *topo, uint32_t a, uint32_t b)
{
    uint32_t x[WF_TOPO_COORDS_MAX], y[WF_TOPO_COORDS_MAX];
    uint32_t n = topo->ops->coords(topo, a, x);

    if (topo->ops->coords(topo, b, y) != n || n == 0) {
        return false;
    }
    switch (topo->ops->shape) {
    case WF_TOPO_SHAPE_GROUPS:
        return x[0] == y[0];
    case WF_TOPO_SHAPE_GRID:
        for (uint32_t i = n > 2 ? 2 : 1; i < n; i++) {
            if (x[i] != y[i]) {
                return false;
            }
        }
        return true;
    case WF_TOPO_SHAPE_LEVELS:
    case WF_TOPO_SHAPE_CIRCLE:
        break;
    }
    return topo->ops->distance(topo, a, b) <= 2;
}

static void find_groups(struct wf_queue_nodes *nodes)
{
    const struct wf_topo *topo = nodes->config->topo;

    nodes->group_of = wf_xcalloc(nodes->n, sizeof(*nodes->group_of));
    for (uint32_t i = 1; i < nodes->n; i++) {
        bool same = same_group(topo, vertex_of(nodes, i - 1), vertex_of(nodes, i));
        nodes->group_of[i] = nodes->group_of[i - 1] + (same ? 0 : 1);
    }
    nodes->n_groups = nodes->group_of[nodes->n - 1] + 1;
}

void wf_queue_nodes_init(struct wf_queue_nodes *nodes, const struct wf_queue_config *config)
{
    uint32_t n = config->n_nodes;

    *nodes = (struct wf_queue_nodes){.config = config,
                                     .n = n,
                                     .n_free = n,
                                     .busy = wf_xcalloc(n, 1),
                                     .free_list = wf_xcalloc(n, sizeof(uint32_t)),
                                     .scratch = wf_xcalloc(n, sizeof(uint32_t))};
    if (config->topo != NULL) {
        find_groups(nodes);
    }
}

void wf_queue_nodes_fini(struct wf_queue_nodes *nodes)
{
    free(nodes->busy);
    free(nodes->free_list);
    free(nodes->group_of);
    free(nodes->scratch);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

void wf_queue_nodes_take(struct wf_queue_nodes *nodes, uint32_t job, uint32_t n, uint32_t *out)
{
    uint32_t n_free = 0;

    for (uint32_t i = 0; i < nodes->n; i++) {
        nodes->free_list[n_free] = i;
        n_free += nodes->busy[i] == 0 ? 1 : 0;
    }
    nodes->config->place->choose(nodes, n, wf_rng_draw(nodes->config->seed, 0, job), out);
    WF_SORT(out, n, by_number);
    for (uint32_t i = 0; i < n; i++) {
        nodes->busy[out[i]] = 1;
    }
    nodes->n_free -= n;
}

void wf_queue_nodes_take_one(struct wf_queue_nodes *nodes, uint32_t node)
{
    nodes->busy[node] = 1;
    nodes->n_free--;
}

void wf_queue_nodes_give(struct wf_queue_nodes *nodes, const uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        nodes->busy[list[i]] = 0;
    }
    nodes->n_free += n;
}

void wf_queue_nodes_spread(const struct wf_queue_nodes *nodes, const uint32_t *list, uint32_t n,
                           struct wf_queue_outcome *out)
{
    uint64_t sum = 0, place = wf_rng_start(0, n);

    if (nodes->group_of == NULL) {
        return;
    }
    out->groups = 1;
    for (uint32_t i = 1; i < n; i++) {
        out->groups += nodes->group_of[list[i]] != nodes->group_of[list[i - 1]] ? 1 : 0;
    }
    for (int i = 0; i < SAMPLE && n > 1; i++) {
        uint32_t a = wf_rng_below32(wf_rng_next(&place), n);
        uint32_t b = wf_rng_below32(wf_rng_next(&place), n - 1);

        sum += wf_queue_nodes_distance(nodes, list[a], list[b < a ? b : b + 1]);
    }
    out->hops = (double)sum / SAMPLE;
}
