/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A hierarchy of networks. Each node of the outer network is a whole copy of the inner
 * network, whose gate (see struct wf_topo) takes the place of that node. A message between two
 * copies goes to the gate of its own copy, through the outer network, and from the gate of the
 * other copy to its destination. Hierarchies nest: "torus:4x4x4/star:4/mesh:8x8" is a torus of
 * stars of meshes.
 *
 * Nodes are numbered copy by copy. Among the ports of a gate, those of the inner network come
 * first.
 */

#include "model/topo/topo.h"

enum { WF_TOPO_NESTED_LEVELS_MAX = 32 };

/* A part of a route that stays in one level: between two vertices of that level's network. */
struct wf_topo_leg {
    const struct wf_topo *topo;
    uint32_t level; /* 0 is the outermost */
    uint32_t from, to;
};

enum { WF_TOPO_LEGS_MAX = 2 * WF_TOPO_NESTED_LEVELS_MAX };

/* Builds the hierarchy of two networks, which it takes. The caller owns *out. On failure
 * (WF_EINVAL: too many links) both networks are released. */
enum wf_status wf_topo_nested_create(struct wf_topo *outer, struct wf_topo *inner,
                                     struct wf_topo **out, struct wf_err *err);

/* The number of levels of any topology; 1 unless it is nested. */
uint32_t wf_topo_n_levels(const struct wf_topo *topo);
/* The network of one level; level 0 is the outermost. */
const struct wf_topo *wf_topo_level(const struct wf_topo *topo, uint32_t level);

/* The level to which the cable in a port belongs. */
uint32_t wf_topo_port_level(const struct wf_topo *topo, uint32_t vertex, uint32_t port);

/* The number of the first class of links of a level; the classes of a level are numbered as in
 * its own network. */
uint32_t wf_topo_first_class(const struct wf_topo *topo, uint32_t level);

/* Splits the route from one node to another into legs of at least one hop. Sets at most
 * WF_TOPO_LEGS_MAX legs and returns their number; without nesting there is one leg. */
uint32_t wf_topo_legs(const struct wf_topo *topo, uint32_t src, uint32_t dst,
                      struct wf_topo_leg *legs);

/* The next part of a route: from the vertex `at` to the vertex `dst` of one level's network.
 * Port 0 of that network is port `first_port` of the vertex. */
struct wf_topo_part {
    const struct wf_topo *topo;
    uint32_t level;
    uint32_t at, dst;
    uint32_t first_port;
};

/* The next part of the route from any vertex to a node or to the gate. */
struct wf_topo_part wf_topo_next_part(const struct wf_topo *topo, uint32_t at, uint32_t dst);
/* The outermost level that the route between two vertices passes. */
uint32_t wf_topo_turn_level(const struct wf_topo *topo, uint32_t at, uint32_t dst);
