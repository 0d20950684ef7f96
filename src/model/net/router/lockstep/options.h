/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which channels a packet may request, and whether it can get them: the rules of
 * model/net/router/events/route.c. The channels are listed as spans, each of channels of one port; on grids
 * there is at most one for each dimension.
 */

#include "model/net/router/lockstep/state.h"

/* The first packet of an input, and where it is. */
struct wf_lockstep_asker {
    uint32_t router, cycle, input;
    uint32_t port, vc; /* of the input, unless it is injected */
    bool injected;
    bool arrived; /* it is at its destination */
    bool before;  /* on grids: it has still to cross the dateline of its first dimension */
    uint32_t left, way; /* on grids, bits of dimensions: still to travel, and downwards */
    uint32_t at;        /* cycle in which its head arrived; 0 if all links are alike */
#ifndef WF_LOCKSTEP_TILES
    const uint16_t *ports; /* trees: the ports that it may take */
    uint32_t n_ports;
    uint32_t chosen; /* policies: the channel chosen, + 1 */
#endif
};

/* Channels first, first + step, ... before `end`. */
struct wf_lockstep_span {
    uint32_t first, end, step;
};

enum { WF_LOCKSTEP_ESCAPE = 0 }; /* the channel of adaptive routing that cannot deadlock */

/* ---- grids ---- */

static inline uint32_t wf_lockstep_dim_port(uint32_t way, uint32_t dim)
{
    return 2 * dim + (way >> dim & 1);
}

/* The first dimension in which a packet is not at its destination. */
static inline uint32_t wf_lockstep_first_dim(const struct wf_lockstep_asker *asker)
{
    return asker->left != 0 ? (uint32_t)__builtin_ctz(asker->left) : 0;
}

/* The dimensions that a packet has still to travel, and in *before whether the rest of its route
 * in the first of them crosses the dateline of its ring. */
static inline uint32_t wf_lockstep_left(const struct wf_lockstep_net *net, uint32_t r,
                                        const struct wf_lockstep_packet *packet, bool *before)
{
    uint32_t left = 0;

    *before = false;
    for (uint32_t dim = 0; dim < net->n_dims; dim++) {
        uint32_t here = wf_lockstep_coord(net, r, dim);
        uint32_t there = wf_lockstep_coord(net, packet->dst, dim);
        if (here == there) {
            continue;
        }
        if (left == 0) {
            *before = (packet->way >> dim & 1) != 0 ? there > here : there < here;
        }
        left |= UINT32_C(1) << dim;
    }
    return left;
}

/* All channels of a port from number `vc` on. */
static inline struct wf_lockstep_span wf_lockstep_span_of(const struct wf_lockstep_net *net,
                                                          uint32_t port, uint32_t vc)
{
    return (struct wf_lockstep_span){port * net->vcs + vc, (port + 1) * net->vcs, 1};
}

static inline struct wf_lockstep_span wf_lockstep_span_one(uint32_t channel)
{
    return (struct wf_lockstep_span){channel, channel + 1, 1};
}

/* Dimension order: a packet that stays in a dimension keeps its channel. */
static inline struct wf_lockstep_span wf_lockstep_dor(const struct wf_lockstep_net *net,
                                                      const struct wf_lockstep_asker *asker)
{
    uint32_t dim = wf_lockstep_first_dim(asker);
    uint32_t port = wf_lockstep_dim_port(asker->way, dim);

    return !asker->injected && asker->port / 2 == dim
               ? wf_lockstep_span_one(port * net->vcs + asker->vc)
               : wf_lockstep_span_of(net, port, 0);
}

/* The lower half of the channels before the dateline of a ring, the upper half after it. */
static inline struct wf_lockstep_span
wf_lockstep_dateline(const struct wf_lockstep_net *net, const struct wf_lockstep_asker *asker)
{
    uint32_t dim = wf_lockstep_first_dim(asker);
    uint32_t first = wf_lockstep_dim_port(asker->way, dim) * net->vcs;
    bool before = asker->before;
    bool low = before || net->scheme == WF_LOCKSTEP_DATELINE_FREE;

    return (struct wf_lockstep_span){first + (low ? 0 : net->vcs / 2),
                                     first + (before ? net->vcs / 2 : net->vcs), 1};
}

