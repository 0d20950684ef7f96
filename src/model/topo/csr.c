/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/csr.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void wf_topo_csr_release(struct wf_topo_csr *csr)
{
    free(csr->first);
    free(csr->to);
    *csr = (struct wf_topo_csr){.n_vertices = 0};
}

void wf_topo_csr_reverse(const struct wf_topo_csr *csr, struct wf_topo_csr *out)
{
    uint32_t n = csr->n_vertices, n_links = csr->first[n];
    uint32_t *place = wf_xcalloc((size_t)n + 1, sizeof(*place));

    out->n_vertices = n;
    out->first = wf_xcalloc((size_t)n + 1, sizeof(*out->first));
    out->to = wf_xcalloc((size_t)n_links + 1, sizeof(*out->to));
    for (uint32_t i = 0; i < n_links; i++) {
        out->first[csr->to[i] + 1]++;
    }
    for (uint32_t v = 0; v < n; v++) {
        out->first[v + 1] += out->first[v];
        place[v] = out->first[v];
    }
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t i = csr->first[v]; i < csr->first[v + 1]; i++) {
            out->to[place[csr->to[i]]++] = v;
        }
    }
    free(place);
}

uint32_t wf_topo_csr_search(const struct wf_topo_csr *csr, uint32_t from, uint32_t *dist,
                            uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    memset(dist, 0xff, csr->n_vertices * sizeof(*dist));
    dist[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t i = csr->first[at]; i < csr->first[at + 1]; i++) {
            uint32_t to = csr->to[i];
            if (dist[to] == WF_TOPO_CSR_UNREACHED) {
                dist[to] = dist[at] + 1;
                queue[tail++] = to;
            }
        }
    }
    return tail;
}

/* ---- Searches from many vertices at once ---- */

/*
 * A set of up to 256 sources, one bit each. A step of the search passes the sets of all vertices
 * on to their neighbours, so that one pass over a link serves all sources (M. Then et al., "The
 * more the merrier: efficient multi-source graph traversal", PVLDB 8(4), 2014). Sources with
 * consecutive numbers are usually close to each other, and reach a vertex within a few steps.
 */
enum { SET_WORDS = 4, SET_BITS = 64 * SET_WORDS };

struct set {
    uint64_t word[SET_WORDS];
};

/* The search: which sources have reached each vertex, which of them in the last step, and which
 * arrive in this step. */
struct search {
    const struct wf_topo_csr *csr;
    struct set *seen, *now, *next; /* [n_vertices] */
};

static bool is_empty(const struct set *set)
{
    uint64_t any = 0;

    for (int i = 0; i < SET_WORDS; i++) {
        any |= set->word[i];
    }
    return any == 0;
}

/* The number of members. Many processors count bits in one instruction, but a portable build
 * cannot use it: sums of pairs, of fours and of bytes of the four words together. */
static uint64_t count(const struct set *set)
{
    const uint64_t ones = UINT64_C(0x5555555555555555), twos = UINT64_C(0x3333333333333333);
    const uint64_t fours = UINT64_C(0x0f0f0f0f0f0f0f0f), bytes = UINT64_C(0x0101010101010101);
    uint64_t sum = 0;

    for (int i = 0; i < SET_WORDS; i++) {
        uint64_t word = set->word[i];
        word -= word >> 1 & ones;
        word = (word & twos) + (word >> 2 & twos);
        sum += (word & fours) + (word >> 4 & fours);
    }
    /* A byte holds up to 32 now, and the sum of eight of them up to 256. */
    const uint64_t halves = UINT64_C(0x00ff00ff00ff00ff);
    return ((sum & halves) + (sum >> 8 & halves)) * (bytes & halves) >> 48;
}

static void add_all(struct set *set, const struct set *more)
{
    for (int i = 0; i < SET_WORDS; i++) {
        set->word[i] |= more->word[i];
    }
}

static void start(struct search *search, uint32_t first, uint32_t n)
{
    size_t bytes = search->csr->n_vertices * sizeof(struct set);

    memset(search->seen, 0, bytes);
    memset(search->now, 0, bytes);
    memset(search->next, 0, bytes);
    for (uint32_t i = 0; i < n; i++) {
        search->next[first + i].word[i / 64] |= UINT64_C(1) << (i % 64);
    }
}

/* Ends a step: those that arrive for the first time have reached the vertex. Returns the number
 * of pairs of a source and a vertex below n_nodes; *any tells whether any source goes on. */
static uint64_t arrive(struct search *search, uint32_t n_nodes, bool *any)
{
    uint64_t n = 0, all = 0;

    for (uint32_t v = 0; v < search->csr->n_vertices; v++) {
        uint64_t any_here = 0;

        for (int i = 0; i < SET_WORDS; i++) {
            uint64_t word = search->next[v].word[i] & ~search->seen[v].word[i];

            search->next[v].word[i] = 0;
            search->now[v].word[i] = word;
            search->seen[v].word[i] |= word;
            any_here |= word;
        }
        uint64_t here = any_here != 0 ? count(&search->now[v]) : 0;
        n += v < n_nodes ? here : 0;
        all += here;
    }
    *any = all > 0;
    return n;
}

