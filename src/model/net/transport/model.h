/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Transports as their own files see them.
 *
 *     sender.c    messages -> packets, windows, retransmission; the interface of a node
 *     flows.c     how flows are found
 *     port.c      queues of a vertex: what waits, what is dropped or marked, what goes next
 *     receiver.c  packets -> messages, acknowledgements
 *     <name>.c    a congestion control, see struct wf_transport_control
 *
 * A flow is all that one node sends to another. Its packets are numbered through over all
 * messages: their sequence. Flows live in cells at both ends.
 */

#include "model/net/packet/hop.h"

/* ---- events ---- */

enum {
    WF_TRANSPORT_PACKET,  /* a packet without a message's end: struct wf_transport_packet */
    WF_TRANSPORT_LAST,    /* a message's last packet: struct wf_transport_last */
    WF_TRANSPORT_SERVE,   /* to itself: a port may send again; number of the port */
    WF_TRANSPORT_WAKE,    /* to itself: the interface may send again */
    WF_TRANSPORT_TIMEOUT, /* to itself: a flow looks at its timer; struct wf_transport_timer */
    WF_TRANSPORT_READY,   /* to itself: the next message of a flow is complete: its key */
    WF_TRANSPORT_SELF,    /* to itself: a message for this node: struct wf_transport_last */
    WF_TRANSPORT_ORDER = WF_PACKET_READY, /* to itself, from model/net/packet/order.c */
    WF_TRANSPORT_PULL_TURN,               /* to itself: the receiver sends its next pull */
    WF_TRANSPORT_STOP,   /* a port is paused or may go on (PFC): struct wf_transport_stop */
    WF_TRANSPORT_CREDIT, /* space at the end of a port's link: struct wf_transport_credit */
};

enum wf_transport_type {
    WF_TRANSPORT_DATA,
    WF_TRANSPORT_ACK,
    WF_TRANSPORT_NACK,    /* packets from `cumulative` (go back n) or `number` on are missing */
    WF_TRANSPORT_NOTICE,  /* the network is congested */
    WF_TRANSPORT_PULL,    /* the flow may send one more packet */
    WF_TRANSPORT_TRIMMED, /* data that a full queue removed: only the header comes */
};

/* Flags of packets. */
enum {
    WF_TRANSPORT_MARKED = 1, /* it met a long queue, or is the answer to one that did */
    WF_TRANSPORT_ENDS = 2,   /* the last packet of its message */
    WF_TRANSPORT_LOCAL = 4,  /* it comes from the interface of this node */
    WF_TRANSPORT_AGAIN = 8,  /* it is sent again */
};

/* A packet; travels in events, so it has no padding. Answers have the sequence and the time of
 * the packet that they answer. */
struct wf_transport_packet {
    struct wf_packet_head head; /* src, dst: of this packet, also for answers */
    uint64_t sequence;
    uint64_t other; /* data: number of the packet in its message; answers: all packets before
                     * this one have arrived */
    int64_t sent;   /* when the data left its node */
    uint32_t bytes; /* of data */
    uint32_t path;  /* packets of a flow with the same number take the same route */
    uint8_t type;   /* enum wf_transport_type */
    uint8_t class;
    uint8_t flags;
    uint8_t load;   /* of the busiest port so far, if the congestion control measures it */
    uint32_t count; /* of a NACK: how many packets are missing; of data: 1 if the flow has more
                     * to send, 0 if not */
};

struct wf_transport_last {
    struct wf_transport_packet packet;
    struct wf_net_message msg;
    int64_t born; /* when the message was sent */
};

struct wf_transport_timer {
    uint32_t dst, class;
};

/* The vertex at the end of a port's link stops the port, or lets it go on. */
struct wf_transport_stop {
    uint32_t port;
    uint16_t class, stops;
};

/* The vertex at the end of a port's link has passed on so many bytes. */
struct wf_transport_credit {
    uint32_t port, class;
    uint64_t bytes;
};

