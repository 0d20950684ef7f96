/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Parallel efficiency by the multiplicative model of the POP project (Wagner, Mohr, Gimenez and
 * Labarta, "A structured approach to performance analysis", 2017). It is computed from the
 * compute times of the ranks, the time of the run, and the time of the same run on a network
 * without cost:
 *
 *   load balance         mean compute / max compute
 *   serialisation        max compute / time on the ideal network
 *   transfer             time on the ideal network / time
 *   parallel efficiency  the product, mean compute / time
 */

#include <stdint.h>

struct wf_value;

struct wf_efficiency_times {
    int64_t mean_compute, max_compute;
    int64_t time, ideal_time;
    int64_t
        free_network_time; /* without the network, but with what messages cost nodes; -1: unknown */
};

/* Fractions, at least 0; 1 if nothing was computed or no time passed. */
struct wf_efficiency {
    double load_balance, serialisation, transfer, parallel;
};

struct wf_efficiency wf_efficiency(const struct wf_efficiency_times *times);

/* Adds the section `efficiency`. */
void wf_efficiency_describe(struct wf_value *parent, const struct wf_efficiency_times *times);
