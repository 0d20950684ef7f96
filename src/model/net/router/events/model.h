/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The router model as its own files see it.
 *
 * Time is counted in cycles. Heads of packets, free slots and messages of the node reach a
 * router at the beginning of a cycle. The router decides one picosecond later, when all of them
 * are known, so that the order of events at one instant does not matter.
 */

#include "base/rng.h"
#include "engine/cellmap.h"
#include "model/net/fault/fault.h"
#include "model/net/links.h"
#include "model/net/route/route.h"
#include "model/net/router/router.h"
#include "model/net/router/rules/request.h"
#include "model/net/topology.h"
#include "model/topo/grid.h"

/* ---- events ---- */

enum {
    WF_ROUTER_HEAD,    /* the head of a packet, at the input of its channel: wf_router_packet */
    WF_ROUTER_SLOT,    /* a slot at the end of a channel is free again: number of the channel */
    WF_ROUTER_DECIDE,  /* to itself */
    WF_ROUTER_DELIVER, /* to itself: a message is complete: wf_router_packet */
    WF_ROUTER_SENT,    /* to itself: the tail of a message has left: wf_router_packet */
    WF_ROUTER_FLIT, /* wormhole: a flit other than the head, at an input: number of the input */
    WF_ROUTER_TAIL, /* wormhole: the tail of a packet, at its node: wf_router_packet */
    WF_ROUTER_WATCH,  /* to itself: look for packets that do not move */
    WF_ROUTER_REPORT, /* to itself: report the packets injected and consumed */
    WF_ROUTER_GATE,   /* from the deadlock detector: whether packets may be injected */
    WF_ROUTER_HALT,   /* from the deadlock detector: wf_net_deadlock */
    WF_ROUTER_NOTICE, /* the length of a neighbour's queue: wf_router_notice */
    WF_ROUTER_RESEND, /* to the source of a packet that met a failure: wf_router_packet */
    WF_ROUTER_LOST,   /* to the destination of a lost packet: wf_router_lost */
};

/* To the deadlock detector, which is a process of its own. */
enum {
    WF_ROUTER_BLOCKED =
        WF_ROUTER_HALT + 1, /* the first packet of a queue does not move: wf_net_wait */
    WF_ROUTER_MOVED,        /* it moves again: wf_net_queue */
    WF_ROUTER_COUNT,        /* packets that entered the network, minus those that left it */
    WF_ROUTER_CHECK,        /* to itself */
};

enum {
    WF_ROUTER_VCS_MAX = 16,
    WF_ROUTER_INPUTS_MAX = 1024,
    WF_ROUTER_QUEUE_MAX = 1024,    /* packets */
    WF_ROUTER_HOP_MAX = 100000000, /* cycles */
};

#define WF_ROUTER_NEVER INT64_MAX
#define WF_ROUTER_AGAIN INT64_C(-1)

/* Travels in events and has no padding. */
struct wf_router_packet {
    struct wf_net_message msg;
    int64_t born;    /* cycle in which it entered its injection queue */
    uint32_t dst;    /* node */
    uint32_t number; /* number of the message at its source */
    uint32_t order;  /* number of the message among those from its source to this destination */
    union {
        struct wf_route_state route; /* with a routing policy */
        uint32_t down;               /* on grids: bit d is set if dimension d is travelled
                                        downwards */
    } on;
    uint32_t hops : 16;  /* hops so far */
    uint32_t input : 15; /* at the router where it arrives */
    uint32_t last : 1;   /* the last packet of its message to be injected */
};

_Static_assert(sizeof(struct wf_router_packet) == 64, "no padding");

/* A lost packet. Travels in events. */
struct wf_router_lost {
    uint32_t src, dst;      /* nodes */
    uint32_t number, order; /* as in struct wf_router_packet */
    int64_t at;             /* picoseconds */
    uint32_t vertex, port;  /* link on which it was; WF_TOPO_NO_PORT: no route was left */
};

/* ---- state ---- */

/* A cell: a packet in a queue, a message that waits for injection, or one at its destination that
 * is not complete or too early. */
