/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The sums of a network model over a run. All are integers, so that they do not depend on
 * the order of addition. All zero means empty. The layer above keeps them in its tally and
 * merges the parts of threads and processes.
 */

#include "model/net/deadlock.h"

/* The first packet that did not arrive because of a failure. All zero means that there is
 * none. */
struct wf_net_loss {
    int64_t at;            /* when it was lost, + 1 */
    uint32_t src, dst;     /* nodes */
    uint32_t vertex, port; /* link on which it was, or WF_TOPO_NO_PORT: no route was left */
};

/* What failures in time (net.fail) did to the packets of all nodes. */
struct wf_net_losses {
    uint64_t resent;             /* packets that their source sent again */
    uint64_t n_packets, n_bytes; /* lost */
    uint64_t n_cut_off;          /* of these, packets whose destination is out of reach */
    struct wf_net_loss first;
};

/* Counts a lost packet. */
void wf_net_losses_add(struct wf_net_losses *losses, const struct wf_net_loss *loss,
                       uint64_t bytes);

/* The packets of all nodes. */
struct wf_net_totals {
    uint64_t nodes;       /* nodes that added their part; 0: the model keeps no totals */
    uint64_t fingerprint; /* fingerprint of the delivery times of all packets */
    uint64_t packets_sent, packets_received;
    uint64_t bytes_sent, bytes_received;
    struct wf_net_losses losses;
    int64_t deadlock_ps; /* when the deadlock was detected, if there was one */
    struct wf_net_deadlock deadlock;
};

void wf_net_totals_merge(struct wf_net_totals *into, const struct wf_net_totals *from);

enum { WF_NET_ROW_WORDS = 4 };

/* Counters of a run: sums, then maxima, then rows. The first WF_HISTOGRAM_BUCKETS sums are the
 * histogram of message latencies, which the layer above counts. A row has WF_NET_ROW_WORDS words;
 * those with the largest words are kept, the largest first, and zeros mean that there is none. */
struct wf_net_counters {
    uint64_t n_sums, n_maxima, n_rows;
    uint64_t word[];
};

/* Adds a row, if it is one of the largest. */
void wf_net_counters_row(struct wf_net_counters *counters,
                         const uint64_t row[WF_NET_ROW_WORDS]);
void wf_net_counters_merge(struct wf_net_counters *into, const struct wf_net_counters *from);

enum { WF_NET_USAGE_VCS = 16, WF_NET_USAGE_LINKS = 8 };

/* One direction of a link: the one that leaves the vertex. */
struct wf_net_link_usage {
    uint64_t busy; /* as in struct wf_net_usage */
    uint32_t vertex, port;
};

/* How much the network was used. */
struct wf_net_usage {
    uint64_t packets, hops;         /* packets that reached their node, and their hops */
    uint64_t links;                 /* directed links of the network */
    uint64_t busy;                  /* time that packets took on all links, in times of a packet
                                       on the fastest links */
    uint64_t carried;               /* packets on all links... */
    uint64_t vcs[WF_NET_USAGE_VCS]; /* ...and on each virtual channel */
    struct wf_net_link_usage busiest[WF_NET_USAGE_LINKS]; /* the busiest first; ties by vertex
                                                             and port */
    uint64_t injected,
        waited; /* packets that left their source, and picoseconds they waited there */
    struct wf_net_waits waits; /* queues that cannot move on */
    uint64_t digest;           /* of all decisions, if the model has_digest */
};

/* Counts a link among the busiest if it is one of them. */
void wf_net_usage_link(struct wf_net_usage *usage, struct wf_net_link_usage link);
void wf_net_usage_merge(struct wf_net_usage *into, const struct wf_net_usage *from);
