/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/grid.h"

#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/measure.h"
#include "model/topo/vector.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_topo_grid *to_grid(const struct wf_topo *topo)
{
    return (const struct wf_topo_grid *)topo;
}

/* If all sizes are powers of two, the number of a node is its coordinates side by side. */
static void find_bits(struct wf_topo_grid *grid)
{
    uint8_t bit = 0;

    grid->is_binary = true;
    for (uint32_t d = 0; d < grid->n_dims; d++) {
        grid->is_binary = grid->is_binary && (grid->size[d] & (grid->size[d] - 1)) == 0;
        grid->shift[d] = bit;
        for (uint32_t rest = grid->size[d]; rest > 1 && grid->is_binary; rest /= 2) {
            grid->dim_of_bit[bit++] = (uint8_t)d;
        }
    }
}

enum wf_status wf_topo_grid_parse(struct wf_topo_grid *grid, const struct wf_topo_ops *ops,
                                  const char *sizes, struct wf_err *err)
{
    char what[64];
    uint64_t nodes = 1;

    memset(grid, 0, sizeof(*grid));
    grid->topo.ops = ops;
    (void)snprintf(what, sizeof(what), "%s: size", ops->name);
    enum wf_status status = wf_topo_vector_parse(what, sizes, grid->size, WF_TOPO_GRID_DIMS_MAX,
                                                 &grid->n_dims, err);
    for (uint32_t d = 0; d < grid->n_dims && status == WF_OK; d++) {
        grid->stride[d] = (uint32_t)nodes;
        grid->reciprocal[d] = wf_reciprocal_of(grid->size[d]);
        grid->stride_reciprocal[d] = wf_reciprocal_of(grid->stride[d]);
        status = wf_topo_vector_multiply(what, &nodes, grid->size[d],
                                         WF_TOPO_LINK_MAX / (2 * grid->n_dims), err);
    }
    if (status == WF_OK) {
        find_bits(grid);
    }
    grid->topo.n_nodes = grid->topo.n_vertices = (uint32_t)nodes;
    grid->topo.n_ports = 2 * grid->n_dims;
    grid->topo.classes = wf_topo_class_dimensions;
    grid->topo.n_classes = grid->n_dims;
    return status;
}

enum wf_status wf_topo_grid_parse_wrap(struct wf_topo_grid *grid, const char *wrap,
                                       struct wf_err *err)
{
    const char *name = grid->topo.ops->name;
    uint32_t flags[WF_TOPO_GRID_DIMS_MAX], n = 0;
    char what[64];

    if (wrap[0] == '\0') {
        for (uint32_t d = 0; d < grid->n_dims; d++) {
            grid->wrap[d] = true;
        }
        return WF_OK;
    }
    (void)snprintf(what, sizeof(what), "%s: wrap", name);
    WF_TRY(wf_topo_vector_parse(what, wrap, flags, WF_TOPO_GRID_DIMS_MAX, &n, err));
    if (n != grid->n_dims) {
        return wf_err_set(err, WF_EINVAL, "%s '%.64s': %u values for %u dimensions", what, wrap,
                          n, grid->n_dims);
    }
    for (uint32_t d = 0; d < n; d++) {
        if (flags[d] > 1) {
            return wf_err_set(err, WF_EINVAL, "%s '%.64s': expected 1 (a ring) or 0 (a line)",
                              what, wrap);
        }
        grid->wrap[d] = flags[d] != 0;
    }
    return WF_OK;
}

/* Whether the step over the end of the dimension has a cable of its own, which leads back to
 * the beginning. In a ring of two it would be the same cable as the step inside. */
static bool is_ring(const struct wf_topo_grid *grid, uint32_t dim)
{
    return grid->wrap[dim] && grid->size[dim] > 2;
}

/* The cables cut by halving the dimension in which that cuts fewest. An odd dimension cannot
 * be halved; the minimum is then unknown. */
