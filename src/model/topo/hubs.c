/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/hubs.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>

/* More than any distance. The sum of two does not overflow, since no graph read from a text
 * has 2^31 vertices. */
#define FAR (UINT32_MAX / 2)

/* A hub, given by its rank: rank 0 is the vertex that was processed first. */
struct entry {
    uint32_t rank;
    uint32_t dist;
};

/* The hubs of one vertex, in ascending order of rank. */
struct label {
    struct entry *entries;
    uint32_t n, capacity;
};

struct wf_topo_hubs {
    uint32_t n_vertices;
    size_t size;
    struct label *to_hub;   /* [n_vertices]: distances from the vertex to its hubs */
    struct label *from_hub; /* the same from the hubs; one array if links have no direction */
};

struct builder {
    struct wf_topo_hubs *hubs;
    size_t limit;
    uint32_t *hub_dist; /* [rank]: distance of the current vertex and this hub, or FAR */
    uint32_t *dist;     /* [n_vertices]: distances in the search, or WF_TOPO_CSR_UNREACHED */
    uint32_t *queue;    /* [n_vertices] */
};

struct candidate {
    uint64_t degree;
    uint64_t mix;
    uint32_t vertex;
};

/* High degrees come first, since many shortest paths lead through them. Equal degrees come
 * in an order unrelated to their positions: along a line, taking one vertex after the other
 * would need labels that grow with the square of the length. */
static int by_degree(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->degree != y->degree) {
        return x->degree > y->degree ? -1 : 1;
    }
    return x->mix < y->mix ? -1 : x->mix > y->mix;
}

static struct candidate *rank_vertices(const struct wf_topo_csr *csr,
                                       const struct wf_topo_csr *reverse)
{
    struct candidate *order = wf_xcalloc(csr->n_vertices, sizeof(*order));

    for (uint32_t v = 0; v < csr->n_vertices; v++) {
        uint64_t degree = csr->first[v + 1] - csr->first[v];
        if (reverse != NULL) {
            degree *= reverse->first[v + 1] - reverse->first[v];
        }
        order[v] = (struct candidate){degree, wf_rng_mix((uint64_t)v + 1), v};
    }
    WF_SORT(order, csr->n_vertices, by_degree);
    return order;
}

static void add_entry(struct label *label, struct entry entry)
{
    WF_PUSH(label->entries, label->n, label->capacity, entry);
}

/* Whether the hubs known so far already give a distance of at most `dist` between the
 * current vertex and the vertex with this label. */
static bool is_covered(const struct builder *builder, const struct label *label, uint32_t dist)
{
    for (uint32_t i = 0; i < label->n; i++) {
        if (builder->hub_dist[label->entries[i].rank] + label->entries[i].dist <= dist) {
            return true;
        }
    }
    return false;
}

/* Makes `vertex` a hub of all vertices that it reaches in `csr` by paths without an earlier
 * hub, and adds it to their `labels`. False if there are too many entries. */
static bool grow(struct builder *builder, const struct wf_topo_csr *csr, struct entry hub,
                 uint32_t vertex, struct label *labels)
{
    uint32_t head = 0, tail = 0;

    builder->dist[vertex] = 0;
    builder->queue[tail++] = vertex;
    while (head < tail && builder->hubs->size < builder->limit) {
        uint32_t at = builder->queue[head++];
        hub.dist = builder->dist[at];
        if (is_covered(builder, &labels[at], hub.dist)) {
            continue;
        }
        add_entry(&labels[at], hub);
        builder->hubs->size++;
        for (uint32_t i = csr->first[at]; i < csr->first[at + 1]; i++) {
            uint32_t to = csr->to[i];
            if (builder->dist[to] == WF_TOPO_CSR_UNREACHED) {
                builder->dist[to] = hub.dist + 1;
                builder->queue[tail++] = to;
            }
        }
    }
    for (uint32_t i = 0; i < tail; i++) {
        builder->dist[builder->queue[i]] = WF_TOPO_CSR_UNREACHED;
    }
    return head == tail;
}

