/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the first packet of an input requests, and when it should ask again: the rules of
 * model/net/router/events/route.c.
 */

#include "model/net/router/lockstep/options.h"
#include "model/net/router/rules/draw.h"

#ifndef WF_LOCKSTEP_TILES
#include "model/net/router/lockstep/host.h"
#endif

/* The first cycle in which the first packet of a queue may request a channel. */
static inline uint32_t wf_lockstep_ready_at(const struct wf_lockstep_net *net,
                                            const struct wf_lockstep_input *input)
{
    return input->leave == 0
               ? 0
               : input->leave - 1 + net->phits * wf_lockstep_pace(net, input) + net->turnaround;
}

/* Where the first packet of a queue wants to go on a grid: from what is known, or else from the
 * packet. */
static inline void wf_lockstep_aim(const struct wf_lockstep_net *net,
                                   const struct wf_lockstep_input *queue,
                                   struct wf_lockstep_asker *asker)
{
    if (queue->chosen != 0) {
        asker->left = queue->left;
        asker->way = queue->chosen & 0xff;
        asker->before = (queue->chosen & WF_LOCKSTEP_BEFORE) != 0;
    } else {
        const struct wf_lockstep_packet packet =
            wf_lockstep_read(net, asker->router, asker->input, queue->first);
        asker->left = wf_lockstep_left(net, asker->router, &packet, &asker->before);
        asker->way = packet.way & 0xff;
    }
    asker->arrived = asker->left == 0;
    if (net->has_kinds != 0) {
        asker->at = wf_lockstep_read(net, asker->router, asker->input, queue->first).at;
    }
}

/* The first packet of an input. `ports` has room for the ports of a router; unused on grids. */
static inline struct wf_lockstep_asker wf_lockstep_asker_of(const struct wf_lockstep_net *net,
                                                            uint32_t r, uint32_t input,
                                                            uint32_t cycle, uint16_t *ports)
{
    const struct wf_lockstep_input *queue = wf_lockstep_input(net, r, input);
    struct wf_lockstep_asker asker = {
        .router = r,
        .cycle = cycle,
        .input = input,
        .port = input / net->vcs,
        .vc = input % net->vcs,
        .injected = wf_lockstep_is_injected(net, r, input),
    };

#ifndef WF_LOCKSTEP_TILES
    if (net->n_dims == 0) {
        const struct wf_lockstep_packet packet = wf_lockstep_read(net, r, input, queue->first);
        asker.arrived = packet.dst == r;
        asker.at = packet.at;
        asker.chosen = queue->chosen;
        if (net->scheme == WF_LOCKSTEP_UPDOWN && !asker.arrived) {
            asker.ports = ports;
            asker.n_ports = wf_lockstep_route_ports(net, r, input, queue->first, ports);
        }
        return asker;
    }
#else
    (void)ports;
#endif
    wf_lockstep_aim(net, queue, &asker);
    return asker;
}

/* The `count`-th random number below n for an input. */
static inline uint32_t wf_lockstep_below(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_asker *asker, uint32_t count,
                                         uint32_t n)
{
    return n == 1 ? 0
                  : wf_rng_below32(wf_router_draw(net->seed, asker->router, asker->input,
                                                  asker->cycle, count),
                                   n);
}

static inline bool wf_lockstep_is_held(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t channel, uint32_t cycle)
{
    return wf_lockstep_channel(net, r, channel)->holder != 0 ||
           wf_lockstep_channel_free(net, r, channel) > cycle;
}

/* ---- kinds of requests ---- */

static inline uint32_t wf_lockstep_first(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_asker *asker)
{
    uint32_t n = wf_lockstep_spans(net, asker);

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_lockstep_span span = wf_lockstep_span(net, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            if (wf_lockstep_fits(net, asker, c)) {
                return c;
            }
        }
    }
    return WF_LOCKSTEP_NONE;
}

/* Packets in the queue at the end of a channel. In trees a packet on the link does not count. */
static inline uint32_t wf_lockstep_fill_of(const struct wf_lockstep_net *net, uint32_t r,
                                           uint32_t channel, uint32_t cycle)
{
    const struct wf_lockstep_channel *c = wf_lockstep_channel(net, r, channel);
    bool on_its_way =
        net->n_dims == 0 && wf_lockstep_channel_free(net, r, channel) > cycle && c->used > 0;

    return on_its_way ? c->used - 1u : c->used;
}

/* The channel whose queue has most space. Ties go to the first channel on grids, elsewhere to a
 * random one. */
