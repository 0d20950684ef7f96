/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_VC_TREE_H
#define WF_NET_VC_TREE_H

/*
 * Ways over a spanning tree: up to where the branches of both ends meet, then down. They need
 * one channel, however large the network is, since nobody who goes down ever goes up again
 * (M. D. Schroeder et al., "Autonet: a high-speed, self-configuring local area network using
 * point-to-point links", IEEE Journal on Selected Areas in Communications 9, 1991).
 */

#include "topo/topo.h"

struct wf_vc_tree;

/* A tree of shortest paths from vertex 0, through links that lead both ways. */
struct wf_vc_tree *wf_vc_tree_create(const struct wf_topo *topo);
void wf_vc_tree_free(struct wf_vc_tree *tree); /* null is allowed */

/* The port by which the way over the tree goes on; `at` is not `dst`. */
uint32_t wf_vc_tree_next(const struct wf_vc_tree *tree, uint32_t at, uint32_t dst);

/* No way over the tree is longer. */
uint32_t wf_vc_tree_hops(const struct wf_vc_tree *tree);

#endif
