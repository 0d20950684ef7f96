/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the first packet of a queue requests, and when it should ask again. The rules on grids are
 * those of INSEE's FSIN: in which order a packet tries channels, and that random choices are made
 * anew in every cycle. A packet that got nothing asks again in the next cycle only if it could get
 * something then; otherwise it sleeps until that may have changed.
 */

#include "model/net/router/rules/room.h"

/* Cycles until the queue of a channel's ring has room for a packet that enters the ring. */
WF_ROUTER_RULE uint32_t wf_router_ring_in(const struct wf_router_here *here,
                                          const struct wf_router_asker *asker, uint32_t channel)
{
    uint32_t room = wf_router_room_needed(here->rules, asker, channel);

    return room == 0
               ? 0
               : wf_router_room_in(here->rules,
                                   here->reads->queue(here->router, wf_router_ring_input(
                                                                        here->rules, channel)),
                                   room);
}

/* Whether a packet may take a channel, if no other packet holds it. */
WF_ROUTER_RULE bool wf_router_fits_now(const struct wf_router_here *here,
                                       const struct wf_router_asker *asker, uint32_t channel,
                                       const struct wf_router_channel_now *to)
{
    return to->used < to->capacity && wf_router_ring_in(here, asker, channel) == 0 &&
           wf_router_flow_in(here->rules, asker, to->pace) == 0;
}

WF_ROUTER_RULE bool wf_router_fits(const struct wf_router_here *here,
                                   const struct wf_router_asker *asker, uint32_t channel)
{
    const struct wf_router_channel_now to = here->reads->channel(here->router, channel);

    return wf_router_fits_now(here, asker, channel, &to);
}

/* ---- kinds of requests ---- */

WF_ROUTER_RULE uint32_t wf_router_first(const struct wf_router_here *here,
                                        const struct wf_router_asker *asker)
{
    uint32_t n = wf_router_spans(here->rules, asker);

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_router_span span = wf_router_span(here->rules, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            if (wf_router_fits(here, asker, c)) {
                return c;
            }
        }
    }
    return WF_ROUTER_NONE;
}

/* Packets in the queue at the end of a channel. In trees a packet on the link does not count
 * yet, as in INSEE, which counts phits. */
static inline uint32_t wf_router_fill_of(const struct wf_router_rules *rules,
                                         const struct wf_router_channel_now *to)
{
    return to->used - (rules->n_dims == 0 && to->free_in > 0 && to->used > 0);
}

/* The channel whose queue has most space. Ties go to the first channel on grids, as in INSEE, and
 * elsewhere to a random one, so that the paths up in a tree are used evenly. */
WF_ROUTER_RULE uint32_t wf_router_shortest(const struct wf_router_here *here,
                                           const struct wf_router_asker *asker)
{
    uint32_t n = wf_router_spans(here->rules, asker), best = WF_ROUTER_NONE, least = 0,
             ties = 0;
    uint32_t number = 0;

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_router_span span = wf_router_span(here->rules, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step, number++) {
            const struct wf_router_channel_now to = here->reads->channel(here->router, c);
            uint32_t fill = wf_router_fill_of(here->rules, &to);
            if (!wf_router_fits_now(here, asker, c, &to)) {
                continue;
            }
            if (best == WF_ROUTER_NONE || fill < least) {
                best = c;
                least = fill;
                ties = 1;
            } else if (here->rules->n_dims == 0 && fill == least &&
                       wf_router_below(here, asker->input, number, ++ties) == 0) {
                best = c;
            }
        }
    }
    return best;
}

/* The number of channels that fit; *at is the one of that number, if it is one of these. */
WF_ROUTER_RULE uint32_t wf_router_fitting(const struct wf_router_here *here,
                                          const struct wf_router_asker *asker, uint32_t number,
                                          uint32_t *at)
{
    uint32_t n = wf_router_spans(here->rules, asker), seen = 0;

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_router_span span = wf_router_span(here->rules, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            if (wf_router_fits(here, asker, c) && seen++ == number) {
                *at = c;
            }
        }
    }
    return seen;
}

WF_ROUTER_RULE uint32_t wf_router_random(const struct wf_router_here *here,
                                         const struct wf_router_asker *asker)
{
    uint32_t channel = WF_ROUTER_NONE;
    uint32_t n = wf_router_fitting(here, asker, 0, &channel);

    if (n > 1) {
        (void)wf_router_fitting(here, asker, wf_router_below(here, asker->input, 0, n),
                                &channel);
    }
    return channel;
}

/* One random choice, whether it fits or not: the oblivious designs, which have one span. */
WF_ROUTER_RULE uint32_t wf_router_blind(const struct wf_router_here *here,
                                        const struct wf_router_asker *asker)
{
    const struct wf_router_span span = wf_router_span(here->rules, asker, 0);
    uint32_t channel =
        span.first + wf_router_below(here, asker->input, 0, span.end - span.first);

    return wf_router_fits(here, asker, channel) ? channel : WF_ROUTER_NONE;
}

/* INSEE's smart requests: the packet's own dimension first, then the others in turn, one in
 * each cycle, and the escape last; then again from the start. *bet is the next to be tried. */
