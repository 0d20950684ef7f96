/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_LINK_REPORT_H
#define WF_NET_LINK_REPORT_H

/* What a network model that counts says of its links, and of its messages' latencies. */

#include "net/net.h"
#include "net/stats/link_load.h"

enum { WF_NET_STATS_HOPS = 64, WF_NET_STATS_HOT = 10 };

enum wf_net_stats { WF_NET_STATS_OFF, WF_NET_STATS_SUMMARY, WF_NET_STATS_LINKS };
extern const char *const wf_net_stats_names[]; /* null-terminated */

/* Of one direction of a link. */
struct wf_net_link_facts {
    uint32_t vertex, port, to;
    uint64_t packets, bytes, busy_ps;
    bool knows_waits; /* else the next are not told */
    uint64_t wait_ps, peak_ps, peak_bytes;
    const struct wf_net_link_load *detail; /* null: none */
};

/* Fills in all but where it is. */
typedef void wf_net_link_facts_fn(const void *arg, uint32_t link,
                                  struct wf_net_link_facts *out);

struct wf_net_link_report {
    const struct wf_topo *topo;
    enum wf_net_stats stats;
    int64_t elapsed;
    wf_net_link_facts_fn *facts;
    const void *arg;
};

/* The section `network` of a result, which is made if it is not there. */
struct wf_value *wf_net_report_section(struct wf_value *result);

void wf_net_report_links(struct wf_value *network, const struct wf_net_link_report *report);
/* From the histogram that the layer above counts. */
void wf_net_report_latencies(struct wf_value *network, const uint64_t *counts);
/* A list without the zeros at its end. */
void wf_net_report_counts(struct wf_value *network, const char *name, const uint64_t *counts,
                          uint32_t n);

/* The words in this thread's part of the tally; null if nobody keeps them. */
struct wf_net_counters *wf_net_counters_of(const struct wf_net *net, struct wf_ctx *ctx);
void wf_net_counters_merge(struct wf_net_counters *into, const struct wf_net_counters *from);

#endif
