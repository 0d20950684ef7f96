/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_PACKET_NEWS_H
#define WF_NET_PACKET_NEWS_H

/*
 * What a router knows of the queues of its neighbours, for the policies that ask. Nobody can
 * look into another process, so routers tell: when a queue differs from what the neighbours
 * think it is by more than a step (net.info_step), they all get word of it, which takes a
 * router's delay and a link's latency as a credit does. A queue is told as the time at which
 * the port will be free, so that it shrinks by itself at the listener's as it does here, and
 * news are needed only of what makes it longer, and of packets that wait for credits.
 */

#include "net/packet/port.h"

/* Of a port, behind its statistics. Zeroed is idle. */
struct wf_packet_port_notice {
    int64_t free;     /* what was told of it last: until when it is busy with what it has... */
    uint32_t waiting; /* ...and how many packets wait for a credit besides */
    uint32_t known;   /* cell: what the vertex behind it has told of its own ports */
};

/* The port's queue may have changed. */
void wf_packet_notice_send(const struct wf_packet_view *view, uint32_t port);

/* An event of kind WF_PACKET_NOTICE. */
void wf_packet_notice_received(const struct wf_packet_view *view,
                               const struct wf_packet_notice_event *news);

/* Packets that wait before a port of the neighbour `vertex`, as far as is known here. */
uint64_t wf_packet_notice_queue(const struct wf_packet_view *view, uint32_t vertex,
                                uint32_t port);

#endif
