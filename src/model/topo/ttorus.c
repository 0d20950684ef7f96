/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The twisted torus as xSim defines it: a torus in which the step up from the last node of
 * dimension i arrives not only at coordinate 0 of that dimension, but with the coordinate of
 * dimension (i + degree) mod d increased by jump[i], modulo the size of that dimension. The
 * step down from coordinate 0 is the inverse.
 *
 * Nodes and ports are numbered as in model/topo/grid.h. Cases that the rule leaves open:
 *
 * - A dimension that does not wrap has no such step; a jump other than 0 is an error.
 * - A dimension of size 1 that wraps and jumps has cables along the other dimension.
 * - Where two cables would join the same two nodes, only one exists: the one with the lower
 *   port at the node with the lower number. Without jumps that gives the ports of a torus. A
 *   cable from a node to itself does not exist.
 * - A dimension cannot twist itself (degree a multiple of d, or d = 1): two cables would have
 *   to end at one port. A jump other than 0 is then an error.
 *
 * Routes are minimal: they take the lowest port with which a shortest path begins.
 */
#include "base/mem.h"
#include "model/topo/grid.h"
#include "model/topo/measure.h"
#include "model/topo/topo.h"
#include "model/topo/twist.h"
#include "model/topo/vector.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct params {
    char *size, *wrap, *jump;
    uint64_t degree;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, TEXT, .doc = "Nodes in each dimension, as in 8x8x8"),
    WF_PARAM_ROW(struct params, wrap, TEXT, .def = "",
                 .doc = "Which dimensions are rings, as in 1,0,1; by default all of them"),
    WF_PARAM_ROW(
        struct params, degree, COUNT, .def = "1",
        .doc =
            "Passing the end of dimension i shifts dimension i + degree, modulo their number"),
    WF_PARAM_ROW(struct params, jump, TEXT, .def = "",
                 .doc = "How far passing the end of each dimension shifts, as in 4/4/0; "
                        "without any shift it is a torus"),
    WF_PARAM_END,
};

struct ttorus {
    struct wf_topo topo;
    struct wf_topo_twist_shape shape;
    bool doubles; /* two ports may lead to the same node, or one to its own node */
    uint32_t n_parts;
    struct wf_topo_twist *parts[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t part_of[WF_TOPO_TWIST_DIMS_MAX]; /* [dimension] */
};

_Static_assert((int)WF_TOPO_TWIST_DIMS_MAX == (int)WF_TOPO_GRID_DIMS_MAX, "the same boxes");

static const struct ttorus *to_ttorus(const struct wf_topo *topo)
{
    return (const struct ttorus *)topo;
}

/* ---- Creation ---- */

static enum wf_status parse_jumps(const char *text, uint32_t n_dims, uint32_t *jumps,
                                  struct wf_err *err)
{
    uint32_t n = 0;

    uint32_t given[WF_TOPO_GRID_DIMS_MAX];
    WF_TRY(wf_topo_vector_parse("ttorus: jump", text, given, WF_TOPO_GRID_DIMS_MAX, &n, err));
    if (n != n_dims) {
        return wf_err_set(err, WF_EINVAL,
                          "ttorus: jump '%.64s': %" PRIu32 " values for %" PRIu32 " dimensions",
                          text, n, n_dims);
    }
    memcpy(jumps, given, n * sizeof(*jumps));
    return WF_OK;
}

static enum wf_status set_shape(struct wf_topo_twist_shape *shape,
                                const struct wf_topo_grid *grid, const struct params *given,
                                struct wf_err *err)
{
    uint32_t jumps[WF_TOPO_GRID_DIMS_MAX] = {0};