struct wf_router_cell {
    struct wf_router_packet packet;
    int64_t at;     /* cycle in which the head arrived; for a message that waits for injection:
                     * WF_ROUTER_AGAIN if it is a packet to be sent again */
    uint32_t next;  /* cell, or 0 */
    uint32_t count; /* number of packets; for a packet that a policy has routed:
                     * the channel that it waits for, + 1; for an early message: 1 if it is
                     * lost */
};

enum { WF_ROUTER_IS_BLOCKED = 1, WF_ROUTER_IS_FULL = 2 };

/* A queue at the end of a link's channel, or for injection. All zero means empty. */
struct wf_router_input {
    uint32_t first, last; /* cells of packets that have not begun to leave */
    uint16_t n;           /* number of these packets */
    uint16_t taken;       /* channel that the first packet holds, + 1; 0: none */
    uint8_t bet;          /* next request of the first packet, in smart requests */
    uint8_t blocked;      /* known to the detector: WF_ROUTER_IS_BLOCKED, WF_ROUTER_IS_FULL */
    uint16_t pace;        /* cycles per phit with which the last packet began to leave */
    int64_t head;         /* cycle in which the last packet arrived */
    int64_t leave;        /* cycle in which the last packet began to leave, + 1; 0: none did */
    int64_t asked; /* cycle of the first packet's first request, + 1; 0: no request yet */
};

/* A virtual channel of an outgoing link. All zero means idle. */
struct wf_router_channel {
    int64_t free;     /* when it is free again, if its holder has begun to leave */
    uint16_t holder;  /* input that holds it and waits for the link, + 1; 0: no input */
    uint16_t winner;  /* input that got it last, + 1 */
    uint16_t used;    /* used slots at its end */
    uint16_t wanted;  /* a packet waits for a slot */
    uint64_t packets; /* packets carried so far */
};

/* An outgoing link. */
struct wf_router_link {
    int64_t free;
    uint16_t waiting; /* channels that are held and wait for the link */
    uint16_t turn;    /* channel to look at first */
    uint32_t spare;
};

/* The length of a queue. Travels in events. */
struct wf_router_notice {
    uint32_t by;   /* port of the receiver that leads to the sender */
    uint32_t port; /* port of the sender */
    uint64_t bytes;
};

/* Notices sent about a port and received through it. All zero means idle. */
struct wf_router_port_notice {
    uint64_t told;  /* bytes, according to the last notice sent */
    uint32_t known; /* cell: notices from the router at the end of its link */
    uint32_t spare;
};

/* The head of a router's state. Channels, links, inputs and a bit for each input that is not
 * empty follow. */
struct wf_router_head {
    int64_t wake;         /* the next scheduled decision, or 0 */
    int64_t consume_free; /* when only one packet is consumed at a time */
    uint64_t consumed, hops;
    uint64_t injected, waited; /* packets that left injection queues, cycles they spent there */
    int64_t told;              /* injected minus consumed packets, as last reported */
    uint8_t watching;          /* WF_ROUTER_WATCH is scheduled */
    uint8_t reporting;         /* WF_ROUTER_REPORT is scheduled */
    uint8_t shut;              /* nothing may be injected */
    uint8_t spare;
    uint32_t deadlock; /* node 0: cell with the deadlock, or 0 */
    uint32_t consume_winner;
    uint32_t epoch;   /* with failures in time: epoch of the last decision */
    uint64_t dropped; /* packets that entered the network and met a failure here */
    uint64_t digest;  /* sum of wf_router_fact() */
    /* Nodes only: */
    uint32_t numbers;               /* messages sent so far */
    uint32_t backlog, backlog_last; /* cells of messages that wait for injection */
    struct wf_cellmap peers;        /* node -> cell of a struct wf_router_peer */
};

/* What a node knows of the messages to and from another. In a cell. */
struct wf_router_peer {
    uint32_t sent;             /* messages sent to it, and... */
    uint32_t seen;             /* ...order of the next message from it that is handed over */
    struct wf_cellmap partial; /* its messages that have arrived in part: number -> cell */
    struct wf_cellmap early;   /* those that wait for an earlier one: order -> cell */
    struct wf_cellmap lost;    /* those that lost a packet, by number */
};