static uint64_t bisection(const struct wf_topo_grid *grid)
{
    uint64_t least = UINT64_MAX, known = 0;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        uint64_t lines = grid->topo.n_nodes / grid->size[d];
        uint64_t cut = is_ring(grid, d) ? 2 * lines : lines;

        if (grid->size[d] > 1 && cut < least) {
            least = cut;
            known = grid->size[d] % 2 == 0 ? cut : 0;
        }
    }
    return known;
}

struct wf_topo *wf_topo_grid_finish(struct wf_topo_grid *grid)
{
    for (uint32_t d = 0; d < grid->n_dims; d++) {
        uint64_t lines = grid->topo.n_nodes / grid->size[d];
        grid->topo.n_links += lines * (is_ring(grid, d) ? grid->size[d] : grid->size[d] - 1);
    }
    grid->topo.bisection = bisection(grid);
    return wf_topo_keep(grid, sizeof(*grid));
}

uint32_t wf_topo_grid_neighbor(const struct wf_topo *topo, uint32_t node, uint32_t port)
{
    const struct wf_topo_grid *grid = to_grid(topo);
    uint32_t dim = port / 2;
    uint32_t stride = grid->stride[dim], last = grid->size[dim] - 1;

    assert(node < topo->n_nodes && port < topo->n_ports);
    uint32_t coord = wf_topo_grid_coord(grid, node, dim);
    if (port % 2 == 0) {
        if (coord < last) {
            return node + stride;
        }
        return is_ring(grid, dim) ? node - last * stride : WF_TOPO_NO_VERTEX;
    }
    if (coord > 0) {
        return node - stride;
    }
    return is_ring(grid, dim) ? node + last * stride : WF_TOPO_NO_VERTEX;
}

/* The number of steps from a to b in one dimension, and the directions that are shortest. */
struct steps {
    uint32_t n;
    bool up, down;
};

static struct steps steps_between(const struct wf_topo_grid *grid, uint32_t dim, uint32_t a,
                                  uint32_t b)
{
    uint32_t up = a <= b ? b - a : grid->size[dim] - (a - b);
    uint32_t down = a <= b ? grid->size[dim] - up : a - b;

    if (a == b) {
        return (struct steps){.n = 0};
    }
    if (!is_ring(grid, dim)) {
        return a < b ? (struct steps){up, true, false} : (struct steps){down, false, true};
    }
    return (struct steps){up < down ? up : down, up <= down, down <= up};
}

uint32_t wf_topo_grid_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct wf_topo_grid *grid = to_grid(topo);
    uint32_t hops = 0;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        uint32_t size = grid->size[d], a = at % size, b = dst % size;
        uint32_t apart = a < b ? b - a : a - b;
        uint32_t around = size - apart;

        hops += grid->wrap[d] && around < apart ? around : apart;
        at /= size;
        dst /= size;
    }
    return hops;
}

uint32_t wf_topo_grid_link_class(const struct wf_topo *topo, uint32_t node, uint32_t port)
{
    return port / 2;
}

void wf_topo_grid_class_hops(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                             uint32_t *hops)
{
    const struct wf_topo_grid *grid = to_grid(topo);

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        hops[d] += steps_between(grid, d, wf_topo_grid_coord(grid, at, d),
                                 wf_topo_grid_coord(grid, dst, d))
                       .n;
    }
}

/* Whether the route between two different coordinates of a dimension leads up. */
static bool is_up(const struct wf_topo_grid *grid, uint32_t dim, uint32_t from, uint32_t to)
{
    uint32_t size = grid->size[dim], up = to > from ? to - from : size + to - from;

    if (!is_ring(grid, dim)) {
        return to > from;
    }
    return 2 * up == size ? from % 2 == 0 : 2 * up < size;
}

