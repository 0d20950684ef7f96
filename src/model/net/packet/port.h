/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What happens to packets at a vertex.
 *
 * A port serves packets in the order of (time, source), which is the order of the engine's keys
 * of their arrivals. A node's own interface is a source like its neighbours. Trains keep this
 * order exactly (model/net/packet/train.c).
 */

#include "base/arith.h"
#include "base/rng.h"
#include "model/net/packet/stats.h"

/* A port with its link. */
struct wf_packet_outlet {
    struct wf_packet_port *port;
    uint32_t number; /* number of the port */
    uint32_t link;
    uint32_t kind;
    int64_t delay; /* delay of the router */
    int64_t full_ps;
};

/* A train at a port: the packets that had not arrived at the last event that looked. Kept in
 * a cell. */
struct wf_packet_train {
    uint32_t next; /* cell */
    bool queued;   /* the packets sent on leave as fast as the port can */
    uint8_t cuts;  /* how often another packet came between its packets */
    uint8_t calm;  /* packets since then, at most 255 */
    uint8_t spare;
    uint64_t src;    /* wf_packet_source() that it comes from */
    int64_t service; /* in a port's first train: when a WF_PACKET_SERVICE is scheduled, or 0 */
    int64_t at;      /* arrival of the next packet */
    int64_t spacing;
    uint64_t first;             /* number of that packet */
    uint64_t left;              /* packets from that one on */
    uint64_t ahead;             /* packets already sent on, as a train... */
    int64_t out;                /* ...whose next packet starts at this time */
    struct wf_packet_head head; /* header for the next vertex */
};

/* Notices sent about a port and received through it. All zero means idle. */
struct wf_packet_port_notice {
    int64_t free;     /* when the port is free, according to the last notice sent... */
    uint32_t waiting; /* ...and how many packets wait for credits */
    uint32_t known;   /* cell: notices from the vertex at the end of its link */
};

/* ---- port.c ---- */

/* Packets arrive at the vertex, the first of them now. */
void wf_packet_arrive(const struct wf_packet_view *view, struct wf_packet_run *run);

/* The port that a policy chooses; changes the route in the header. Sets *asked if the policy had
 * a choice; null: nobody wants to know. */
uint32_t wf_packet_choose_port(const struct wf_packet_view *view, struct wf_packet_head *head,
                               const struct wf_topo *topo, const struct wf_route *route,
                               bool *asked);

/* What a policy is asked, apart from the packet. */
struct wf_packet_question {
    const struct wf_topo *topo;
    const struct wf_route *route;
    uint64_t flow; /* packets of one flow take the same route */
    /* Bytes that wait at a port; query->arg is the view. */
    uint64_t (*queue)(const struct wf_route_query *query, uint32_t vertex, uint32_t port);
    bool *asked; /* of the query; may be null */
};

uint32_t wf_packet_ask_policy(const struct wf_packet_view *view, struct wf_packet_head *head,
                              const struct wf_packet_question *question);

/* Serves the next single packet; returns when it starts. */
static inline int64_t wf_packet_port_serve(struct wf_packet_port *port, int64_t ready,
                                           int64_t duration)
{
    int64_t start = ready > port->free ? ready : port->free;

    port->free = wf_time_add(start, duration);
    return start;
}

/* The same at a token bucket: `free` is the time at which the bucket is full again, and a packet
 * leaves as a whole when there are tokens for it. A packet longer than the bucket waits until it
 * is full. */
static inline int64_t wf_packet_port_burst(struct wf_packet_port *port, int64_t ready,
                                           int64_t duration, int64_t burst)
{
    int64_t ahead = burst > duration ? burst - duration : 0;
    int64_t start = wf_max_i64(ready, port->free - ahead);

    port->free = wf_time_add(wf_max_i64(start, port->free), duration);
    return start;
}

/* Sends the packets of the run on; the first starts at `start`. */
void wf_packet_emit(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                    const struct wf_packet_run *run, int64_t start);

/* ---- train.c; the port has trains, or the run is one ---- */

/* Packets arrive at a port that has trains, or are a train. Returns whether this file has served
 * them: there are still trains, or the packets are one. */
bool wf_packet_train_takes(const struct wf_packet_view *view,
                           const struct wf_packet_outlet *outlet,
                           const struct wf_packet_run *run);
/* WF_PACKET_CUT: ends the train that comes from the source of the key; `run` are the packets that
 * will not come. */
void wf_packet_cut(const struct wf_packet_view *view, struct wf_packet_run *run);
/* When a port that has trains has sent all packets that come before the current event. */
int64_t wf_packet_train_free(const struct wf_packet_view *view, uint32_t number);
/* WF_PACKET_SERVICE. */
void wf_packet_train_service(const struct wf_packet_view *view, uint32_t number);

