/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_PACKET_EVENTS_H
#define WF_NET_PACKET_EVENTS_H

/* The events of the packet model and what they carry. */

#include "net/packet/packet.h"
#include "net/route/route.h"
#include "net/topology.h"

enum {
    WF_PACKET_BODY,  /* a packet that is not its message's last: struct wf_packet_body_event */
    WF_PACKET_TRAIN, /* several of them, equally spaced: struct wf_packet_train_event */
    WF_PACKET_LAST,  /* a message's last packet: struct wf_packet_last_event */
    WF_PACKET_CUT,   /* the train under way on this link ends before now: what does not come */
    WF_PACKET_SERVICE, /* for oneself: a port is to be looked after; its number */
    WF_PACKET_INJECT,  /* for oneself: the interface goes on: struct wf_packet_inject_event */
    WF_PACKET_CREDIT, /* a packet has left the vertex behind a port: struct wf_packet_credit_event */
    WF_PACKET_READY,  /* for oneself: the next message of a node is to be handed over */
    WF_PACKET_NOTICE, /* of a queue of the vertex behind a port: struct wf_packet_notice_event */
    WF_PACKET_TURN,   /* for oneself: likewise, with what is next in its queue */
};

/* Payloads. All are free of padding, and the largest says how long all events are. */
struct wf_packet_head {
    uint32_t src, dst; /* nodes */
    uint32_t number;   /* of the message among those of its source */
    uint16_t slowest;  /* kind of link on the way so far */
    uint16_t in_port;  /* by which it enters; WF_PACKET_NO_PORT: not known */
    struct wf_route_state route;
};

enum { WF_PACKET_NO_PORT = WF_NET_NO_PORT, WF_PACKET_PEERS = 4 };

struct wf_packet_body_event {
    struct wf_packet_head head;
    uint64_t first; /* number of the packet in its message */
};

struct wf_packet_train_event {
    struct wf_packet_head head;
    uint64_t first;
    int64_t spacing;
    uint64_t count;
};

struct wf_packet_last_event {
    struct wf_packet_head head;
    struct wf_net_message msg;
};

struct wf_packet_credit_event {
    uint32_t port, channel; /* of the receiver */
};

struct wf_packet_notice_event {
    uint32_t by;             /* port of the receiver that leads to the sender */
    uint32_t port;           /* of the sender */
    int64_t free;            /* when it has sent what it can */
    uint32_t waiting, spare; /* packets that wait for credits */
};

struct wf_packet_inject_event {
    struct wf_net_message msg;
    uint64_t next; /* packet to be sent */
    uint32_t dst, number;
};

_Static_assert(sizeof(struct wf_packet_head) == 24 &&
                   sizeof(struct wf_packet_train_event) == 48 &&
                   sizeof(struct wf_packet_last_event) == 56 &&
                   sizeof(struct wf_packet_inject_event) == 48,
               "no padding");

#endif
