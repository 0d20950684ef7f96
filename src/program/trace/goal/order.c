/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/order.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void reserve(struct wf_goal_order *order, uint64_t n)
{
    if (n <= order->capacity) {
        return;
    }
    wf_goal_order_fini(order);
    *order = (struct wf_goal_order){
        .segment = wf_xmalloc(n * sizeof(*order->segment)),
        .is_late = wf_xmalloc(n * sizeof(*order->is_late)),
        .last_before = wf_xmalloc(n * sizeof(*order->last_before)),
        .first_after = wf_xmalloc(n * sizeof(*order->first_after)),
        .capacity = n,
    };
}

void wf_goal_order_fini(struct wf_goal_order *order)
{
    free(order->segment);
    free(order->is_late);
    free(order->last_before);
    free(order->first_after);
    *order = (struct wf_goal_order){.capacity = 0};
}

/* Notes for each op 1 + the last op that it waits for, or 0, and the first that waits for it, or
 * UINT32_MAX. */
static bool find_neighbours(struct wf_goal_order *order, const struct wf_goal_edge *edges,
                            uint64_t n_edges, uint64_t n)
{
    memset(order->last_before, 0, n * sizeof(*order->last_before));
    memset(order->first_after, 0xff, n * sizeof(*order->first_after));
    for (uint64_t i = 0; i < n_edges; i++) {
        uint32_t before = edges[i].before, after = edges[i].after;
        if (before >= after) {
            return false;
        }
        order->last_before[after] = before + 1; /* edges are sorted by the op before */
        if (after < order->first_after[before]) {
            order->first_after[before] = after;
        }
    }
    return true;
}

/* An op is a cut if each op after it waits for it or for one in between, and each op before it is
 * waited for by it or by one in between. The first segment has number 0, with or without a cut. */
static void find_cuts(struct wf_goal_order *order, uint64_t n)
{
    uint32_t earliest = UINT32_MAX, latest = 0, n_cuts = 0;

    for (uint64_t i = n; i-- > 0;) {
        order->segment[i] = earliest > i ? 1 : 0;
        earliest = order->last_before[i] < earliest ? order->last_before[i] : earliest;
    }
    for (uint64_t i = 0; i < n; i++) {
        n_cuts += order->segment[i] == 1 && latest <= i && i > 0 ? 1 : 0;
        order->segment[i] = n_cuts;
        latest = order->first_after[i] > latest ? order->first_after[i] : latest;
    }
}

static void find_late(struct wf_goal_order *order, const struct wf_goal_op *ops,
                      const struct wf_goal_edge *edges, uint64_t n_edges)
{
    for (uint64_t i = 0; i < n_edges; i++) {
        uint32_t before = edges[i].before, after = edges[i].after;
        if ((order->is_late[before] || ops[before].kind == WF_GOAL_RECV) &&
            order->segment[before] == order->segment[after]) {
            order->is_late[after] = true;
        }
    }
}

bool wf_goal_order_find(struct wf_goal_order *order, const struct wf_goal_rank *rank)
{
    const struct wf_goal_edge *edges = rank->n_edges > 0 ? rank->edges : NULL;

    reserve(order, rank->n);
    if (rank->n == 0) {
        return true;
    }
    if (!find_neighbours(order, edges, rank->n_edges, rank->n)) {
        return false;
    }
    find_cuts(order, rank->n);
    memset(order->is_late, 0, rank->n * sizeof(*order->is_late));
    find_late(order, rank->ops, edges, rank->n_edges);
    return true;
}