/* The number of the train's packets that come before the event of the key. */
uint64_t wf_packet_train_before(const struct wf_packet_train *train, const struct wf_key *key);
/* The cell of the train with the earliest next packet; *before is the cell before it. */
uint32_t wf_packet_train_next(const struct wf_packet_view *view,
                              const struct wf_packet_port *port, uint32_t *before);
/* Adds a train whose first packet has just arrived. */
struct wf_packet_train *wf_packet_train_add(const struct wf_packet_view *view,
                                            struct wf_packet_port *port,
                                            const struct wf_packet_run *run);
/* Frees the cell after `before`, or the first cell if `before` is 0. */
void wf_packet_train_drop(const struct wf_packet_view *view, struct wf_packet_port *port,
                          uint32_t before);

/* ---- adapt.c; messages are routed as a whole ---- */

/* The size of its part of the state of a vertex. */
size_t wf_packet_adapt_size(void);
/* Asks for the cells that it needs. */
void wf_packet_adapt_cells(struct wf_engine *engine);
/* The port of packets: that of their message, if another packet has chosen one here. Changes the
 * route in the header. */
uint32_t wf_packet_adapt_port(const struct wf_packet_view *view, struct wf_packet_run *run,
                              const struct wf_topo *topo, const struct wf_route *route);

/* ---- deliver.c ---- */

/* Delivers packets of trains that have arrived by now, and takes the run if it is a train. Returns
 * whether it is. */
bool wf_packet_deliver_trains(const struct wf_packet_view *view,
                              const struct wf_packet_run *run);
void wf_packet_deliver_cut(const struct wf_packet_view *view);

/* The fingerprint of a node is the sum of time(k) * (a + k * b) over its packets, modulo 2^64: k
 * is the number of a packet in its message, which determines a and b. */
struct wf_packet_factors {
    uint64_t a, b;
};

static inline struct wf_packet_factors wf_packet_factors(const struct wf_packet_head *head)
{
    uint64_t a = wf_rng_mix(((uint64_t)head->src << 32 | head->dst) +
                            (head->number + UINT64_C(1)) * WF_RNG_GOLDEN);

    return (struct wf_packet_factors){.a = a, .b = a * WF_RNG_GOLDEN};
}

/* What the packets of a run, the first delivered at `at`, add to the fingerprint. */
uint64_t wf_packet_fingerprint(const struct wf_packet_run *run, int64_t at,
                               struct wf_packet_factors factors);
/* Tells statistics and the probe of packets that were delivered. */
void wf_packet_report(const struct wf_packet_view *view, const struct wf_packet_run *run,
                      int64_t at);
/* Hands the message of a delivered packet over if it is complete, in order. */
void wf_packet_hand_over(const struct wf_packet_view *view, const struct wf_packet_run *run,
                         int64_t at);

/* ---- events.c ---- */

/* Chooses the handlers that fit the model best, when all else is set. */
void wf_packet_choose_handlers(struct wf_packet_net *model);

/* ---- nic.c ---- */

int64_t wf_packet_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start);
/* How long after its turn a packet is at the router: 0, or the time to store it first. */
int64_t wf_packet_store_ps(const struct wf_packet_view *view, const struct wf_packet_run *run);
/* Sends all packets of a message from inject->next on at once. */
void wf_packet_inject_all(const struct wf_packet_view *view,
                          const struct wf_packet_inject_event *inject);
/* Makes a run of one full packet a train if others can follow it; returns when the next packet is
 * due after it. */
int64_t wf_packet_inject_run(const struct wf_packet_view *view,
                             const struct wf_packet_inject_event *inject,
                             struct wf_packet_run *run);
/* ---- credit.c; the model has credits ---- */

size_t wf_packet_credit_cell_size(void);
/* The packet waits at the port for a credit; `in` is its header on arrival. */
void wf_packet_credit_wait(const struct wf_packet_view *view, uint32_t port,
                           const struct wf_packet_head *in, const struct wf_packet_run *run,
                           int64_t since);
/* A channel that the caller has announced has got a credit: sends on the packet that waits. */
void wf_packet_credit_pass_on(const struct wf_packet_view *view, uint32_t port,
                              struct wf_packet_channel *channel);
/* wf_packet_fault_send() for a packet with a credit, which is free again if the packet is lost. */
int64_t wf_packet_credit_fault(const struct wf_packet_view *view,
                               const struct wf_packet_outlet *outlet, struct wf_packet_run *run,
                               int64_t waited);
/* With credits each link has two sets of channels, used by turns, one in each epoch. This bit of
 * a packet's channel number tells the set. */
enum { WF_PACKET_SET_SHIFT = 7, WF_PACKET_VC_MASK = 0x7f };

/* The channel of a packet with this header: that of the link by which it comes or, after it was
 * routed, goes. If the routing policy has several for a virtual channel, the packets between two
 * nodes always take the same one and so stay in order. */
