/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the first packet of an input requests, and when it should ask again: the rules of
 * net/router/rules on the state of lock step.
 */

#include "model/net/router/lockstep/state.h"
#include "model/net/router/rules/inject.h"

#ifndef WF_LOCKSTEP_TILES
#include "model/net/router/lockstep/host.h"
#endif

/* ---- how rules read the state ---- */

/* A router in a cycle. */
struct wf_lockstep_site {
    const struct wf_lockstep_net *net;
    uint32_t router, cycle;
};

WF_ROUTER_READ struct wf_router_channel_now wf_lockstep_read_channel(const void *router,
                                                                     uint32_t channel)
{
    const struct wf_lockstep_site *site = router;
    const struct wf_lockstep_net *net = site->net;
    const struct wf_lockstep_channel *c = wf_lockstep_channel(net, site->router, channel);
    const struct wf_lockstep_kind kind =
        wf_lockstep_kind(net, site->router, channel / net->rules.vcs);
    uint32_t free = wf_lockstep_channel_free(net, site->router, channel);

    return (struct wf_router_channel_now){.used = c->used,
                                          .capacity = kind.queue,
                                          .pace = kind.pace,
                                          .free_in =
                                              free > site->cycle ? free - site->cycle : 0,
                                          .is_held = c->holder != 0};
}

static inline uint32_t wf_lockstep_since_left(const struct wf_lockstep_input *input,
                                              uint32_t cycle)
{
    return input->leave == 0 ? WF_ROUTER_LONG : cycle + 1 - input->leave;
}

WF_ROUTER_READ struct wf_router_queue_now wf_lockstep_read_queue(const void *router,
                                                                 uint32_t number)
{
    const struct wf_lockstep_site *site = router;
    const struct wf_lockstep_net *net = site->net;
    const struct wf_lockstep_input *input = wf_lockstep_input(net, site->router, number);
    const struct wf_lockstep_kind link =
        wf_lockstep_kind_in(net, site->router, number / net->rules.vcs);

    return (struct wf_router_queue_now){.n = input->n,
                                        .since_head = site->cycle - input->head,
                                        .since_left =
                                            wf_lockstep_since_left(input, site->cycle),
                                        .pace = wf_lockstep_pace(net, input),
                                        .link_pace = link.pace,
                                        .capacity = link.queue};
}

WF_ROUTER_READ void wf_lockstep_note_wanted(const void *router, uint32_t channel)
{
    const struct wf_lockstep_site *site = router;

    WF_LOCKSTEP_WANT(wf_lockstep_channel(site->net, site->router, channel));
}

WF_ROUTER_READ uint64_t wf_lockstep_read_first(const void *router, uint32_t number,
                                               enum wf_router_fact what)
{
    const struct wf_lockstep_site *site = router;
    const struct wf_lockstep_input *input = wf_lockstep_input(site->net, site->router, number);

    if (what == WF_ROUTER_BORN) {
        return wf_lockstep_read(site->net, site->router, number, input->first).born;
    }
    return what == WF_ROUTER_ASKED ? wf_lockstep_asked(input) : input->n;
}

static const struct wf_router_reads wf_lockstep_reads = {
    .channel = wf_lockstep_read_channel,
    .queue = wf_lockstep_read_queue,
    .want = wf_lockstep_note_wanted,
    .first = wf_lockstep_read_first,
};

WF_ROUTER_RULE struct wf_router_here wf_lockstep_here(const struct wf_lockstep_site *site)
{
    return (struct wf_router_here){.rules = &site->net->rules,
                                   .reads = &wf_lockstep_reads,
                                   .router = site,
                                   .vertex = site->router,
                                   .cycle = site->cycle};
}

/* Cycles until the first packet of a queue may request a channel. */
static inline uint32_t wf_lockstep_ready_in(const struct wf_lockstep_net *net,
                                            const struct wf_lockstep_input *input,
                                            uint32_t cycle)
{
    return wf_router_ready_in(&net->rules, wf_lockstep_since_left(input, cycle),
                              wf_lockstep_pace(net, input));
}

/* ---- the first packet of an input ---- */

/* Where the first packet of a queue wants to go on a grid: from what is known, or else from the
 * packet. */
WF_ROUTER_RULE void wf_lockstep_aim(const struct wf_lockstep_net *net, uint32_t r,
                                    const struct wf_lockstep_input *queue,
                                    struct wf_router_asker *asker)
{
    if (queue->chosen != 0) {
        asker->left = queue->left;
        asker->down = queue->chosen & 0xff;
        asker->before = (queue->chosen & WF_LOCKSTEP_BEFORE) != 0;
        return;
    }
    const struct wf_lockstep_packet packet =
        wf_lockstep_read(net, r, asker->input, queue->first);
    const uint16_t *here = wf_lockstep_coords(net, r);
    const uint16_t *there = wf_lockstep_coords(net, packet.dst);
    asker->left = wf_router_left(&net->rules, here, there);
    asker->down = packet.way & 0xff;
    asker->before = wf_router_is_before(&net->rules, here, there, asker->down, asker->left);
}

