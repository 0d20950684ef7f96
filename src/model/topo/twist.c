/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/twist.h"

#include "base/mem.h"
#include "model/topo/csr.h"
#include "model/topo/seams.h"
#include "model/topo/topo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A method to find the distances of a part. */
struct method {
    bool (*prepare)(struct wf_topo_twist *twist); /* returns whether the method applies */
    uint32_t (*distance)(const struct wf_topo_twist *twist, const uint32_t *from,
                         const uint32_t *to);
    uint64_t *(*counts)(const struct wf_topo_twist *twist, uint32_t *n);
};

/* Tables of words. They are made when a distance is first asked for, since they take a second for a
 * large box and counts do without them. */
struct words {
    pthread_mutex_t lock;
    atomic_bool is_made;         /* set once, under the lock; read without it */
    struct wf_topo_seams *seams; /* null: they would be too large */
};

struct wf_topo_twist {
    const struct method *method;
    uint32_t n_dims;
    uint32_t dim[WF_TOPO_TWIST_DIMS_MAX]; /* dimensions of the whole network, ascending */
    struct wf_topo_twist_shape shape;     /* shape of the part alone */
    uint32_t ring;                        /* lattice: the dimension that is twisted */
    uint32_t *offsets;                    /* lattice: the distances by difference */
    struct words *words;
};

static uint32_t coord_of(const struct wf_topo_twist_shape *shape, uint32_t node, uint32_t dim)
{
    return node / shape->stride[dim] % shape->size[dim];
}

/* The node to which passing the seam of `dim` shifts `node`. */
static uint32_t shifted(const struct wf_topo_twist_shape *shape, uint32_t node, uint32_t dim,
                        bool up)
{
    uint32_t jump = shape->jump[dim], target = shape->target[dim];

    if (jump == 0) {
        return node;
    }
    uint32_t size = shape->size[target], stride = shape->stride[target];
    uint32_t coord = coord_of(shape, node, target), by = up ? jump : size - jump;
    return coord < size - by ? node + by * stride : node - (size - by) * stride;
}

uint32_t wf_topo_twist_step(const struct wf_topo_twist_shape *shape, uint32_t node,
                            uint32_t port)
{
    uint32_t dim = port / 2, stride = shape->stride[dim], last = shape->size[dim] - 1;
    uint32_t coord = coord_of(shape, node, dim);
    bool up = port % 2 == 0;

    if (coord != (up ? last : 0)) {
        return up ? node + stride : node - stride;
    }
    if (!shape->wrap[dim]) {
        return WF_TOPO_NO_VERTEX;
    }
    return shifted(shape, up ? node - last * stride : node + last * stride, dim, up);
}

/* ---- One dimension that nothing twists: a line or a ring ---- */

static bool line_prepare(struct wf_topo_twist *twist)
{
    return twist->n_dims == 1;
}

static uint32_t line_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                              const uint32_t *to)
{
    uint32_t a = from[twist->dim[0]], b = to[twist->dim[0]];
    uint32_t apart = a < b ? b - a : a - b, around = twist->shape.size[0] - apart;

    return twist->shape.wrap[0] && around < apart ? around : apart;
}

static uint64_t *line_counts(const struct wf_topo_twist *twist, uint32_t *n)
{
    uint64_t size = twist->shape.size[0];

    *n = (uint32_t)(twist->shape.wrap[0] ? size / 2 : size - 1) + 1;
    uint64_t *counts = wf_xcalloc(*n, sizeof(*counts));
    counts[0] = size;
    for (uint64_t apart = 1; apart < size; apart++) {
        uint64_t around = size - apart;
        counts[twist->shape.wrap[0] && around < apart ? around : apart] += 2 * around;
    }
    return counts;
}

/* ---- A twisted ring whose target is a ring and not twisted ---- */

/* Such a pair looks the same from all nodes. It is the plane of integers in which (size of
 * the twisted ring, jump) and (0, size of the target) lead back to the start. Only the
 * difference of two places matters: the steps up the twisted ring, and the steps up the
 * target that remain after them. */

/* Computes the distances, by the steps that remain in the target, for `up` steps up the
 * twisted ring plus any number of whole turns in either direction. */
static void lattice_row(const struct wf_topo_twist_shape *shape, uint32_t ring, uint32_t up,
                        uint32_t *row)
{
    uint32_t turn = shape->size[ring], jump = shape->jump[ring];
    uint32_t size = shape->size[1 - ring], at = 0;

    memset(row, 0xff, size * sizeof(*row));
    for (uint64_t cost = up; cost < (uint64_t)turn + size; cost += turn) {
        row[at] = cost < row[at] ? (uint32_t)cost : row[at];
        at = at + jump < size ? at + jump : at + jump - size;
    }
    at = size - jump;
    for (uint64_t cost = turn - up; cost < (uint64_t)turn + size; cost += turn) {
        row[at] = cost < row[at] ? (uint32_t)cost : row[at];
        at = at >= jump ? at - jump : at + size - jump;
    }
    for (uint32_t i = 0; i < 2 * size; i++) {
        uint32_t here = i % size, next = (i + 1) % size;
        row[next] = row[here] < row[next] ? row[here] + 1 : row[next];
    }
    for (uint32_t i = 2 * size; i > 0; i--) {
        uint32_t here = i % size, next = (i - 1) % size;
        row[next] = row[here] < row[next] ? row[here] + 1 : row[next];
    }
}

