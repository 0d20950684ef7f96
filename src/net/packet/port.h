/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_PACKET_PORT_H
#define WF_NET_PACKET_PORT_H

/*
 * What happens to packets at a vertex.
 *
 * Packets at one port are served in the order of (time, source): the order of the engine's keys
 * of their arrivals, in which a node's own interface is a source as its neighbours are. Trains
 * keep to it exactly (packet_train.c).
 */

#include "net/packet/stats.h"

/* What a port is, besides its state. */
struct wf_packet_outlet {
    struct wf_packet_port *port;
    uint32_t number; /* of the port */
    uint32_t link;
    uint32_t kind;
    int64_t delay; /* of the router */
    int64_t full_ps;
};

/* A run of packets under way through a port: those that have not arrived yet, as far as anybody
 * has looked. In a cell. */
struct wf_packet_train {
    uint32_t next;   /* cell */
    uint32_t src;    /* process it comes from */
    int64_t service; /* of a port's first train: when an event will look after them, or 0 */
    int64_t at;      /* arrival of the next packet */
    int64_t spacing;
    uint64_t first; /* number of that packet */
    uint64_t left;  /* packets from it on */
    uint64_t ahead; /* of these, how many were sent on already, as a train... */
    int64_t out;    /* ...whose next packet starts at this time */
    bool queued;    /* ...and the others as fast as the port can */
    uint8_t cuts;   /* how often something came between them */
    uint8_t calm;   /* packets since, at most 255 */
    uint8_t spare[5];
    struct wf_packet_head head; /* as it is sent on */
};

/* Packets arrive at the vertex, the first of them now. */
void wf_packet_arrive(const struct wf_packet_view *view, struct wf_packet_run *run);

/* The way of packets that are not at their destination; changes the head for the next router.
 */
struct wf_packet_outlet wf_packet_route(const struct wf_packet_view *view,
                                        struct wf_packet_head *head);

/* The next single packet is served: when it starts. */
static inline int64_t wf_packet_port_serve(struct wf_packet_port *port, int64_t ready,
                                           int64_t duration)
{
    int64_t start = ready > port->free ? ready : port->free;

    port->free = wf_time_add(start, duration);
    return start;
}

/* The packets, which are all here, are served one after the other: when the first starts. They
 * could have been served at `ready` at the earliest, and have waited for something else before,
 * for `waited`. */
int64_t wf_packet_serve(const struct wf_packet_view *view,
                        const struct wf_packet_outlet *outlet, const struct wf_packet_run *run,
                        int64_t ready, int64_t waited);

/* Sends `count` packets on, of which the first starts at `start`. */
void wf_packet_emit(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                    const struct wf_packet_run *run, int64_t start);

/* ---- packet_train.c; `outlet` has trains under way, or the run is one ---- */

void wf_packet_train_settle(const struct wf_packet_view *view,
                            const struct wf_packet_outlet *outlet);
void wf_packet_train_arrive(const struct wf_packet_view *view,
                            const struct wf_packet_outlet *outlet,
                            const struct wf_packet_run *run);
void wf_packet_train_cut(const struct wf_packet_view *view,
                         const struct wf_packet_outlet *outlet);
/* The train with this head that comes from the process of the key's source ends before now. */
void wf_packet_cut(const struct wf_packet_view *view, struct wf_packet_head *head);
/* An event of kind WF_PACKET_SERVICE. */
void wf_packet_train_service(const struct wf_packet_view *view, uint32_t number);

/* How many of the train's packets come before what happens now. */
uint64_t wf_packet_train_before(const struct wf_packet_train *train, const struct wf_key *key);
/* The cell of the train whose next packet is first of all; *before is the cell before it. */
uint32_t wf_packet_train_next(const struct wf_packet_view *view,
                              const struct wf_packet_port *port, uint32_t *before);
/* Keeps packets, of which the first is here now and the others follow. */
struct wf_packet_train *wf_packet_train_add(const struct wf_packet_view *view,
                                            struct wf_packet_port *port,
                                            const struct wf_packet_run *run);
/* Frees the cell that follows `before`, or the first one if that is 0. */
void wf_packet_train_drop(const struct wf_packet_view *view, struct wf_packet_port *port,
                          uint32_t before);

/* ---- packet_deliver.c ---- */

void wf_packet_deliver(const struct wf_packet_view *view, const struct wf_packet_run *run);
void wf_packet_deliver_cut(const struct wf_packet_view *view);

/* ---- packet_nic.c ---- */

/* `node` is the network's part of a node's state. */
struct wf_packet_view wf_packet_view_of(const struct wf_packet_net *model, struct wf_ctx *ctx,
                                        void *node);
int64_t wf_packet_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start);
/* How long after a packet's turn it is at the router: where it is stored first, or at once. */
int64_t wf_packet_store_ps(const struct wf_packet_view *view, const struct wf_packet_run *run);
struct wf_packet_head wf_packet_first_head(const struct wf_packet_view *view,
                                           const struct wf_packet_inject_event *inject);
void wf_packet_inject(const struct wf_packet_view *view,
                      const struct wf_packet_inject_event *inject);

/* ---- packet_credit.c; the model has credits ---- */

size_t wf_packet_credit_cell_size(void);
void wf_packet_credit_arrive(const struct wf_packet_view *view, struct wf_packet_run *run);
/* The packet with this head, as it arrived, leaves the vertex at the time `at`. */
void wf_packet_credit_return(const struct wf_packet_view *view,
                             const struct wf_packet_head *head, int64_t at);
/* An event of kind WF_PACKET_CREDIT. */
void wf_packet_credit_received(const struct wf_packet_view *view,
                               const struct wf_packet_credit_event *credit);

/* ---- packet_order.c; messages may overtake each other ---- */

/* The number of the next message to a node. */
uint32_t wf_packet_order_number(const struct wf_packet_view *view, uint32_t dst);
/* A packet is here, all of it at the time `at`; where packets of a message keep their order,
 * the last one of a message. */
void wf_packet_order_deliver(const struct wf_packet_view *view, const struct wf_packet_run *run,
                             int64_t at);
/* An event of kind WF_PACKET_READY. */
void wf_packet_order_ready(const struct wf_packet_view *view, uint32_t src);

/* ---- packet_queue.c ---- */

void wf_packet_enqueue(const struct wf_packet_view *view,
                       const struct wf_packet_inject_event *inject);
/* The packet that was held has left the node. */
void wf_packet_unhold(const struct wf_packet_view *view);
/* An event of kind WF_PACKET_TURN. */
void wf_packet_turn(const struct wf_packet_view *view);

#endif