_Static_assert(sizeof(struct wf_transport_packet) == 64 &&
                   sizeof(struct wf_transport_last) == 104,
               "no padding");

enum { WF_TRANSPORT_CLASSES_MAX = 8 };

/* ---- state ----
 *
 * The state of a vertex is that of the packet model, then for each port a struct
 * wf_transport_port, its queues, one for each class and one for control packets, and for each
 * class the bytes that came in through the port and have not left (PFC), or that went out
 * through it and have not left the vertex at the end of the link (credits). A node's struct
 * wf_transport_node is the last. */

/* Packets that wait at a port. All zero means empty. */
struct wf_transport_queue {
    uint32_t head, tail; /* cells */
    uint64_t bytes;
    uint64_t most;   /* largest value of bytes */
    uint64_t served; /* bytes that have left, over the share of the class */
};

struct wf_transport_port {
    int64_t serve; /* when a WF_TRANSPORT_SERVE is scheduled, + 1; 0: none */
    uint64_t drops, trims, marks;
    uint32_t controls; /* control packets since the last packet of data that waited */
    uint32_t spare;
    uint64_t virtual_time; /* `served` of the class whose packet left last */
    /* With PFC or credits: */
    uint32_t stopped;     /* classes that must not be sent */
    uint32_t stopping;    /* classes of which the port at the other end must not send */
    uint64_t pauses;      /* how often it was stopped... */
    uint64_t paused_ps;   /* ...and for how long, up to the last time it was let go... */
    int64_t since;        /* ...or the first class that is stopped now was */
    uint64_t most_inside; /* most bytes of a class that wf_transport_inside() had */
    /* Of congestion controls with `leaves`: */
    uint64_t load;
    int64_t load_at;
    uint64_t behind_before; /* bytes that waited when the last packet left */
};

struct wf_transport_node {
    struct wf_cellmap senders;   /* flows from here (flows.c)... */
    struct wf_cellmap receivers; /* ...and to here */
    uint32_t ring;     /* cell of the flow whose turn was last; a ring of flows that may have
                        * something to send */
    uint32_t held;     /* classes of which a packet waits in a queue of this vertex */
    int64_t free;      /* when the interface has sent its packet */
    int64_t wake;      /* when a WF_TRANSPORT_WAKE is scheduled, + 1; 0: none */
    int64_t self_free; /* when the last message for this node itself has left */
    uint32_t has_left; /* 1: `left` leaves with the packet in the interface */
    uint32_t spare;
    struct wf_net_message left;
    uint64_t sent_again, timeouts;
    uint32_t pull_ring;       /* cell of the flow to here that was pulled last, like `ring` */
    uint32_t pull_is_planned; /* 1: a WF_TRANSPORT_PULL_TURN is scheduled */
    int64_t pull_free;        /* when the next pull may leave */
};

/* A message of a flow that is not acknowledged completely. In a cell. */
struct wf_transport_message {
    uint32_t next; /* cell */
    uint32_t number;
    uint64_t first, count; /* sequence of its first packet, and its packets */
    int64_t born;
    struct wf_net_message msg;
};

enum { WF_TRANSPORT_CONTROL_WORDS = 8, WF_TRANSPORT_AVOIDED = 256 };

/* A window of this many packets is 1 packet. */
#define WF_TRANSPORT_ONE      UINT64_C(65536)
#define WF_TRANSPORT_NO_LIMIT UINT64_MAX

/* How a flow is found at its source and at its destination. */
struct wf_transport_flow {
    uint32_t next; /* cell of a flow of another class with the same node, or 0 */
    uint32_t peer; /* the node at the other end */
    uint32_t class;
};

