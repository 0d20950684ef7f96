/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Statistics of the router model (net.stats), besides the counters that are always kept.
 * They are part of the routers' state; with net.stats=off they do not exist.
 */

#include "model/net/router/events/model.h"
#include "model/net/stats/link_report.h"

/* Adds the statistics to the layout of a state. */
void wf_router_stats_layout(const struct wf_router_net *model, struct wf_router_layout *layout,
                            bool is_node);
/* Sets the number of counters that the model needs. */
void wf_router_stats_init(struct wf_router_net *model);

/* A packet begins to leave by this port. */
void wf_router_stats_leaves(const struct wf_router_view *view, uint32_t port,
                            const struct wf_router_packet *packet);
/* A packet is at its destination. */
void wf_router_stats_consumed(const struct wf_router_view *view,
                              const struct wf_router_packet *packet);

/* After the run: adds the counters of a router. */
void wf_router_stats_finish(const struct wf_router_view *view);

/* The counts of a run that was not simulated by events. */
struct wf_router_counts {
    const uint64_t *latencies; /* WF_HISTOGRAM_BUCKETS */
    const uint64_t *by_hops;   /* WF_NET_STATS_HOPS */
    const uint32_t *packets;   /* of each channel: (vertex * n_ports + port) * vcs + vc */
    const struct wf_net_link_load *loads; /* with net.stats=links: vertex * n_ports + port */
    uint32_t n_ports;
};

/* Fills in the counters of such a run. */
void wf_router_stats_fill(const struct wf_router_net *model,
                          const struct wf_router_counts *counts,
                          struct wf_net_counters *counters);

/* A member of struct wf_net_ops. */
void wf_router_stats_describe(const struct wf_net *net, const struct wf_net_counters *counters,
                              int64_t elapsed, struct wf_value *result);