/* A cell of node 0. */
struct wf_router_deadlock {
    struct wf_net_deadlock queues;
    int64_t at; /* when this node was notified */
};

/* Offsets of the parts of a state. */
struct wf_router_layout {
    uint32_t n_ports, n_inputs, n_words, n_injection;
    size_t channels, links, inputs, words, size;
    size_t flit_inputs, flit_channels, flit_ports, flit_source; /* wormhole only */
    size_t by_hops, loads; /* statistics, if they are asked for; else 0 */
    size_t losses;         /* struct wf_net_losses of a node; only with failures in time */
    size_t notices;        /* struct wf_router_port_notice of each port; only with notices */
};

/* ---- the model ---- */

/* A kind of link: properties that many links share. */
struct wf_router_link_kind {
    uint32_t pipeline;   /* cycles that a head spends in the router before the link */
    uint32_t link_delay; /* cycles on the link */
    uint32_t pace;       /* cycles in which the link moves a phit */
    uint32_t queue;      /* packets in the queue of a channel at its end */
};

struct wf_router_net {
    struct wf_net net;
    const struct wf_topo *topo;
    struct wf_topo *damaged;         /* `topo`, if parts of the network fail; else null */
    const struct wf_topo_grid *grid; /* null unless the scheme is for grids */
    struct wf_router_params set;
    struct wf_net_links links;         /* as rounded */
    struct wf_router_link_kind *kinds; /* the first is that of the parameters */
    uint32_t n_kinds;
    uint16_t *kind_of;                /* by number of the link; null: all links are of kind 0 */
    struct wf_router_link_kind least; /* the least values of all links, except pipeline */
    uint32_t least_hop;               /* the least sum of pipeline and link_delay */
    uint64_t capacity;                /* queues of one channel of each link, in packets */
    struct wf_router_rules rules;
    bool atomic; /* wormhole: a channel is given only when the queue at its end is empty */
    struct wf_route *route;       /* with the scheme WF_ROUTER_POLICY; else null */
    struct wf_fault_plan *faults; /* failures in time, with routes; null: `route` is used */
    uint16_t *coords;             /* on grids: coordinates of each vertex, n_dims each */
    uint16_t *in_port; /* elsewhere: for each directed link the input port at its far end */
    struct wf_net_inward inward; /* with one-way links: those that end at each input port */
    uint64_t notice_step;        /* bytes; 0: routers send no notices */
    uint32_t detector;           /* process number */
    uint64_t packets_limit; /* packets in the network above which none is injected; 0: none */
    struct wf_router_layout node, other;
    struct wf_process_ops other_ops, detector_ops;
};

/* What a handler works on: the state of a router, and the cycle. */
struct wf_router_view {
    const struct wf_router_net *model;
    const struct wf_router_layout *layout;
    struct wf_ctx *ctx;
    struct wf_router_head *head;
    struct wf_router_channel *channels;
    struct wf_router_link *links;
    struct wf_router_input *inputs;
    uint64_t *words;
    uint32_t vertex;
    uint32_t nic; /* at a node: number of the interface; else 0 */
    int64_t now;  /* cycle */
};

/* What the first packet of an input requests. */
struct wf_router_request {
    uint32_t input;
    uint32_t channel; /* WF_ROUTER_CONSUME; WF_ROUTER_NONE: no channel that it could get now */
};

static inline const struct wf_router_net *wf_router_of(const struct wf_net *net)
{
    return (const struct wf_router_net *)net;
}

/* Schedules an event at another vertex, at the beginning of the cycle `cycles` later. */
static inline void wf_router_schedule(const struct wf_router_view *view, uint32_t vertex,
                                      uint64_t cycles, uint16_t kind, const void *payload,
                                      size_t size)
{
    wf_schedule_to(view->ctx, wf_net_target(&view->model->net, view->nic, vertex, kind),
                   (int64_t)cycles * view->model->set.cycle - 1, payload, size);
}