static bool lattice_prepare(struct wf_topo_twist *twist)
{
    const struct wf_topo_twist_shape *shape = &twist->shape;
    uint32_t ring = shape->jump[0] > 0 ? 0 : 1;

    if (twist->n_dims != 2 || !shape->wrap[1 - ring] || shape->jump[1 - ring] > 0) {
        return false;
    }
    twist->ring = ring;
    twist->offsets = wf_xmalloc((size_t)shape->n_nodes * sizeof(*twist->offsets));
    for (uint32_t up = 0; up < shape->size[ring]; up++) {
        lattice_row(shape, ring, up, twist->offsets + (size_t)up * shape->size[1 - ring]);
    }
    return true;
}

static uint32_t lattice_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                                 const uint32_t *to)
{
    const struct wf_topo_twist_shape *shape = &twist->shape;
    uint32_t ring = twist->ring, other = 1 - ring, size = shape->size[other];
    uint32_t a = from[twist->dim[ring]], b = to[twist->dim[ring]];
    uint32_t start = from[twist->dim[other]], end = to[twist->dim[other]];

    if (b < a) { /* the path up passes the seam */
        b += shape->size[ring];
        start += shape->jump[ring];
        start = start < size ? start : start - size;
    }
    uint32_t rest = end >= start ? end - start : end + size - start;
    return twist->offsets[(size_t)(b - a) * size + rest];
}

static uint64_t *lattice_counts(const struct wf_topo_twist *twist, uint32_t *n)
{
    uint32_t most = 0, n_nodes = twist->shape.n_nodes;

    for (uint32_t i = 0; i < n_nodes; i++) {
        most = twist->offsets[i] > most ? twist->offsets[i] : most;
    }
    uint64_t *counts = wf_xcalloc((size_t)most + 1, sizeof(*counts));
    for (uint32_t i = 0; i < n_nodes; i++) {
        counts[twist->offsets[i]] += n_nodes;
    }
    *n = most + 1;
    return counts;
}

/* ---- Searches: always right, never quick ---- */

/* A search from one end: the nodes that it has met, in the order of distance. The nodes from
 * `head` on are the farthest. */
struct front {
    uint32_t *queue;
    uint32_t head, tail;
    uint32_t depth;
    uint8_t mark;
};

/* Extends the search by one step. Returns whether it met the other search. */
static bool advance(const struct wf_topo_twist_shape *shape, struct front *front,
                    uint8_t *marks)
{
    uint32_t end = front->tail;

    front->depth++;
    for (; front->head < end; front->head++) {
        for (uint32_t port = 0; port < 2 * shape->n_dims; port++) {
            uint32_t to = wf_topo_twist_step(shape, front->queue[front->head], port);
            if (to == WF_TOPO_NO_VERTEX || marks[to] == front->mark) {
                continue;
            }
            if (marks[to] != 0) {
                return true;
            }
            marks[to] = front->mark;
            front->queue[front->tail++] = to;
        }
    }
    return false;
}

/* Two searches meet in the middle. They advance by whole steps, so the first node where they
 * meet is on a shortest path: a shorter path would have led to a meeting one step before. */
static uint32_t search(const struct wf_topo_twist_shape *shape, uint32_t from, uint32_t to)
{
    if (from == to) {
        return 0;
    }
    uint8_t *marks = wf_xcalloc(shape->n_nodes, sizeof(*marks));
    struct front fronts[2] = {{.tail = 1, .mark = 1}, {.tail = 1, .mark = 2}};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t start = i == 0 ? from : to;
        fronts[i].queue = wf_xmalloc(shape->n_nodes * sizeof(*fronts[i].queue));
        fronts[i].queue[0] = start;
        marks[start] = fronts[i].mark;
    }
    bool met = false;
    while (!met) {
        uint32_t ahead[2] = {fronts[0].tail - fronts[0].head, fronts[1].tail - fronts[1].head};
        met = advance(shape, &fronts[ahead[0] <= ahead[1] ? 0 : 1], marks);
    }
    free(fronts[0].queue);
    free(fronts[1].queue);
    free(marks);
    return fronts[0].depth + fronts[1].depth;
}

static struct wf_topo_csr list_links(const struct wf_topo_twist_shape *shape)
{
    uint32_t n_ports = 2 * shape->n_dims, n = 0;
    struct wf_topo_csr csr = {
        .n_vertices = shape->n_nodes,
        .first = wf_xcalloc((size_t)shape->n_nodes + 1, sizeof(*csr.first)),
        .to = wf_xmalloc((size_t)shape->n_nodes * n_ports * sizeof(*csr.to)),
    };

