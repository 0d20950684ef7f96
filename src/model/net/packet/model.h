/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The packet model as its own files see it: events, state of ports and nodes, the model. */

#include "engine/cellmap.h"
#include "model/net/fault/fault.h"
#include "model/net/packet/links.h"
#include "model/net/packet/packet.h"
#include "model/net/route/route.h"
#include "model/net/stats/link_report.h"
#include "model/net/topology.h"

/* ---- events ---- */

enum {
    WF_PACKET_BODY,    /* a packet other than its message's last: wf_packet_body_event */
    WF_PACKET_TRAIN,   /* several such packets at equal distances: wf_packet_train_event */
    WF_PACKET_LAST,    /* a message's last packet: wf_packet_last_event */
    WF_PACKET_CUT,     /* the train in progress on this link ends before now:
                        * wf_packet_train_event with the packets that will not come */
    WF_PACKET_SERVICE, /* to itself: a port has packets to serve; number of the port */
    WF_PACKET_INJECT,  /* to itself: the interface continues: wf_packet_inject_event */
    WF_PACKET_CREDIT,  /* a packet has left the vertex after a port: wf_packet_credit_event */
    WF_PACKET_READY, /* to itself: the next message of a node is complete; number of the node */
    WF_PACKET_NOTICE, /* the length of a neighbour's queue: wf_packet_notice_event */
    WF_PACKET_TURN,   /* to itself: the interface takes the next packet of its queue */
    /* To the source of a packet that met a failure: it sends the packet again. */
    WF_PACKET_RESEND,      /* wf_packet_body_event */
    WF_PACKET_RESEND_LAST, /* wf_packet_last_event */
    WF_PACKET_LOST,        /* to the destination of a lost packet: wf_packet_lost_event */
    WF_PACKET_CHANGE, /* to itself: the network changes, and packets wait at a port: its number */
};

/* Payloads have no padding. The largest determines the size of all events. */
struct wf_packet_head {
    uint32_t src, dst; /* nodes */
    uint32_t number;   /* number of the message at its source (model/net/packet/order.c) */
    uint16_t slowest;  /* slowest kind of link on the route so far */
    uint16_t in_port;  /* input port at the vertex; WF_PACKET_NO_PORT: unknown */
    struct wf_route_state route;
};

enum { WF_PACKET_NO_PORT = WF_NET_NO_PORT };

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
    uint32_t port, channel; /* port and channel of the receiving vertex */
};

struct wf_packet_notice_event {
    uint32_t by;             /* port of the receiver that leads to the sender */
    uint32_t port;           /* port of the sender */
    int64_t free;            /* when the port has sent the packets that it can send */
    uint32_t waiting, spare; /* packets that wait for credits */
};