/* Schedules an event at this vertex, `delay` picoseconds later. */
static inline void wf_router_schedule_own(const struct wf_router_view *view, int64_t delay,
                                          uint16_t kind, const void *payload, size_t size)
{
    wf_schedule_to(view->ctx, wf_net_target_own(view->ctx, view->nic, kind), delay, payload,
                   size);
}

/* The input port at the far end of a link. If all links lead both ways, input ports have the
 * numbers of output ports; else the links into a vertex are counted. */
static inline uint32_t wf_router_in_port(const struct wf_router_net *model, uint32_t vertex,
                                         uint32_t port)
{
    return model->grid != NULL ? port ^ 1
                               : model->in_port[wf_topo_first_link(model->topo, vertex) + port];
}

/* The near end of the link that ends at an input port. */
struct wf_router_end {
    uint32_t vertex, port;
};

static inline struct wf_router_end wf_router_before(const struct wf_router_net *model,
                                                    uint32_t vertex, uint32_t in_port)
{
    const struct wf_topo *topo = model->topo;

    if (model->inward.first == NULL) {
        return (struct wf_router_end){topo->ops->neighbor(topo, vertex, in_port),
                                      wf_router_in_port(model, vertex, in_port)};
    }
    uint32_t at = model->inward.first[vertex] + in_port, from = model->inward.from[at];
    return (struct wf_router_end){from,
                                  model->inward.link[at] - wf_topo_first_link(topo, from)};
}

static inline const struct wf_router_link_kind *
wf_router_kind(const struct wf_router_net *model, uint32_t vertex, uint32_t port)
{
    return model->kind_of == NULL
               ? model->kinds
               : &model->kinds[model->kind_of[wf_topo_first_link(model->topo, vertex) + port]];
}

/* The kind of the link that ends at an input port; the first kind if there is no such link, as at
 * the border of a mesh. */
static inline const struct wf_router_link_kind *
wf_router_kind_in(const struct wf_router_net *model, uint32_t vertex, uint32_t in_port)
{
    if (model->kind_of == NULL) {
        return model->kinds;
    }
    const struct wf_router_end before = wf_router_before(model, vertex, in_port);
    return before.vertex == WF_TOPO_NO_VERTEX
               ? model->kinds
               : wf_router_kind(model, before.vertex, before.port);
}

/* An input, which the caller is going to change. */
static inline struct wf_router_input *wf_router_edit_input(const struct wf_router_view *view,
                                                           uint32_t input)
{
    wf_touch(view->ctx, &view->inputs[input], sizeof(view->inputs[input]));
    return &view->inputs[input];
}

/* The queue of an input, as a deadlock report names it. */
static inline struct wf_net_queue wf_router_queue(const struct wf_router_view *view,
                                                  uint32_t input)
{
    uint32_t vcs = view->model->rules.vcs;

    return (struct wf_net_queue){view->vertex, (uint16_t)(input / vcs),
                                 (uint16_t)(input % vcs)};
}

/* The queue at the end of a channel. */
static inline struct wf_net_queue wf_router_queue_after(const struct wf_router_view *view,
                                                        uint32_t channel)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = channel / model->rules.vcs;

    return (struct wf_net_queue){
        .vertex = model->topo->ops->neighbor(model->topo, view->vertex, port),
        .port = (uint16_t)wf_router_in_port(model, view->vertex, port),
        .vc = (uint16_t)(channel % model->rules.vcs),
    };
}

/* ---- grids ---- */

static inline const uint16_t *wf_router_coords_of(const struct wf_router_net *model,
                                                  uint32_t vertex)
{
    return model->coords + (size_t)vertex * model->grid->n_dims;
}

/* ---- links.c ---- */

/* Sets links, kinds and kind_of and what follows from them. WF_EINVAL if net.links makes no sense
 * or a property of a link cannot be expressed in cycles. */
enum wf_status wf_router_make_links(struct wf_router_net *model, const struct wf_net_env *env,
                                    struct wf_err *err);

