/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/rows.h"

#include "base/guard.h"
#include "base/mem.h"
#include "model/topo/hubs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A short distance of vertices that do not reach each other. */
enum { SHORT_UNREACHED = UINT8_MAX };

struct wf_topo_rows {
    const struct wf_topo_csr *csr; /* without leaves: the caller's, or `core` */
    struct wf_topo_csr core;       /* only if there are leaves */
    struct wf_topo_csr reverse;    /* only if links lead one way */
    struct place *places;          /* [vertex]; null: there are no leaves */
    bool oneway;
    bool is_short; /* all distances are below SHORT_UNREACHED: rows have one byte a vertex */
    struct wf_topo_rows_limits limits;

    /* Set once each, under the lock; read without it. */
    _Atomic(void *) *row;                /* [n_vertices], or null */
    _Atomic(struct wf_topo_hubs *) hubs; /* or null */

    /* Under the lock. */
    pthread_mutex_t lock;
    size_t used; /* bytes of rows */
    bool has_tried_hubs;
    uint32_t *dist, *queue; /* [n_vertices] of a search */
};

/* Most vertices of a network with switches are leaves. They need no rows and no entries in rows,
 * since they are one hop from the vertex that they are attached to. */
struct place {
    uint32_t vertex; /* number without leaves: of the vertex, or of a leaf's neighbour */
    uint32_t hops;   /* from the vertex to that one: 1 for a leaf, else 0 */
};

static bool is_leaf(const struct wf_topo_csr *csr, uint32_t v)
{
    uint32_t at = csr->first[v], to = at < csr->first[v + 1] ? csr->to[at] : v;

    return csr->first[v + 1] - at == 1 && csr->first[to + 1] - csr->first[to] > 1;
}

static uint32_t place_vertices(const struct wf_topo_csr *csr, struct place *places)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < csr->n_vertices; v++) {
        places[v].hops = is_leaf(csr, v) ? 1 : 0;
        places[v].vertex = n;
        n += 1 - places[v].hops;
    }
    for (uint32_t v = 0; v < csr->n_vertices; v++) {
        if (places[v].hops == 1) {
            places[v].vertex = places[csr->to[csr->first[v]]].vertex;
        }
    }
    return n;
}

/* Takes the leaves out of the graph, if there are any. */
static void remove_leaves(struct wf_topo_rows *rows)
{
    const struct wf_topo_csr *csr = rows->csr;
    struct place *places = wf_xcalloc((size_t)csr->n_vertices + 1, sizeof(*places));
    uint32_t n = place_vertices(csr, places), n_links = 0;

    if (n == csr->n_vertices) {
        free(places);
        return;
    }
    rows->places = places;
    rows->core = (struct wf_topo_csr){
        .n_vertices = n,
        .first = wf_xcalloc((size_t)n + 1, sizeof(uint32_t)),
        .to = wf_xcalloc((size_t)csr->first[csr->n_vertices] + 1, sizeof(uint32_t)),
    };
    for (uint32_t v = 0; v < csr->n_vertices; v++) {
        for (uint32_t i = csr->first[v]; places[v].hops == 0 && i < csr->first[v + 1]; i++) {
            if (places[csr->to[i]].hops == 0) {
                rows->core.to[n_links++] = places[csr->to[i]].vertex;
            }
        }
        if (places[v].hops == 0) {
            rows->core.first[places[v].vertex + 1] = n_links;
        }
    }
    rows->csr = &rows->core;
}

/* The graph whose links lead towards the sources of a search. */
static const struct wf_topo_csr *backward(const struct wf_topo_rows *rows)
{
    return rows->oneway ? &rows->reverse : rows->csr;
}

/* A bound for all distances: the largest distance to vertex 0 and that from it. `dist` and
 * `queue` are free for a search. Returns UNREACHED if some vertices have no path. */
static uint32_t bound_distances(const struct wf_topo_rows *rows)
{
    uint32_t n = rows->csr->n_vertices, sum = 0;
    const struct wf_topo_csr *graphs[] = {rows->csr, backward(rows)};

    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        if (n == 0 || wf_topo_csr_search(graphs[i], 0, rows->dist, rows->queue) < n) {
            return WF_TOPO_CSR_UNREACHED;
        }
        sum += rows->dist[rows->queue[n - 1]];
    }
    return sum;
}

struct wf_topo_rows *wf_topo_rows_create(const struct wf_topo_csr *csr, bool oneway,
                                         struct wf_topo_rows_limits limits)
{
    struct wf_topo_rows *rows = wf_xcalloc(1, sizeof(*rows));

    rows->csr = csr;
    rows->oneway = oneway;
    rows->limits = limits;
    if (oneway) {
        wf_topo_csr_reverse(csr, &rows->reverse);
    } else {
        remove_leaves(rows);
        csr = rows->csr;
    }
    rows->row = wf_xcalloc((size_t)csr->n_vertices + 1, sizeof(*rows->row));
    rows->dist = wf_xcalloc((size_t)csr->n_vertices + 1, sizeof(*rows->dist));
    rows->queue = wf_xcalloc((size_t)csr->n_vertices + 1, sizeof(*rows->queue));
    (void)pthread_mutex_init(&rows->lock, NULL);
    rows->is_short = bound_distances(rows) < SHORT_UNREACHED;
    return rows;
}

