/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_PACKET_NEWS_H
#define WF_NET_PACKET_NEWS_H

/*
 * Queue-length notices: what a router knows of the queues of its neighbours, for policies with
 * asks_far. A process cannot look into another one, so routers notify each other. When a queue
 * differs by more than net.info_step from the last notice about it, all neighbours get a new
 * one, after a router's delay and the link's latency. A notice gives the time at which the port
 * will be free, so that the queue shrinks at the receiver as it does here. Only packets that
 * lengthen the queue or wait for credits need new notices.
 */

#include "net/packet/port.h"

/* The notices of and about a port. Zeroed is idle. */
struct wf_packet_port_notice {
    int64_t free;     /* in the last notice about it: when it is free... */
    uint32_t waiting; /* ...and how many packets wait for credits */
    uint32_t known;   /* cell: notices of the vertex at the end of its link */
};

/* Notifies the neighbours if the queue of the port has changed by a step. */
void wf_packet_notice_send(const struct wf_packet_view *view, uint32_t port);

/* WF_PACKET_NOTICE. */
void wf_packet_notice_received(const struct wf_packet_view *view,
                               const struct wf_packet_notice_event *notice);

/* Packets that wait at a port of the neighbour `vertex`, by the last notice. */
uint64_t wf_packet_notice_queue(const struct wf_packet_view *view, uint32_t vertex,
                                uint32_t port);

#endif
