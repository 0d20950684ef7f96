/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_WAIT_H
#define WF_NET_WAIT_H

/*
 * Who waits for whom in a network with finite queues, and whether they wait for each other:
 * then nothing of them will ever move.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_WAIT_TARGETS = 8, WF_WAITS_MAX = 1024, WF_CIRCLE_QUEUES = 7 };

/* A queue: that at the end of a virtual channel. Travels in events. */
struct wf_wait_queue {
    uint32_t vertex;
    uint16_t port, vc; /* of the vertex, by which its packets come */
};

/* A queue whose first packet can go on only by queues that are full. */
struct wf_wait {
    struct wf_wait_queue queue;
    uint32_t is_full;
    uint32_t n; /* targets */
    struct wf_wait_queue targets[WF_WAIT_TARGETS];
};

/* Queues that wait for each other: the first ones, in order. Travels in events. */
struct wf_circle {
    uint32_t n, spare; /* of them all; 0: there is none */
    struct wf_wait_queue queues[WF_CIRCLE_QUEUES];
};

/* Those with the lowest vertices, in order. */
struct wf_waits {
    uint32_t n, spare;
    struct wf_wait at[WF_WAITS_MAX];
};

void wf_waits_add(struct wf_waits *waits, const struct wf_wait *wait);

/* By vertex, port and channel: how the arrays below are sorted. */
int wf_wait_compare(const struct wf_wait_queue *a, const struct wf_wait_queue *b);

/* Leaves only those that will wait for ever: all their targets are full and wait for ever too.
 * Returns how many. */
uint32_t wf_waits_prune(struct wf_wait *waits, uint32_t n);

/* After pruning: a circle of queues that wait for each other; of none if nobody waits. */
struct wf_circle wf_waits_circle(const struct wf_wait *waits, uint32_t n);

/* "router 1 port 0 channel 0 -> ... -> the first again" */
enum { WF_CIRCLE_WORDS = 440 };
const char *wf_circle_words(const struct wf_circle *circle, char *buf, size_t size);

#endif
