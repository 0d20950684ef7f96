/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_PACKET_STATS_H
#define WF_NET_PACKET_STATS_H

/*
 * What the packet model counts if it is asked to. Ports count in their process, behind the
 * other state, so that it is undone with it; what an event alone tells is counted when it is
 * final. Nothing of it exists if it is off.
 */

#include "net/packet/net.h"
#include "net/stats/link_report.h"
#include "result/doc.h"

enum { WF_PACKET_STATS_WINDOWS = 1000 };

/* Of one port. All are sums but the last. */
struct wf_packet_port_stats {
    uint64_t packets;
    uint64_t bytes;
    uint64_t busy_ps;
    uint64_t wait_ps; /* from when a packet could have been sent until it was */
    uint64_t peak_ps; /* the longest wait: what was queued then, in the time it took */
};

/* Packets that are served: n of them, waiting for `wait`, `wait + step` and so on. */
struct wf_packet_served {
    uint64_t n;
    uint64_t bytes;
    int64_t duration;
    int64_t wait, step;
    int64_t at, spacing; /* when the first is sent, and the next after it */
    uint32_t node;       /* they come from */
};

void wf_packet_stats_count(const struct wf_packet_view *view, uint32_t port,
                           const struct wf_packet_served *served);
void wf_packet_stats_delivered(const struct wf_packet_view *view,
                               const struct wf_packet_run *run);

/* For the table of the model: sizes of the words it needs, finish, commit and description. */
void wf_packet_stats_init(struct wf_packet_net *model);
/* `loads` are null if there are none; `by_hops` is what wf_packet_stats_delivered() counted there,
 * or null. */
struct wf_packet_vertex_stats {
    uint32_t vertex;
    const struct wf_packet_port_stats *ports;
    const struct wf_net_link_load *loads;
    const uint64_t *by_hops;
};
void wf_packet_stats_finish(const struct wf_packet_net *model, struct wf_ctx *ctx,
                            const struct wf_packet_vertex_stats *of);
void wf_packet_stats_commit(const struct wf_net *net, const struct wf_event *ev,
                            struct wf_ctx *ctx);
void wf_packet_stats_describe(const struct wf_net *net, const struct wf_net_counters *words,
                              int64_t elapsed, struct wf_value *result);

#endif
