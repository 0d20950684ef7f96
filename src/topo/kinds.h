/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_KINDS_H
#define WF_TOPO_KINDS_H

/* The topologies there are, one file each. Only topo/registry.c and those files need this. */

#include "topo/topo.h"

extern const struct wf_topo_ops wf_dragonfly_ops;
extern const struct wf_topo_ops wf_dragonflyplus_ops;
extern const struct wf_topo_ops wf_fattree_ops;
extern const struct wf_topo_ops wf_full_ops;
extern const struct wf_topo_ops wf_graph_ops;
extern const struct wf_topo_ops wf_hyperx_ops;
extern const struct wf_topo_ops wf_mesh_ops;
extern const struct wf_topo_ops wf_ring_ops;
extern const struct wf_topo_ops wf_slimfly_ops;
extern const struct wf_topo_ops wf_star_ops;
extern const struct wf_topo_ops wf_torus_ops;
extern const struct wf_topo_ops wf_tree_ops;
extern const struct wf_topo_ops wf_ttorus_ops;

#endif
