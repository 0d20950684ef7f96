/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HyperX (Ahn, Binkert, Davis, McLaren and Schreiber, "HyperX: topology, routing, and packaging
 * of efficient large-scale networks", SC 2009) with one cable between neighbours (K = 1):
 * routers on a grid, each joined to all others that differ in one coordinate only.
 */
#include "model/topo/classes.h"
#include "model/topo/measure.h"
#include "model/topo/routers.h"
#include "model/topo/topo.h"
#include "model/topo/vector.h"

#include <stdlib.h>
#include <string.h>

enum { DIMS_MAX = WF_TOPO_COORDS_MAX };

struct params {
    char *size;
    uint64_t p;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, TEXT, .doc = "Routers in each dimension, as in 4x4x4"),
    WF_PARAM_ROW(struct params, p, COUNT, .def = "1", .min = "1",
                 .doc = "Nodes at each router"),
    WF_PARAM_END,
};

struct hyperx {
    struct wf_topo_routers net;
    uint32_t n_dims;
    uint32_t size[DIMS_MAX];
    uint32_t stride[DIMS_MAX]; /* difference of router numbers for one step */
    uint32_t first[DIMS_MAX];  /* first port of the dimension: size - 1 of them */
};

static const struct hyperx *to_hyperx(const struct wf_topo_routers *net)
{
    return (const struct hyperx *)net;
}

static uint32_t coord_of(const struct hyperx *hx, uint32_t router, uint32_t dim)
{
    return router / hx->stride[dim] % hx->size[dim];
}

static uint32_t dim_of(const struct hyperx *hx, uint32_t port)
{
    uint32_t dim = hx->n_dims - 1;

    while (hx->first[dim] > port) {
        dim--;
    }
    return dim;
}

/* The ports of a dimension lead to the other coordinates in ascending order. */
static uint32_t hyperx_neighbor(const struct wf_topo_routers *net, uint32_t router,
                                uint32_t port)
{
    const struct hyperx *hx = to_hyperx(net);
    uint32_t dim = dim_of(hx, port);
    uint32_t own = coord_of(hx, router, dim), to = port - hx->first[dim];
    to += to >= own ? 1 : 0;
    return router - own * hx->stride[dim] + to * hx->stride[dim];
}

static uint32_t hyperx_link_class(const struct wf_topo_routers *net, uint32_t router,
                                  uint32_t port)
{
    return 1 + dim_of(to_hyperx(net), port);
}

static uint32_t hyperx_distance(const struct wf_topo_routers *net, uint32_t from, uint32_t to)
{
    const struct hyperx *hx = to_hyperx(net);
    uint32_t hops = 0;

    for (uint32_t d = 0; d < hx->n_dims; d++) {
        hops += from % hx->size[d] != to % hx->size[d] ? 1 : 0;
        from /= hx->size[d];
        to /= hx->size[d];
    }
    return hops;
}

static uint32_t hyperx_minimal_ports(const struct wf_topo_routers *net, uint32_t from,
                                     uint32_t to, uint32_t *ports)
{
    const struct hyperx *hx = to_hyperx(net);
    uint32_t n = 0;

    for (uint32_t d = 0; d < hx->n_dims; d++) {
        uint32_t a = coord_of(hx, from, d), b = coord_of(hx, to, d);
        if (a != b) {
            ports[n++] = hx->first[d] + b - (b > a ? 1 : 0);
        }
    }
    return n;
}

/* Dimension order: the route corrects the first coordinate that differs. */
static uint32_t hyperx_next_port(const struct wf_topo_routers *net, uint32_t from, uint32_t to,
                                 uint32_t spread)
{
    uint32_t ports[DIMS_MAX] = {0};

    (void)hyperx_minimal_ports(net, from, to, ports);
    return ports[0];
}

/* Distances add up over the dimensions, so the histograms multiply as polynomials do. */
static void hyperx_histogram(const struct wf_topo_routers *net, uint64_t *pairs)
{
    const struct hyperx *hx = to_hyperx(net);
    uint64_t sum[DIMS_MAX + 1] = {1}, product[DIMS_MAX + 2];

    for (uint32_t d = 0; d < hx->n_dims; d++) {
        uint64_t size = hx->size[d], one[2] = {size, size * (size - 1)};
        wf_topo_measure_product(sum, d + 1, one, 2, product);
        memcpy(sum, product, (d + 2) * sizeof(*sum));
    }
    for (uint32_t d = 1; d <= net->diameter; d++) {
        pairs[d] += sum[d];
    }
}

