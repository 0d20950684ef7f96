/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The section `network` of a result: links and message latencies, for models that count. */

#include "model/net/net.h"
#include "model/net/stats/link_load.h"

enum { WF_NET_STATS_HOPS = 64, WF_NET_STATS_HOT = 10 };

enum wf_net_stats {
    WF_NET_STATS_OFF,
    WF_NET_STATS_SUMMARY,
    WF_NET_STATS_LINKS,
    WF_NET_STATS_CLASSES, /* the summary, and classes of links */
};
extern const char *const wf_net_stats_names[]; /* null-terminated */

/* One direction of a link. */
struct wf_net_link_facts {
    uint32_t vertex, port, to;
    uint64_t packets, bytes, busy_ps;
    bool knows_waits; /* else the next three are unknown */
    uint64_t wait_ps, peak_ps, peak_bytes;
    const struct wf_net_link_load *load; /* null: unknown */
};

/* Fills in all members but vertex, port and to. */
typedef void wf_net_link_facts_fn(const void *arg, uint32_t link,
                                  struct wf_net_link_facts *out);

struct wf_net_link_report {
    const struct wf_topo *topo;
    enum wf_net_stats stats;
    int64_t elapsed;
    wf_net_link_facts_fn *facts;
    const void *arg;
    const struct wf_net_link *classes; /* as in struct wf_net; null: nothing */
};

/* The section `network` of a result; created if there is none. */
struct wf_value *wf_net_report_section(struct wf_value *result);

/* Counts the links and switches that have failed for the whole run: network.failed. `fail` is
 * net.fail; with times in it, or if it is empty, nothing is added. */
void wf_net_report_failed(struct wf_value *result, const struct wf_topo *topo,
                          const char *fail);

void wf_net_report_links(struct wf_value *network, const struct wf_net_link_report *report);
/* Adds the list `link_classes` without use of links: what net.links sets, as the model uses it. */
void wf_net_report_classes(struct wf_value *network, const struct wf_topo *topo,
                           const struct wf_net_link *classes);
/* From the histogram that the layer above counts. */
void wf_net_report_latencies(struct wf_value *network, const uint64_t *counts);
/* A list without the zeros at its end. */
void wf_net_report_counts(struct wf_value *network, const char *name, const uint64_t *counts,
                          uint32_t n);