/* The lowest bit in which two nodes differ belongs to the first dimension in which they do. */
static uint32_t next_port_by_bits(const struct wf_topo_grid *grid, uint32_t at, uint32_t dst)
{
    uint32_t d = grid->dim_of_bit[__builtin_ctz(at ^ dst)];
    uint32_t mask = grid->size[d] - 1;

    return 2 * d +
           (is_up(grid, d, at >> grid->shift[d] & mask, dst >> grid->shift[d] & mask) ? 0 : 1);
}

/* Needs no knowledge of where the route began: a tie can occur only at the first hop in a
 * dimension. From the second hop on, the chosen direction is the shorter one. Every hop of every
 * packet comes here, so coordinates are taken off one after another, without divisions. */
uint32_t wf_topo_grid_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct wf_topo_grid *grid = to_grid(topo);

    if (grid->is_binary && at != dst) {
        return next_port_by_bits(grid, at, dst);
    }
    for (uint32_t d = 0; d < grid->n_dims; d++) {
        uint32_t a = wf_reciprocal_divide(at, grid->reciprocal[d]);
        uint32_t b = wf_reciprocal_divide(dst, grid->reciprocal[d]);
        uint32_t coord = at - a * grid->size[d], to = dst - b * grid->size[d];

        if (coord != to) {
            return 2 * d + (is_up(grid, d, coord, to) ? 0 : 1);
        }
        at = a;
        dst = b;
    }
    return WF_TOPO_NO_PORT;
}

uint32_t wf_topo_grid_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                    uint32_t *ports)
{
    const struct wf_topo_grid *grid = to_grid(topo);
    uint32_t n = 0;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        struct steps steps = steps_between(grid, d, wf_topo_grid_coord(grid, at, d),
                                           wf_topo_grid_coord(grid, dst, d));
        if (steps.up) {
            ports[n++] = 2 * d;
        }
        if (steps.down) {
            ports[n++] = 2 * d + 1;
        }
    }
    return n;
}

static uint32_t diameter_of(const struct wf_topo_grid *grid, uint32_t dim)
{
    return grid->wrap[dim] ? grid->size[dim] / 2 : grid->size[dim] - 1;
}

uint32_t wf_topo_grid_diameter(const struct wf_topo *topo)
{
    const struct wf_topo_grid *grid = to_grid(topo);
    uint32_t sum = 0;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        sum += diameter_of(grid, d);
    }
    return sum;
}

/* Counts the ordered pairs of coordinates of one dimension by their distance. */
static void count_dimension(const struct wf_topo_grid *grid, uint32_t dim, uint64_t *counts)
{
    uint64_t size = grid->size[dim];

    counts[0] = size;
    for (uint32_t apart = 1; apart < size; apart++) {
        uint64_t around = size - apart;
        counts[grid->wrap[dim] && around < apart ? around : apart] += 2 * (size - apart);
    }
}

/* Distances add up over the dimensions, so the histograms multiply as polynomials do. */
void wf_topo_grid_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    const struct wf_topo_grid *grid = to_grid(topo);
    size_t n_all = (size_t)wf_topo_grid_diameter(topo) + 1;
    uint64_t *sum = wf_xcalloc(n_all, sizeof(*sum));
    uint32_t n_sum = 1;

    sum[0] = 1;
    for (uint32_t d = 0; d < grid->n_dims; d++) {
        uint32_t n_one = diameter_of(grid, d) + 1;
        uint64_t *one = wf_xcalloc(n_one, sizeof(*one));

        count_dimension(grid, d, one);
        wf_topo_measure_product(sum, n_sum, one, n_one, counts);
        n_sum += n_one - 1;
        memcpy(sum, counts, n_sum * sizeof(*sum));
        free(one);
    }
    free(sum);
}

uint32_t wf_topo_grid_coords(const struct wf_topo *topo, uint32_t node,
                             uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct wf_topo_grid *grid = to_grid(topo);

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        coord[d] = wf_topo_grid_coord(grid, node, d);
    }
    return grid->n_dims;
}