    if (given->jump[0] == '\0') {
        return wf_err_set(err, WF_EINVAL,
                          "ttorus: without jump this is a torus: use torus:%.64s, or give the "
                          "jumps, as in jump=4/0",
                          given->size);
    }
    WF_TRY(parse_jumps(given->jump, grid->n_dims, jumps, err));
    memset(shape, 0, sizeof(*shape));
    shape->n_dims = grid->n_dims;
    shape->n_nodes = grid->topo.n_nodes;
    for (uint32_t i = 0; i < grid->n_dims; i++) {
        uint32_t target = (uint32_t)((i + given->degree % grid->n_dims) % grid->n_dims);
        shape->size[i] = grid->size[i];
        shape->stride[i] = grid->stride[i];
        shape->wrap[i] = grid->wrap[i];
        shape->target[i] = target;
        if (!grid->wrap[i] && jumps[i] > 0) {
            return wf_err_set(err, WF_EINVAL,
                              "ttorus: jump '%.64s': dimension %" PRIu32
                              " is no ring and has no end to pass; expected 0",
                              given->jump, i);
        }
        shape->jump[i] = jumps[i] % grid->size[target];
        if (shape->jump[i] > 0 && target == i) {
            return wf_err_set(err, WF_EINVAL,
                              "ttorus: jump '%.64s': with degree=%" PRIu64 " dimension %" PRIu32
                              " would shift itself; expected a degree that is no multiple of "
                              "the number of dimensions, %" PRIu32 ", or a jump of 0",
                              given->jump, given->degree, i, grid->n_dims);
        }
    }
    return WF_OK;
}

/* Whether steps through different ports may lead to the same node. Steps inside the box do
 * not. The step over the end of a ring of three or more differs from all steps inside. It
 * equals the step over another end only if each of the two rings shifts the other by one. */
static bool may_double(const struct wf_topo_twist_shape *shape)
{
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        uint32_t target = shape->target[i];
        bool by_one = shape->jump[i] == 1 || shape->jump[i] + 1 == shape->size[target];
        if ((shape->wrap[i] && shape->size[i] <= 2) ||
            (by_one && shape->jump[i] > 0 && shape->target[target] == i)) {
            return true;
        }
    }
    return false;
}