/* fit() of struct wf_net_ops: the longest cycle in which links of a graph file move whole phits,
 * and queues for their latencies. */
void wf_router_fit(void *params, const struct wf_topo *topo);

/* ---- scheme.c: routings, and what they need ---- */

extern const char *const wf_router_routings[];

/* Sets grid, route, scheme, request, escapes, bubble and vcs as the routing needs them on
 * the topology. WF_EINVAL if the routing does not work there. */
enum wf_status wf_router_choose_scheme(struct wf_router_net *model, struct wf_err *err);

/* ---- policy.c: routing policies ---- */

/* Bytes that wait at a port: those that hold its channels, and those in the queues at their
 * end. */
uint64_t wf_router_queue_bytes(const struct wf_router_view *view, uint32_t port);

/* Asks the policy for the first packet of an input, if it was not asked yet. The channel that it
 * chooses stands, + 1, in the packet's cell. */
void wf_router_policy_ask(const struct wf_router_view *view, uint32_t input);

/* A packet for which a policy is asked. */
struct wf_router_traveller {
    const struct wf_route *route;
    uint32_t vertex, dst, src;
    uint32_t number; /* of its message at the source */
    uint32_t input;
    bool injected;
    uint64_t cycle;
    const void *router; /* for... */
    uint64_t (*queue)(const void *router, uint32_t vertex,
                      uint32_t port); /* ...bytes that wait */
};

/* The channel that the policy chooses, of the first set. Changes the state for the next router. */
uint32_t wf_router_policy_choose(const struct wf_router_net *model,
                                 const struct wf_router_traveller *who,
                                 struct wf_route_state *state);

/* ---- fault.c; the model has failures in time ---- */

/* Begins a decision: if the network has changed, packets choose their channels anew, and those
 * that have no route left are dropped. */
void wf_router_fault_begin(const struct wf_router_view *view);
/* The cycle of the next change, if the router has packets; else WF_ROUTER_NEVER. */
int64_t wf_router_fault_wake(const struct wf_router_view *view);
/* Drops the first packet of an input if it has no route; returns whether it did. */
bool wf_router_fault_strands(const struct wf_router_view *view, uint32_t input);
/* Drops a packet that is being sent, if the link fails before `tail`, the cycle in which its
 * last phit arrives; returns whether it did. The head would arrive in the cycle `head`. */
bool wf_router_fault_cuts(const struct wf_router_view *view, uint32_t channel,
                          const struct wf_router_packet *packet, int64_t head, int64_t tail);
/* WF_ROUTER_RESEND, WF_ROUTER_LOST. */
void wf_router_fault_resend(const struct wf_router_view *view,
                            const struct wf_router_packet *packet);
void wf_router_fault_lost(const struct wf_router_view *view, const struct wf_router_lost *lost);
/* What happened to the packets of a node. */
const struct wf_net_losses *wf_router_fault_losses(const struct wf_router_view *view);

/* ---- notice.c; the model sends notices ---- */

/* Notifies the neighbours if the queue of the port has changed by a step. */
void wf_router_notice_send(const struct wf_router_view *view, uint32_t port);
/* Likewise for all ports. */
void wf_router_notice_send_all(const struct wf_router_view *view);
/* WF_ROUTER_NOTICE. */
void wf_router_notice_received(const struct wf_router_view *view,
                               const struct wf_router_notice *notice);
/* Bytes that wait at a port of the neighbour `vertex`, by the last notice. */
uint64_t wf_router_notice_queue(const struct wf_router_view *view, uint32_t vertex,
                                uint32_t port);

/* ---- route.c: what packets request ---- */

/* What the first packet of an input, which holds no channel, requests in this cycle. */
struct wf_router_request wf_router_ask(const struct wf_router_view *view, uint32_t input);

/* When the first packet of an input that got nothing should ask again: in the next cycle if
 * it could get a channel then, else when that may change. WF_ROUTER_NEVER if an event will
 * wake the router; then this function makes sure that there is one. */
int64_t wf_router_ask_again(const struct wf_router_view *view, uint32_t input);