/* Searches in one direction, pruned by the vertex's label for the opposite direction. */
static bool add_hub(struct builder *builder, const struct wf_topo_csr *csr,
                    struct candidate hub, uint32_t rank, bool forward)
{
    struct label *labels = forward ? builder->hubs->from_hub : builder->hubs->to_hub;
    const struct label *own =
        &(forward ? builder->hubs->to_hub : builder->hubs->from_hub)[hub.vertex];

    for (uint32_t i = 0; i < own->n; i++) {
        builder->hub_dist[own->entries[i].rank] = own->entries[i].dist;
    }
    uint32_t n_own = own->n; /* in an undirected graph the search adds the vertex itself */
    bool fits = grow(builder, csr, (struct entry){.rank = rank}, hub.vertex, labels);
    for (uint32_t i = 0; i < n_own; i++) {
        builder->hub_dist[own->entries[i].rank] = FAR;
    }
    return fits;
}

struct wf_topo_hubs *wf_topo_hubs_create(const struct wf_topo_csr *csr,
                                         const struct wf_topo_csr *reverse, size_t limit)
{
    uint32_t n = csr->n_vertices;
    struct wf_topo_hubs *hubs = wf_xcalloc(1, sizeof(*hubs));
    struct candidate *order = rank_vertices(csr, reverse);
    struct builder builder = {
        .hubs = hubs,
        .limit = limit,
        .hub_dist = wf_xcalloc(n, sizeof(uint32_t)),
        .dist = wf_xcalloc(n, sizeof(uint32_t)),
        .queue = wf_xcalloc(n, sizeof(uint32_t)),
    };
    bool fits = true;

    hubs->n_vertices = n;
    hubs->from_hub = wf_xcalloc(n, sizeof(*hubs->from_hub));
    hubs->to_hub = reverse != NULL ? wf_xcalloc(n, sizeof(*hubs->to_hub)) : hubs->from_hub;
    for (uint32_t v = 0; v < n; v++) {
        builder.hub_dist[v] = FAR;
        builder.dist[v] = WF_TOPO_CSR_UNREACHED;
    }
    for (uint32_t rank = 0; rank < n && fits; rank++) {
        fits = add_hub(&builder, csr, order[rank], rank, true) &&
               (reverse == NULL || add_hub(&builder, reverse, order[rank], rank, false));
    }
    free(order);
    free(builder.hub_dist);
    free(builder.dist);
    free(builder.queue);
    if (!fits) {
        wf_topo_hubs_free(hubs);
        return NULL;
    }
    return hubs;
}

static void free_labels(struct label *labels, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++) {
        free(labels[v].entries);
    }
    free(labels);
}

void wf_topo_hubs_free(struct wf_topo_hubs *hubs)
{
    if (hubs == NULL) {
        return;
    }
    if (hubs->to_hub != hubs->from_hub) {
        free_labels(hubs->to_hub, hubs->n_vertices);
    }
    free_labels(hubs->from_hub, hubs->n_vertices);
    free(hubs);
}

uint32_t wf_topo_hubs_distance(const struct wf_topo_hubs *hubs, uint32_t from, uint32_t to)
{
    const struct label *a = &hubs->to_hub[from], *b = &hubs->from_hub[to];
    uint32_t best = FAR;

    for (uint32_t i = 0, j = 0; i < a->n && j < b->n;) {
        const struct entry *x = &a->entries[i], *y = &b->entries[j];
        if (x->rank == y->rank) {
            best = x->dist + y->dist < best ? x->dist + y->dist : best;
        }
        i += x->rank <= y->rank;
        j += y->rank <= x->rank;
    }
    return best == FAR ? WF_TOPO_CSR_UNREACHED : best;
}

size_t wf_topo_hubs_size(const struct wf_topo_hubs *hubs)
{
    return hubs->size;
}
