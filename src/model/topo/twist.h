/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A box of nodes. Some of its dimensions are rings, and some of the rings are twisted. The seam
 * of a ring is the place between its last coordinate and its first. A path that passes the seam
 * of a twisted ring is shifted in another dimension, the target of the ring.
 *
 * Dimensions that do not twist one another, directly or through others, contribute to a
 * distance separately. A struct wf_topo_twist is a part of a network that cannot be divided
 * further, with the tables from which the lengths of its shortest paths are looked up.
 */

#include <stdbool.h>
#include <stdint.h>

enum { WF_TOPO_TWIST_DIMS_MAX = 8 };

struct wf_topo_twist_shape {
    uint32_t n_dims;
    uint32_t n_nodes;
    uint32_t size[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t stride[WF_TOPO_TWIST_DIMS_MAX]; /* the first dimension varies fastest */
    bool wrap[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t target[WF_TOPO_TWIST_DIMS_MAX]; /* never the dimension itself if there is a jump */
    uint32_t jump[WF_TOPO_TWIST_DIMS_MAX];   /* shift of the target by passing the seam
                                                upwards, below the size of the target; 0: not
                                                twisted */
};

/* The node one step up (port 2 * dimension) or down (the next port) from `node`;
 * WF_TOPO_NO_VERTEX at the end of a line. May be the node itself, or the same by two ports. */
uint32_t wf_topo_twist_step(const struct wf_topo_twist_shape *shape, uint32_t node,
                            uint32_t port);

struct wf_topo_twist;

/* The part of `whole` that consists of the dimensions in the set `dims` (bit i: dimension i),
 * which must contain the target of every twisted dimension in it. The caller owns the result
 * and releases it with wf_topo_twist_free(). */
struct wf_topo_twist *wf_topo_twist_create(const struct wf_topo_twist_shape *whole,
                                           uint32_t dims);
void wf_topo_twist_free(struct wf_topo_twist *twist);

/* The hops of a shortest path between two places, given by their coordinates in the whole
 * network; only the coordinates of this part matter. The first call may take a second, to make
 * tables. Safe to call from any thread, as wf_topo_twist_counts() is. */
uint32_t wf_topo_twist_distance(const struct wf_topo_twist *twist, const uint32_t *from,
                                const uint32_t *to);

/* The number of ordered pairs at each distance from 0 to the largest. Sets *n to the number
 * of entries; the caller frees the array. The time grows with the square of the nodes of the
 * part, unless the part looks the same from all nodes. */
uint64_t *wf_topo_twist_counts(const struct wf_topo_twist *twist, uint32_t *n);