/* What a flow is at its source. In a cell. */
struct wf_transport_sender {
    struct wf_transport_flow id;
    uint32_t ring;    /* cell of the next flow in the interface's ring; 0: not in the ring */
    uint32_t first;   /* cells: message that is acknowledged next... */
    uint32_t current; /* ...message of the packet `sent`, 0 if all is sent... */
    uint32_t last;    /* ...and last message */
    uint32_t has;     /* wf_transport_ranges: packets that arrived after a missing one... */
    uint32_t lost;    /* ...and lost packets that are to be sent again */
    uint32_t path;
    uint64_t acked;     /* all before this have arrived */
    uint64_t sent;      /* the next one to be sent for the first time */
    uint64_t end;       /* one after the last one */
    uint64_t pipe;      /* packets that are on their way, or their answers are */
    uint64_t window;    /* most of them, in units of 1 / WF_TRANSPORT_ONE packets */
    uint64_t credit;    /* packets that it may send still, or WF_TRANSPORT_NO_LIMIT */
    int64_t next_at;    /* no packet is sent before */
    int64_t sent_at;    /* when the last packet was sent */
    int64_t deadline;   /* when the packets on their way are given up */
    uint32_t tries;     /* timeouts since the last answer */
    uint32_t timer;     /* 1: a WF_TRANSPORT_TIMEOUT is scheduled */
    int64_t round_trip; /* of a packet and its answer on an idle network */
    uint64_t again;     /* packets that were sent again */
    uint64_t avoided[WF_TRANSPORT_AVOIDED / 64];  /* bits: routes that are left out next time */
    uint64_t control[WF_TRANSPORT_CONTROL_WORDS]; /* of the congestion control */
};

/* A message that is not complete, or has to wait for another. In a cell. */
struct wf_transport_arrival {
    uint32_t next; /* cell */
    uint32_t number;
    uint64_t sequence; /* of its last packet */
    int64_t born;
    struct wf_net_message msg;
};

/* What a flow is at its destination. In a cell. */
struct wf_transport_receiver {
    struct wf_transport_flow id;
    uint32_t has;      /* wf_transport_ranges: packets that arrived after a missing one */
    uint32_t first;    /* cell of the first message that waits */
    uint32_t asked;    /* 1: a missing packet was asked for (go back n) */
    uint32_t ready;    /* 1: a WF_TRANSPORT_READY is scheduled */
    uint32_t ring;     /* cell of the next flow that is to be pulled; 0: not in the ring */
    uint64_t pulls;    /* that are to be sent */
    uint64_t expected; /* all before this have arrived */
    uint64_t highest;  /* one after the highest that has arrived */
    int64_t at;        /* when the last byte arrived */
    int64_t noticed;   /* when the sender was told of congestion last, + 1 */
    uint64_t messages, bytes;
    int64_t begin, end; /* first message sent, last message complete */
};

/* ---- congestion control ---- */

struct wf_transport_net;
struct wf_transport_view;

/* What an answer says. */
struct wf_transport_answer {
    int64_t now;
    int64_t delay;  /* since the packet left */
    uint64_t n_new; /* packets that have arrived according to it and to none before */
    bool is_marked;
    uint8_t load; /* of the packet that is answered */
};

/* A congestion control: it sets the window of a flow and the time of its next packet. All that
 * it remembers is in flow->control. Its functions are called in events of the source. To add
 * one: one .c file with this table, one line in transports.def. */
struct wf_transport_control {
    const char *name;
    const char *summary;
    enum wf_transport_full full;
    enum wf_transport_repair repair;
    uint64_t queue;      /* packets of a queue, if the user does not say */
    bool wants_notices;  /* receivers send WF_TRANSPORT_NOTICE for marked packets... */
    bool routers_notify; /* ...or routers do, for packets that find a long queue */
    bool wants_pulls;    /* receivers send WF_TRANSPORT_PULL */
    /* A flow begins, with an unlimited window. */
    void (*begin)(const struct wf_transport_net *net, struct wf_transport_sender *flow);
    /* The members below may be null: nothing. */
    void (*answered)(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                     const struct wf_transport_answer *answer);
    /* With the time that a router asks the flow to pause. */
    void (*noticed)(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                    int64_t now, uint64_t pause_ps);
    void (*pulled)(const struct wf_transport_net *net, struct wf_transport_sender *flow);
    /* The flow has something to send, but no credit. */
    void (*refill)(const struct wf_transport_net *net, struct wf_transport_sender *flow);
    void (*lost)(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, bool by_timeout);
    /* A packet of `bytes` with its header leaves now. */
    void (*sent)(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, uint64_t bytes);
    /* At every router: a packet of data begins to leave through a port, at the time `begin`. */
    void (*leaves)(const struct wf_transport_view *v, const struct wf_packet_outlet *outlet,
                   struct wf_transport_packet *packet, int64_t begin);
};

