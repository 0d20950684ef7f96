/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Routes over a spanning tree: up to where the branches of both ends meet, then down. They need
 * one channel, however large the network is, since a packet that goes down never goes up again
 * (M. D. Schroeder et al., "Autonet: a high-speed, self-configuring local area network using
 * point-to-point links", IEEE Journal on Selected Areas in Communications 9, 1991).
 */

#include "model/topo/topo.h"

struct wf_vc_tree;

/* A tree of shortest paths from vertex 0, over links that exist in both directions. If the
 * network is not connected, each part has a tree from its lowest vertex. */
struct wf_vc_tree *wf_vc_tree_create(const struct wf_topo *topo);
void wf_vc_tree_free(struct wf_vc_tree *tree); /* null is allowed */

/* The next port of the route over the tree; `at` is not `dst`, and reaches it. */
uint32_t wf_vc_tree_next(const struct wf_vc_tree *tree, uint32_t at, uint32_t dst);

/* The most hops of a route over the tree. */
uint32_t wf_vc_tree_hops(const struct wf_vc_tree *tree);