static inline uint32_t wf_packet_channel_on(const struct wf_packet_net *model,
                                            const struct wf_packet_head *head, uint8_t vc)
{
    uint32_t which = model->channels_per_vc == 1
                         ? 0
                         : (head->src ^ head->dst * 2654435761U) % model->channels_per_vc;
    uint32_t set = (uint32_t)vc >> WF_PACKET_SET_SHIFT;

    return set * model->set_channels + (vc & WF_PACKET_VC_MASK) * model->channels_per_vc +
           which;
}

/* The channel of a packet on the link that it is about to take, or has taken. */
static inline uint32_t wf_packet_channel_of(const struct wf_packet_net *model,
                                            const struct wf_packet_head *head)
{
    return wf_packet_channel_on(model, head, head->route.vcs.vc);
}

/* WF_PACKET_CHANGE: packets that wait at the port are routed anew. */
void wf_packet_credit_change(const struct wf_packet_view *view, uint32_t port);

/* ---- order.c; all but the first two: messages may overtake each other ---- */

/* Asks for the cells that it needs. */
void wf_packet_order_cells(struct wf_engine *engine);
/* The number of a message that this node sends. The caller has announced the node. */
uint32_t wf_packet_order_number(const struct wf_packet_view *view, uint32_t dst,
                                const struct wf_net_message *msg);
/* The number of the next message to a node of those that keep their order. */
uint32_t wf_packet_order_next(const struct wf_packet_view *view, uint32_t dst);
/* A packet has arrived completely at the time `at`. Where the packets of a message keep
 * their order, only the last packet of each message is reported. */
void wf_packet_order_deliver(const struct wf_packet_view *view, const struct wf_packet_run *run,
                             int64_t at);
/* A packet of a message will never arrive, so the message does not count. */
void wf_packet_order_skip(const struct wf_packet_view *view, uint32_t src, uint32_t number);
/* WF_PACKET_READY. */
void wf_packet_order_ready(const struct wf_packet_view *view, uint32_t src);

/* ---- queue.c ---- */

void wf_packet_enqueue(const struct wf_packet_view *view,
                       const struct wf_packet_inject_event *inject);
/* A packet that was held has left the node. */
void wf_packet_unhold(const struct wf_packet_view *view);
/* WF_PACKET_TURN. */
void wf_packet_turn(const struct wf_packet_view *view);

/* ---- fault.c; the model has failures in time ---- */

/* A packet arrives at a vertex that is not its destination. Returns false if it goes on as without
 * failures: it has a route, and needs a credit. */
bool wf_packet_fault_arrive(const struct wf_packet_view *view, struct wf_packet_run *run);
/* Routes a packet that has a route. */
struct wf_packet_outlet wf_packet_fault_route(const struct wf_packet_view *view,
                                              struct wf_packet_run *run);
/* Sends a packet on, or drops it if the link fails too soon. Returns when the packet has left
 * the vertex; *is_lost tells whether it was dropped. Before this it waited `waited` for a
 * credit. */
int64_t wf_packet_fault_send(const struct wf_packet_view *view,
                             const struct wf_packet_outlet *outlet, struct wf_packet_run *run,
                             int64_t waited, bool *is_lost);
/* Whether the network has changed since the packets that wait at a port were routed. */
bool wf_packet_fault_has_changed(const struct wf_packet_view *view, uint32_t port);
/* A packet begins to wait at a port: makes sure that the port looks at it at the next change. */
void wf_packet_fault_watch(const struct wf_packet_view *view, uint32_t port);
/* A packet that has waited at a port since `since` finds another network. Drops it if it cannot
 * go on; `head` is its header on arrival. Returns whether it was dropped. */
bool wf_packet_fault_strands(const struct wf_packet_view *view, const struct wf_packet_run *run,
                             uint32_t port, int64_t since);
/* WF_PACKET_RESEND, WF_PACKET_RESEND_LAST: `msg` is null for the former. */
void wf_packet_fault_resend(const struct wf_packet_view *view,
                            const struct wf_packet_head *head, uint64_t first,
                            const struct wf_net_message *msg);
/* WF_PACKET_LOST. */
void wf_packet_fault_lost(const struct wf_packet_view *view,
                          const struct wf_packet_lost_event *lost);
/* What happened to the packets of a node. */
const struct wf_net_losses *wf_packet_fault_losses(const struct wf_packet_view *view);

/* ---- notice.c; the model sends notices ---- */

/* Notifies the neighbours if the queue of the port has changed by a step. */
void wf_packet_notice_send(const struct wf_packet_view *view, uint32_t port);

/* WF_PACKET_NOTICE. */
void wf_packet_notice_received(const struct wf_packet_view *view,
                               const struct wf_packet_notice_event *notice);

/* Packets that wait at a port of the neighbour `vertex`, by the last notice. */
uint64_t wf_packet_notice_queue(const struct wf_packet_view *view, uint32_t vertex,
                                uint32_t port);
