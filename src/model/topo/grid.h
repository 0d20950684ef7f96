/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Nodes on a grid of 1 to 8 dimensions, each of which is a line or a ring. The topologies
 * mesh, torus and ring share this code.
 *
 * Nodes are numbered with the first dimension varying fastest. Port 2*d leads one step up in
 * dimension d, port 2*d+1 one step down. At the ends of a line the port has no cable; a ring
 * of two is one cable, at the port that stays inside the grid; a ring of one is none.
 *
 * Routes are minimal: each dimension in turn, in the shorter direction. When both directions
 * are equally long, nodes with an even coordinate go up and the others down, so that opposite
 * pairs load both directions alike and the choice depends on nothing else.
 */

#include "base/reciprocal.h"
#include "model/topo/topo.h"

enum { WF_TOPO_GRID_DIMS_MAX = 8 };

struct wf_topo_grid {
    struct wf_topo topo;
    uint32_t n_dims;
    uint32_t size[WF_TOPO_GRID_DIMS_MAX];
    uint32_t stride[WF_TOPO_GRID_DIMS_MAX];     /* difference of node numbers for one step up */
    uint64_t reciprocal[WF_TOPO_GRID_DIMS_MAX]; /* base/reciprocal.h, of the size... */
    uint64_t stride_reciprocal[WF_TOPO_GRID_DIMS_MAX]; /* ...and of the stride */
    bool wrap[WF_TOPO_GRID_DIMS_MAX];                  /* whether the dimension is a ring */
    bool is_binary; /* all sizes are powers of two; the next two are valid */
    uint8_t shift[WF_TOPO_GRID_DIMS_MAX]; /* where the coordinate is in the number of a node */
    uint8_t dim_of_bit[32];               /* the dimension of each bit of that number */
};

/* Sets up `grid` for ops->name with the sizes of "4x4x8"; no dimension wraps yet. Fails with
 * WF_EINVAL on anything that is not 1 to 8 sizes, a size of 0 or too many links. */
WF_NODISCARD
WF_PLUGIN_API enum wf_status wf_topo_grid_parse(struct wf_topo_grid *grid,
                                                const struct wf_topo_ops *ops,
                                                const char *sizes, struct wf_err *err);

/* Which dimensions wrap, as "1,0,1"; "" is all of them. */
enum wf_status wf_topo_grid_parse_wrap(struct wf_topo_grid *grid, const char *wrap,
                                       struct wf_err *err);

/* Counts the links and the bisection of a grid whose sizes and wraps are set. Returns it as
 * a topology, which the caller owns as after ops->create. */
WF_PLUGIN_API struct wf_topo *wf_topo_grid_finish(struct wf_topo_grid *grid);

/* The coordinate of a node in one dimension. */
static inline uint32_t wf_topo_grid_coord(const struct wf_topo_grid *grid, uint32_t node,
                                          uint32_t dim)
{
    if (grid->is_binary) {
        return node >> grid->shift[dim] & (grid->size[dim] - 1);
    }
    uint32_t steps = wf_reciprocal_divide(node, grid->stride_reciprocal[dim]);

    return steps - wf_reciprocal_divide(steps, grid->reciprocal[dim]) * grid->size[dim];
}

/* The members of struct wf_topo_ops. */
WF_PLUGIN_API uint32_t wf_topo_grid_neighbor(const struct wf_topo *topo, uint32_t node,
                                             uint32_t port);
WF_PLUGIN_API uint32_t wf_topo_grid_distance(const struct wf_topo *topo, uint32_t at,
                                             uint32_t dst);
WF_PLUGIN_API uint32_t wf_topo_grid_next_port(const struct wf_topo *topo, uint32_t at,
                                              uint32_t dst);
WF_PLUGIN_API uint32_t wf_topo_grid_minimal_ports(const struct wf_topo *topo, uint32_t at,
                                                  uint32_t dst, uint32_t *ports);
WF_PLUGIN_API uint32_t wf_topo_grid_diameter(const struct wf_topo *topo);
WF_PLUGIN_API void wf_topo_grid_histogram(const struct wf_topo *topo, uint64_t *counts);
WF_PLUGIN_API uint32_t wf_topo_grid_coords(const struct wf_topo *topo, uint32_t node,
                                           uint32_t coord[WF_TOPO_COORDS_MAX]);
WF_PLUGIN_API uint32_t wf_topo_grid_link_class(const struct wf_topo *topo, uint32_t node,
                                               uint32_t port);
WF_PLUGIN_API void wf_topo_grid_class_hops(const struct wf_topo *topo, uint32_t at,
                                           uint32_t dst, uint32_t *hops);

/* All of them, for an initializer. */
#define WF_TOPO_GRID_OPS                                                              \
    .neighbor = wf_topo_grid_neighbor, .distance = wf_topo_grid_distance,             \
    .next_port = wf_topo_grid_next_port, .minimal_ports = wf_topo_grid_minimal_ports, \
    .diameter = wf_topo_grid_diameter, .histogram = wf_topo_grid_histogram,           \
    .coords = wf_topo_grid_coords, .link_class = wf_topo_grid_link_class,             \
    .class_hops = wf_topo_grid_class_hops