void wf_topo_rows_free(struct wf_topo_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    for (uint32_t v = 0; v < rows->csr->n_vertices; v++) {
        free(atomic_load_explicit(&rows->row[v], memory_order_relaxed));
    }
    wf_topo_hubs_free(atomic_load_explicit(&rows->hubs, memory_order_relaxed));
    wf_topo_csr_release(&rows->reverse);
    wf_topo_csr_release(&rows->core);
    free(rows->places);
    (void)pthread_mutex_destroy(&rows->lock);
    free(rows->row);
    free(rows->dist);
    free(rows->queue);
    free(rows);
}

/* ---- Filling rows; the lock is held ---- */

static size_t row_bytes(const struct wf_topo_rows *rows)
{
    return rows->csr->n_vertices * (rows->is_short ? sizeof(uint8_t) : sizeof(uint32_t));
}

static void fill_row(struct wf_topo_rows *rows, uint32_t to)
{
    void *row = wf_xmalloc(row_bytes(rows));

    (void)wf_topo_csr_search(backward(rows), to, rows->dist, rows->queue);
    if (rows->is_short) {
        for (uint32_t v = 0; v < rows->csr->n_vertices; v++) {
            ((uint8_t *)row)[v] = (uint8_t)rows->dist[v];
        }
    } else {
        memcpy(row, rows->dist, row_bytes(rows));
    }
    rows->used += row_bytes(rows);
    atomic_store_explicit(&rows->row[to], row, memory_order_release);
}

/* Makes the answer for `to` known: by a row, or by labels. */
static void prepare(struct wf_topo_rows *rows, uint32_t to)
{
    bool is_full = rows->used + row_bytes(rows) > rows->limits.row_bytes;

    if (is_full && !rows->has_tried_hubs) {
        rows->has_tried_hubs = true;
        atomic_store_explicit(&rows->hubs,
                              wf_topo_hubs_create(rows->csr,
                                                  rows->oneway ? &rows->reverse : NULL,
                                                  rows->limits.labels),
                              memory_order_release);
    }
    if (atomic_load_explicit(&rows->hubs, memory_order_relaxed) == NULL &&
        atomic_load_explicit(&rows->row[to], memory_order_relaxed) == NULL) {
        fill_row(rows, to);
    }
}

/* ---- Answers ---- */

static uint32_t look_up(const struct wf_topo_rows *rows, const void *row, uint32_t from)
{
    return rows->is_short ? ((const uint8_t *)row)[from] : ((const uint32_t *)row)[from];
}

/* Whether the distance is known without a search; *out is the distance. */
static bool is_known(const struct wf_topo_rows *rows, uint32_t from, uint32_t to, uint32_t *out)
{
    const void *row = atomic_load_explicit(&rows->row[to], memory_order_acquire);

    if (row == NULL && !rows->oneway) { /* the way back is as long */
        row = atomic_load_explicit(&rows->row[from], memory_order_acquire);
        from = to;
    }
    if (row != NULL) {
        *out = look_up(rows, row, from);
        return true;
    }
    return false;
}

static struct place place_of(const struct wf_topo_rows *rows, uint32_t vertex)
{
    return rows->places != NULL ? rows->places[vertex] : (struct place){vertex, 0};
}

/* The distance between vertices that are not leaves. */
static uint32_t search_distance(struct wf_topo_rows *rows, uint32_t from, uint32_t to)
{
    const struct wf_topo_hubs *hubs = atomic_load_explicit(&rows->hubs, memory_order_acquire);
    uint32_t distance;

    if (hubs == NULL) {
        wf_lock(&rows->lock);
        prepare(rows, to);
        wf_unlock(&rows->lock);
        if (is_known(rows, from, to, &distance)) {
            return distance;
        }
        hubs = atomic_load_explicit(&rows->hubs, memory_order_acquire);
    }
    return wf_topo_hubs_distance(hubs, from, to);
}

/* The distance of two vertices, from that of the places where they are. */
static uint32_t with_leaves(struct place from, struct place to, uint32_t distance)
{
    return distance == WF_TOPO_CSR_UNREACHED ? distance : from.hops + distance + to.hops;
}

bool wf_topo_rows_knows(const struct wf_topo_rows *rows, uint32_t from, uint32_t to,
                        uint32_t *out)
{
    struct place a = place_of(rows, from), b = place_of(rows, to);
    uint32_t distance = 0;

    if (a.vertex != b.vertex && !is_known(rows, a.vertex, b.vertex, &distance)) {
        return false;
    }
    *out = from == to ? 0 : with_leaves(a, b, distance);
    return true;
}

uint32_t wf_topo_rows_distance(const struct wf_topo_rows *rows, uint32_t from, uint32_t to)
{
    struct wf_topo_rows *own = wf_unconst(rows); /* rows are filled behind a constant graph */
    struct place a = place_of(rows, from), b = place_of(rows, to);
    uint32_t distance;

    if (wf_topo_rows_knows(rows, from, to, &distance)) {
        return distance;
    }
    return with_leaves(a, b, search_distance(own, a.vertex, b.vertex));
}

size_t wf_topo_rows_effort(const struct wf_topo_rows *rows)
{
    return (size_t)rows->csr->n_vertices + rows->csr->first[rows->csr->n_vertices];
}
