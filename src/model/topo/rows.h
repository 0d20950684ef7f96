/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Exact distances in any graph, found when they are asked for. The first question about a
 * destination takes a search from there, which fills a row: the distances of all vertices to it.
 * Later questions look them up. When the rows have filled their budget, the graph is labelled
 * once (model/topo/hubs.h), and labels answer for destinations without a row; if even the labels are
 * too many, there are more rows.
 *
 * So nothing is computed for destinations that nobody sends to. A row takes a byte for each vertex
 * (four where distances may be long), without leaves, the vertices with one link, which share the
 * row of their neighbour.
 */

#include "model/topo/csr.h"

#include <stdbool.h>
#include <stddef.h>

struct wf_topo_rows;

/* How much memory may be spent. */
struct wf_topo_rows_limits {
    size_t row_bytes; /* on rows, before the graph is labelled */
    size_t labels;    /* entries of 8 bytes */
};

/* Distances in `csr`, which is borrowed. `oneway`: some of its links lead one way only. */
struct wf_topo_rows *wf_topo_rows_create(const struct wf_topo_csr *csr, bool oneway,
                                         struct wf_topo_rows_limits limits);
void wf_topo_rows_free(struct wf_topo_rows *rows); /* null is allowed */

/* WF_TOPO_CSR_UNREACHED if there is no path. Safe to call from any thread. */
uint32_t wf_topo_rows_distance(const struct wf_topo_rows *rows, uint32_t from, uint32_t to);

/* Whether the distance is known without a search; *out is the distance. */
bool wf_topo_rows_knows(const struct wf_topo_rows *rows, uint32_t from, uint32_t to,
                        uint32_t *out);

/* The vertices and links that the search for a row visits. */
size_t wf_topo_rows_effort(const struct wf_topo_rows *rows);
