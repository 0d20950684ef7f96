/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A cycle of a router, in four phases:
 *
 *   take   what reaches it at the beginning of the cycle: heads, free places, messages of its
 *          node. If it is to decide in this cycle (wf_lockstep_decides()) then
 *   ask    for each input with packets: the channel that its first packet requests
 *   give   for each port that was asked for or has held channels: grants, and starts a packet;
 *          wf_lockstep_eat_all() for packets that are at their destination
 *   rest   for each input with packets: when the router must decide again
 *
 * Inputs may ask in any order, or at once; likewise for ports and for the last phase. Between
 * phases of a router all of its inputs or ports must be finished. A router writes only its own
 * words, except that a packet is written into a free place of its next queue and marked in the
 * wheel of a later cycle, and that the use of a place is marked as over in the wheel of the
 * router before. Routers may therefore take a cycle in any order, or at once.
 */

#include "model/net/router/lockstep/take.h"
#include "model/net/stats/link_words.h"

/* ---- give ---- */

/* What a thread has counted and not yet added to `out`. */
struct wf_lockstep_count {
    uint64_t digest, consumed, hops, injected, waited, sends;
};

static inline void wf_lockstep_count_add(const struct wf_lockstep_net *net,
                                         const struct wf_lockstep_count *count)
{
    WF_LOCKSTEP_ADD64(&net->out->digest, count->digest);
    WF_LOCKSTEP_ADD64(&net->out->consumed, count->consumed);
    WF_LOCKSTEP_ADD64(&net->out->hops, count->hops);
    WF_LOCKSTEP_ADD64(&net->out->injected, count->injected);
    WF_LOCKSTEP_ADD64(&net->out->waited, count->waited);
    WF_LOCKSTEP_ADD64(&net->out->sends, count->sends);
}

/* The memory of a thread. */
struct wf_lockstep_work {
    uint32_t
        *asking; /* (channels of a router + 1) * n_words words, all 0 between decisions: bits
                       * of the inputs that request each channel, and last those to be
                       * consumed */
    uint32_t *ports; /* trees: as many as a router has inputs */
    struct wf_lockstep_count count;
    bool again; /* this is not the first decision of the router in this cycle */
};

/* Removes the first packet of an input, which begins to leave, a phit in `pace` cycles; and
 * tells the previous router when its place will be free. The caller clears the bit of an input
 * that is empty then, wf_lockstep_settle(). */
static inline struct wf_lockstep_packet wf_lockstep_begin(const struct wf_lockstep_net *net,
                                                          uint32_t r, uint32_t number,
                                                          uint32_t pace, uint32_t cycle)
{
    struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);
    bool injected = wf_lockstep_is_injected(net, r, number);
    const struct wf_lockstep_packet packet = wf_lockstep_read(net, r, number, input->first);
    const uint32_t of_injection = net->injection_length, of_link = net->queue;
    uint32_t places = injected ? of_injection : of_link;

    input->first = (uint16_t)wf_router_after(input->first, places);
    input->n--;
    input->taken = 0;
    input->chosen = 0;
    input->bet = 0;
    input->leave = cycle + 1;
    wf_lockstep_forget(input, pace);
    if (!injected) {
        const struct wf_lockstep_end end =
            wf_lockstep_near_end(net, r, number / net->rules.vcs);
        uint32_t channel = end.port * net->rules.vcs + number % net->rules.vcs;
        uint32_t when = cycle + net->rules.phits * pace + net->credit_delay;
        WF_LOCKSTEP_OR(wf_lockstep_spoke(net, net->credits, net->credit_last, when,
                                         channel / 32, end.router),
                       UINT32_C(1) << channel % 32);
    }
    return packet;
}

static inline void wf_lockstep_count_left(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t input,
                                          const struct wf_lockstep_packet *packet,
                                          uint32_t cycle, struct wf_lockstep_count *count)
{
    if (wf_lockstep_is_injected(net, r, input)) {
        count->injected++;
        count->waited += cycle - packet->born;
    }
}

/* A packet at its destination is consumed, as fast as the link moves it by which it comes. */
static inline void wf_lockstep_eat(const struct wf_lockstep_net *net, uint32_t r,
                                   uint32_t input, uint32_t cycle,
                                   struct wf_lockstep_count *count)
{
    uint32_t pace = wf_lockstep_is_injected(net, r, input)
                        ? 1
                        : wf_lockstep_kind_in(net, r, input / net->rules.vcs).pace;
    uint32_t slot = wf_lockstep_input(net, r, input)->first;
    const struct wf_lockstep_packet packet = wf_lockstep_begin(net, r, input, pace, cycle);
    uint32_t hops = packet.way >> 16;

