/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Topologies whose links are listed, because they follow no rule: graphs from files, and damaged
 * networks. Distances are found by searches when they are asked for (model/topo/rows.h). A route takes
 * the lowest port that leads closer to its destination.
 */

#include "model/topo/csr.h"
#include "model/topo/topo.h"

/* The common head of these topologies, which own the lists. */
struct wf_topo_listed {
    struct wf_topo topo;
    const uint32_t *first;    /* [n_vertices + 1] number of each vertex's first link */
    const uint32_t *far;      /* [link number] far end; WF_TOPO_NO_VERTEX: there is no cable */
    struct wf_topo_csr links; /* those with a cable; `first` and `to` may be the lists above */
    struct wf_topo_rows *rows;
};

/* Counts ports and links, and prepares distances. All members but `rows` and these counts are set,
 * and stay where they are. To be undone by wf_topo_listed_fini(). */
void wf_topo_listed_init(struct wf_topo_listed *listed);
void wf_topo_listed_fini(struct wf_topo_listed *listed);

/* The members of struct wf_topo_ops. */
uint32_t wf_topo_listed_first_link(const struct wf_topo *topo, uint32_t vertex);
uint32_t wf_topo_listed_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port);
uint32_t wf_topo_listed_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst);
uint32_t wf_topo_listed_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst);
uint32_t wf_topo_listed_diameter(const struct wf_topo *topo);
void wf_topo_listed_histogram(const struct wf_topo *topo, uint64_t *counts);
uint64_t *wf_topo_listed_pairs(const struct wf_topo *topo, uint32_t *n);
uint32_t wf_topo_listed_coords(const struct wf_topo *topo, uint32_t vertex,
                               uint32_t coord[WF_TOPO_COORDS_MAX]);

/* All of them, for an initializer. */
#define WF_TOPO_LISTED_OPS                                                        \
    .shape = WF_TOPO_SHAPE_CIRCLE, .vc_class = WF_TOPO_VC_LOWEST_PORT,            \
    .first_link = wf_topo_listed_first_link, .neighbor = wf_topo_listed_neighbor, \
    .distance = wf_topo_listed_distance, .next_port = wf_topo_listed_next_port,   \
    .diameter = wf_topo_listed_diameter, .histogram = wf_topo_listed_histogram,   \
    .pairs = wf_topo_listed_pairs, .coords = wf_topo_listed_coords