#define WF_TRANSPORT(name) extern const struct wf_transport_control wf_transport_##name;
#include "model/net/transport/transports.def"

/* ---- the model ---- */

/* A class of traffic. */
struct wf_transport_class {
    char name[32];
    uint64_t share;       /* of a link, as weight among classes of the same priority */
    uint64_t priority;    /* higher ones go first */
    uint64_t max;         /* it has messages of at most this size... */
    uint64_t first, last; /* ...from these nodes */
};

struct wf_transport_net {
    struct wf_packet_net packet;
    const struct wf_transport_control *control;
    struct wf_transport_params params;
    enum wf_transport_full full;
    bool is_selective;
    bool is_lossless; /* ports stop each other: no packet is lost */
    bool finds_gaps;  /* packets of a flow keep their order: one that is missing is lost */
    uint64_t queue_bytes;
    uint32_t ecn_threshold; /* probability at ecn_max, in 2^-32 */
    uint64_t line_rate;     /* of an interface */
    int64_t longest_trip;   /* of a packet and its answer on an idle network; for `leaves` */
    struct wf_transport_class classes[WF_TRANSPORT_CLASSES_MAX];
    uint32_t n_classes;
    bool has_priorities;
    bool overtakes;    /* messages between two nodes may be of different classes */
    uint32_t n_queues; /* of a port: classes, and control packets */
    size_t port_size;
    size_t node_ports_at, other_ports_at, node_at; /* offsets in the state */
    uint64_t sums_at, maxima_at;                   /* of its own counters */
};

static inline const struct wf_transport_net *wf_transport_of(const struct wf_packet_net *packet)
{
    return (const struct wf_transport_net *)packet;
}

/* A view with what a transport adds. */
struct wf_transport_view {
    struct wf_packet_view at;
    const struct wf_transport_net *net;
    unsigned char *ports;           /* struct wf_transport_port and its queues, for each port */
    struct wf_transport_node *node; /* null at a vertex that is not a node */
};

static inline struct wf_transport_port *wf_transport_port_at(const struct wf_transport_view *v,
                                                             uint32_t port)
{
    return (void *)(v->ports + port * v->net->port_size);
}

static inline struct wf_transport_queue *
wf_transport_queue_at(const struct wf_transport_view *v, uint32_t port, uint32_t class)
{
    return (struct wf_transport_queue *)(wf_transport_port_at(v, port) + 1) + class;
}

/* With PFC: bytes of a class that came in through a port and have not left. With credits: those
 * that went out and have not left the next vertex. */
static inline uint64_t *wf_transport_inside(const struct wf_transport_view *v, uint32_t port,
                                            uint32_t class)
{
    return (uint64_t *)wf_transport_queue_at(v, port, v->net->n_queues) + class;
}

static inline uint64_t wf_transport_packet_bytes(const struct wf_transport_net *net,
                                                 const struct wf_transport_packet *packet)
{
    return packet->type == WF_TRANSPORT_DATA ? packet->bytes + net->packet.header_bytes
                                             : net->params.ack;
}

/* Whether a message is handed over as soon as it is complete, whatever was sent before it. */
static inline bool wf_transport_is_free(const struct wf_transport_net *net,
                                        const struct wf_net_message *msg)
{
    return net->params.delivery == WF_TRANSPORT_ANY_ORDER &&
           wf_net_is_free(&net->packet.net, msg);
}