    wf_lockstep_count_left(net, r, input, &packet, cycle, count);
    count->consumed++;
    count->hops += hops;
    count->digest += wf_router_fact(cycle, r, WF_ROUTER_FACT_EATEN, packet.dst, packet.born);
    if (net->stats != 0) {
        WF_LOCKSTEP_ADD64(
            &net->out->by_hops[hops < WF_LOCKSTEP_HOPS ? hops : WF_LOCKSTEP_HOPS - 1], 1);
    }
#ifndef WF_LOCKSTEP_TILES
    if (net->mail.needed != 0) {
        wf_lockstep_messages_consumed(net, r, wf_lockstep_more(net, r, input, slot), pace,
                                      cycle);
        return;
    }
#endif
    (void)slot;
    wf_lockstep_arrives(net, packet.born * net->cycle_ps, net->message_bytes, pace, cycle);
}

/* The winner among the inputs whose bits are set in `asking`, n_words words; at least one is. */
static inline uint32_t wf_lockstep_winner(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t what, uint32_t winner,
                                          const uint32_t *asking, uint32_t cycle)
{
    const struct wf_lockstep_site site = {net, r, cycle};
    const struct wf_router_here here = wf_lockstep_here(&site);
    uint32_t n = wf_lockstep_inputs_of(net, r);

    if (net->rules.arbitration == WF_ROUTER_ROUND_ROBIN && net->rules.transit == 0 &&
        net->n_words == 1) {
        return wf_router_first_in_word(asking[0], winner, n);
    }
    struct wf_router_contest contest =
        wf_router_contest(&here, what, winner, n, wf_lockstep_ports(net, r) * net->rules.vcs);
    for (uint32_t w = 0; w < net->n_words; w++) {
        for (uint32_t bits = asking[w]; bits != 0; bits &= bits - 1) {
            wf_router_contend(&contest, w * 32 + (uint32_t)__builtin_ctz(bits));
        }
    }
    return contest.best;
}

/* Consumes packets of the inputs that asked for it: all, or one with consume_one. */
static inline void wf_lockstep_eat_all(const struct wf_lockstep_net *net, uint32_t r,
                                       const uint32_t *asking, uint32_t cycle,
                                       struct wf_lockstep_count *count)
{
    struct wf_lockstep_router *router = wf_lockstep_router(net, r);

    if (net->consume_one == 0) {
        for (uint32_t w = 0; w < net->n_words; w++) {
            for (uint32_t bits = asking[w]; bits != 0; bits &= bits - 1) {
                wf_lockstep_eat(net, r, w * 32 + (uint32_t)__builtin_ctz(bits), cycle, count);
            }
        }
        return;
    }
    if (router->consume_free > cycle) {
        return;
    }
    uint32_t input =
        wf_lockstep_winner(net, r, WF_ROUTER_DRAW_EAT, router->consume_winner, asking, cycle);
    router->consume_winner = input + 1;
    wf_lockstep_eat(net, r, input, cycle, count);
    router->consume_free =
        cycle + net->rules.phits * wf_lockstep_pace(net, wf_lockstep_input(net, r, input));
}

/* Gives a channel to one of the inputs that request it. */
static inline void wf_lockstep_grant(const struct wf_lockstep_net *net, uint32_t r,
                                     uint32_t channel, const uint32_t *asking, uint32_t cycle)
{
    struct wf_lockstep_channel *c = wf_lockstep_channel(net, r, channel);
    uint32_t input =
        wf_lockstep_winner(net, r, WF_ROUTER_DRAW_GRANT + channel, c->winner, asking, cycle);

    c->holder = c->winner = (wf_lockstep_short)(input + 1);
    wf_lockstep_input(net, r, input)->taken = (uint16_t)(channel + 1);
    wf_lockstep_link(net, r, channel / net->rules.vcs)->waiting++;
}

/* Puts a packet into the queue at the end of a channel, where its head will arrive later. */
static inline void wf_lockstep_hand_over(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t channel, uint32_t slot,
                                         struct wf_lockstep_packet packet, uint32_t cycle)
{
    uint32_t port = channel / net->rules.vcs;
    size_t at = wf_lockstep_port(net, r, port);
    uint32_t to = net->neighbor[at];
    uint32_t input = net->in_port[at] * net->rules.vcs + channel % net->rules.vcs;

