/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTER_STATE_H
#define WF_NET_ROUTER_STATE_H

/* What travels between routers, and what a router keeps. */

#include "net/net.h"
#include "net/route/route.h"

enum {
    WF_ROUTER_HEAD,    /* of a packet, at the input its channel leads to: wf_router_packet */
    WF_ROUTER_SLOT,    /* behind a channel is free again: its number */
    WF_ROUTER_DECIDE,  /* for oneself */
    WF_ROUTER_DELIVER, /* for oneself: a message is complete: wf_router_packet */
    WF_ROUTER_SENT,    /* for oneself: the tail of a message has left: wf_router_packet */
    WF_ROUTER_FLIT,    /* wormhole: not the head, at an input: its number */
    WF_ROUTER_TAIL,    /* wormhole: of a packet, at its node: wf_router_packet */
    WF_ROUTER_WATCH,   /* for oneself: look for packets that do not move */
    WF_ROUTER_REPORT,  /* for oneself: tell how many packets were injected and consumed */
    WF_ROUTER_GATE,    /* from the detector: whether packets may be injected */
    WF_ROUTER_HALT,    /* from the detector: there is a deadlock: wf_net_deadlock */
    /* Of the detector: */
    WF_ROUTER_BLOCKED, /* wf_net_wait: the first packet of a queue does not move... */
    WF_ROUTER_MOVED,   /* wf_net_queue: ...and now it does */
    WF_ROUTER_COUNT,   /* packets that came into the network, less those that left it */
    WF_ROUTER_CHECK,   /* for itself */
};

enum { WF_ROUTER_VCS_MAX = 8, WF_ROUTER_INPUTS_MAX = 1024 };

#define WF_ROUTER_NEVER INT64_MAX
#define WF_ROUTER_NONE  UINT32_C(0xffffffff)

/* Travels in events: no padding. */
struct wf_router_packet {
    struct wf_net_message msg;
    int64_t born;    /* cycle in which it entered its injection queue */
    uint32_t dst;    /* node */
    uint32_t number; /* of the message among those of its source */
    uint32_t order;  /* of the message among those of its source for this destination */
    union {
        struct wf_route_state route; /* of a routing policy... */
        uint32_t down; /* ...or of grids: bit d is set if dimension d is travelled downwards */
    } on;
    uint32_t hops : 16;  /* made so far */
    uint32_t input : 15; /* of the router it arrives at */
    uint32_t last : 1;   /* of its message to be injected */
};

_Static_assert(sizeof(struct wf_router_packet) == 64, "no padding");

/* What is kept in cells: packets in queues, messages that wait to be injected, and what the
 * ends of the network remember of their messages. */
struct wf_router_cell {
    struct wf_router_packet packet;
    int64_t at;     /* cycle in which the head arrived */
    uint32_t next;  /* cell, or 0 */
    uint32_t count; /* of packets or messages; of a packet that a policy has routed: the port
                       and the channel of its class that it waits for, + 1 */
};

enum { WF_ROUTER_IS_BLOCKED = 1, WF_ROUTER_IS_FULL = 2 };

/* A queue at the end of a link's channel, or of injection. Zeroed is empty. */
struct wf_router_input {
    uint32_t first, last; /* cells, of packets that have not begun to leave */
    uint16_t n;           /* of them */
    uint16_t taken;       /* channel that the first of them holds, + 1; 0: none */
    uint8_t bet;          /* what the first one asks for next, in smart requests */
    uint8_t blocked;      /* what the detector knows: WF_ROUTER_IS_BLOCKED, WF_ROUTER_IS_FULL */
    uint8_t spare[2];
    int64_t head;  /* cycle in which the last packet to arrive did so */
    int64_t leave; /* cycle in which the last packet to leave began to, + 1; 0: none did */
    int64_t asked; /* cycle in which the first packet asked first, + 1; 0: it did not */
};

/* A virtual channel of a link that leaves. Zeroed is idle. */
struct wf_router_channel {
    int64_t free;     /* from when on nobody holds it, if its holder has begun to leave */
    uint16_t holder;  /* input that holds it and waits for the link, + 1; 0: none */
    uint16_t winner;  /* input that got it last, + 1 */
    uint16_t used;    /* slots behind it */
    uint16_t wanted;  /* somebody waits for a slot */
    uint64_t packets; /* carried so far */
};

/* A link that leaves. */
struct wf_router_link {
    int64_t free;
    uint16_t waiting; /* channels that are held and wait */
    uint16_t turn;    /* channel to look at first */
    uint32_t spare;
};

/* The head of a router's state. Channels, links, inputs and a bit for each input that is not
 * empty follow. */
struct wf_router_head {
    int64_t wake;         /* next decision that is scheduled, or 0 */
    int64_t consume_free; /* when only one packet is consumed at a time */
    uint64_t consumed, hops;
    uint64_t injected, waited; /* packets that left injection queues, cycles they spent there */
    int64_t told;              /* of these, injected less consumed, to the detector */
    uint8_t watching;          /* WF_ROUTER_WATCH is scheduled... */
    uint8_t reporting;         /* ...WF_ROUTER_REPORT likewise */
    uint8_t shut;              /* nothing may be injected */
    uint8_t spare;
    uint32_t deadlock; /* cell with a deadlock's, of node 0; or 0 */
    uint32_t consume_winner;
    uint32_t numbers;                  /* messages sent so far; of nodes, as all below */
    uint32_t backlog, backlog_last;    /* cells of messages that wait for injection */
    uint32_t partial;                  /* ...that have arrived in part */
    uint32_t early;                    /* ...that wait for one before them */
    uint32_t sent_orders, seen_orders; /* ...counts of messages for and from each node */
};

/* A cell of node 0. */
struct wf_router_deadlock {
    struct wf_net_deadlock deadlock;
    int64_t at; /* when this node heard of it */
};

/* Where the parts of a state are. */
struct wf_router_layout {
    uint32_t n_ports, n_inputs, n_words, n_injection;
    size_t channels, links, inputs, words, size;
    size_t flit_inputs, flit_channels, flit_ports, flit_source; /* wormhole only */
    size_t by_hops, loads; /* statistics, if they are asked for; else 0 */
};

#endif