/* Finds the groups of dimensions that twist one another, and creates a part for each group. */
static void divide(struct ttorus *torus)
{
    const struct wf_topo_twist_shape *shape = &torus->shape;
    uint32_t group[WF_TOPO_TWIST_DIMS_MAX], n = shape->n_dims;

    for (uint32_t i = 0; i < n; i++) {
        group[i] = UINT32_C(1) << i;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (shape->jump[i] > 0) {
            uint32_t both = group[i] | group[shape->target[i]];
            for (uint32_t k = 0; k < n; k++) {
                group[k] = (both >> k & 1) != 0 ? both : group[k];
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = 0;
        while ((group[i] >> first & 1) == 0) {
            first++;
        }
        if (first == i) {
            torus->part_of[i] = torus->n_parts;
            torus->parts[torus->n_parts++] = wf_topo_twist_create(shape, group[i]);
        } else {
            torus->part_of[i] = torus->part_of[first];
        }
    }
}

static uint64_t count_links(const struct ttorus *torus)
{
    const struct wf_topo_twist_shape *shape = &torus->shape;
    uint64_t links = 0;

    for (uint32_t d = 0; d < shape->n_dims && !torus->doubles; d++) {
        uint64_t lines = shape->n_nodes / shape->size[d];
        links += lines * (shape->wrap[d] ? shape->size[d] : shape->size[d] - 1);
    }
    for (uint32_t node = 0; node < shape->n_nodes && torus->doubles; node++) {
        for (uint32_t port = 0; port < 2 * shape->n_dims; port++) {
            uint32_t to = wf_topo_ttorus_ops.neighbor(&torus->topo, node, port);
            links += to != WF_TOPO_NO_VERTEX && to > node;
        }
    }
    return links;
}

static enum wf_status ttorus_create(const void *params, struct wf_topo **out,
                                    struct wf_err *err)
{
    const struct params *given = params;
    struct wf_topo_twist_shape shape;
    struct wf_topo_grid grid;

    WF_TRY(wf_topo_grid_parse(&grid, &wf_topo_ttorus_ops, given->size, err));
    WF_TRY(wf_topo_grid_parse_wrap(&grid, given->wrap, err));
    WF_TRY(set_shape(&shape, &grid, given, err));
    struct ttorus *torus = wf_xcalloc(1, sizeof(*torus));
    torus->topo = grid.topo;
    torus->shape = shape;
    torus->doubles = may_double(&shape);
    divide(torus);
    torus->topo.n_links = count_links(torus);
    *out = &torus->topo;
    return WF_OK;
}

static void ttorus_destroy(struct wf_topo *topo)
{
    struct ttorus *torus = (struct ttorus *)topo;

    for (uint32_t i = 0; i < torus->n_parts; i++) {
        wf_topo_twist_free(torus->parts[i]);
    }
    free(torus);
}

/* ---- Links and routes ---- */

/* Whether the cable in `port` of `node`, which leads to `to`, exists: of several cables
 * between the same two nodes only one does. */
static bool is_cable(const struct wf_topo_twist_shape *shape, uint32_t node, uint32_t port,
                     uint32_t to)
{
    /* A step up is a step down at its other end. */
    uint32_t low = node < to ? node : to, high = node < to ? to : node;
    uint32_t end = node < to ? port : port ^ 1;

    for (uint32_t lower = 0; lower < end; lower++) {
        if (wf_topo_twist_step(shape, low, lower) == high) {
            return false;
        }
    }
    return node != to;
}

static uint32_t ttorus_neighbor(const struct wf_topo *topo, uint32_t node, uint32_t port)
{
    const struct ttorus *torus = to_ttorus(topo);

    assert(node < topo->n_nodes && port < topo->n_ports);
    uint32_t to = wf_topo_twist_step(&torus->shape, node, port);
    if (torus->doubles && to != WF_TOPO_NO_VERTEX && !is_cable(&torus->shape, node, port, to)) {
        return WF_TOPO_NO_VERTEX;
    }
    return to;
}

static uint32_t ttorus_coords(const struct wf_topo *topo, uint32_t node,
                              uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct wf_topo_twist_shape *shape = &to_ttorus(topo)->shape;

    for (uint32_t d = 0; d < shape->n_dims; d++) {
        coord[d] = node % shape->size[d];
        node /= shape->size[d];
    }
    return shape->n_dims;
}

static uint32_t ttorus_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct ttorus *torus = to_ttorus(topo);
    uint32_t from[WF_TOPO_COORDS_MAX], to[WF_TOPO_COORDS_MAX], hops = 0;

    (void)ttorus_coords(topo, at, from);
    (void)ttorus_coords(topo, dst, to);
    for (uint32_t i = 0; i < torus->n_parts; i++) {
        hops += wf_topo_twist_distance(torus->parts[i], from, to);
    }
    return hops;
}

/* A distance makes the tables of all parts. */
static void ttorus_prepare(const struct wf_topo *topo)
{
    (void)ttorus_distance(topo, 0, 0);
}

/* Finds at most `max` ports with which shortest paths begin, in ascending order. A step
 * changes the distance in one part only. */
static uint32_t find_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                           uint32_t *ports, uint32_t max)
{
    const struct ttorus *torus = to_ttorus(topo);
    uint32_t from[WF_TOPO_COORDS_MAX], to[WF_TOPO_COORDS_MAX], via[WF_TOPO_COORDS_MAX];
    uint32_t left[WF_TOPO_TWIST_DIMS_MAX] = {0}, n = 0;

    (void)ttorus_coords(topo, at, from);
    (void)ttorus_coords(topo, dst, to);
    for (uint32_t i = 0; i < torus->n_parts; i++) {
        left[i] = wf_topo_twist_distance(torus->parts[i], from, to);
    }
    for (uint32_t port = 0; port < topo->n_ports && n < max; port++) {
        uint32_t part = torus->part_of[port / 2];
        uint32_t next = left[part] > 0 ? ttorus_neighbor(topo, at, port) : WF_TOPO_NO_VERTEX;
        if (next != WF_TOPO_NO_VERTEX) {
            (void)ttorus_coords(topo, next, via);
            if (wf_topo_twist_distance(torus->parts[part], via, to) < left[part]) {
                ports[n++] = port;
            }
        }
    }
    return n;
}

