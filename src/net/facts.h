/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_FACTS_H
#define WF_NET_FACTS_H

/* What a network model may say of itself besides the times of messages. */

#include "net/deadlock.h"

#include <stdint.h>

/* What became of all packets, added up over the nodes: integers, so that the sum does not
 * depend on who adds when. Zeroed is nothing. */
struct wf_net_facts {
    uint64_t nodes;       /* that added their part */
    uint64_t fingerprint; /* of the time of every packet's delivery */
    uint64_t packets_sent, packets_received;
    uint64_t bytes_sent, bytes_received;
    int64_t deadlock_ps;     /* when a deadlock was known, if there was one: */
    struct wf_circle circle; /* the queues that wait for each other; of one node */
};

/* What a model whose time is counted in cycles says of them. */
struct wf_net_clock {
    int64_t cycle_ps;
    uint64_t phit_bytes; /* that a link moves in a cycle */
    uint64_t packet_bytes;
    uint64_t n_vcs; /* virtual channels of a link; 0: as many as the routing needs */
};

/* The time of a message that nothing is in the way of. */
struct wf_net_alone {
    int64_t latency, transfer; /* picoseconds */
};

/* Statistics of a run: sums, then maxima. The first WF_HISTOGRAM_BUCKETS sums are the histogram
 * of the messages' latencies, counted by the layer above. */
struct wf_net_words {
    uint64_t n_sums, n_maxima; /* zeroed is nothing */
    uint64_t word[];
};

struct wf_value; /* result/doc.h */

/* A set of values under one name, chosen by the parameter `preset`; what is given besides
 * counts more. */
struct wf_net_preset {
    const char *name;
    const char *const *settings; /* parameter, value, ..., null */
};

#endif
