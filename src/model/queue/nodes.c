/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/nodes.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/topo/topo.h"

#include <stdlib.h>
#include <string.h>

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
                                     .free_list = wf_xcalloc(n, sizeof(uint32_t)),
                                     .scratch = wf_xcalloc(n, sizeof(uint32_t))};
    WF_PUSH(nodes->free, nodes->n_runs, nodes->runs_capacity,
            (struct wf_queue_range){0, n - 1});
    if (config->topo != NULL) {
        find_groups(nodes);
    }
}

void wf_queue_nodes_fini(struct wf_queue_nodes *nodes)
{
    free(nodes->free);
    free(nodes->changed);
    free(nodes->free_list);
    free(nodes->group_of);
    free(nodes->scratch);
}

const uint32_t *wf_queue_nodes_list(const struct wf_queue_nodes *nodes)
{
    uint32_t n = 0;

    for (size_t i = 0; i < nodes->n_runs; i++) {
        for (uint32_t node = nodes->free[i].first; node <= nodes->free[i].last; node++) {
            nodes->free_list[n++] = node;
        }
    }
    return nodes->free_list;
}

/* ---- what is free ---- */

/* Puts `n` runs of nodes->changed in place of those from `first` to `end` - 1. */
static void replace_runs(struct wf_queue_nodes *nodes, size_t first, size_t end, size_t n)
{
    size_t rest = nodes->n_runs - end;

    WF_GROW(nodes->free, first + n + rest, nodes->runs_capacity);
    memmove(&nodes->free[first + n], &nodes->free[end], rest * sizeof(*nodes->free));
    for (size_t i = 0; i < n; i++) {
        nodes->free[first + i] = nodes->changed[i];
    }
    nodes->n_runs = first + n + rest;
}

static size_t add_changed(struct wf_queue_nodes *nodes, size_t n, struct wf_queue_range run)
{
    if (n > 0 && nodes->changed[n - 1].last + 1 == run.first) {
        nodes->changed[n - 1].last = run.last;
    } else if (run.first <= run.last) {
        WF_PUSH(nodes->changed, n, nodes->changed_capacity, run);
    }
    return n;
}

/* `list` is in ascending order, as it is below. */
static void take(struct wf_queue_nodes *nodes, const uint32_t *list, uint32_t n)
{
    size_t first = 0, n_changed = 0;
    uint32_t taken = 0;

    WF_BISECT(first, nodes->n_runs, middle, nodes->free[middle].last < list[0]);
    size_t end = first;
    for (; taken < n && end < nodes->n_runs; end++) {
        struct wf_queue_range run = nodes->free[end];

        for (; taken < n && list[taken] <= run.last; taken++) {
            if (list[taken] > run.first) {
                n_changed = add_changed(nodes, n_changed,
                                        (struct wf_queue_range){run.first, list[taken] - 1});
            }
            run.first = list[taken] + 1;
        }
        n_changed = add_changed(nodes, n_changed, run);
    }
    replace_runs(nodes, first, end, n_changed);
    nodes->n_free -= n;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

void wf_queue_nodes_take(struct wf_queue_nodes *nodes, uint32_t job, uint32_t n, uint32_t *out)
{
    nodes->config->place->choose(nodes, n, wf_rng_draw(nodes->config->seed, 0, job), out);
    WF_SORT(out, n, by_number);
    take(nodes, out, n);
}

void wf_queue_nodes_take_one(struct wf_queue_nodes *nodes, uint32_t node)
{
    take(nodes, &node, 1);
}

void wf_queue_nodes_give(struct wf_queue_nodes *nodes, const uint32_t *list, uint32_t n)
{
    size_t first = 0, n_changed = 0;
    uint32_t given = 0;

    WF_BISECT(first, nodes->n_runs, middle, nodes->free[middle].last + 1 < list[0]);
    size_t end = first;
    while (given < n || (end < nodes->n_runs && nodes->free[end].first <= list[n - 1] + 1)) {
        bool is_free =
            end < nodes->n_runs && (given == n || nodes->free[end].first < list[given]);
        struct wf_queue_range run =
            is_free ? nodes->free[end] : (struct wf_queue_range){list[given], list[given]};

        n_changed = add_changed(nodes, n_changed, run);
        end += is_free ? 1 : 0;
        given += is_free ? 0 : 1;
    }
    replace_runs(nodes, first, end, n_changed);
    nodes->n_free += n;
}

/* ---- facts ---- */

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
