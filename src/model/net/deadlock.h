/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Deadlock detection in a network with finite queues: which queue waits for which others.
 * Queues that wait for each other in a cycle never move again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_NET_WAIT_TARGETS = 8, WF_NET_WAITS_MAX = 1024, WF_NET_DEADLOCK_QUEUES = 7 };

/* The queue at the end of a virtual channel. Travels in events. */
struct wf_net_queue {
    uint32_t vertex;
    uint16_t port, vc; /* input port and virtual channel of the vertex */
};

/* A queue whose first packet can continue only into full queues, the targets. */
struct wf_net_wait {
    struct wf_net_queue queue;
    uint32_t is_full;
    uint32_t n;
    struct wf_net_queue targets[WF_NET_WAIT_TARGETS];
};

/* The waits with the lowest vertices, in order. */
struct wf_net_waits {
    uint32_t n, spare;
    struct wf_net_wait at[WF_NET_WAITS_MAX];
};

/* A cycle of queues, each of which waits for the next. Travels in events. */
struct wf_net_deadlock {
    uint32_t n, spare;                                  /* length of the cycle; 0: no cycle */
    struct wf_net_queue queues[WF_NET_DEADLOCK_QUEUES]; /* the first queues of the cycle */
};

void wf_net_waits_add(struct wf_net_waits *waits, const struct wf_net_wait *wait);

/* Orders queues by vertex, port and channel. The arrays below are sorted that way. */
int wf_net_queue_compare(const struct wf_net_queue *a, const struct wf_net_queue *b);

/* Keeps only the queues that wait for ever: all their targets are full and wait for ever
 * too. Returns their number. */
uint32_t wf_net_waits_prune(struct wf_net_wait *waits, uint32_t n);

/* Finds a cycle among waits that were pruned. Its length is 0 if there are no waits. */
struct wf_net_deadlock wf_net_deadlock_find(const struct wf_net_wait *waits, uint32_t n);

/* "router 1 port 0 channel 0 -> ... -> the first again". Returns `buf`. */
enum { WF_NET_DEADLOCK_TEXT_MAX = 440 };
const char *wf_net_deadlock_text(const struct wf_net_deadlock *deadlock, char *buf,
                                 size_t size);