/* Fully adaptive, minimal: a span for each dimension. */
static inline struct wf_lockstep_span
wf_lockstep_adaptive(const struct wf_lockstep_net *net, const struct wf_lockstep_asker *asker,
                     uint32_t dim)
{
    uint32_t port = wf_lockstep_dim_port(asker->way, dim);
    bool stays = !asker->injected && asker->vc != WF_LOCKSTEP_ESCAPE &&
                 net->request == WF_LOCKSTEP_SMART;

    if ((asker->left >> dim & 1) == 0) {
        return (struct wf_lockstep_span){0, 0, 1};
    }
    return stays && (port ^ 1) == asker->port
               ? wf_lockstep_span_one(port * net->vcs + asker->vc)
               : wf_lockstep_span_of(net, port, 1);
}

/* The channel that an adaptive packet tries last; WF_LOCKSTEP_NONE for others. */
static inline uint32_t wf_lockstep_escape(const struct wf_lockstep_net *net,
                                          const struct wf_lockstep_asker *asker)
{
    if (net->escapes == 0) {
        return WF_LOCKSTEP_NONE;
    }
    return wf_lockstep_dim_port(asker->way, wf_lockstep_first_dim(asker)) * net->vcs +
           WF_LOCKSTEP_ESCAPE;
}

/* ---- all networks ---- */

/* The number of spans of a packet. */
static inline uint32_t wf_lockstep_spans(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_asker *asker)
{
#ifndef WF_LOCKSTEP_TILES
    if (net->scheme == WF_LOCKSTEP_UPDOWN) {
        return asker->n_ports;
    }
    if (net->scheme == WF_LOCKSTEP_POLICY) {
        return asker->chosen != 0;
    }
#endif
    (void)asker;
    return net->scheme == WF_LOCKSTEP_ADAPTIVE ? net->n_dims : 1;
}

/* The k-th span; the channels of all spans are in the order in which the router model lists
 * them. A span may be empty. */
static inline struct wf_lockstep_span wf_lockstep_span(const struct wf_lockstep_net *net,
                                                       const struct wf_lockstep_asker *asker,
                                                       uint32_t k)
{
#ifndef WF_LOCKSTEP_TILES
    if (net->scheme == WF_LOCKSTEP_UPDOWN) {
        return wf_lockstep_span_of(net, asker->ports[k], 0);
    }
    if (net->scheme == WF_LOCKSTEP_POLICY) {
        uint32_t first = asker->chosen - 1;
        return (struct wf_lockstep_span){first, first - first % net->vcs + net->vcs,
                                         net->class_vcs};
    }
#endif
    return net->scheme == WF_LOCKSTEP_DOR        ? wf_lockstep_dor(net, asker)
           : net->scheme == WF_LOCKSTEP_ADAPTIVE ? wf_lockstep_adaptive(net, asker, k)
                                                 : wf_lockstep_dateline(net, asker);
}

/* ---- whether a packet can get a channel ---- */

/* Holds cycles and the phits of a queue. */
#ifdef WF_LOCKSTEP_TIGHT
typedef int32_t wf_lockstep_signed;
#else
typedef int64_t wf_lockstep_signed;
#endif

/* Phits that have passed entirely after so many cycles. */
static inline wf_lockstep_signed wf_lockstep_moved(wf_lockstep_signed cycles, uint32_t pace)
{
    return pace <= 1 ? cycles : cycles / (wf_lockstep_signed)pace;
}

/* Phits in a queue at the end of a link, at the beginning of the cycle. */
static inline wf_lockstep_signed wf_lockstep_phits_in(const struct wf_lockstep_net *net,
                                                      const struct wf_lockstep_input *input,
                                                      uint32_t link_pace, uint32_t cycle)
{
    wf_lockstep_signed phits = (wf_lockstep_signed)net->phits, now = (wf_lockstep_signed)cycle;
    wf_lockstep_signed gone = wf_lockstep_moved(now - ((wf_lockstep_signed)input->leave - 1),
                                                wf_lockstep_pace(net, input));
    bool leaving = input->leave != 0 && gone < phits;
    wf_lockstep_signed here =
        wf_lockstep_moved(now - (wf_lockstep_signed)input->head, link_pace) + 1;

    if (input->n == 0 && !leaving) {
        return 0;
    }
    return phits * (input->n + leaving) - (leaving ? gone : 0) -
           (here < phits ? phits - here : 0);
}

