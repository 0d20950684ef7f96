/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What reaches a router at the beginning of a cycle, and how the packets of its node get into its
 * queues: the rules of model/traffic/traffic.c and model/net/router/events/ends.c.
 */

#include "model/net/router/lockstep/ask.h"
#include "model/traffic/draw.h"

/* ---- take ---- */

/* Makes sure that a router decides in the cycle `at` or earlier. On devices several threads may
 * do so at once; there the word has the complement of the cycle, so that the largest counts. */
static inline void wf_lockstep_wake(const struct wf_lockstep_net *net, uint32_t r, uint32_t at)
{
#ifdef WF_LOCKSTEP_DEVICE
    WF_LOCKSTEP_MAX32(wf_lockstep_waking(net, r), ~at);
#else
    if (net->wake[r] == 0 || net->wake[r] > at + 1) {
        net->wake[r] = at + 1;
    }
#endif
}

static inline bool wf_lockstep_decides(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t cycle)
{
#ifdef WF_LOCKSTEP_DEVICE
    return *wf_lockstep_waking(net, r) == ~cycle;
#else
    return net->wake[r] == cycle + 1;
#endif
}

/* A packet is in the queue; its head has just arrived. */
static inline void wf_lockstep_enqueue(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t number, uint32_t cycle)
{
    struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);

    input->head = cycle;
    if (input->n++ == 0) {
        WF_LOCKSTEP_SET(wf_lockstep_busy(net, r, number / 32), UINT32_C(1) << number % 32);
        wf_lockstep_wake(net, r, cycle + wf_lockstep_ready_in(net, input, cycle));
    }
}

static inline void wf_lockstep_place_free(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t channel, uint32_t cycle)
{
    struct wf_lockstep_channel *c = wf_lockstep_channel(net, r, channel);

    c->used--;
    if ((c->tail & WF_LOCKSTEP_WANTED) != 0) {
        c->tail &= (wf_lockstep_short)~WF_LOCKSTEP_WANTED;
        wf_lockstep_wake(net, r, cycle);
    }
}

/* What the routers around have sent for this cycle, of the inputs and channels of a word. */
static inline void wf_lockstep_take_word(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t word, uint32_t cycle)
{
    uint32_t *of_heads = wf_lockstep_spoke(net, net->heads, net->head_last, cycle, word, r);
    uint32_t *of_credits =
        wf_lockstep_spoke(net, net->credits, net->credit_last, cycle, word, r);
    uint32_t heads = WF_LOCKSTEP_LOAD(*of_heads), credits = WF_LOCKSTEP_LOAD(*of_credits);

    if (heads != 0) {
        WF_LOCKSTEP_STORE(*of_heads, 0);
    }
    if (credits != 0) {
        WF_LOCKSTEP_STORE(*of_credits, 0);
    }
    for (; heads != 0; heads &= heads - 1) {
        wf_lockstep_enqueue(net, r, word * 32 + (uint32_t)__builtin_ctz(heads), cycle);
    }
    for (; credits != 0; credits &= credits - 1) {
        wf_lockstep_place_free(net, r, word * 32 + (uint32_t)__builtin_ctz(credits), cycle);
    }
}

/* ---- traffic ---- */

static inline struct wf_traffic_batch *wf_lockstep_batch(const struct wf_lockstep_net *net,
                                                         uint64_t time)
{
    uint64_t number = time / net->batch_ps;

    return &net->out->batches[number < WF_TRAFFIC_BATCHES ? number : WF_TRAFFIC_BATCHES - 1];
}

/* A random one of the first n nodes, but not the node itself unless the pattern allows it. */
static inline uint32_t wf_lockstep_other(const struct wf_lockstep_net *net, uint32_t node,
                                         uint32_t n, uint64_t random)
{
    if (net->self != 0 || node >= n) {
        return wf_rng_below32(random, n);
    }
    if (n == 1) {
        return WF_LOCKSTEP_NONE;
    }
    uint32_t other = wf_rng_below32(random, n - 1);
    return other + (other >= node);
}

/* The random numbers for a message. */
struct wf_lockstep_lots {
    uint32_t node, message;
    uint32_t count; /* drawn so far */
};

static inline uint64_t wf_lockstep_lot(const struct wf_lockstep_net *net,
                                       struct wf_lockstep_lots *lots)
{
    return wf_traffic_draw_message(net->rules.seed, lots->node, lots->message, lots->count++);
}

/* The destination of a node's message; WF_LOCKSTEP_NONE: it sends none. The rules of
 * model/traffic/pattern.c. */