/* ---- flows.c: flows by the node at their other end and their class ---- */

/* The cell of a flow, which begins with a struct wf_transport_flow; or 0. */
uint32_t wf_transport_flow_find(struct wf_ctx *ctx, const struct wf_cellmap *flows,
                                uint32_t peer, uint32_t class);
/* A new flow in a zeroed cell of `size` bytes; there is none yet. Announces `flows`. */
uint32_t wf_transport_flow_add(struct wf_ctx *ctx, struct wf_cellmap *flows, uint32_t peer,
                               uint32_t class, size_t size);
/* Steps through all flows, in ascending order of nodes: the one after the flow `cell`, or the
 * first if it is 0; 0 if there is no other. */
uint32_t wf_transport_flow_next(struct wf_ctx *ctx, const struct wf_cellmap *flows,
                                uint32_t cell);

/* ---- ranges.c: sets of numbers as lists of ranges in cells; 0 is the empty set ---- */

/* Adds the numbers from `begin` to before `end`; returns how many were not there. *list must
 * have been announced. */
uint64_t wf_transport_ranges_add(struct wf_ctx *ctx, uint32_t *list, uint64_t begin,
                                 uint64_t end);
/* Removes them; returns how many were there. */
uint64_t wf_transport_ranges_remove(struct wf_ctx *ctx, uint32_t *list, uint64_t begin,
                                    uint64_t end);
/* The first range; false if the set is empty. */
bool wf_transport_ranges_first(struct wf_ctx *ctx, uint32_t list, uint64_t *begin,
                               uint64_t *end);
/* Whether all numbers from `begin` to before `end` are in the set. */
bool wf_transport_ranges_has(struct wf_ctx *ctx, uint32_t list, uint64_t begin, uint64_t end);
/* The set without its first range. */
uint32_t wf_transport_ranges_next(struct wf_ctx *ctx, uint32_t list);
size_t wf_transport_ranges_cell_size(void);

/* ---- port.c ---- */

/* A packet arrives at a vertex that is not its destination, or is sent by it; `last` is null
 * unless it ends its message. */
void wf_transport_forward(const struct wf_transport_view *v, struct wf_transport_packet *packet,
                          const struct wf_transport_last *last);
/* WF_TRANSPORT_SERVE. */
void wf_transport_serve(const struct wf_transport_view *v, uint32_t number);
size_t wf_transport_waiter_cell_size(void);
/* Through which port a packet of a queue came; WF_PACKET_NO_PORT if it is the node's own. Moves
 * *cell on to the next packet of the queue. */
uint32_t wf_transport_input_of(const struct wf_transport_view *v, uint32_t *cell);

/* ---- pause.c; ports pause each other ---- */

/* A packet of `bytes` that came in through `port` begins to wait, or leaves. */
void wf_transport_pause_in(const struct wf_transport_view *v, uint32_t port, uint32_t class,
                           uint64_t bytes);
void wf_transport_pause_out(const struct wf_transport_view *v, uint32_t port, uint32_t class,
                            uint64_t bytes);
/* Stops a port for a class or lets it go on, and counts how often and how long. */
void wf_transport_set_stopped(const struct wf_transport_view *v, uint32_t number,
                              uint32_t class, bool stops);
/* WF_TRANSPORT_STOP. */
void wf_transport_stopped(const struct wf_transport_view *v,
                          const struct wf_transport_stop *stop);

/* ---- credit.c; ports know how much fits at the end of their links ---- */

/* A packet of `bytes` leaves through a port for a vertex that has to pass it on... */
void wf_transport_credit_take(const struct wf_transport_view *v, uint32_t number,
                              uint32_t class, uint64_t bytes);
/* ...and one that came in through `port` leaves after the time `wait`. */
void wf_transport_credit_give(const struct wf_transport_view *v, uint32_t port,
                              const struct wf_transport_packet *packet, int64_t wait);
/* WF_TRANSPORT_CREDIT. */
void wf_transport_credited(const struct wf_transport_view *v,
                           const struct wf_transport_credit *credit);

