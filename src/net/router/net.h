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

#include "net/router/router.h"
#include "net/router/state.h"
#include "topo/grid.h"

enum { WF_ROUTER_POLICY = WF_ROUTER_AUTO_ROUTING };

struct wf_router_net {
    struct wf_net net;
    const struct wf_topo *topo;
    const struct wf_topo_grid *grid; /* the same, if the scheme is one of grids; else null */
    struct wf_router_params set;
    uint32_t vcs;
    uint32_t phits;   /* of a packet */
    bool bubble;      /* rings are entered only if one more would fit */
    uint32_t escapes; /* channels of each link that adaptive packets use as a last resort */
    int request;
    uint64_t seed;
    int scheme;             /* enum wf_router_routing without the presets, or... */
    struct wf_route *route; /* ...WF_ROUTER_POLICY with this; else null */
    uint16_t *coords;       /* of each vertex of a grid, n_dims each */
    uint16_t *reverse;      /* of each directed link not of a grid: the port at its far end */
    uint32_t first_other, detector; /* processes */
    uint64_t packets_limit;         /* packets in the network above which none is injected */
    struct wf_router_layout node, other;
    struct wf_process_ops other_ops, detector_ops;
};

/* Where and when a handler is. */
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
    int64_t now; /* cycle */
};

/* What the first packet of an input asks for. */
struct wf_router_request {
    uint32_t input;
    uint32_t channel; /* WF_ROUTER_CONSUME; WF_ROUTER_NONE: nothing it could get now */
};
#define WF_ROUTER_CONSUME UINT32_C(0xfffffffe)

static inline const struct wf_router_net *wf_router_of(const struct wf_net *net)
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
    return model->grid != NULL ? port ^ 1
                               : model->reverse[wf_topo_first_link(model->topo, vertex) + port];
}

static inline struct wf_router_input *wf_router_edit_input(const struct wf_router_view *view,
                                                           uint32_t input)
{
    wf_touch(view->ctx, &view->inputs[input], sizeof(view->inputs[input]));
    return &view->inputs[input];
}

/* ---- router_route.c, router_ways.c ---- */

/* Chooses what a packet decides once and for all when it is injected. `index` tells the packets
 * of a message apart. */
void wf_router_prepare(const struct wf_router_view *view, struct wf_router_packet *packet,
                       uint32_t index);

/* What the first packet of an input, which holds nothing, asks for in this cycle. */
struct wf_router_request wf_router_ask(const struct wf_router_view *view, uint32_t input);

/* When the first packet of an input that got nothing should ask again: the next cycle if there
 * is something it could get, else when that may become so; WF_ROUTER_NEVER if an event tells.
 * Makes sure that one does. */
int64_t wf_router_ask_again(const struct wf_router_view *view, uint32_t input);

/* The injection queue for a packet. */
uint32_t wf_router_injector(const struct wf_router_view *view,
                            const struct wf_router_packet *packet);

/* ---- router_decide.c ---- */

/* Makes sure that there is a decision in the cycle `at`, now or later, or before. */
void wf_router_wake(const struct wf_router_view *view, int64_t at);

/* Appends a packet whose head is here to a queue. */
void wf_router_enqueue(const struct wf_router_view *view, uint32_t number,
                       const struct wf_router_packet *packet);

void wf_router_decide(const struct wf_router_view *view);

/* ---- router_ends.c ---- */

/* Fills the injection queues from the messages that wait. A packet that has begun to leave no
 * longer counts in an injection queue: INSEE's queue of 4 and buffer of 4 behave like that. */
void wf_router_inject(const struct wf_router_view *view);

/* A packet is at its destination; its tail follows. */
void wf_router_consume(const struct wf_router_view *view,
                       const struct wf_router_packet *packet);

/* Whether an injection queue has room for a packet to `dst` now. */
bool wf_router_can_inject(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          uint32_t dst);

int64_t wf_router_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start);

/* ---- router_process.c ---- */

struct wf_router_view wf_router_view_at(const struct wf_router_net *model, struct wf_ctx *ctx,
                                        void *state);

/* Members of struct wf_net_ops. */
void wf_router_attach(struct wf_net *net, struct wf_engine *engine);
void wf_router_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev);
void wf_router_finish(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                      struct wf_net_totals *facts);
void wf_router_usage(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                     struct wf_net_usage *use);

#endif
