/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The counts of synthetic traffic, and their evaluation. The run is divided into batches of
 * equal length. All counts are integers, so that sums do not depend on the order of addition.
 * Which batches are warm-up is decided afterwards.
 */

#include "model/net/net.h"
#include "model/traffic/batch.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_traffic_tally {
    struct wf_traffic_batch batches[WF_TRAFFIC_BATCHES];
    struct wf_net_usage usage;
    struct wf_net_totals totals;
    uint64_t rounds_left; /* closed loops: rounds that did not end */
    int64_t last;         /* arrival of the last message */
};

void wf_traffic_merge(void *into, const void *from); /* wf_merge_fn */
/* Likewise for tallies that are followed by the counters of the network. */
void wf_traffic_merge_all(void *into, const void *from);
void wf_traffic_batch_add(struct wf_traffic_batch *into, const struct wf_traffic_batch *from);
void wf_traffic_latency(struct wf_traffic_batch *batch, int64_t latency, uint64_t bytes);

struct wf_traffic_summary {
    uint32_t warm_up; /* batches left out */
    uint64_t batches; /* batches used */
    uint64_t offered, dropped, arrived;
    uint64_t offered_bytes, arrived_bytes;
    uint64_t latency_sum;    /* sum of the latencies of the `arrived` messages */
    double mean, half_width; /* mean latency, and half width of its confidence interval */
    double deviation;        /* standard deviation of the means of batches */
    uint64_t p50, p95, p99, max;
    double accepted_half_width; /* relative half width for the bytes that arrived */
    bool converged;
    bool saturated;
};

/* `level` is 0 to 2: 90, 95 and 99 percent. `precision` is the relative half width of the
 * latency's interval below which the run has converged. */
void wf_traffic_summarize(const struct wf_traffic_tally *tally, int level, double precision,
                          struct wf_traffic_summary *summary);

/* For a closed loop, which has no batches: sums and percentiles only. */
void wf_traffic_sum_up(const struct wf_traffic_tally *tally,
                       struct wf_traffic_summary *summary);