static inline uint32_t wf_lockstep_shortest(const struct wf_lockstep_net *net,
                                            const struct wf_lockstep_asker *asker)
{
    uint32_t n = wf_lockstep_spans(net, asker), best = WF_LOCKSTEP_NONE, least = 0, ties = 0;
    uint32_t number = 0;

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_lockstep_span span = wf_lockstep_span(net, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step, number++) {
            if (!wf_lockstep_fits(net, asker, c)) {
                continue;
            }
            uint32_t fill = wf_lockstep_fill_of(net, asker->router, c, asker->cycle);
            if (best == WF_LOCKSTEP_NONE || fill < least) {
                best = c;
                least = fill;
                ties = 1;
            } else if (net->n_dims == 0 && fill == least &&
                       wf_lockstep_below(net, asker, number, ++ties) == 0) {
                best = c;
            }
        }
    }
    return best;
}

/* The number of channels that fit; *at is the one of that number, if it is one of these. */
static inline uint32_t wf_lockstep_fitting(const struct wf_lockstep_net *net,
                                           const struct wf_lockstep_asker *asker,
                                           uint32_t number, uint32_t *at)
{
    uint32_t n = wf_lockstep_spans(net, asker), seen = 0;

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_lockstep_span span = wf_lockstep_span(net, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            if (wf_lockstep_fits(net, asker, c) && seen++ == number) {
                *at = c;
            }
        }
    }
    return seen;
}

static inline uint32_t wf_lockstep_random(const struct wf_lockstep_net *net,
                                          const struct wf_lockstep_asker *asker)
{
    uint32_t channel = WF_LOCKSTEP_NONE;
    uint32_t n = wf_lockstep_fitting(net, asker, 0, &channel);

    if (n > 1) {
        (void)wf_lockstep_fitting(net, asker, wf_lockstep_below(net, asker, 0, n), &channel);
    }
    return channel;
}

/* One random choice, whether it fits or not: the oblivious designs, which have one span. */
static inline uint32_t wf_lockstep_blind(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_asker *asker)
{
    const struct wf_lockstep_span span = wf_lockstep_span(net, asker, 0);
    uint32_t channel = span.first + wf_lockstep_below(net, asker, 0, span.end - span.first);

    return wf_lockstep_fits(net, asker, channel) ? channel : WF_LOCKSTEP_NONE;
}

/* INSEE's smart requests: the packet's own dimension first, then the others in turn, one in
 * each cycle, and the escape last; then again from the start. */
static inline uint32_t wf_lockstep_smart(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_asker *asker)
{
    struct wf_lockstep_input *input = wf_lockstep_input(net, asker->router, asker->input);
    uint32_t start = asker->injected ? 0 : asker->port / 2, way = asker->way;

    for (uint32_t bet = input->bet; bet < net->n_dims; bet++) {
        uint32_t dim = start + bet < net->n_dims ? start + bet : start + bet - net->n_dims;
        uint32_t port = wf_lockstep_dim_port(way, dim);
        bool stays =
            !asker->injected && asker->vc != WF_LOCKSTEP_ESCAPE && (port ^ 1) == asker->port;

        if ((asker->left >> dim & 1) == 0) {
            continue;
        }
        uint32_t vc = stays ? asker->vc : 1 + wf_lockstep_below(net, asker, bet, net->vcs - 1);
        if (wf_lockstep_fits(net, asker, port * net->vcs + vc)) {
            input->bet = (uint8_t)(bet + 1);
            return port * net->vcs + vc;
        }
    }
    input->bet = 0;
    uint32_t escape = wf_lockstep_escape(net, asker);
    return wf_lockstep_fits(net, asker, escape) ? escape : WF_LOCKSTEP_NONE;
}

static inline uint32_t wf_lockstep_choose(const struct wf_lockstep_net *net,
                                          const struct wf_lockstep_asker *asker)
{
    if (net->scheme == WF_LOCKSTEP_DOR || net->scheme == WF_LOCKSTEP_DATELINE) {
        return wf_lockstep_blind(net, asker);
    }
    if (net->request == WF_LOCKSTEP_SMART) { /* of adaptive routing on grids only */
        return wf_lockstep_smart(net, asker);
    }
    uint32_t channel = net->request == WF_LOCKSTEP_FIRST      ? wf_lockstep_first(net, asker)
                       : net->request == WF_LOCKSTEP_SHORTEST ? wf_lockstep_shortest(net, asker)
                                                              : wf_lockstep_random(net, asker);
    uint32_t escape = wf_lockstep_escape(net, asker);
    return channel == WF_LOCKSTEP_NONE && escape != WF_LOCKSTEP_NONE &&
                   wf_lockstep_fits(net, asker, escape)
               ? escape
               : channel;
}

/* ---- the phases ---- */

/* Whether an input takes part in decisions of its router: it has a packet that holds no channel
 * and may be injected. The queue must not be empty. */
static inline bool wf_lockstep_may_ask(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t input)
{
#ifndef WF_LOCKSTEP_TILES
    if (net->routers[r].shut != 0 && wf_lockstep_is_injected(net, r, input)) {
        return false;
    }
#endif
    return wf_lockstep_input(net, r, input)->taken == 0;
}