    packet.at = cycle + wf_lockstep_kind(net, r, port).hop;
    packet.way += UINT32_C(1) << 16; /* a hop */
    WF_LOCKSTEP_STORE(*wf_lockstep_packet(net, to, input, slot), wf_lockstep_packed(&packet));
    WF_LOCKSTEP_OR(
        wf_lockstep_spoke(net, net->heads, net->head_last, packet.at, input / 32, to),
        UINT32_C(1) << input % 32);
}

/* An idle link with held channels starts with the next of them, in turn. Returns the input of the
 * packet. */
static inline uint32_t wf_lockstep_send(const struct wf_lockstep_net *net, uint32_t r,
                                        uint32_t port, uint32_t cycle,
                                        struct wf_lockstep_count *count)
{
    struct wf_lockstep_link *link = wf_lockstep_link(net, r, port);
    uint32_t vc = link->turn, pace = wf_lockstep_kind(net, r, port).pace;

    while (wf_lockstep_channel(net, r, port * net->rules.vcs + vc)->holder == 0) {
        vc = wf_router_after(vc, net->rules.vcs);
    }
    uint32_t number = port * net->rules.vcs + vc;
    struct wf_lockstep_channel *c = wf_lockstep_channel(net, r, number);
    uint32_t input = c->holder - 1u, slot = c->tail & ~WF_LOCKSTEP_WANTED;
    uint32_t from = wf_lockstep_input(net, r, input)->first;

    c->holder = 0;
    wf_lockstep_busy_until(net, r, number, cycle + net->rules.phits * pace);
    c->used++;
    c->packets++;
    c->tail =
        (wf_lockstep_short)((c->tail & WF_LOCKSTEP_WANTED) | wf_router_after(slot, net->queue));
    link->waiting--;
    link->turn = (uint16_t)wf_router_after(vc, net->rules.vcs);

    const struct wf_lockstep_packet packet = wf_lockstep_begin(net, r, input, pace, cycle);
    wf_lockstep_count_left(net, r, input, &packet, cycle, count);
    count->sends++;
    count->digest += wf_router_fact(cycle, r, number, packet.dst, packet.born);
    wf_lockstep_hand_over(net, r, number, slot, packet, cycle);
    if (net->has_more != 0) {
        size_t at = wf_lockstep_port(net, r, port);
        *wf_lockstep_more(net, net->neighbor[at], net->in_port[at] * net->rules.vcs + vc,
                          slot) = *wf_lockstep_more(net, r, input, from);
    }
#ifndef WF_LOCKSTEP_TILES
    if (net->loads != NULL) {
        wf_net_link_load_add_packet(&net->loads[wf_lockstep_port(net, r, port)],
                                    cycle * net->cycle_ps, net->mail.packet,
                                    wf_lockstep_more(net, r, input, from)->src);
    }
#endif
    return input;
}

/* Grants the channels of a port that are requested, and starts a packet if the link is idle. Bit
 * i of asking[vc * n_words ...] is set if input i requests the channel. Returns the next cycle
 * in which the link can send, if packets wait for it; else WF_LOCKSTEP_NEVER. */
static inline uint32_t wf_lockstep_give(const struct wf_lockstep_net *net, uint32_t r,
                                        uint32_t port, const uint32_t *asking, uint32_t cycle,
                                        struct wf_lockstep_count *count)
{
    const struct wf_lockstep_link *link = wf_lockstep_link(net, r, port);

    for (uint32_t vc = 0; vc < net->rules.vcs; vc++) {
        uint32_t any = 0;
        for (uint32_t w = 0; w < net->n_words; w++) {
            any |= asking[vc * net->n_words + w];
        }
        if (any != 0) {
            wf_lockstep_grant(net, r, port * net->rules.vcs + vc,
                              asking + (size_t)vc * net->n_words, cycle);
        }
    }
    if (link->waiting > 0 && link->free <= cycle) {
        (void)wf_lockstep_send(net, r, port, cycle, count);
    }
    return link->waiting > 0 ? link->free : WF_LOCKSTEP_NEVER;
}

/* Clears the bits of inputs that have become empty. */
static inline uint32_t wf_lockstep_settle(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t word)
{
    uint32_t *busy = wf_lockstep_busy(net, r, word), left = *busy;

    for (uint32_t bits = left; bits != 0; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(bits);
        if (wf_lockstep_input(net, r, word * 32 + i)->n == 0) {
            left &= ~(UINT32_C(1) << i);
        }
    }
    return *busy = left;
}
