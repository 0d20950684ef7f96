/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/twist.h"

#include "base/guard.h"
#include "base/mem.h"
#include "model/topo/csr.h"
#include "model/topo/rows.h"
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

/* How an irregular part finds its distances. Made when one is first asked for, since words take a
 * second for a large box and counts do without them. */
struct irregular {
    struct wf_topo_csr links;
    pthread_mutex_t lock;
    atomic_bool is_made;         /* set once, under the lock; read without it */
    struct wf_topo_seams *seams; /* null: they would be too large, and there are rows */
    struct wf_topo_rows *rows;
};

struct wf_topo_twist {
    const struct method *method;
    uint32_t n_dims;
    uint32_t dim[WF_TOPO_TWIST_DIMS_MAX]; /* dimensions of the whole network, ascending */
    struct wf_topo_twist_shape shape;     /* shape of the part alone */
    uint32_t *offsets;                    /* uniform: the distances by difference */
    struct irregular *irregular;
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

/* ---- Rings only, and no target is twisted: the same from all nodes ---- */

/* Such a network is the lattice of integers in which (size of a ring, less its jump in the target)
 * leads back to the start. Steps commute, so only the difference of two places matters. */
static bool is_uniform(const struct wf_topo_twist_shape *shape)
{
    bool uniform = true;

    for (uint32_t k = 0; k < shape->n_dims; k++) {
        uniform = uniform && shape->wrap[k] &&
                  (shape->jump[k] == 0 || shape->jump[shape->target[k]] == 0);
    }
    return uniform;
}

/* Sets the distances of all nodes from node 0. */
static void search_from_start(const struct wf_topo_twist_shape *shape, uint32_t *distances)
{
    uint32_t *queue = wf_xmalloc((size_t)shape->n_nodes * sizeof(*queue)), n = 1;

    memset(distances, 0xff, (size_t)shape->n_nodes * sizeof(*distances));
    distances[0] = queue[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t port = 0; port < 2 * shape->n_dims; port++) {
            uint32_t to = wf_topo_twist_step(shape, queue[i], port);
            if (distances[to] == UINT32_MAX) {
                distances[to] = distances[queue[i]] + 1;
                queue[n++] = to;
            }
        }
    }
    free(queue);
}

static bool uniform_prepare(struct wf_topo_twist *twist)
{
    if (!is_uniform(&twist->shape)) {
        return false;
    }
    twist->offsets = wf_xmalloc((size_t)twist->shape.n_nodes * sizeof(*twist->offsets));
    search_from_start(&twist->shape, twist->offsets);
    return true;
}

static uint32_t uniform_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                                 const uint32_t *to)
{
    const struct wf_topo_twist_shape *shape = &twist->shape;
    uint32_t up[WF_TOPO_TWIST_DIMS_MAX], place = 0;

    for (uint32_t k = 0; k < twist->n_dims; k++) {
        uint32_t a = from[twist->dim[k]], b = to[twist->dim[k]];
        up[k] = b >= a ? b - a : b + shape->size[k] - a;
    }
    for (uint32_t k = 0; k < twist->n_dims; k++) {
        uint32_t jump = shape->jump[k], target = shape->target[k];
        if (jump > 0 && to[twist->dim[k]] < from[twist->dim[k]]) { /* it passes the seam */
            up[target] = up[target] >= jump ? up[target] - jump
                                            : up[target] + shape->size[target] - jump;
        }
    }
    for (uint32_t k = 0; k < twist->n_dims; k++) {
        place += up[k] * shape->stride[k];
    }
    return twist->offsets[place];
}

static uint64_t *uniform_counts(const struct wf_topo_twist *twist, uint32_t *n)
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

/* ---- Whatever remains: words, or a search for each destination if there are too many ---- */

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

static bool irregular_prepare(struct wf_topo_twist *twist)
{
    twist->irregular = wf_xcalloc(1, sizeof(*twist->irregular));
    twist->irregular->links = list_links(&twist->shape);
    (void)pthread_mutex_init(&twist->irregular->lock, NULL);
    return true;
}

static void irregular_free(struct irregular *irregular)
{
    if (irregular != NULL) {
        wf_topo_seams_free(irregular->seams);
        wf_topo_rows_free(irregular->rows);
        wf_topo_csr_release(&irregular->links);
        (void)pthread_mutex_destroy(&irregular->lock);
        free(irregular);
    }
}

static const struct irregular *tables_of(const struct wf_topo_twist *twist)
{
    /* Labels are no shorter than rows in a network without a centre. */
    const struct wf_topo_rows_limits limits = {.row_bytes = SIZE_MAX};
    struct irregular *own = twist->irregular;

    if (!atomic_load_explicit(&own->is_made, memory_order_acquire)) {
        wf_lock(&own->lock);
        if (!atomic_load_explicit(&own->is_made, memory_order_relaxed)) {
            own->seams = wf_topo_seams_create(&twist->shape);
            own->rows =
                own->seams == NULL ? wf_topo_rows_create(&own->links, false, limits) : NULL;
            atomic_store_explicit(&own->is_made, true, memory_order_release);
        }
        wf_unlock(&own->lock);
    }
    return own;
}

static uint32_t irregular_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                                   const uint32_t *to)
{
    const struct irregular *tables = tables_of(twist);
    uint32_t a[WF_TOPO_TWIST_DIMS_MAX], b[WF_TOPO_TWIST_DIMS_MAX], start = 0, end = 0;

    for (uint32_t k = 0; k < twist->n_dims; k++) {
        a[k] = from[twist->dim[k]];
        b[k] = to[twist->dim[k]];
        start += a[k] * twist->shape.stride[k];
        end += b[k] * twist->shape.stride[k];
    }
    return tables->seams != NULL ? wf_topo_seams_distance(tables->seams, a, b)
                                 : wf_topo_rows_distance(tables->rows, start, end);
}

static uint64_t *irregular_counts(const struct wf_topo_twist *twist, uint32_t *n)
{
    uint32_t n_nodes = twist->irregular->links.n_vertices, half = n_nodes / 2;
    uint64_t *counts = wf_xcalloc(n_nodes, sizeof(*counts));

    /* Reversing every dimension changes nothing and turns node i into node n - 1 - i, so
     * half of the nodes are enough. */
    uint32_t most = wf_topo_csr_count(&twist->irregular->links, 0, half, n_nodes, counts);
    for (uint32_t d = 0; d <= most; d++) {
        counts[d] *= 2;
    }
    if (n_nodes % 2 != 0) {
        uint32_t far = wf_topo_csr_count(&twist->irregular->links, half, 1, n_nodes, counts);
        most = far > most ? far : most;
    }
    *n = most + 1;
    return counts;
}

/* ---- All of them ---- */

/* The first method that applies is used. */
static const struct method methods[] = {
    {line_prepare, line_distance, line_counts},
    {uniform_prepare, uniform_distance, uniform_counts},
    {irregular_prepare, irregular_distance, irregular_counts},
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
    irregular_free(twist->irregular);
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