static void step(struct search *search)
{
    const struct wf_topo_csr *csr = search->csr;

    for (uint32_t v = 0; v < csr->n_vertices; v++) {
        if (is_empty(&search->now[v])) {
            continue;
        }
        for (uint32_t i = csr->first[v]; i < csr->first[v + 1]; i++) {
            add_all(&search->next[csr->to[i]], &search->now[v]);
        }
    }
}

uint32_t wf_topo_csr_count(const struct wf_topo_csr *csr, uint32_t first, uint32_t n,
                           uint32_t n_nodes, uint64_t *counts)
{
    struct search search = {
        .csr = csr,
        .seen = wf_xcalloc(csr->n_vertices, sizeof(struct set)),
        .now = wf_xcalloc(csr->n_vertices, sizeof(struct set)),
        .next = wf_xcalloc(csr->n_vertices, sizeof(struct set)),
    };
    uint32_t farthest = 0;

    for (uint32_t begin = 0; begin < n; begin += SET_BITS) {
        bool any = true;

        start(&search, first + begin, n - begin < SET_BITS ? n - begin : SET_BITS);
        for (uint32_t distance = 0; any; distance++) {
            uint64_t pairs = arrive(&search, n_nodes, &any);

            if (pairs > 0) {
                counts[distance] += pairs;
                farthest = distance > farthest ? distance : farthest;
            }
            step(&search);
        }
    }
    free(search.seen);
    free(search.now);
    free(search.next);
    return farthest;
}

/* ---- all pairs, or some ---- */

enum { SOURCES_MIN = 16 }; /* that are searched from however long it takes */

/* Searches from `k` of the vertices below n_nodes, at equal distances from each other. If these are
 * not all, two searches from the farthest vertex that was found say more about the largest distance.
 * Returns that. */
static uint32_t count_singly(const struct wf_topo_csr *csr, uint32_t k, uint32_t n_nodes,
                             uint64_t *counts)
{
    uint32_t *dist = wf_xcalloc(csr->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(csr->n_vertices, sizeof(*queue));
    uint32_t farthest = 0, end = 0;

    for (uint32_t i = 0; i < k + (k < n_nodes ? 2 : 0); i++) {
        uint32_t from = i < k ? (uint32_t)((uint64_t)i * n_nodes / k) : end;
        uint32_t reached = wf_topo_csr_search(csr, from, dist, queue);

        for (uint32_t at = 0; at < reached; at++) {
            uint32_t vertex = queue[at], far = dist[vertex];
            counts[far] += i < k && vertex < n_nodes ? 1 : 0;
            if (vertex < n_nodes && far >= farthest) {
                farthest = far;
                end = vertex;
            }
        }
    }
    free(dist);
    free(queue);
    return farthest;
}

/* The steps of a search from vertex 0. */
static uint32_t steps_of_one(const struct wf_topo_csr *csr)
{
    uint32_t *dist = wf_xcalloc(csr->n_vertices, sizeof(*dist));
    uint32_t *queue = wf_xcalloc(csr->n_vertices, sizeof(*queue));
    uint32_t reached = wf_topo_csr_search(csr, 0, dist, queue);
    uint32_t steps = dist[queue[reached - 1]] + 1;

    free(dist);
    free(queue);
    return steps;
}

uint64_t *wf_topo_csr_pairs(const struct wf_topo_csr *csr, uint32_t n_nodes, uint64_t budget,
                            uint32_t *n)
{
    uint64_t *counts = wf_xcalloc(csr->n_vertices, sizeof(*counts));
    /* Many searches at once visit all vertices in each step. */
    double one = (double)csr->n_vertices + csr->first[csr->n_vertices], singly = one * n_nodes;
    double together = one * steps_of_one(csr) * ((double)n_nodes / SET_BITS + 1);

    if (together <= singly && together <= (double)budget) {
        *n = 1 + wf_topo_csr_count(csr, 0, n_nodes, n_nodes, counts);
        return counts;
    }
    double fit = (double)budget / one;
    uint32_t k = fit >= n_nodes ? n_nodes : fit > SOURCES_MIN ? (uint32_t)fit : SOURCES_MIN;
    *n = 1 + count_singly(csr, k < n_nodes ? k : n_nodes, n_nodes, counts);
    return counts;
}

uint32_t wf_topo_csr_measure(const struct wf_topo_csr *csr, uint32_t n_nodes, uint64_t *counts)
{
    uint32_t n;
    uint64_t *pairs = wf_topo_csr_pairs(csr, n_nodes, UINT64_MAX, &n);

    if (counts != NULL) {
        memcpy(counts, pairs, n * sizeof(*counts));
    }
    free(pairs);
    return n - 1;
}
