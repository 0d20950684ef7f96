/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_WAIT_H
#define WF_NET_WAIT_H

/*
 * Who waits for whom in a network with finite queues, at the end of a run, and whether they
 * wait for each other: then nothing will ever move.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_WAIT_TARGETS = 8, WF_WAITS_MAX = 1024 };

/* A queue: that at the end of a virtual channel. */
struct wf_wait_queue {
    uint32_t vertex;
    uint32_t port, vc; /* of the vertex, by which its packets come */
};

/* A queue whose first packet can go on only by queues that are full. */
struct wf_wait {
    struct wf_wait_queue queue;
    uint32_t is_full;
    uint32_t n; /* targets */
    struct wf_wait_queue targets[WF_WAIT_TARGETS];
};

/* Those with the lowest vertices, in order. */
struct wf_waits {
    uint32_t n, spare;
    struct wf_wait at[WF_WAITS_MAX];
};

void wf_waits_add(struct wf_waits *waits, const struct wf_wait *wait);

/* Leaves only those that will wait for ever: all their targets are full and wait for ever too.
 */
void wf_waits_prune(struct wf_waits *waits);

/* After pruning: words for a circle of queues that wait for each other, into `buf`; false if
 * there is none. */
bool wf_waits_circle(const struct wf_waits *waits, char *buf, size_t size);

#endif
