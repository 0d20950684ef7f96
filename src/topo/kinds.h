/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_KINDS_H
#define WF_TOPO_KINDS_H

/* The topologies there are, one file each. Only topo/registry.c and those files need this. */

#include "topo/topo.h"

extern const struct wf_topo_ops wf_topo_dragonfly_ops;
extern const struct wf_topo_ops wf_topo_dragonflyplus_ops;
extern const struct wf_topo_ops wf_topo_fattree_ops;
extern const struct wf_topo_ops wf_topo_full_ops;
extern const struct wf_topo_ops wf_topo_graph_ops;
extern const struct wf_topo_ops wf_topo_hyperx_ops;
extern const struct wf_topo_ops wf_topo_mesh_ops;
extern const struct wf_topo_ops wf_topo_ring_ops;
extern const struct wf_topo_ops wf_topo_slimfly_ops;
extern const struct wf_topo_ops wf_topo_star_ops;
extern const struct wf_topo_ops wf_topo_torus_ops;
extern const struct wf_topo_ops wf_topo_tree_ops;
extern const struct wf_topo_ops wf_topo_ttorus_ops;

#endif