static uint32_t ttorus_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    uint32_t port = WF_TOPO_NO_PORT;

    (void)find_ports(topo, at, dst, &port, 1);
    return port;
}

static uint32_t ttorus_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                     uint32_t *ports)
{
    return find_ports(topo, at, dst, ports, topo->n_ports);
}

/* ---- All pairs ---- */

/* Distances add up over the parts, so their histograms multiply as polynomials do. */
static uint64_t *count_pairs(const struct ttorus *torus, uint32_t *n)
{
    uint64_t *all = wf_xcalloc(1, sizeof(*all));

    all[0] = 1;
    *n = 1;
    for (uint32_t i = 0; i < torus->n_parts; i++) {
        uint32_t n_one = 0;
        uint64_t *one = wf_topo_twist_counts(torus->parts[i], &n_one);
        uint64_t *product = wf_xmalloc(((size_t)*n + n_one - 1) * sizeof(*product));

        wf_topo_measure_product(all, *n, one, n_one, product);
        free(all);
        free(one);
        all = product;
        *n += n_one - 1;
    }
    return all;
}

static uint32_t ttorus_diameter(const struct wf_topo *topo)
{
    uint32_t n = 0;

    free(count_pairs(to_ttorus(topo), &n));
    return n - 1;
}

static void ttorus_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    uint32_t n = 0;
    uint64_t *all = count_pairs(to_ttorus(topo), &n);

    memcpy(counts, all, n * sizeof(*counts));
    free(all);
}

static uint64_t *ttorus_pairs(const struct wf_topo *topo, uint32_t *n)
{
    return count_pairs(to_ttorus(topo), n);
}

static const char *const examples[] = {
    "ttorus:5,jump=0",
    "ttorus:8x4,jump=4/0",
    "ttorus:5x5,jump=2/2",
    "ttorus:4x4,jump=1/1",
    "ttorus:2x6,jump=3/0",
    "ttorus:2x2,jump=1/1",
    "ttorus:1x6,jump=3/0",
    "ttorus:1x7x2,jump=2/1/0",
    "ttorus:6x5,wrap=1,0,jump=2/0",
    "ttorus:4x4x4,degree=2,jump=1/1/1",
    "ttorus:5x3x4,wrap=1,1,0,jump=1/2/0",
    "ttorus:3x4x2x5,degree=3,jump=6/1/0/2",
    "ttorus:4x3x4x3,degree=2,jump=1/1/3/2",
    NULL,
};

const struct wf_topo_ops wf_topo_ttorus_ops = {
    .name = "ttorus",
    .args = "<size>x<size>...[,wrap=<0|1>,...][,degree=<count>][,jump=<count>/...]",
    .summary = "a torus whose rings are shifted against each other where they close",
    .shape = WF_TOPO_SHAPE_GRID,
    .vc_class = WF_TOPO_VC_TWISTED_GRID,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = ttorus_create,
    .destroy = ttorus_destroy,
    .prepare = ttorus_prepare,
    .neighbor = ttorus_neighbor,
    .distance = ttorus_distance,
    .next_port = ttorus_next_port,
    .minimal_ports = ttorus_minimal_ports,
    .diameter = ttorus_diameter,
    .histogram = ttorus_histogram,
    .pairs = ttorus_pairs,
    .coords = ttorus_coords,
    .link_class = wf_topo_grid_link_class,
};