/* ---- fault.c; failures in time ---- */

/* The network and the routes of now; only with failures. */
const struct wf_topo *wf_transport_fault_topo(const struct wf_transport_view *v);
const struct wf_route *wf_transport_fault_route(const struct wf_transport_view *v);
/* Whether a packet cannot reach its destination from here; it counts as dropped then. */
bool wf_transport_fault_strands(const struct wf_transport_view *v,
                                const struct wf_transport_packet *packet);
/* Whether the link of a port has failed. */
bool wf_transport_fault_is_down(const struct wf_transport_view *v, uint32_t number);
/* Counts a packet that waited for such a link. */
void wf_transport_fault_drop(const struct wf_transport_view *v, uint32_t number);
/* Whether the link fails before a packet whose head arrives at `arrival` has passed it. Frees the
 * port then; else prepares the packet for another network at its arrival. */
bool wf_transport_fault_cuts(const struct wf_transport_view *v,
                             const struct wf_packet_outlet *outlet,
                             struct wf_transport_packet *packet, int64_t arrival);
/* When a flow whose timer has expired may send again: now, later, or WF_TIME_MAX, which counts as
 * a loss of all that has not arrived. */
int64_t wf_transport_fault_retry(const struct wf_transport_view *v,
                                 const struct wf_transport_sender *flow);

/* Adds what never arrived, at the end of a run. */
void wf_transport_fault_finish(const struct wf_transport_view *v, struct wf_net_totals *totals);

/* ---- class.c ---- */

/* Reads net.classes. */
enum wf_status wf_transport_classes_read(struct wf_transport_net *net, const char *text,
                                         struct wf_err *err);
/* The class of a message. */
uint32_t wf_transport_class_of(const struct wf_transport_net *net,
                               const struct wf_net_message *msg);

/* ---- sender.c ---- */

/* The time of a full packet and of its answer on an idle network. */
int64_t wf_transport_round_trip(const struct wf_transport_net *net, uint32_t src, uint32_t dst);
int64_t wf_transport_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          uint32_t dst_node, const struct wf_net_message *msg, int64_t start);
/* WF_TRANSPORT_WAKE, WF_TRANSPORT_TIMEOUT. */
void wf_transport_wake(const struct wf_transport_view *v);
void wf_transport_timeout(const struct wf_transport_view *v,
                          const struct wf_transport_timer *timer);
/* An answer or a notice arrives. */
void wf_transport_answered(const struct wf_transport_view *v,
                           const struct wf_transport_packet *packet);
/* For congestion controls: the window that the user gives, or else as much as a link carries in
 * the round trip of the flow on an idle network. */
uint64_t wf_transport_window(const struct wf_transport_net *net,
                             const struct wf_transport_sender *flow);
/* The interface sends what it may. */
void wf_transport_run(const struct wf_transport_view *v);
/* The view of an interface. */
void wf_transport_view_at_node(struct wf_transport_view *v, const struct wf_transport_net *net,
                               struct wf_ctx *ctx, void *node, uint32_t nic);

/* ---- receiver.c ---- */

void wf_transport_received(const struct wf_transport_view *v,
                           const struct wf_transport_packet *packet,
                           const struct wf_transport_last *last);
/* WF_TRANSPORT_PULL_TURN. */
void wf_transport_pull_turn(const struct wf_transport_view *v);
/* WF_TRANSPORT_READY. */
void wf_transport_ready(const struct wf_transport_view *v, uint64_t key);

/* ---- stats.c ---- */

void wf_transport_stats_init(struct wf_transport_net *net);
void wf_transport_stats_finish(const struct wf_transport_view *v);
struct wf_net_deadlock wf_transport_stats_stuck(const struct wf_net *net,
                                                const struct wf_net_counters *counters);
void wf_transport_stats_describe(const struct wf_net *net,
                                 const struct wf_net_counters *counters, int64_t elapsed,
                                 struct wf_value *result);
