/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Distances between all pairs of nodes: help for topologies that answer histogram(), and the
 * statistics that users see.
 */

#include "model/topo/topo.h"

/* The histogram of a product of two networks: sets out[k] to the sum of a[i] * b[j] over all
 * i < n_a and j < n_b with i + j = k. `out` has n_a + n_b - 1 entries. */
WF_PLUGIN_API void wf_topo_measure_product(const uint64_t *a, uint32_t n_a, const uint64_t *b,
                                           uint32_t n_b, uint64_t *out);

/* Statistics of the ordered pairs of nodes. */
struct wf_topo_measure {
    uint32_t diameter;          /* the largest distance that was found */
    uint32_t sources;           /* nodes whose distances to all others are known: mostly all */
    uint64_t *counts;           /* [diameter + 1], as histogram() sets them */
    double average;             /* over pairs of distinct nodes; 0 if there are none */
    uint64_t sum_low, sum_high; /* the sum of all distances in 128 bits */
};

/* Computes the statistics. The caller releases `out` with wf_topo_measure_release(). */
WF_PLUGIN_API void wf_topo_measure(const struct wf_topo *topo, struct wf_topo_measure *out);
WF_PLUGIN_API void wf_topo_measure_release(struct wf_topo_measure *measure);
