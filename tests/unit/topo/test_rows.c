/* SPDX-License-Identifier: Apache-2.0 */
/* Distances by rows and labels, and searches from many vertices at once, against single
 * searches. */
#include "model/topo/rows.h"

#include "base/mem.h"

#include "harness/wf_test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 700 };

/* A graph of n vertices: a line, or random links. */
struct plan {
    uint32_t n, links;
    bool line, oneway;
};

static const struct plan plans[] = {
    {.n = 1},
    {.n = 2, .line = true},
    {.n = MOST, .line = true}, /* distances that do not fit into a byte */
    {.n = 300, .line = true},
    {.n = 60, .links = 40}, /* in many parts */
    {.n = 120, .links = 300},
    {.n = 600, .links = 1500},
    {.n = 60, .links = 300, .oneway = true},
    {.n = 300, .links = 500, .oneway = true},
};

/* Links from `from[i]` to `to[i]`, and back unless they lead one way. */
static struct wf_topo_csr make(const struct plan *plan)
{
    static bool has[MOST][MOST];
    struct wf_topo_csr csr = {
        .n_vertices = plan->n,
        .first = wf_xcalloc((size_t)plan->n + 1, sizeof(uint32_t)),
        .to = wf_xcalloc(2 * ((size_t)plan->n + plan->links), sizeof(uint32_t))};
    uint32_t used = 0;

    memset(has, 0, sizeof(has));
    for (uint32_t i = 0; i < (plan->line ? plan->n - 1 : plan->links); i++) {
        uint32_t a = plan->line ? i : (uint32_t)(wf_test_rand(plan->n, 0, i) % plan->n);
        uint32_t b = plan->line ? i + 1 : (uint32_t)(wf_test_rand(plan->n, 1, i) % plan->n);

        has[a][b] = a != b;
        has[b][a] = has[b][a] || (a != b && !plan->oneway);
    }
    for (uint32_t a = 0; a < plan->n; a++) {
        for (uint32_t b = 0; b < plan->n; b++) {
            if (has[a][b]) {
                csr.to[used++] = b;
            }
        }
        csr.first[a + 1] = used;
    }
    return csr;
}

static void distances_are_those_of_searches(void)
{
    static const struct wf_topo_rows_limits limits[] = {
        {.row_bytes = SIZE_MAX, .labels = 1}, /* rows */
        {.row_bytes = 0, .labels = SIZE_MAX}, /* labels */
        {.row_bytes = 0, .labels = 1},        /* neither fits: rows */
        {.row_bytes = 3000, .labels = SIZE_MAX},
    };
    static uint32_t dist[MOST], queue[MOST];

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct wf_topo_csr csr = make(&plans[i]);

        for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
            struct wf_topo_rows *rows = wf_topo_rows_create(&csr, plans[i].oneway, limits[k]);

            for (uint32_t from = 0; from < csr.n_vertices; from++) {
                (void)wf_topo_csr_search(&csr, from, dist, queue);
                for (uint32_t to = from % 7; to < csr.n_vertices; to += 7) {
                    CHECK_U64(wf_topo_rows_distance(rows, from, to), dist[to]);
                }
            }
            wf_topo_rows_free(rows);
        }
        wf_topo_csr_release(&csr);
    }
}

/* ---- several threads ---- */

struct job {
    const struct wf_topo_rows *rows;
    uint32_t n, start;
    uint64_t sum;
};

static void *sum_up(void *arg)
{
    struct job *job = arg;

    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t to = (job->start + i * 7) % job->n;
        for (uint32_t from = 0; from < job->n; from++) {
            job->sum += wf_topo_rows_distance(job->rows, from, to);
        }
    }
    return NULL;
}

static void threads_may_ask_at_once(void)
{
    const struct plan plan = {.n = 150, .line = true};
    struct wf_topo_csr csr = make(&plan);

    for (size_t budget = 0; budget < 10000; budget += 5000) {
        const struct wf_topo_rows_limits limits = {.row_bytes = budget, .labels = SIZE_MAX};
        struct wf_topo_rows *rows = wf_topo_rows_create(&csr, false, limits);
        struct job jobs[2] = {{rows, plan.n, 0, 0}, {rows, plan.n, 3, 0}};
        pthread_t threads[2];

        for (int i = 0; i < 2; i++) {
            CHECK(pthread_create(&threads[i], NULL, sum_up, &jobs[i]) == 0);
        }
        for (int i = 0; i < 2; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
            /* sum of |a - b| over all pairs */
            CHECK_U64(jobs[i].sum, (uint64_t)plan.n * (plan.n - 1) * (plan.n + 1) / 3);
        }
        wf_topo_rows_free(rows);
    }
    wf_topo_csr_release(&csr);
}

/* ---- many sources ---- */

static void pairs_are_those_of_searches(void)
{
    static uint32_t dist[MOST], queue[MOST];

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct wf_topo_csr csr = make(&plans[i]);
        uint32_t n_nodes = csr.n_vertices - csr.n_vertices / 3, n, most = 0;
        uint64_t expected[MOST] = {0};

        for (uint32_t from = 0; from < n_nodes; from++) {
            (void)wf_topo_csr_search(&csr, from, dist, queue);
            for (uint32_t to = 0; to < n_nodes; to++) {
                if (dist[to] != WF_TOPO_CSR_UNREACHED) {
                    expected[dist[to]]++;
                    most = dist[to] > most ? dist[to] : most;
                }
            }
        }
        uint64_t *counts = wf_topo_csr_pairs(&csr, n_nodes, UINT64_MAX, &n);
        CHECK_U64(n, most + UINT64_C(1));
        CHECK(memcmp(counts, expected, n * sizeof(*counts)) == 0);
        free(counts);
        wf_topo_csr_release(&csr);
    }
}

/* Where all pairs would take too long, those from a few vertices are counted, and the ends of a line are
 * still found. */
static void a_budget_counts_some_sources(void)
{
    enum { N = 2000, LINKS = 2 * (N - 1) };
    static uint32_t first[N + 1], to[LINKS];
    const struct wf_topo_csr line = {.n_vertices = N, .first = first, .to = to};
    uint32_t n;

    for (uint32_t v = 0, link = 0; v < N; v++) {
        if (v > 0) {
            to[link++] = v - 1;
        }
        if (v + 1 < N) {
            to[link++] = v + 1;
        }
        first[v + 1] = link;
    }
    uint64_t *some = wf_topo_csr_pairs(&line, N, 100 * (N + LINKS), &n);
    CHECK_U64(n, N);
    CHECK_U64(some[0], 100);
    CHECK(some[1] >= 199 && some[1] <= 200);
    free(some);

    uint64_t *all = wf_topo_csr_pairs(&line, N, UINT64_MAX, &n);
    CHECK_U64(n, N);
    CHECK_U64(all[0], N);
    CHECK_U64(all[N - 1], 2);
    free(all);
}

int main(void)
{
    RUN(a_budget_counts_some_sources);
    RUN(distances_are_those_of_searches);
    RUN(threads_may_ask_at_once);
    RUN(pairs_are_those_of_searches);
    return wf_test_done();
}
