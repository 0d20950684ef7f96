/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTER_NET_H
#define WF_NET_ROUTER_NET_H

/*
 * The router model as its own files see it.
 *
 * Time is counted in cycles. What reaches a router (heads of packets, slots that became free,
 * messages of its node) does so at the beginning of a cycle; the router decides one picosecond
 * later, when all of that is known, so that the order of events at one instant does not matter.
 */

#include "net/router.h"
#include "topo/grid.h"

enum {
    WF_ROUTER_HEAD,    /* of a packet, at the input its channel leads to: wf_router_packet */
    WF_ROUTER_SLOT,    /* behind a channel is free again: its number */
    WF_ROUTER_DECIDE,  /* for oneself */
    WF_ROUTER_DELIVER, /* for oneself: a message is complete: wf_router_packet */
};

enum { WF_ROUTER_VCS_MAX = 8, WF_ROUTER_INPUTS_MAX = 1024 };

#define WF_ROUTER_NEVER INT64_MAX
#define WF_ROUTER_NONE  UINT32_C(0xffffffff)

/* Travels in events: no padding. */
struct wf_router_packet {
    struct wf_message msg;
    int64_t born;    /* cycle in which it entered its injection queue */
    uint32_t dst;    /* node */
    uint32_t number; /* of the message among those of its source */
    uint32_t order;  /* of the message among those of its source for this destination */
    uint32_t via;    /* a vertex to pass first, + 1; 0 for none */
    uint16_t hops;   /* made so far */
    uint16_t input;  /* of the router it arrives at */
    uint8_t ways;    /* bit d: dimension d is travelled downwards */
    uint8_t spare[3];
};

_Static_assert(sizeof(struct wf_router_packet) == 64, "no padding");

/* What is kept in cells: packets in queues, messages that wait to be injected, and what the
 * ends of the network remember of their messages. */
struct wf_router_cell {
    struct wf_router_packet packet;
    int64_t at;     /* cycle in which the head arrived */
    uint32_t next;  /* cell, or 0 */
    uint32_t count; /* of packets or messages */
};

/* A queue at the end of a link's channel, or of injection. Zeroed is empty. */
struct wf_router_input {
    uint32_t first, last; /* cells, of packets that have not begun to leave */
    uint16_t n;           /* of them */
    uint16_t taken;       /* channel that the first of them holds, + 1; 0: none */
    uint8_t bet;          /* what the first one asks for next, in smart requests */
    uint8_t spare[3];
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
    uint32_t consume_winner;
    uint32_t numbers;                  /* messages sent so far; of nodes, as all below */
    uint32_t backlog, backlog_last;    /* cells of messages that wait for injection */
    uint32_t partial;                  /* ...that have arrived in part */
    uint32_t early;                    /* ...that wait for one before them */
    uint32_t sent_orders, seen_orders; /* ...counts of messages for and from each node */
};

/* Where the parts of a state are. */
struct wf_router_layout {
    uint32_t n_ports, n_inputs, n_words, n_injection;
    size_t channels, links, inputs, words, size;
};

struct wf_router_net {
    struct wf_net net;
    const struct wf_topo *topo;
    const struct wf_grid *grid; /* the same, if it is one; else null */
    struct wf_router_params set;
    uint32_t vcs;
    uint32_t phits;   /* of a packet */
    bool bubble;      /* rings are entered only if one more would fit */
    uint32_t escapes; /* channels of each link that adaptive packets use as a last resort */
    int request;
    int scheme;         /* enum wf_router_routing without the presets */
    uint16_t *coords;   /* of each vertex of a grid, n_dims each */
    uint16_t *reverse;  /* of each directed link not of a grid: the port at its far end */
    uint32_t first_other;
    struct wf_router_layout node, other;
    struct wf_process_ops other_ops;
};

