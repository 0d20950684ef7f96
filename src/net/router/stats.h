/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Statistics of the router model (net.stats), besides the counters that are always kept.
 * They are part of the routers' state; with net.stats=off they do not exist.
 */

#include "net/router/model.h"
#include "net/stats/link_report.h"

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

/* A member of struct wf_net_ops. */
void wf_router_stats_describe(const struct wf_net *net, const struct wf_net_counters *counters,
                              int64_t elapsed, struct wf_value *result);