/* `ports` has room for the ports of a router; unused on grids. */
WF_ROUTER_RULE struct wf_router_asker wf_lockstep_asker_of(const struct wf_lockstep_net *net,
                                                           uint32_t r, uint32_t input,
                                                           uint32_t cycle, uint32_t *ports,
                                                           bool *arrived)
{
    const struct wf_lockstep_input *queue = wf_lockstep_input(net, r, input);
    struct wf_router_asker asker = {
        .input = input,
        .port = input / net->rules.vcs,
        .vc = input % net->rules.vcs,
        .injected = wf_lockstep_is_injected(net, r, input),
    };

    if (net->has_kinds != 0 && !asker.injected) {
        asker.since = cycle - wf_lockstep_read(net, r, input, queue->first).at;
        asker.pace = wf_lockstep_kind_in(net, r, asker.port).pace;
    }
#ifndef WF_LOCKSTEP_TILES
    if (net->rules.n_dims == 0) {
        *arrived = wf_lockstep_read(net, r, input, queue->first).dst == r;
        asker.chosen = queue->chosen;
        if (net->rules.scheme == WF_ROUTER_UPDOWN && !*arrived) {
            asker.ports = ports;
            asker.n_ports = wf_lockstep_route_ports(net, r, input, queue->first, ports);
        }
        return asker;
    }
#else
    (void)ports;
#endif
    wf_lockstep_aim(net, r, queue, &asker);
    *arrived = asker.left == 0;
    return asker;
}

/* ---- the phases ---- */

/* Whether an input takes part in decisions of its router: it has a packet that holds no channel
 * and may be injected. The queue must not be empty. */
static inline bool wf_lockstep_may_ask(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t input)
{
#ifndef WF_LOCKSTEP_TILES
    if (!wf_router_gate_passes(net->routers[r].shut != 0,
                               wf_lockstep_is_injected(net, r, input))) {
        return false;
    }
#endif
    return wf_lockstep_input(net, r, input)->taken == 0;
}

/* What the first packet of an input that may ask requests. */
static inline uint32_t wf_lockstep_request(const struct wf_lockstep_net *net, uint32_t r,
                                           uint32_t number, uint32_t cycle, uint32_t *ports)
{
    struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);
    const struct wf_lockstep_site site = {net, r, cycle};
    const struct wf_router_here here = wf_lockstep_here(&site);
    bool arrived;

    if (net->rules.arbitration == WF_ROUTER_FIFO) {
        wf_lockstep_asks(input, cycle);
    }
#ifndef WF_LOCKSTEP_TILES
    if (net->rules.scheme == WF_ROUTER_POLICY && input->chosen == 0) {
        input->chosen = (uint16_t)wf_lockstep_route_choose(net, r, number, cycle);
    }
#endif
    const struct wf_router_asker asker =
        wf_lockstep_asker_of(net, r, number, cycle, ports, &arrived);
    if (net->rules.n_dims > 0 && input->chosen == 0) {
        input->left = (uint8_t)asker.left;
        input->chosen = (uint16_t)(WF_LOCKSTEP_KNOWN | (asker.before ? WF_LOCKSTEP_BEFORE : 0) |
                                   asker.down);
    }
    if (arrived) {
        return WF_ROUTER_CONSUME;
    }
    uint32_t bet = input->bet, channel = wf_router_request(&here, &asker, &bet);
    if (net->rules.scheme == WF_ROUTER_ADAPTIVE) {
        input->bet = (uint8_t)bet;
    }
    return channel;
}

/* The channel that the first packet of an input requests in a cycle in which its router
 * decides; WF_ROUTER_CONSUME, or WF_ROUTER_NONE. The queue must not be empty. */
static inline uint32_t wf_lockstep_ask(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t number, uint32_t cycle, uint32_t *ports)
{
    const struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);

    return wf_lockstep_may_ask(net, r, number) && wf_lockstep_ready_in(net, input, cycle) == 0
               ? wf_lockstep_request(net, r, number, cycle, ports)
               : WF_ROUTER_NONE;
}

/* When the first packet of an input that got nothing should ask again; WF_LOCKSTEP_NEVER if something
 * else will wake the router. */
static inline uint32_t wf_lockstep_again(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t number, uint32_t cycle, uint32_t *ports)
{
    const struct wf_lockstep_site site = {net, r, cycle};
    const struct wf_router_here here = wf_lockstep_here(&site);
    bool arrived;
    const struct wf_router_asker asker =
        wf_lockstep_asker_of(net, r, number, cycle, ports, &arrived);

    if (arrived) {
        uint32_t free = wf_lockstep_router(net, r)->consume_free;
        return free > cycle ? free : cycle + 1;
    }
    uint32_t again = wf_router_again_in(&here, &asker);
    return again == WF_ROUTER_NOT_SOON ? WF_LOCKSTEP_NEVER : cycle + again;
}

/* After the grants of a decision: the next cycle in which its router should decide because of
 * this input, or WF_LOCKSTEP_NEVER. *waits is set if its packet got nothing. The queue must not
 * be empty. */
static inline uint32_t wf_lockstep_rest(const struct wf_lockstep_net *net, uint32_t r,
                                        uint32_t number, uint32_t cycle, uint32_t *ports,
                                        bool *waits)
{
    const struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);
    uint32_t ready = wf_lockstep_ready_in(net, input, cycle);

    if (input->leave == cycle + 1) { /* the packet before it began to leave just now */
        return cycle + ready;
    }
    if (!wf_lockstep_may_ask(net, r, number)) {
        return WF_LOCKSTEP_NEVER;
    }
    if (ready > 0) {
        return cycle + ready;
    }
    *waits = true;
    return wf_lockstep_again(net, r, number, cycle, ports);
}
