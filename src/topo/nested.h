/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_NESTED_H
#define WF_TOPO_NESTED_H

/*
 * A hierarchy: each node of the outer network is a whole copy of the inner one, whose gate (see
 * struct wf_topo) is that node. Messages between copies therefore pass the inner network to
 * its gate, the outer network, and from its gate the other copy. Deeper hierarchies nest again:
 * "torus:4x4x4/star:4/mesh:8x8" is a torus of stars of meshes.
 *
 * Nodes are numbered copy by copy. The links of the inner network come first among the ports
 * of a gate.
 */

#include "topo/topo.h"

enum { WF_TOPO_NESTED_LEVELS_MAX = 32 };

/* A part of a way that stays in one level: from a vertex to another of that level's network. */
struct wf_topo_leg {
    const struct wf_topo *topo;
    uint32_t level; /* 0 is the outermost */
    uint32_t from, to;
};

enum { WF_TOPO_LEGS_MAX = 2 * WF_TOPO_NESTED_LEVELS_MAX };

/* Takes both networks and gives their hierarchy to the caller. On failure (WF_EINVAL: too
 * many links or levels) both are released. */
WF_NODISCARD
enum wf_status wf_topo_nested_create(struct wf_topo *outer, struct wf_topo *inner,
                                     struct wf_topo **out, struct wf_err *err);

/* The number of levels of any topology; 1 unless it is nested. */
uint32_t wf_topo_n_levels(const struct wf_topo *topo);
/* The network of one level, 0 being the outermost. */
const struct wf_topo *wf_topo_level(const struct wf_topo *topo, uint32_t level);

/* The level to which the cable in a port belongs. */
uint32_t wf_topo_port_level(const struct wf_topo *topo, uint32_t vertex, uint32_t port);

/* The way from one node to another, leg by leg, without legs of no hops: at most WF_TOPO_LEGS_MAX
 * into `legs`; returns how many. Of a topology that is not nested it is one. */
uint32_t wf_topo_legs(const struct wf_topo *topo, uint32_t src, uint32_t dst,
                      struct wf_topo_leg *legs);

/* The next part of a way: a network, where in it, whither, and the first of its ports among
 * those of the vertex. */
struct wf_topo_part {
    const struct wf_topo *topo;
    uint32_t level;
    uint32_t at, dst;
    uint32_t first_port;
};

/* How the way from any vertex to a node, or the gate, goes on: as its first leg. */
struct wf_topo_part wf_topo_next_part(const struct wf_topo *topo, uint32_t at, uint32_t dst);
/* The outermost level that the way between two vertices passes. */
uint32_t wf_topo_turn_level(const struct wf_topo *topo, uint32_t at, uint32_t dst);

#endif