struct wf_packet_lost_event {
    uint32_t src, dst;     /* nodes */
    uint32_t number;       /* number of the message at its source */
    uint32_t bytes;        /* of the message in the packet */
    int64_t at;            /* when it was lost */
    uint32_t vertex, port; /* link on which it was; WF_TOPO_NO_PORT: no route was left */
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

/* ---- state ----
 *
 * The state of a vertex has all ports, then all channels, then the optional parts, each for
 * all ports: counters (struct wf_packet_port_stats), notices (struct wf_packet_port_notice),
 * loads (struct wf_net_link_load); and messages in progress (model/net/packet/adapt.c). A node's struct wf_packet_node and its packets by hops
 * follow; then, with failures in time, its struct wf_net_losses: packets that it sent again, and
 * packets from or for it that were lost. */

/* An output port. All zero means idle. Large networks have millions of them, so they take 12 bytes and
 * not 16. */
struct __attribute__((packed, aligned(4))) wf_packet_port {
    int64_t free; /* when it can send, after all settled packets */
    union {
        /* Without credits: cell of the first train that passes through it, or 0. */
        uint32_t trains;
        /* With failures in time and credits: epoch in which the packets that wait were routed, + 1;
         * 0: none waits. */
        uint32_t routed;
    };
};

/* The bytes of the ports of a vertex. What follows them is aligned. */
static inline size_t wf_packet_ports_bytes(size_t n_ports)
{
    return (n_ports * sizeof(struct wf_packet_port) + 7) / 8 * 8;
}

/* A virtual channel of a port with credits. All zero means idle. */
struct wf_packet_channel {
    uint32_t used; /* slots taken at the end of the link, by packets there or on the link */
    uint32_t head, tail; /* cells of the packets that wait for a slot */
    uint32_t waiting;    /* number of waiting packets */
};

/* Gives a slot back. 0 is possible in an event that will be undone. */
static inline void wf_packet_channel_release(struct wf_packet_channel *channel)
{
    channel->used -= channel->used > 0 ? 1 : 0;
}

/* A node's own state. */
struct wf_packet_node {
    /* Of packets that arrive: */
    struct wf_packet_port ejection;
    uint32_t messages;    /* sent so far; fills a gap between members */
    uint64_t fingerprint; /* hash of all deliveries */
    uint64_t packets_received, bytes_received;
    /* Of packets that are sent: */
    uint64_t packets_sent, bytes_sent;
    int64_t nic_free;
    /* Only for an interface with a queue: */
    uint32_t current;               /* cell of the message whose packet is being sent, or 0 */
    uint32_t head, tail;            /* cells of the other messages... */
    uint32_t control, control_tail; /* ...and of control messages in their own queue */
    uint32_t awake;                 /* 1 if an event is scheduled... */
    int64_t turn;                   /* ...for this time; events for other times are void */
    struct wf_cellmap peers;        /* node -> cell, if messages may overtake each other */
    uint32_t held;                  /* packets that have left the interface, but not the node */
};

enum {
    /* The bytes of a node that a packet changes that arrives. */
    WF_PACKET_NODE_ARRIVALS = offsetof(struct wf_packet_node, packets_sent),
    /* All that a node has if its interface has no queue and messages cannot overtake each other. */
    WF_PACKET_NODE_PLAIN = offsetof(struct wf_packet_node, current),
};

_Static_assert(WF_PACKET_NODE_PLAIN % 8 == 0, "what follows is aligned");

struct wf_packet_port_stats; /* model/net/packet/stats.h */

/* ---- the model ---- */

#define WF_PACKET_UNLIMITED UINT32_C(0xffffffff)

/* How the next port of a packet is chosen. */
enum wf_packet_ports {
    WF_PACKET_BY_TOPOLOGY, /* the topology's own route; channels do not matter */
    WF_PACKET_BY_CHANNELS, /* the topology's own route, with the channels of wf_vc_hop_fixed() */
    WF_PACKET_BY_POLICY,   /* wf_route_ops.next() */
};

/* What may overtake what between two nodes (model/net/packet/order.c). */
enum wf_packet_order {
    WF_PACKET_IN_ORDER, /* all packets take the same route, one message after another */
    WF_PACKET_MESSAGES_OVERTAKE, /* the packets of a message keep their order */
    WF_PACKET_PACKETS_OVERTAKE,
};

struct wf_packet_net {
    struct wf_net net;
    const struct wf_topo *topo;
    struct wf_topo *damaged; /* `topo`, if parts of the network fail; else null */
    struct wf_route *route;
    struct wf_fault_plan *faults; /* failures in time, with routes; null: `route` is used */
    enum wf_fault_action fail_action;
    int64_t resend_delay;
    struct wf_packet_links links;
    struct wf_net_links classes;
    uint32_t packet_bytes; /* payload of a full packet, without the header */
    uint32_t header_bytes;
    uint32_t injection, ejection; /* kinds of link with those rates, or WF_PACKET_UNLIMITED */
    uint32_t fastest, slowest;    /* kinds of links */
    enum wf_packet_timing timing;
    enum wf_packet_nic nic;
    bool control_queue; /* control messages have a queue of their own in the interface */
    enum wf_packet_ports next_ports; /* how they are chosen */
    enum wf_packet_order order;
    bool trains; /* packets that follow each other undisturbed are simulated as one */
    uint32_t
        notice_step; /* packets by which a queue changes until routers tell their neighbours; 0:
                           * they never do */
    int flow;        /* enum wf_route_flow */
    enum wf_packet_adapt adapt; /* WF_PACKET_BY_PACKET if policies have no choice */
    int64_t pace; /* time between the beginnings of two full packets at an interface; 0: none */
    struct wf_net_ops ops; /* wf_net_packet_ops with the functions that fit the model best */
    struct wf_process_ops other_ops;
    uint32_t n_channels;      /* channels of a port; 0: buffers are unbounded */
    uint32_t channels_per_vc; /* for each virtual channel of the routing policy */
    uint32_t
        set_channels; /* with failures in time: channels of one set (model/net/packet/fault.c) */
    uint32_t node_ports, other_ports; /* most ports of any node, and of any other vertex */
    size_t other_size;
    size_t ports_size; /* size of a node's ports, with all that is kept for them */
    size_t port_size;  /* size of all that is kept for a port, except itself and its load */
    size_t own_size;   /* bytes of its struct wf_packet_node that a node has */
    size_t losses_at;  /* offset of a node's struct wf_net_losses; only with `faults` */
    int stats;         /* enum wf_net_stats */
    int64_t stats_window;
    wf_packet_probe_fn *probe;
    void *probe_arg;
};

/* What a handler works on: the state of a vertex, and the time. */
struct wf_packet_view {
    const struct wf_packet_net *model;
    struct wf_ctx *ctx;
    struct wf_key key; /* key of the current event; it breaks ties at one instant */
    uint32_t vertex;
    uint32_t nic;     /* at a node: number of the interface; else 0 */
    uint32_t n_ports; /* ports in the state */
    struct wf_packet_port *ports;
    struct wf_packet_channel *channels; /* model->n_channels for each port */
    struct wf_packet_port_stats *stats; /* one for each port; null if not kept */
    struct wf_net_link_load *loads;     /* likewise */
    struct wf_packet_node *node;        /* null at a vertex that is not a node */
};

/* Packets of one message that pass through a vertex; a single packet has count 1. */
struct wf_packet_run {
    struct wf_packet_head head;
    uint64_t first, count;
    bool is_cut;     /* they were announced but will not come */
    int64_t spacing; /* 0: all arrive at once, and nothing can come between them */
    uint64_t
        from; /* wf_packet_source() that sent or, if they are injected here, injects them */
    const struct wf_net_message
        *msg; /* if it is the message's last packet, which travels alone;
                                         else null */
};

static inline const struct wf_packet_net *wf_packet_of(const struct wf_net *net)
{
    return (const struct wf_packet_net *)net;
}

/* Whether messages may overtake each other in the interface that sends them. Those that may arrive in
 * any order (wf_net_is_free()) then do not wait for others at their destination either. */
static inline bool wf_packet_nic_overtakes(const struct wf_packet_net *model)
{
    return model->nic == WF_PACKET_ROUND_ROBIN || model->control_queue;
}

/* Whether interfaces decide packet by packet which one leaves next (model/net/packet/queue.c). */
static inline bool wf_packet_has_queue(const struct wf_packet_net *model)
{
    return wf_packet_nic_overtakes(model) || model->n_channels > 0;
}

/* Where packets come from, in the order in which the engine's keys put packets that arrive at
 * one instant: a process and, for a node, one of its interfaces. */
static inline uint64_t wf_packet_source(uint32_t process, uint32_t nic)
{
    return (uint64_t)process << 8 | nic;
}

static inline uint64_t wf_packet_source_of(const struct wf_key *key)
{
    return wf_packet_source(key->src, wf_key_part(key));
}

/* The vertex itself, as the source of what it injects. */
static inline uint64_t wf_packet_source_here(const struct wf_packet_view *view)
{
    return wf_packet_source(wf_self(view->ctx), view->nic);
}

/* The delay of an event at the time `at`, which may be WF_TIME_MAX. */
static inline int64_t wf_packet_delay(const struct wf_packet_view *view, int64_t at)
{
    return at == WF_TIME_MAX ? WF_TIME_MAX : at - view->key.time;
}

/* Schedules an event for another vertex. */
static inline void wf_packet_schedule(const struct wf_packet_view *view, uint32_t vertex,
                                      int64_t delay, uint16_t kind, const void *payload,
                                      size_t size)
{
    wf_schedule_to(view->ctx, wf_net_target(&view->model->net, view->nic, vertex, kind), delay,
                   payload, size);
}

/* Schedules an event for the vertex itself. */
static inline void wf_packet_schedule_own(const struct wf_packet_view *view, int64_t delay,
                                          uint16_t kind, const void *payload, size_t size)
{
    wf_schedule_to(view->ctx, wf_net_target_own(view->ctx, view->nic, kind), delay, payload,
                   size);
}

/* The state of a vertex laid out for `n_ports` ports; the caller adds nic and node. Every event
 * comes here. The members are set in place: copying a struct just after its members were stored one
 * by one stalls on store forwarding. */
static inline void wf_packet_view_init(struct wf_packet_view *view,
                                       const struct wf_packet_net *model, struct wf_ctx *ctx,
                                       void *state, uint32_t vertex, uint32_t n_ports)
{
    unsigned char *after_ports = (unsigned char *)state + wf_packet_ports_bytes(n_ports);
    struct wf_packet_channel *channels = (void *)after_ports;
    void *after = channels + (size_t)n_ports * model->n_channels;
    void *loads = after_ports + n_ports * model->port_size;

    view->model = model;
    view->ctx = ctx;
    view->key = *wf_now_key(ctx);
    view->vertex = vertex;
    view->n_ports = n_ports;
    view->ports = state;
    view->channels = channels;
    view->stats = model->stats != WF_NET_STATS_OFF ? after : NULL;
    view->loads = model->stats == WF_NET_STATS_LINKS ? loads : NULL;
}

/* The view of an interface; `node` is its part of the node's state. */
static inline void wf_packet_view_at_node(struct wf_packet_view *view,
                                          const struct wf_packet_net *model, struct wf_ctx *ctx,
                                          void *node, uint32_t nic)
{
    wf_packet_view_init(view, model, ctx, node, wf_net_here(&model->net, ctx, nic),
                        model->node_ports);
    view->nic = nic;
    view->node = (void *)((unsigned char *)node + model->ports_size);
}

/* The view of the vertex that handles the event, which is not a node. */
static inline void wf_packet_view_at_other(struct wf_packet_view *view,
                                           const struct wf_packet_net *model,
                                           struct wf_ctx *ctx, void *state)
{
    wf_packet_view_init(
        view, model, ctx, state,
        wf_net_other_vertex(&model->net.ends, wf_self(ctx) - model->net.first_other),
        model->other_ports);
    view->nic = 0;
    view->node = NULL;
}

/* A channel of a port with credits. */
static inline struct wf_packet_channel *wf_packet_channel_at(const struct wf_packet_view *view,
                                                             uint32_t port, uint32_t channel)
{
    return &view->channels[(size_t)port * view->model->n_channels + channel];
}

/* Packets that wait for credits at a port. */
static inline uint32_t wf_packet_waiting(const struct wf_packet_view *view, uint32_t port)
{
    uint32_t n_channels = view->model->n_channels, sum = 0;

    for (uint32_t i = 0; i < n_channels; i++) {
        sum += view->channels[port * n_channels + i].waiting;
    }
    return sum;
}

/* The number of packets of a message; a message without data has one. */
static inline uint64_t wf_packet_count(const struct wf_packet_net *model, uint64_t bytes)
{
    return bytes <= model->packet_bytes ? 1 : (bytes - 1) / model->packet_bytes + 1;
}

/* Bytes in the last packet of a message. */
static inline uint64_t wf_packet_rest(const struct wf_packet_net *model, uint64_t bytes)
{
    return bytes - (wf_packet_count(model, bytes) - 1) * model->packet_bytes;
}

/* How long one packet of the run takes on a kind of link. */
static inline int64_t wf_packet_run_ps(const struct wf_packet_net *model,
                                       const struct wf_packet_run *run, uint32_t kind)
{
    const struct wf_packet_link_kind *link = &model->links.kinds[kind];

    return run->msg == NULL ? link->full_ps
                            : wf_packet_link_ps(link, wf_packet_rest(model, run->msg->bytes) +
                                                          model->header_bytes);
}

/* Bytes of the message in the packets of the run. */
static inline uint64_t wf_packet_run_payload(const struct wf_packet_net *model,
                                             const struct wf_packet_run *run)
{
    return run->msg != NULL ? wf_packet_rest(model, run->msg->bytes)
                            : run->count * model->packet_bytes;
}