WF_ROUTER_RULE uint32_t wf_router_smart(const struct wf_router_here *here,
                                        const struct wf_router_asker *asker, uint32_t *bet)
{
    const struct wf_router_rules *rules = here->rules;
    uint32_t start = asker->injected ? 0 : asker->port / 2, n = rules->n_dims;

    for (uint32_t i = *bet; i < n; i++) {
        uint32_t dim = start + i < n ? start + i : start + i - n;
        uint32_t port = wf_router_dim_port(asker->down, dim);

        if ((asker->left >> dim & 1) == 0) {
            continue;
        }
        uint32_t vc = wf_router_stays(asker, port)
                          ? asker->vc
                          : 1 + wf_router_below(here, asker->input, i, rules->vcs - 1);
        if (wf_router_fits(here, asker, port * rules->vcs + vc)) {
            *bet = i + 1;
            return port * rules->vcs + vc;
        }
    }
    *bet = 0;
    uint32_t escape = wf_router_escape(rules, asker);
    return wf_router_fits(here, asker, escape) ? escape : WF_ROUTER_NONE;
}

WF_ROUTER_RULE uint32_t wf_router_choose(const struct wf_router_here *here,
                                         const struct wf_router_asker *asker, uint32_t *bet)
{
    const struct wf_router_rules *rules = here->rules;

    if (rules->scheme == WF_ROUTER_DOR || rules->scheme == WF_ROUTER_DATELINE) {
        return wf_router_blind(here, asker);
    }
    if (rules->request == WF_ROUTER_SMART) { /* of adaptive routing on grids only */
        return wf_router_smart(here, asker, bet);
    }
    uint32_t channel = rules->request == WF_ROUTER_FIRST      ? wf_router_first(here, asker)
                       : rules->request == WF_ROUTER_SHORTEST ? wf_router_shortest(here, asker)
                                                              : wf_router_random(here, asker);
    uint32_t escape = wf_router_escape(rules, asker);
    return channel == WF_ROUTER_NONE && escape != WF_ROUTER_NONE &&
                   wf_router_fits(here, asker, escape)
               ? escape
               : channel;
}

/* The channel that a packet requests in this cycle, in which its router decides; WF_ROUTER_NONE: none
 * that it could get now. The packet is not at its destination. *bet belongs to the queue. */
WF_ROUTER_RULE uint32_t wf_router_request(const struct wf_router_here *here,
                                          const struct wf_router_asker *asker, uint32_t *bet)
{
    uint32_t channel = wf_router_choose(here, asker, bet);

    if (channel == WF_ROUTER_NONE) {
        return channel;
    }
    const struct wf_router_channel_now to = here->reads->channel(here->router, channel);
    return to.is_held || to.free_in > 0 ? WF_ROUTER_NONE : channel;
}

/* ---- afterwards ---- */

/* Cycles until a packet can get a channel; WF_ROUTER_NOT_SOON if something else will wake the
 * router. */
WF_ROUTER_RULE uint32_t wf_router_channel_in(const struct wf_router_here *here,
                                             const struct wf_router_asker *asker,
                                             uint32_t channel)
{
    const struct wf_router_channel_now to = here->reads->channel(here->router, channel);

    if (to.used >= to.capacity) {
        here->reads->want(here->router, channel);
        return WF_ROUTER_NOT_SOON;
    }
    uint32_t room = wf_router_ring_in(here, asker, channel);
    if (room > 0) {
        return room;
    }
    uint32_t flow = wf_router_flow_in(here->rules, asker, to.pace);
    if (flow > 0) {
        return flow;
    }
    /* When a holder begins to leave, that decision asks for this packet again. */
    return to.is_held ? WF_ROUTER_NOT_SOON : to.free_in > 0 ? to.free_in : 1;
}

/* Cycles until a packet that got nothing should ask again: likewise. */
WF_ROUTER_RULE uint32_t wf_router_again_in(const struct wf_router_here *here,
                                           const struct wf_router_asker *asker)
{
    uint32_t n = wf_router_spans(here->rules, asker), first = WF_ROUTER_NOT_SOON;
    uint32_t escape = wf_router_escape(here->rules, asker);

    for (uint32_t k = 0; k < n; k++) {
        const struct wf_router_span span = wf_router_span(here->rules, asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            uint32_t in = wf_router_channel_in(here, asker, c);
            first = in < first ? in : first;
        }
    }
    if (escape != WF_ROUTER_NONE) {
        uint32_t in = wf_router_channel_in(here, asker, escape);
        first = in < first ? in : first;
    }
    return first;
}

/* Whether the queues at the ends of all channels that a packet may take are full. Sets these
 * channels, and *n; packets with more than `most` are not examined. */
WF_ROUTER_RULE bool wf_router_is_stuck(const struct wf_router_here *here,
                                       const struct wf_router_asker *asker, uint32_t *channels,
                                       uint32_t *n, uint32_t most)
{
    uint32_t spans = wf_router_spans(here->rules, asker);
    uint32_t escape = wf_router_escape(here->rules, asker);

    *n = 0;
    for (uint32_t k = 0; k < spans + (escape != WF_ROUTER_NONE); k++) {
        const struct wf_router_span span =
            k < spans ? wf_router_span(here->rules, asker, k) : wf_router_span_one(escape);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            const struct wf_router_channel_now to = here->reads->channel(here->router, c);
            if (to.used < to.capacity || *n == most) {
                return false;
            }
            channels[(*n)++] = c;
        }
    }
    return *n > 0;
}