static inline uint32_t wf_lockstep_destination(const struct wf_lockstep_net *net,
                                               struct wf_lockstep_lots *lots)
{
    uint32_t node = lots->node;

    switch (net->pattern) {
    case WF_LOCKSTEP_TABLE:
        return net->partners[node];
#ifndef WF_LOCKSTEP_TILES
    case WF_LOCKSTEP_OTHER:
        return wf_lockstep_host_destination(net, node, lots->message, &lots->count);
#endif
    default:
        break;
    }
    uint64_t first = wf_lockstep_lot(net, lots);
    if (net->pattern == WF_LOCKSTEP_UNIFORM) {
        return wf_lockstep_other(net, node, net->n_nodes, first);
    }
    bool hot = first >> 11 < net->hot;
    if (hot && net->pattern == WF_LOCKSTEP_HOT_SPOT && node != net->hot_node) {
        return net->hot_node;
    }
    uint32_t n = hot && net->pattern == WF_LOCKSTEP_HOT_REGION ? net->hot_nodes : net->n_nodes;
    return wf_lockstep_other(net, node, n, wf_lockstep_lot(net, lots));
}

/* The directions of packet `index` of a node's message. */
static inline uint32_t wf_lockstep_directions(const struct wf_lockstep_net *net, uint32_t node,
                                              uint32_t dst, uint32_t number, uint32_t index)
{
    return wf_router_directions(&net->rules, net->size, wf_lockstep_coords(net, node),
                                wf_lockstep_coords(net, dst),
                                wf_router_lots(&net->rules, node, number, index));
}

/* The injection queue that a packet enters. */
static inline uint32_t wf_lockstep_injector(const struct wf_lockstep_net *net, uint32_t node,
                                            uint32_t dst, uint32_t way)
{
    const struct wf_lockstep_site site = {net, node, 0};
    const struct wf_router_here here = wf_lockstep_here(&site);

    const struct wf_router_ends ends = {net->size, wf_lockstep_coords(net, node),
                                        wf_lockstep_coords(net, dst)};

    return wf_router_injection_queue(&here, ends, way, net->node_ports * net->rules.vcs,
                                     net->n_injection);
}

/* Puts a packet into an injection queue, if there is space. */
static inline bool wf_lockstep_inject(const struct wf_lockstep_net *net, uint32_t node,
                                      const struct wf_lockstep_new_packet *packet,
                                      uint32_t cycle)
{
    uint32_t dst = packet->dst;
    uint32_t way = wf_lockstep_directions(net, node, dst, packet->more.number, packet->index);
    uint32_t number = wf_lockstep_injector(net, node, dst, way);
    struct wf_lockstep_input *input = wf_lockstep_input(net, node, number);
    uint32_t slot = (uint32_t)input->first + input->n;

    if (!wf_router_queue_takes(input->n, net->injection_length)) {
        return false;
    }
    slot -= slot >= net->injection_length ? net->injection_length : 0;
    const struct wf_lockstep_packet made = {.dst = dst, .born = cycle, .way = way, .at = cycle};
    *wf_lockstep_packet(net, node, number, slot) = wf_lockstep_packed(&made);
    if (net->has_more != 0) {
        *wf_lockstep_more(net, node, number, slot) = packet->more;
    }
    wf_lockstep_enqueue(net, node, number, cycle);
    return true;
}

/* A message of so many bytes that was sent at the time `sent`, and the head of whose last packet
 * is consumed in this cycle, arrives with its last phit. */
static inline void wf_lockstep_arrives(const struct wf_lockstep_net *net, uint64_t sent,
                                       uint64_t bytes, uint32_t pace, uint32_t cycle)
{
    uint64_t at = cycle + (uint64_t)(net->rules.phits - 1) * pace;
    uint64_t time = at * net->cycle_ps + 1, latency = time - sent;

    if (at >= net->end) {
        return;
    }
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, time);
    WF_LOCKSTEP_ADD64(&batch->arrived, 1);
    WF_LOCKSTEP_ADD64(&batch->arrived_bytes, bytes);
    WF_LOCKSTEP_ADD64(&batch->latency_sum, latency);
    WF_LOCKSTEP_MAX64(&batch->latency_max, latency);
    WF_LOCKSTEP_ADD32(&batch->classes[wf_traffic_class(latency)], 1);
    WF_LOCKSTEP_MAX64(&net->out->last, time);
    if (net->stats != 0) {
        WF_LOCKSTEP_ADD64(&net->out->latencies[wf_histogram_bucket(latency)], 1);
    }
}