    for (uint32_t node = 0; node < shape->n_nodes; node++) {
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = wf_topo_twist_step(shape, node, port);
            if (to != WF_TOPO_NO_VERTEX) {
                csr.to[n++] = to;
            }
        }
        csr.first[node + 1] = n;
    }
    return csr;
}

static uint64_t *search_counts(const struct wf_topo_twist *twist, uint32_t *n)
{
    struct wf_topo_csr csr = list_links(&twist->shape);
    uint32_t n_nodes = csr.n_vertices, half = n_nodes / 2;
    uint64_t *counts = wf_xcalloc(n_nodes, sizeof(*counts));

    /* Reversing every dimension changes nothing and turns node i into node n - 1 - i, so
     * half of the nodes are enough. */
    uint32_t most = wf_topo_csr_count(&csr, 0, half, n_nodes, counts);
    for (uint32_t d = 0; d <= most; d++) {
        counts[d] *= 2;
    }
    if (n_nodes % 2 != 0) {
        uint32_t far = wf_topo_csr_count(&csr, half, 1, n_nodes, counts);
        most = far > most ? far : most;
    }
    wf_topo_csr_release(&csr);
    *n = most + 1;
    return counts;
}

static uint32_t search_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                                const uint32_t *to)
{
    uint32_t a = 0, b = 0;

    for (uint32_t k = 0; k < twist->n_dims; k++) {
        a += from[twist->dim[k]] * twist->shape.stride[k];
        b += to[twist->dim[k]] * twist->shape.stride[k];
    }
    return search(&twist->shape, a, b);
}

/* ---- Whatever remains: words, or searches if there are too many words ---- */

static bool words_prepare(struct wf_topo_twist *twist)
{
    twist->words = wf_xcalloc(1, sizeof(*twist->words));
    (void)pthread_mutex_init(&twist->words->lock, NULL);
    return true;
}

static void free_words(struct words *words)
{
    if (words != NULL) {
        wf_topo_seams_free(words->seams);
        (void)pthread_mutex_destroy(&words->lock);
        free(words);
    }
}

static const struct wf_topo_seams *seams_of(const struct wf_topo_twist *twist)
{
    struct words *words = twist->words;

    if (!atomic_load_explicit(&words->is_made, memory_order_acquire)) {
        (void)pthread_mutex_lock(&words->lock);
        if (!atomic_load_explicit(&words->is_made, memory_order_relaxed)) {
            words->seams = wf_topo_seams_create(&twist->shape);
            atomic_store_explicit(&words->is_made, true, memory_order_release);
        }
        (void)pthread_mutex_unlock(&words->lock);
    }
    return words->seams;
}

static uint32_t words_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                               const uint32_t *to)
{
    const struct wf_topo_seams *seams = seams_of(twist);
    uint32_t a[WF_TOPO_TWIST_DIMS_MAX], b[WF_TOPO_TWIST_DIMS_MAX];

    if (seams == NULL) {
        return search_distance(twist, from, to);
    }
    for (uint32_t k = 0; k < twist->n_dims; k++) {
        a[k] = from[twist->dim[k]];
        b[k] = to[twist->dim[k]];
    }
    return wf_topo_seams_distance(seams, a, b);
}

/* ---- All of them ---- */

/* The first method that applies is used. */
static const struct method methods[] = {
    {line_prepare, line_distance, line_counts},
    {lattice_prepare, lattice_distance, lattice_counts},
    {words_prepare, words_distance, search_counts},
};

struct wf_topo_twist *wf_topo_twist_create(const struct wf_topo_twist_shape *whole,
                                           uint32_t dims)
{
    struct wf_topo_twist *twist = wf_xcalloc(1, sizeof(*twist));
    struct wf_topo_twist_shape *shape = &twist->shape;
    uint32_t place[WF_TOPO_TWIST_DIMS_MAX] = {0};

    shape->n_nodes = 1;
    for (uint32_t d = 0; d < whole->n_dims; d++) {
        if ((dims >> d & 1) != 0) {
            uint32_t k = twist->n_dims++;
            place[d] = k;
            twist->dim[k] = d;
            shape->size[k] = whole->size[d];
            shape->wrap[k] = whole->wrap[d];
            shape->jump[k] = whole->jump[d];
            shape->stride[k] = shape->n_nodes;
            shape->n_nodes *= whole->size[d];
        }
    }
    shape->n_dims = twist->n_dims;
    for (uint32_t k = 0; k < twist->n_dims; k++) {
        shape->target[k] = place[whole->target[twist->dim[k]]];
    }

    const struct method *method = methods;
    while (!method->prepare(twist)) {
        method++;
    }
    twist->method = method;
    return twist;
}

void wf_topo_twist_free(struct wf_topo_twist *twist)
{
    free(twist->offsets);
    free_words(twist->words);
    free(twist);
}

uint32_t wf_topo_twist_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                                const uint32_t *to)
{
    return twist->method->distance(twist, from, to);
}

uint64_t *wf_topo_twist_counts(const struct wf_topo_twist *twist, uint32_t *n)
{
    return twist->method->counts(twist, n);
}
