/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/rows.h"

#include "base/mem.h"
#include "model/topo/hubs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A short distance of vertices that do not reach each other. */
enum { SHORT_UNREACHED = UINT8_MAX };

struct wf_topo_rows {
    const struct wf_topo_csr *csr;
    struct wf_topo_csr reverse; /* only if links lead one way */
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

uint32_t wf_topo_rows_distance(const struct wf_topo_rows *rows, uint32_t from, uint32_t to)
{
    struct wf_topo_rows *own = wf_unconst(rows); /* rows are filled behind a constant graph */
    const struct wf_topo_hubs *hubs;
    uint32_t distance;

    if (is_known(rows, from, to, &distance)) {
        return distance;
    }
    hubs = atomic_load_explicit(&own->hubs, memory_order_acquire);
    if (hubs == NULL) {
        (void)pthread_mutex_lock(&own->lock);
        prepare(own, to);
        (void)pthread_mutex_unlock(&own->lock);
        if (is_known(rows, from, to, &distance)) {
            return distance;
        }
        hubs = atomic_load_explicit(&own->hubs, memory_order_acquire);
    }
    return wf_topo_hubs_distance(hubs, from, to);
}
