/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The router with wormhole switching, flit by flit (a flit is a phit). It models BookSim2's
 * input-queued router (Jiang and others, "A detailed and flexible cycle-accurate
 * network-on-chip simulator", ISPASS 2013; Dally and Towles, "Principles and practices of
 * interconnection networks", 2004, chapter 16). A packet is routed when its head is the first
 * of its queue. It then gets a virtual channel, which it holds until its tail has left. Each of
 * its flits gets the switch for a cycle, if there is room for it at the end of the channel.
 * Channels and switch are allocated in one round of iSLIP (McKeown, "The iSLIP scheduling
 * algorithm for input-queued switches", IEEE/ACM Transactions on Networking, 1999).
 *
 * A router with a node has a local port besides its links, by which the node sends and
 * receives.
 */

#include "model/net/router/events/model.h"

enum wf_router_flit_state { WF_ROUTER_FLIT_IDLE, WF_ROUTER_FLIT_WAITS, WF_ROUTER_FLIT_GOES };

/* What a queue has besides its struct wf_router_input. All zero means empty. */
struct wf_router_flit_input {
    uint32_t here;   /* flits that have arrived */
    uint32_t gone;   /* flits of the first packet that have left */
    uint16_t accept; /* channel to accept first, if several are offered */
    uint16_t port;   /* output port of the first packet, + 1; 0: it is not routed yet */
    uint16_t vcs;    /* channels that it may take, one bit each */
    uint8_t state;   /* enum wf_router_flit_state */
    uint8_t spare;
    int64_t ready; /* first cycle in which the first packet may request a channel */
};

/* What a channel has besides its struct wf_router_channel. */
struct wf_router_flit_channel {
    uint32_t used;  /* flits in the queue at its end, or on the link */
    uint16_t grant; /* input that gets its first offer */
    uint16_t spare;
};

/* A port as an input and as an output of the switch. */
struct wf_router_flit_port {
    uint16_t turn;   /* virtual channel that requests the switch first */
    uint16_t accept; /* output to accept first */
    uint16_t grant;  /* input that gets its first offer */
    uint16_t holds;  /* input: virtual channel whose packet keeps the switch, + 1 */
    bool is_held;    /* output: a packet keeps it */
    uint8_t spare[7];
};

/* A node, as the source of flits. */
struct wf_router_flit_source {
    uint32_t sent; /* flits sent of the current packet; 0: there is none */
    uint16_t vc;   /* channel of the last flit that was sent */
    uint16_t spare;
};

static inline struct wf_router_flit_input *
wf_router_flit_inputs(const struct wf_router_view *view)
{
    return (void *)((unsigned char *)view->head + view->layout->flit_inputs);
}

static inline struct wf_router_flit_channel *
wf_router_flit_channels(const struct wf_router_view *view)
{
    return (void *)((unsigned char *)view->head + view->layout->flit_channels);
}

static inline struct wf_router_flit_port *
wf_router_flit_ports(const struct wf_router_view *view)
{
    return (void *)((unsigned char *)view->head + view->layout->flit_ports);
}

static inline struct wf_router_flit_source *
wf_router_flit_source(const struct wf_router_view *view)
{
    return (void *)((unsigned char *)view->head + view->layout->flit_source);
}

static inline struct wf_router_flit_input *
wf_router_flit_edit(const struct wf_router_view *view, uint32_t input)
{
    struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];

    wf_touch(view->ctx, at, sizeof(*at));
    return at;
}

/* Whether a port leads to a node, which always has space, and not to a router. */
static inline bool wf_router_flit_is_terminal(const struct wf_router_view *view, uint32_t port)
{
    const struct wf_topo *topo = view->model->topo;

    return port == view->layout->n_ports ||
           (!wf_topo_is_direct(topo) &&
            topo->ops->neighbor(topo, view->vertex, port) < topo->n_nodes);
}

/* The kind of an outgoing link; that of the parameters for the way between a node and its own
 * router. */
static inline const struct wf_router_link_kind *
wf_router_flit_kind(const struct wf_router_view *view, uint32_t port)
{
    return port < view->layout->n_ports ? wf_router_kind(view->model, view->vertex, port)
                                        : view->model->kinds;
}

/* Flits that fit into the queue at the end of a channel. */
static inline uint64_t wf_router_flit_capacity(const struct wf_router_view *view,
                                               uint32_t channel)
{
    return (uint64_t)wf_router_flit_kind(view, channel / view->model->rules.vcs)->queue *
           view->model->rules.phits;
}

/* Whether there is space for a flit at the end of a channel. */
static inline bool wf_router_flit_has_room(const struct wf_router_view *view, uint32_t channel)
{
    return wf_router_flit_channels(view)[channel].used <
               wf_router_flit_capacity(view, channel) ||
           wf_router_flit_is_terminal(view, channel / view->model->rules.vcs);
}

/* Whether a packet can be given a channel. */
static inline bool wf_router_flit_is_open(const struct wf_router_view *view, uint32_t channel)
{
    return view->channels[channel].holder == 0 &&
           (!view->model->atomic || wf_router_flit_channels(view)[channel].used == 0);
}

/* Whether an outgoing link can take a flit in this cycle. If not, the router wakes when it
 * can. */
static inline bool wf_router_flit_link_is_free(const struct wf_router_view *view, uint32_t port)
{
    if (port >= view->layout->n_ports || view->links[port].free <= view->now) {
        return true;
    }
    wf_router_wake(view, view->links[port].free);
    return false;
}

/* A flit leaves by an outgoing link. */
static inline void wf_router_flit_use_link(const struct wf_router_view *view, uint32_t port)
{
    uint32_t pace = wf_router_flit_kind(view, port)->pace;

    if (pace > 1 && port < view->layout->n_ports) {
        wf_touch(view->ctx, &view->links[port], sizeof(view->links[port]));
        view->links[port].free = view->now + pace;
    }
}

/* The first of the channels by which this node reaches its router: after those of the local
 * port, or those of its link if the router is another vertex. */
static inline uint32_t wf_router_flit_source_channels(const struct wf_router_view *view)
{
    return wf_topo_is_direct(view->model->topo)
               ? (view->layout->n_ports + 1) * view->model->rules.vcs
               : 0;
}

/* ---- flit.c ---- */

/* Handles an event; false if its kind is handled as in cut-through switching. */
bool wf_router_flit_event(const struct wf_router_view *view, const struct wf_event *ev);

/* Routes the first packet of a queue: sets port and vcs. */
void wf_router_flit_route(const struct wf_router_view *view, uint32_t input);

/* As wf_router_can_inject() and wf_router_is_blocked(). */
bool wf_router_flit_can_inject(const struct wf_router_view *view);
bool wf_router_flit_is_blocked(const struct wf_router_view *view, uint32_t input,
                               struct wf_net_wait *wait);

/* The first packet of a queue, executed by events or in lock step. */
struct wf_router_flit_now {
    const struct wf_router_view *view;
    uint32_t input;
    bool lacks_room; /* it has a flit here and the channel `taken`, but no room at its end */
    uint32_t taken;
    uint32_t port, vcs; /* the channels that it waits for, bits; none: it waits for none */
    uint32_t (*holder)(const void *state, uint32_t channel); /* input + 1; 0: it is free */
    const void *state;
};

/* A packet is blocked if it waits for room at the end of its channel, or for the packets that hold
 * all channels it may take. */
bool wf_router_flit_waits(const struct wf_router_flit_now *now, struct wf_net_wait *wait);

/* ---- flit_alloc.c ---- */

typedef void wf_router_flit_move(const struct wf_router_view *view, uint32_t input);

/* Gives channels to packets, and the switch to flits of packets that had a channel before
 * this cycle. Sends these flits with `move`. Returns whether there is work in the next
 * cycle. */
bool wf_router_flit_allocate(const struct wf_router_view *view, wf_router_flit_move *move);
