/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/detour.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "model/topo/rows.h"

#include <stdatomic.h>
#include <stdlib.h>

/* What a step towards a destination costs, if visiting a vertex or link in the search for a row
 * costs 1. Both are measured: the whole network's arithmetic and the table of visited vertices. */
enum { EFFORT_WALK = 16, EFFORT_SEARCH = 32 };

struct wf_topo_detours {
    const struct wf_topo_listed *listed;
    const struct wf_topo *whole;
    const uint32_t *number;
    bool has_arithmetic; /* distances of the whole network are not found by searches */
    size_t row_effort;
    uint32_t *safe;           /* [vertex]: hops to the nearest vertex that has lost a link */
    _Atomic(uint32_t) *spent; /* [n_nodes]: effort of questions about a destination */
};

/* A vertex to look at, `hops` from where the search began. */
struct step {
    uint32_t vertex, hops;
};

struct steps {
    struct step *list;
    size_t n, capacity;
};

/* A link leads at most one hop nearer and one hop away, so that the least length of a path through a
 * vertex is that of the vertex before it, or one or two more. Steps with the same length are taken
 * last first, which follows a path to its end. */
enum { AHEAD = 3 };

struct search {
    const struct wf_topo_detours *detours;
    uint32_t dst;
    struct steps waiting[AHEAD]; /* by least length of the path, modulo AHEAD */
    struct wf_map seen;          /* vertices that were looked at */
    size_t effort;
};

/* More than any distance; the sum of two does not overflow. */
#define FAR (UINT32_MAX / 2)

/* The search takes more effort than it may; no path is as long. */
#define GAVE_UP (WF_TOPO_UNREACHED - 1)

/* Whether a vertex has lost a link. */
static bool is_hurt(const struct wf_topo_detours *detours, uint32_t v)
{
    const struct wf_topo_listed *listed = detours->listed;
    const struct wf_topo *whole = detours->whole;
    uint32_t n_ports = listed->first[v + 1] - listed->first[v];

    for (uint32_t port = 0; port < n_ports; port++) {
        if (listed->far[listed->first[v] + port] == WF_TOPO_NO_VERTEX &&
            whole->ops->neighbor(whole, detours->number[v], port) != WF_TOPO_NO_VERTEX) {
            return true;
        }
    }
    return false;
}

/* A search from all vertices that have lost a link at once. */
static void measure_safety(struct wf_topo_detours *detours)
{
    const struct wf_topo_csr *links = &detours->listed->links;
    uint32_t *queue = wf_xcalloc((size_t)links->n_vertices + 1, sizeof(*queue)), n = 0;

    for (uint32_t v = 0; v < links->n_vertices; v++) {
        bool hurt = is_hurt(detours, v);
        detours->safe[v] = hurt ? 0 : FAR;
        queue[n] = v;
        n += hurt ? 1 : 0;
    }
    for (uint32_t head = 0; head < n; head++) {
        for (uint32_t i = links->first[queue[head]]; i < links->first[queue[head] + 1]; i++) {
            if (detours->safe[links->to[i]] == FAR) {
                detours->safe[links->to[i]] = detours->safe[queue[head]] + 1;
                queue[n++] = links->to[i];
            }
        }
    }
    free(queue);
}

struct wf_topo_detours *wf_topo_detours_create(const struct wf_topo_listed *listed,
                                               const struct wf_topo *whole,
                                               const uint32_t *number)
{
    struct wf_topo_detours *detours = wf_xcalloc(1, sizeof(*detours));

    *detours = (struct wf_topo_detours){
        .listed = listed,
        .whole = whole,
        .number = number,
        .has_arithmetic = whole->ops->distance != wf_topo_listed_distance,
        .row_effort = wf_topo_rows_effort(listed->rows),
        .safe = wf_xcalloc((size_t)listed->topo.n_vertices + 1, sizeof(*detours->safe)),
        .spent = wf_xcalloc((size_t)listed->topo.n_nodes + 1, sizeof(*detours->spent)),
    };
    measure_safety(detours);
    return detours;
}

void wf_topo_detours_free(struct wf_topo_detours *detours)
{
    if (detours != NULL) {
        free(detours->safe);
        free(detours->spent);
        free(detours);
    }
}

/* The distance in the whole network. */
static uint32_t least(const struct wf_topo_detours *detours, uint32_t at, uint32_t dst)
{
    return detours->whole->ops->distance(detours->whole, detours->number[at],
                                         detours->number[dst]);
}

/* Whether a shortest route of the whole network, of `left` hops, still exists: because no route as short
 * comes to a failure and on to its destination, or because the one that the whole network takes meets
 * none. Links that lead one way only have no distance back. Adds to `effort`. */