/* The channel that the first packet of an input requests in a cycle in which its router
 * decides; WF_LOCKSTEP_CONSUME, or WF_LOCKSTEP_NONE. The queue must not be empty. */
static inline uint32_t wf_lockstep_ask(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t number, uint32_t cycle, uint16_t *ports)
{
    struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);

    if (!wf_lockstep_may_ask(net, r, number) || wf_lockstep_ready_at(net, input) > cycle) {
        return WF_LOCKSTEP_NONE;
    }
    if (net->arbitration == WF_LOCKSTEP_FIFO) {
        wf_lockstep_asks(input, cycle);
    }
#ifndef WF_LOCKSTEP_TILES
    if (net->scheme == WF_LOCKSTEP_POLICY && input->chosen == 0) {
        input->chosen = (uint16_t)wf_lockstep_route_choose(net, r, number, cycle);
    }
#endif
    struct wf_lockstep_asker asker = wf_lockstep_asker_of(net, r, number, cycle, ports);
    if (net->n_dims > 0 && input->chosen == 0) {
        input->left = (uint8_t)asker.left;
        input->chosen =
            (uint16_t)(WF_LOCKSTEP_KNOWN | (asker.before ? WF_LOCKSTEP_BEFORE : 0) | asker.way);
    }
    if (asker.arrived) {
        return WF_LOCKSTEP_CONSUME;
    }
    uint32_t channel = wf_lockstep_choose(net, &asker);
    return channel != WF_LOCKSTEP_NONE && wf_lockstep_is_held(net, r, channel, cycle)
               ? WF_LOCKSTEP_NONE
               : channel;
}

/* When a packet can get a channel; WF_LOCKSTEP_NEVER if something else will wake the router. */
static inline uint32_t wf_lockstep_channel_at(const struct wf_lockstep_net *net,
                                              const struct wf_lockstep_asker *asker,
                                              uint32_t channel)
{
    struct wf_lockstep_channel *c = wf_lockstep_channel(net, asker->router, channel);
    uint32_t now = asker->cycle;

    if (c->used >= wf_lockstep_kind(net, asker->router, channel / net->vcs).queue) {
        WF_LOCKSTEP_WANT(c);
        return WF_LOCKSTEP_NEVER;
    }
    uint32_t room = wf_lockstep_room_at(net, asker, channel);
    if (room > now) {
        return room;
    }
    uint32_t flow = wf_lockstep_flow_at(net, asker, channel);
    if (flow > now) {
        return flow;
    }
    /* When a holder begins to leave, that decision asks for this packet again. */
    if (c->holder != 0) {
        return WF_LOCKSTEP_NEVER;
    }
    uint32_t free = wf_lockstep_channel_free(net, asker->router, channel);
    return free > now ? free : now + 1;
}

/* When the first packet of an input that got nothing should ask again. */
static inline uint32_t wf_lockstep_again(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_asker *asker)
{
    uint32_t first = WF_LOCKSTEP_NEVER, now = asker->cycle;

    if (asker->arrived) {
        uint32_t free = wf_lockstep_router(net, asker->router)->consume_free;
        return free > now ? free : now + 1;
    }
    uint32_t n = wf_lockstep_spans(net, asker);
    for (uint32_t k = 0; k < n; k++) {
        const struct wf_lockstep_span span = wf_lockstep_span(net, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            uint32_t at = wf_lockstep_channel_at(net, asker, c);
            first = at < first ? at : first;
        }
    }
    uint32_t escape = wf_lockstep_escape(net, asker);
    if (escape != WF_LOCKSTEP_NONE) {
        uint32_t at = wf_lockstep_channel_at(net, asker, escape);
        first = at < first ? at : first;
    }
    return first;
}

/* After the grants of a decision: the next cycle in which its router should decide because of
 * this input, or WF_LOCKSTEP_NEVER. *waits is set if its packet got nothing. The queue must not
 * be empty. */
static inline uint32_t wf_lockstep_rest(const struct wf_lockstep_net *net, uint32_t r,
                                        uint32_t number, uint32_t cycle, uint16_t *ports,
                                        bool *waits)
{
    const struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);
    uint32_t ready = wf_lockstep_ready_at(net, input);

    if (input->leave == cycle + 1) { /* the packet before it began to leave just now */
        return ready;
    }
    if (!wf_lockstep_may_ask(net, r, number)) {
        return WF_LOCKSTEP_NEVER;
    }
    if (ready > cycle) {
        return ready;
    }
    const struct wf_lockstep_asker asker = wf_lockstep_asker_of(net, r, number, cycle, ports);
    *waits = true;
    return wf_lockstep_again(net, &asker);
}
