/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_MEASURE_H
#define WF_TOPO_MEASURE_H

/*
 * Distances between all pairs of nodes: what topologies use to answer histogram() and
 * diameter(), and what people want to know of the answers.
 */

#include "topo/topo.h"

/* Combines two dimensions of a product network: out[i + j] += a[i] * b[j] for i < n_a, j < n_b.
 * `out` has n_a + n_b - 1 entries and is zeroed first. */
void wf_topo_measure_product(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                             uint64_t *out);

/* Sums over ordered pairs of distinct nodes. */
struct wf_topo_measure {
    uint32_t diameter;
    uint64_t *counts;           /* [diameter + 1], as of histogram() */
    double average;             /* over pairs of distinct nodes; 0 if there are none */
    uint64_t sum_low, sum_high; /* of all distances: 128 bits */
};

/* `out` is released with wf_topo_measure_release(). */
void wf_topo_measure(const struct wf_topo *topo, struct wf_topo_measure *out);
void wf_topo_measure_release(struct wf_topo_measure *measure);

#endif