/* Whether the first packet of an input can continue only into full queues, and which ones. */
bool wf_router_is_blocked(const struct wf_router_view *view, uint32_t input,
                          struct wf_net_wait *wait);

/* The output ports that a packet may take, outside of grids; returns their number. If
 * requests have a fixed order there is one port. */
uint32_t wf_router_ports(const struct wf_router_view *view,
                         const struct wf_router_packet *packet, uint32_t *ports);

/* The channels that a packet may request by the scheme alone, after it arrived at a router
 * by an input or is injected there (WF_ROUTER_NONE). Sets the channel to be tried last, or
 * WF_ROUTER_NONE. Returns the number of the other channels, at most WF_ROUTER_INPUTS_MAX.
 * Not for policies. */
uint32_t wf_router_channels_of(const struct wf_router_net *model, uint32_t vertex,
                               const struct wf_router_packet *packet, uint32_t input,
                               uint16_t *channels, uint32_t *escape);

/* ---- decide.c ---- */

/* Makes sure that there is a decision at the cycle `at`, which is not in the past, or
 * earlier. */
void wf_router_wake(const struct wf_router_view *view, int64_t at);

/* Appends a packet whose head has arrived to a queue. Returns whether the queue was empty. */
bool wf_router_append(const struct wf_router_view *view, uint32_t number,
                      const struct wf_router_packet *packet);
/* Like wf_router_append(), and wakes the router if needed. */
void wf_router_enqueue(const struct wf_router_view *view, uint32_t number,
                       const struct wf_router_packet *packet);
/* Notes whether an input has packets. */
void wf_router_mark(const struct wf_router_view *view, uint32_t input, bool has_packets);

void wf_router_decide(const struct wf_router_view *view);

/* ---- ends.c ---- */

/* Chooses once, at injection, in which direction the packet travels each ring. `index` tells
 * the packets of a message apart. */
void wf_router_prepare(const struct wf_router_view *view, struct wf_router_packet *packet,
                       uint32_t index);

/* Fills the injection queues from the messages that wait. A packet that has begun to leave does
 * not count in its queue any more, as in INSEE. */
void wf_router_inject(const struct wf_router_view *view);

/* Puts a packet that is sent again in front of the messages that wait for injection. */
void wf_router_inject_again(const struct wf_router_view *view,
                            const struct wf_router_packet *packet);
/* Forgets a message for this node that lost a packet. */
void wf_router_forget(const struct wf_router_view *view, const struct wf_router_lost *lost);

/* A packet is at its destination; its tail follows. */
void wf_router_consume(const struct wf_router_view *view,
                       const struct wf_router_packet *packet);

/* Members of struct wf_net_ops. */
bool wf_router_can_inject(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          uint32_t dst);
int64_t wf_router_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start);

/* ---- process.c ---- */

/* The view of the interface `nic` of a node, or of another vertex. */
struct wf_router_view wf_router_view_at(const struct wf_router_net *model, struct wf_ctx *ctx,
                                        void *state, uint32_t nic);

/* Members of struct wf_net_ops. */
void wf_router_attach(struct wf_net *net, struct wf_engine *engine);
void wf_router_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev);
void wf_router_finish(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                      uint32_t nic, struct wf_net_totals *totals);
void wf_router_usage(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                     struct wf_net_usage *usage);

/* ---- detector.c: the deadlock detector, and what routers report to it ---- */

/* A packet got nothing: the router will look at it later. */
void wf_router_watch(const struct wf_router_view *view);
/* WF_ROUTER_WATCH. */
void wf_router_look(const struct wf_router_view *view);
/* The first packet of an input, which was reported as blocked, begins to leave. */
void wf_router_unwatch(const struct wf_router_view *view, struct wf_router_input *input,
                       uint32_t number);
/* A packet was injected or consumed. */
void wf_router_counted(const struct wf_router_view *view);
/* WF_ROUTER_REPORT. */
void wf_router_report(const struct wf_router_view *view);

/* Adds the detector's process to the engine, if the parameters need it. */
void wf_router_add_detector(struct wf_router_net *model, struct wf_engine *engine);