static const struct wf_topo_routers_ops router_ops = {
    .neighbor = hyperx_neighbor,
    .distance = hyperx_distance,
    .next_port = hyperx_next_port,
    .minimal_ports = hyperx_minimal_ports,
    .link_class = hyperx_link_class,
    .histogram = hyperx_histogram,
};

/* The largest number of cables among `m` routers of a grid with the ascending sizes size[0
 * .. n-1]. By Lindsey's theorem ("Assignment of numbers to vertices", American Mathematical
 * Monthly 71, 1964) the first m routers have it if the widest dimension is filled first. */
static uint64_t most_inside(const uint32_t *size, uint32_t n, uint64_t m)
{
    uint64_t slice = 1, degree = 0, inside = 0;

    for (uint32_t d = 1; d < n; d++) {
        slice *= size[d];
        degree += size[d] - 1;
    }
    for (uint32_t d = 0; d < n; d++) {
        uint64_t full = m / slice, rest = m % slice;
        inside += full * (slice * degree / 2) + full * rest;
        inside += full > 0 ? full * (full - 1) / 2 * slice : 0;
        m = rest;
        if (d + 1 < n) {
            slice /= size[d + 1];
            degree -= size[d + 1] - 1;
        }
    }
    return inside;
}

static int compare_sizes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y ? 1 : 0;
}

/* The smallest number of cables between two halves of the routers. An odd number of routers
 * has no halves. */
static uint64_t bisection(const struct hyperx *hx)
{
    uint64_t half = hx->net.n_routers / 2;
    uint32_t size[DIMS_MAX];

    if (hx->net.n_routers % 2 != 0) {
        return 0;
    }
    memcpy(size, hx->size, sizeof(size));
    qsort(size, hx->n_dims, sizeof(size[0]), compare_sizes);
    return half * hx->net.degree - 2 * most_inside(size, hx->n_dims, half);
}

static enum wf_status hyperx_create(const void *params, struct wf_topo **out,
                                    struct wf_err *err)
{
    const struct params *given = params;
    struct hyperx hx = {.n_dims = 0};
    uint32_t size[DIMS_MAX] = {0}, diameter = 0;
    uint64_t routers = 1, degree = 0;

    WF_TRY(wf_topo_vector_parse("hyperx: size", given->size, size, DIMS_MAX, &hx.n_dims, err));
    uint32_t n_dims = hx.n_dims;
    for (uint32_t d = 0; d < n_dims; d++) {
        hx.stride[d] = (uint32_t)routers;
        hx.first[d] = (uint32_t)degree;
        WF_TRY(
            wf_topo_vector_multiply("hyperx: size", &routers, size[d], WF_TOPO_LINK_MAX, err));
        degree += size[d] - UINT64_C(1);
        diameter += size[d] > 1 ? 1 : 0;
    }
    WF_TRY(wf_topo_routers_init(&hx.net, &wf_topo_hyperx_ops, &router_ops,
                                (struct wf_topo_routers_size){routers, given->p, degree}, err));
    memcpy(hx.size, size, sizeof(size));
    hx.net.diameter = diameter;
    hx.net.topo.n_links += routers * degree / 2;
    hx.net.topo.classes = wf_topo_class_terminal_dimensions;
    hx.net.topo.n_classes = 1 + hx.n_dims;
    hx.net.topo.bisection = bisection(&hx);
    *out = wf_topo_keep(&hx, sizeof(hx));
    return WF_OK;
}

static uint32_t hyperx_coords(const struct wf_topo *topo, uint32_t vertex,
                              uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct hyperx *hx = (const struct hyperx *)topo;
    uint32_t router = wf_topo_routers_of(&hx->net, vertex);

    for (uint32_t d = 0; d < hx->n_dims; d++) {
        coord[d] = coord_of(hx, router, d);
    }
    return hx->n_dims;
}

static const char *const examples[] = {
    "hyperx:4x4,p=2",         "hyperx:1",
    "hyperx:1,p=3",           "hyperx:6",
    "hyperx:3x4x2,p=2",       "hyperx:2x1x3",
    "hyperx:5x3,p=3",         "hyperx:3x8",
    "hyperx:2x2x2x2x2",       "hyperx:2x2x2x2x2x2x2",
    "hyperx:2x1x2x1x2x1x2x2", NULL,
};

const struct wf_topo_ops wf_topo_hyperx_ops = {
    .name = "hyperx",
    .args = "<size>x<size>...[,p=<nodes per router>]",
    .summary = "routers in 1 to 8 dimensions, each linked to all others in its rows",
    .shape = WF_TOPO_SHAPE_GRID,
    .vc_class = WF_TOPO_VC_HYPERX,
    .usual_routing = "ugal_l",
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = hyperx_create,
    .coords = hyperx_coords,
    WF_TOPO_ROUTERS_OPS,
};