/* Where and when a handler is. */
struct wf_router_spot {
    const struct wf_router_net *model;
    const struct wf_router_layout *layout;
    struct wf_ctx *ctx;
    struct wf_router_head *head;
    struct wf_router_channel *channels;
    struct wf_router_link *links;
    struct wf_router_input *inputs;
    uint64_t *words;
    uint32_t vertex;
    int64_t now; /* cycle */
};

/* What the first packet of an input asks for. */
struct wf_router_wish {
    uint32_t input;
    uint32_t channel; /* WF_ROUTER_CONSUME; WF_ROUTER_NONE: nothing it could get now */
};
#define WF_ROUTER_CONSUME UINT32_C(0xfffffffe)

static inline const struct wf_router_net *wf_to_router(const struct wf_net *net)
{
    return (const struct wf_router_net *)net;
}

static inline uint32_t wf_router_process(const struct wf_router_net *model, uint32_t vertex)
{
    return vertex < model->net.n_nodes ? model->net.first_node + vertex
                                       : model->first_other + (vertex - model->net.n_nodes);
}

/* The port at the far end of a link. */
static inline uint32_t wf_router_reverse(const struct wf_router_net *model, uint32_t vertex,
                                         uint32_t port)
{
    return model->grid != NULL
               ? port ^ 1
               : model->reverse[wf_topo_first_link(model->topo, vertex) + port];
}

static inline struct wf_router_input *wf_router_edit_input(const struct wf_router_spot *spot,
                                                           uint32_t input)
{
    wf_touch(spot->ctx, &spot->inputs[input], sizeof(spot->inputs[input]));
    return &spot->inputs[input];
}

/* ---- router_route.c ---- */

/* Chooses what a packet decides once and for all when it is injected. `index` tells the packets
 * of a message apart. */
void wf_router_prepare(const struct wf_router_spot *spot, struct wf_router_packet *packet,
                       uint32_t index);

/* What the first packet of an input, which holds nothing, asks for in this cycle. */
struct wf_router_wish wf_router_wish(const struct wf_router_spot *spot, uint32_t input);

/* When the first packet of an input that got nothing should ask again: the next cycle if there
 * is something it could get, else when that may become so; WF_ROUTER_NEVER if an event tells.
 * Makes sure that one does. */
int64_t wf_router_ask_again(const struct wf_router_spot *spot, uint32_t input);

/* After the run: adds an input whose first packet can go nowhere but into full queues. */
void wf_router_watch(const struct wf_router_spot *spot, uint32_t input, struct wf_waits *waits);

/* A head arrived at this router: it may be where it had to pass, or decide on a detour. */
void wf_router_note_via(const struct wf_router_spot *spot, struct wf_router_packet *packet);

/* The injection queue for a packet. */
uint32_t wf_router_injector(const struct wf_router_spot *spot,
                            const struct wf_router_packet *packet);

/* ---- router_decide.c ---- */

/* Makes sure that there is a decision in the cycle `at`, now or later, or before. */
void wf_router_wake(const struct wf_router_spot *spot, int64_t at);

/* Appends a packet whose head is here to a queue. */
void wf_router_enqueue(const struct wf_router_spot *spot, uint32_t input,
                       const struct wf_router_packet *packet);

void wf_router_decide(const struct wf_router_spot *spot);

/* ---- router_ends.c ---- */

/* Fills the injection queues from the messages that wait. A packet that has begun to leave no
 * longer counts in an injection queue: INSEE's queue of 4 and buffer of 4 behave like that. */
void wf_router_inject(const struct wf_router_spot *spot);

/* A packet is at its destination; its tail follows. */
void wf_router_consume(const struct wf_router_spot *spot,
                       const struct wf_router_packet *packet);

/* Whether an injection queue has room for a packet to `dst` now. */
bool wf_router_room(const struct wf_net *net, struct wf_ctx *ctx, void *node, uint32_t dst);

int64_t wf_router_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_message *msg, int64_t start);

struct wf_router_spot wf_router_here(const struct wf_router_net *model, struct wf_ctx *ctx,
                                     void *state);

#endif