static bool is_intact(const struct wf_topo_detours *detours, uint32_t at, uint32_t dst,
                      uint32_t left, size_t *effort)
{
    const struct wf_topo_listed *listed = detours->listed;
    const struct wf_topo *whole = detours->whole;

    for (; at != dst && at != WF_TOPO_NO_VERTEX; left--) {
        if (!whole->oneway && detours->safe[at] + detours->safe[dst] >= left) {
            return true;
        }
        uint32_t port = whole->ops->next_port(whole, detours->number[at], detours->number[dst]);
        at = listed->far[listed->first[at] + port];
        *effort += EFFORT_WALK;
    }
    return at == dst;
}

/* ---- Search ---- */

static void add_step(struct search *search, struct step step)
{
    uint32_t length = step.hops + least(search->detours, step.vertex, search->dst);
    struct steps *steps = &search->waiting[length % AHEAD];

    WF_PUSH(steps->list, steps->n, steps->capacity, step);
}

static void look_around(struct search *search, struct step step)
{
    const struct wf_topo_csr *links = &search->detours->listed->links;
    uint32_t first = links->first[step.vertex], end = links->first[step.vertex + 1];

    for (uint32_t i = first; i < end; i++) {
        if (wf_map_get(&search->seen, links->to[i]) == NULL) {
            add_step(search, (struct step){links->to[i], step.hops + 1});
        }
    }
    search->effort += (size_t)EFFORT_SEARCH * (1 + end - first);
}

/* The first step that is looked at for a vertex is on a shortest path to it: `least` differs by at most
 * one between neighbours, so that lengths never decrease. */
static uint32_t run(struct search *search, uint32_t at)
{
    uint32_t length = least(search->detours, at, search->dst), n_empty = 0;

    add_step(search, (struct step){at, 0});
    while (n_empty < AHEAD) {
        struct steps *steps = &search->waiting[length % AHEAD];
        if (steps->n == 0) {
            n_empty++;
            length++;
            continue;
        }
        n_empty = 0;
        struct step step = steps->list[--steps->n];
        if (step.vertex == search->dst) {
            return step.hops;
        }
        if (search->effort > search->detours->row_effort) {
            return GAVE_UP;
        }
        if (wf_map_get(&search->seen, step.vertex) == NULL) {
            (void)wf_map_put(&search->seen, step.vertex);
            look_around(search, step);
        }
    }
    return WF_TOPO_UNREACHED;
}

static uint32_t search_from(const struct wf_topo_detours *detours, uint32_t at, uint32_t dst,
                            size_t *effort)
{
    struct search search = {.detours = detours, .dst = dst};
    uint32_t hops = run(&search, at);

    *effort += search.effort;
    for (uint32_t i = 0; i < AHEAD; i++) {
        free(search.waiting[i].list);
    }
    wf_map_fini(&search.seen);
    return hops;
}

/* ---- Answers ---- */

/* Adds to what was spent on a destination, up to the cost of its row. */
static void spend(const struct wf_topo_detours *detours, uint32_t dst, size_t effort)
{
    uint32_t before = atomic_load_explicit(&detours->spent[dst], memory_order_relaxed);
    uint64_t sum = before + (uint64_t)effort;

    atomic_store_explicit(&detours->spent[dst], sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX,
                          memory_order_relaxed);
}

static bool is_worth_a_row(const struct wf_topo_detours *detours, uint32_t dst)
{
    return atomic_load_explicit(&detours->spent[dst], memory_order_relaxed) >=
           detours->row_effort;
}

uint32_t wf_topo_detours_distance(const struct wf_topo_detours *detours, uint32_t at,
                                  uint32_t dst)
{
    const struct wf_topo_rows *rows = detours->listed->rows;
    uint32_t hops;
    size_t effort = 0;

    if (wf_topo_rows_knows(rows, at, dst, &hops)) {
        return hops;
    }
    /* Other topologies answer for nodes only. */
    if (!detours->has_arithmetic || dst >= detours->listed->topo.n_nodes ||
        is_worth_a_row(detours, dst)) {
        return wf_topo_rows_distance(rows, at, dst);
    }
    hops = least(detours, at, dst);
    if (!is_intact(detours, at, dst, hops, &effort)) {
        hops = search_from(detours, at, dst, &effort);
    }
    spend(detours, dst, effort);
    return hops == GAVE_UP ? wf_topo_rows_distance(rows, at, dst) : hops;
}

bool wf_topo_detours_is_nearer(const struct wf_topo_detours *detours, uint32_t to, uint32_t dst,
                               uint32_t left)
{
    uint32_t hops;

    if (wf_topo_rows_knows(detours->listed->rows, to, dst, &hops)) {
        return hops < left;
    }
    if (detours->has_arithmetic && dst < detours->listed->topo.n_nodes &&
        least(detours, to, dst) >= left) {
        return false;
    }
    return wf_topo_detours_distance(detours, to, dst) < left;
}
