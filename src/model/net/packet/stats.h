/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Statistics of the packet model (net.stats). Ports count in the state of their process, so
 * that a rollback undoes it. Counters that need only the event itself are updated when the
 * event is final. With net.stats=off none of this state exists.
 */

#include "base/result/doc.h"
#include "model/net/packet/model.h"

enum { WF_PACKET_STATS_WINDOWS = 1000 };

/* The counters of one port. All members but the last are sums. */
struct wf_packet_port_stats {
    uint64_t packets;
    uint64_t bytes;
    uint64_t busy_ps;
    uint64_t wait_ps; /* time from when a packet could be sent until it was sent */
    uint64_t peak_ps; /* the longest wait; it measures the longest queue as time */
};

/* Packets that are served: n of them, with waits `wait`, `wait + step` and so on. */
struct wf_packet_served {
    uint64_t n;
    uint64_t bytes;
    int64_t duration;
    int64_t wait, step;
    int64_t at, spacing; /* when the first is sent; distance between two */
    uint32_t node;       /* source of the packets */
};

void wf_packet_stats_count(const struct wf_packet_view *view, uint32_t port,
                           const struct wf_packet_served *served);
void wf_packet_stats_delivered(const struct wf_packet_view *view,
                               const struct wf_packet_run *run);

/* Sets the number of counters that the model needs. */
void wf_packet_stats_init(struct wf_packet_net *model);
/* After the run: adds the counters of a vertex, if statistics are kept. */
void wf_packet_stats_finish(const struct wf_packet_view *view);

/* Members of struct wf_net_ops. */
void wf_packet_stats_commit(const struct wf_net *net, const struct wf_event *ev,
                            struct wf_ctx *ctx);
void wf_packet_stats_describe(const struct wf_net *net, const struct wf_net_counters *counters,
                              int64_t elapsed, struct wf_value *result);
