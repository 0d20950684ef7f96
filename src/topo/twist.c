/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/twist.h"

#include "base/mem.h"
#include "topo/seams.h"
#include "topo/topo.h"
#include "topo/twist_search.h"

#include <stdlib.h>
#include <string.h>

/* How the distances of a part are found. */
struct method {
    const char *name;
    bool (*prepare)(struct wf_twist *twist); /* whether the method can do it */
    uint32_t (*distance)(const struct wf_twist *twist, const uint32_t *from,
                         const uint32_t *to);
    uint64_t *(*counts)(const struct wf_twist *twist, uint32_t *n);
};

struct wf_twist {
    const struct method *method;
    uint32_t n_dims;
    uint32_t dim[WF_TWIST_DIMS_MAX]; /* in the whole network, ascending */
    struct wf_twist_shape shape;     /* of the part alone */
    uint32_t ring;                   /* of a lattice: the dimension that is twisted */
    uint32_t *offsets;               /* of a lattice: the distances by difference */
    struct wf_seams *seams;
};

static uint32_t coord_of(const struct wf_twist_shape *shape, uint32_t node, uint32_t dim)
{
    return node / shape->stride[dim] % shape->size[dim];
}

/* The node in which passing the seam of `dim` shifts `node`. */
static uint32_t shifted(const struct wf_twist_shape *shape, uint32_t node, uint32_t dim,
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

uint32_t wf_twist_step(const struct wf_twist_shape *shape, uint32_t node, uint32_t port)
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

static bool line_prepare(struct wf_twist *twist)
{
    return twist->n_dims == 1;
}

static uint32_t line_distance(const struct wf_twist *twist, const uint32_t *from,
                              const uint32_t *to)
{
    uint32_t a = from[twist->dim[0]], b = to[twist->dim[0]];
    uint32_t apart = a < b ? b - a : a - b, around = twist->shape.size[0] - apart;

    return twist->shape.wrap[0] && around < apart ? around : apart;
}

static uint64_t *line_counts(const struct wf_twist *twist, uint32_t *n)
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

/* Such a pair looks the same from all nodes: it is the plane of integers in which (size of the
 * twisted ring, jump) and (0, size of the target) lead back to where one was. Only the
 * difference of two places counts, in steps up the twisted ring and steps up the target that
 * remain after them. */

/* Distances by what remains in the target, for `up` steps up the twisted ring or any number of
 * turns more or less. */
static void lattice_row(const struct wf_twist_shape *shape, uint32_t ring, uint32_t up,
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

static bool lattice_prepare(struct wf_twist *twist)
{
    const struct wf_twist_shape *shape = &twist->shape;
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

static uint32_t lattice_distance(const struct wf_twist *twist, const uint32_t *from,
                                 const uint32_t *to)
{
    const struct wf_twist_shape *shape = &twist->shape;
    uint32_t ring = twist->ring, other = 1 - ring, size = shape->size[other];
    uint32_t a = from[twist->dim[ring]], b = to[twist->dim[ring]];
    uint32_t start = from[twist->dim[other]], end = to[twist->dim[other]];

    if (b < a) { /* the way up passes the seam */
        b += shape->size[ring];
        start += shape->jump[ring];
        start = start < size ? start : start - size;
    }
    uint32_t rest = end >= start ? end - start : end + size - start;
    return twist->offsets[(size_t)(b - a) * size + rest];
}

static uint64_t *lattice_counts(const struct wf_twist *twist, uint32_t *n)
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

/* ---- Words ---- */

static bool words_prepare(struct wf_twist *twist)
{
    twist->seams = wf_seams_create(&twist->shape);
    return twist->seams != NULL;
}

static uint32_t words_distance(const struct wf_twist *twist, const uint32_t *from,
                               const uint32_t *to)
{
    uint32_t a[WF_TWIST_DIMS_MAX], b[WF_TWIST_DIMS_MAX];

    for (uint32_t k = 0; k < twist->n_dims; k++) {
        a[k] = from[twist->dim[k]];
        b[k] = to[twist->dim[k]];
    }
    return wf_seams_distance(twist->seams, a, b);
}

/* ---- Whatever remains ---- */

static bool search_prepare(struct wf_twist *twist)
{
    (void)twist;
    return true;
}

static uint32_t search_distance(const struct wf_twist *twist, const uint32_t *from,
                                const uint32_t *to)
{
    uint32_t a = 0, b = 0;

    for (uint32_t k = 0; k < twist->n_dims; k++) {
        a += from[twist->dim[k]] * twist->shape.stride[k];
        b += to[twist->dim[k]] * twist->shape.stride[k];
    }
    return wf_twist_search(&twist->shape, a, b);
}

static uint64_t *search_counts(const struct wf_twist *twist, uint32_t *n)
{
    return wf_twist_search_counts(&twist->shape, n);
}

/* ---- All of them ---- */

/* The first that can do it is taken. */
static const struct method methods[] = {
    {"line", line_prepare, line_distance, line_counts},
    {"lattice", lattice_prepare, lattice_distance, lattice_counts},
    {"words", words_prepare, words_distance, search_counts},
    {"search", search_prepare, search_distance, search_counts},
};

struct wf_twist *wf_twist_create(const struct wf_twist_shape *whole, uint32_t dims)
{
    struct wf_twist *twist = wf_xcalloc(1, sizeof(*twist));
    struct wf_twist_shape *shape = &twist->shape;
    uint32_t place[WF_TWIST_DIMS_MAX] = {0};

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

void wf_twist_free(struct wf_twist *twist)
{
    free(twist->offsets);
    wf_seams_free(twist->seams);
    free(twist);
}

uint32_t wf_twist_distance(const struct wf_twist *twist, const uint32_t *from,
                           const uint32_t *to)
{
    return twist->method->distance(twist, from, to);
}

uint64_t *wf_twist_counts(const struct wf_twist *twist, uint32_t *n)
{
    return twist->method->counts(twist, n);
}

const char *wf_twist_method(const struct wf_twist *twist)
{
    return twist->method->name;
}