/* The queue at this router from which packets of a ring continue on the channel. */
static inline uint32_t wf_lockstep_ring_input(const struct wf_lockstep_net *net,
                                              uint32_t channel)
{
    return (channel / net->vcs ^ 1) * net->vcs + channel % net->vcs;
}

/* The space, in packets, that the queue of a channel's ring must have before the packet may
 * enter the ring; 0 if it may always enter. */
static inline uint32_t wf_lockstep_room_needed(const struct wf_lockstep_net *net,
                                               const struct wf_lockstep_asker *asker,
                                               uint32_t channel)
{
    uint32_t room = asker->injected ? net->restriction : 0;

    if (net->bubble != 0 && (net->rings >> (channel / net->vcs / 2) & 1) != 0 &&
        (net->escapes == 0 || channel % net->vcs == WF_LOCKSTEP_ESCAPE) &&
        (asker->injected || asker->input != wf_lockstep_ring_input(net, channel))) {
        room = room < 2 ? 2 : room;
    }
    return room;
}

/* The first cycle in which the ring's queue has that space, if no packet arrives. */
static inline uint32_t wf_lockstep_room_at(const struct wf_lockstep_net *net,
                                           const struct wf_lockstep_asker *asker,
                                           uint32_t channel)
{
    uint32_t room = wf_lockstep_room_needed(net, asker, channel), now = asker->cycle;

    if (room == 0) {
        return now;
    }
    uint32_t ring = wf_lockstep_ring_input(net, channel);
    const struct wf_lockstep_input *queue = wf_lockstep_input(net, asker->router, ring);
    const struct wf_lockstep_kind link =
        wf_lockstep_kind_in(net, asker->router, ring / net->vcs);
    wf_lockstep_signed phits = (wf_lockstep_signed)net->phits;
    wf_lockstep_signed limit =
        ((wf_lockstep_signed)link.queue - (wf_lockstep_signed)room) * phits;

    if (wf_lockstep_phits_in(net, queue, link.pace, now) <= limit) {
        return now;
    }
    wf_lockstep_signed began = (wf_lockstep_signed)queue->leave - 1;
    wf_lockstep_signed pace = (wf_lockstep_signed)wf_lockstep_pace(net, queue);
    if (queue->leave == 0 || began + phits * pace <= (wf_lockstep_signed)now) {
        return WF_LOCKSTEP_NEVER;
    }
    wf_lockstep_signed gone = phits * (queue->n + 1) - limit;
    wf_lockstep_signed at = began + (gone < phits ? gone : phits) * pace;
    return at > (wf_lockstep_signed)now ? (uint32_t)at : now + 1;
}

/* The first cycle in which a packet can begin to leave without gaps: from a slower link its last
 * phit must be here when its turn comes. */
static inline uint32_t wf_lockstep_flow_at(const struct wf_lockstep_net *net,
                                           const struct wf_lockstep_asker *asker,
                                           uint32_t channel)
{
    if (net->kind_of == NULL || asker->injected) {
        return asker->cycle;
    }
    uint32_t in = wf_lockstep_kind_in(net, asker->router, asker->port).pace;
    uint32_t out = wf_lockstep_kind(net, asker->router, channel / net->vcs).pace;
    return in <= out ? asker->cycle : asker->at + (net->phits - 1) * (in - out);
}

/* Whether a packet may take a channel, if no other packet holds it. */
static inline bool wf_lockstep_fits(const struct wf_lockstep_net *net,
                                    const struct wf_lockstep_asker *asker, uint32_t channel)
{
    return wf_lockstep_channel(net, asker->router, channel)->used <
               wf_lockstep_kind(net, asker->router, channel / net->vcs).queue &&
           wf_lockstep_room_at(net, asker, channel) <= asker->cycle &&
           wf_lockstep_flow_at(net, asker, channel) <= asker->cycle;
}
