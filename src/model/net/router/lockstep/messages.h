/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Messages of a run in lock step, if they are not all single packets that are injected at once or
 * dropped: those that wait for injection, those of which only some packets have arrived, and the
 * rounds of closed loops. The rules are those of model/net/router/events/ends.c and model/traffic/traffic.c. Each node
 * has lists of its own, which only the thread of its router uses.
 *
 */

#include "model/net/router/lockstep/inject.h"

/* ---- lists ---- */

static inline struct wf_lockstep_sender *wf_lockstep_sender(const struct wf_lockstep_net *net,
                                                            uint32_t node)
{
    return &net->mail.senders[node];
}

/* Moves what is in a list of elements of `size` bytes to its begin. */
static inline void wf_lockstep_list_pack(struct wf_lockstep_list *list, uint32_t size)
{
    uint64_t *words = (uint64_t *)list->items;
    uint32_t each = size / (uint32_t)sizeof(*words);

    for (uint32_t i = list->first * each, to = 0; i < list->n * each; i++, to++) {
        words[to] = words[i];
    }
    list->n -= list->first;
    list->first = 0;
}

/* Makes room for one more element. */
static inline void wf_lockstep_list_room(struct wf_lockstep_list *list, uint32_t size)
{
    if (list->first == list->n) {
        list->first = list->n = 0;
    }
    if (list->n == list->capacity && list->first > list->n / 2) {
        wf_lockstep_list_pack(list, size);
    }
    if (list->n == list->capacity) {
        wf_lockstep_host_grow(list, size);
    }
}

/* ---- the source ---- */

/* Whether a packet could be injected at once. */
static inline bool wf_lockstep_can_inject(const struct wf_lockstep_net *net, uint32_t node,
                                          uint32_t dst)
{
    const struct wf_lockstep_list *waiting = &wf_lockstep_sender(net, node)->waiting;
    uint32_t number = wf_lockstep_node(net, node)->numbers;
    uint32_t way = wf_lockstep_directions(net, node, dst, number, 1);
    uint32_t queue = wf_lockstep_injector(net, node, dst, way);

    return waiting->first == waiting->n &&
           wf_router_queue_takes(wf_lockstep_input(net, node, queue)->n, net->injection_length);
}

/* Sends a message, not after the beginning of the cycle. */
static inline void wf_lockstep_send_message(const struct wf_lockstep_net *net, uint32_t dst,
                                            const struct wf_lockstep_more *message,
                                            uint32_t cycle)
{
    uint32_t node = message->src;
    struct wf_lockstep_list *waiting = &wf_lockstep_sender(net, node)->waiting;
    struct wf_lockstep_new_packet packet = {
        .dst = dst,
        .index = (uint32_t)wf_router_packets_of(message->bytes, net->mail.packet),
        .more = *message};

    packet.more.number = wf_lockstep_node(net, node)->numbers++;
    if (wf_router_enters_at_once(packet.index, waiting->first != waiting->n,
                                 message->sent == cycle * net->cycle_ps) &&
        wf_lockstep_inject(net, node, &packet, cycle)) {
        return;
    }
    wf_lockstep_list_room(waiting, sizeof(packet));
    ((struct wf_lockstep_new_packet *)waiting->items)[waiting->n++] = packet;
    wf_lockstep_wake(net, node, cycle);
}

/* Returns the number of messages that were not dropped. */
static inline uint64_t wf_lockstep_send_messages(const struct wf_lockstep_net *net,
                                                 uint32_t node, uint64_t time, uint32_t cycle)
{
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, time);
    bool drops = net->drop != 0 && net->mail.rounds == 0;
    uint64_t sent = 0;

    for (uint32_t i = 0; i < net->burst; i++) {
        struct wf_lockstep_lots lots = {.node = node,
                                        .message = wf_lockstep_node(net, node)->messages++};
        uint32_t dst = wf_lockstep_destination(net, &lots);
        if (dst == WF_LOCKSTEP_NONE) {
            continue;
        }
        uint64_t bytes = wf_lockstep_host_size(net, node, lots.message, &lots.count);
        WF_LOCKSTEP_ADD64(&batch->offered, 1);
        WF_LOCKSTEP_ADD64(&batch->offered_bytes, bytes);
        if (drops && !wf_lockstep_can_inject(net, node, dst)) {
            WF_LOCKSTEP_ADD64(&batch->dropped, 1);
            WF_LOCKSTEP_ADD64(&batch->dropped_bytes, bytes);
            continue;
        }
        const struct wf_lockstep_more more = {.src = node, .bytes = bytes, .sent = time};
        wf_lockstep_send_message(net, dst, &more, cycle);
        sent++;
    }
    return sent;
}

/* Draws the time of the next burst, after one at `time`. */
static inline void wf_lockstep_draw_next(const struct wf_lockstep_net *net, uint32_t node,
                                         int64_t time)
{
    struct wf_lockstep_sender *own = wf_lockstep_sender(net, node);
    int64_t gap = wf_lockstep_host_gap(net, node, wf_lockstep_node(net, node)->bursts++, time);

    own->next = gap < INT64_MAX - time ? time + gap : INT64_MAX;
    uint64_t cycle = ((uint64_t)own->next + net->cycle_ps - 1) / net->cycle_ps;
    *wf_lockstep_next(net, node) = cycle < net->end ? (uint32_t)cycle : WF_LOCKSTEP_NEVER;
}

/* Begins a round of a closed loop, if the last one has ended. A round without messages ends at
 * once. */
static inline void wf_lockstep_begin_round(const struct wf_lockstep_net *net, uint32_t node,
                                           uint32_t cycle)
{
    struct wf_lockstep_sender *own = wf_lockstep_sender(net, node);

    while (own->missing == 0 && own->rounds < net->mail.rounds) {
        own->rounds++;
        own->missing = wf_lockstep_send_messages(net, node, cycle * net->cycle_ps, cycle);
    }
}

/* Before cycle 0. */
static inline void wf_lockstep_messages_begin(const struct wf_lockstep_net *net, uint32_t node)
{
    if (net->mail.rounds > 0) {
        *wf_lockstep_next(net, node) = WF_LOCKSTEP_NEVER;
        wf_lockstep_sender(net, node)->next = INT64_MAX;
        wf_lockstep_begin_round(net, node, 0);
    } else {
        wf_lockstep_draw_next(net, node, 0);
    }
}

/* Sends what the node sends until the beginning of the cycle. */
static inline void wf_lockstep_messages_burst(const struct wf_lockstep_net *net, uint32_t node,
                                              uint32_t cycle)
{
    struct wf_lockstep_sender *own = wf_lockstep_sender(net, node);

    while (own->next <= (int64_t)(cycle * net->cycle_ps)) {
        int64_t time = own->next;
        (void)wf_lockstep_send_messages(net, node, (uint64_t)time, cycle);
        wf_lockstep_draw_next(net, node, time);
    }
}

/* After the last cycle: what a node sends before the end of the run. */
static inline void wf_lockstep_messages_end(const struct wf_lockstep_net *net, uint32_t node)
{
    struct wf_lockstep_sender *own = wf_lockstep_sender(net, node);

    while (own->next < (int64_t)(net->end * net->cycle_ps)) {
        int64_t time = own->next;
        (void)wf_lockstep_send_messages(net, node, (uint64_t)time, net->end);
        wf_lockstep_draw_next(net, node, time);
    }
}

/* Injects messages that wait, at the beginning of a decision. Returns whether some still wait. */
static inline bool wf_lockstep_messages_inject(const struct wf_lockstep_net *net, uint32_t node,
                                               uint32_t cycle)
{
    struct wf_lockstep_list *waiting = &wf_lockstep_sender(net, node)->waiting;

    while (waiting->first < waiting->n) {
        struct wf_lockstep_new_packet *message =
            (struct wf_lockstep_new_packet *)waiting->items + waiting->first;
        if (!wf_lockstep_inject(net, node, message, cycle)) {
            return true;
        }
        waiting->first += --message->index == 0;
    }
    return false;
}

/* ---- the destination ---- */

/* Whether this packet completes its message. */
static inline bool wf_lockstep_completes(const struct wf_lockstep_net *net, uint32_t node,
                                         const struct wf_lockstep_more *more)
{
    struct wf_lockstep_list *list = &wf_lockstep_sender(net, node)->partial;
    uint64_t all = wf_router_packets_of(more->bytes, net->mail.packet);
    uint32_t i = 0;

    if (all == 1) {
        return true;
    }
    struct wf_lockstep_partial *partial = list->items;
    while (i < list->n && (partial[i].src != more->src || partial[i].number != more->number)) {
        i++;
    }
    if (i == list->n) {
        wf_lockstep_list_room(list, sizeof(*partial));
        partial = list->items;
        partial[list->n++] =
            (struct wf_lockstep_partial){.src = more->src, .number = more->number};
    }
    if (++partial[i].packets < all) {
        return false;
    }
    partial[i] = partial[--list->n];
    return true;
}

/* Adds a reaction after those of the same cycle. */
static inline void wf_lockstep_add_reaction(const struct wf_lockstep_net *net, uint32_t node,
                                            struct wf_lockstep_reaction reaction)
{
    struct wf_lockstep_list *list = &wf_lockstep_sender(net, node)->reactions;

    wf_lockstep_list_room(list, sizeof(reaction));
    struct wf_lockstep_reaction *items = list->items;
    uint32_t at = list->n++;
    for (; at > list->first && items[at - 1].cycle > reaction.cycle; at--) {
        items[at] = items[at - 1];
    }
    items[at] = reaction;
}

/* A message of a closed loop has arrived a picosecond after the beginning of a cycle. The node
 * reacts in the next one; without answers, the source learns it some time later. */
static inline void wf_lockstep_arrived(const struct wf_lockstep_net *net, uint32_t node,
                                       const struct wf_lockstep_more *more, uint32_t cycle)
{
    bool answers = net->mail.reply > 0 && more->reply == 0;

    if (answers || more->reply != 0 || more->src == node) {
        const struct wf_lockstep_reaction reaction = {.cycle = cycle + 1,
                                                      .what = answers ? WF_LOCKSTEP_ANSWER
                                                                      : WF_LOCKSTEP_ROUND_DONE,
                                                      .src = more->src};
        wf_lockstep_add_reaction(net, node, reaction);
        return;
    }
    uint32_t when = (cycle + net->mail.least) & net->mail.done_mask;
    uint32_t *done = &net->mail.done[(size_t)when * net->n_nodes + more->src];
    (void)__atomic_fetch_add(done, 1, __ATOMIC_RELAXED); /* by other threads, too */
}

/* A packet is consumed; its message may be complete. */
static inline void wf_lockstep_messages_consumed(const struct wf_lockstep_net *net,
                                                 uint32_t node,
                                                 const struct wf_lockstep_more *more,
                                                 uint32_t pace, uint32_t cycle)
{
    if (wf_lockstep_completes(net, node, more)) {
        wf_lockstep_arrives(net, more->sent, more->bytes, pace, cycle);
        if (net->mail.rounds > 0) {
            wf_lockstep_arrived(net, node, more, cycle + (net->rules.phits - 1) * pace);
        }
    }
}

/* ---- closed loops ---- */

static inline void wf_lockstep_react(const struct wf_lockstep_net *net, uint32_t node,
                                     const struct wf_lockstep_reaction *reaction)
{
    struct wf_lockstep_sender *own = wf_lockstep_sender(net, node);

    if (reaction->what == WF_LOCKSTEP_ANSWER) {
        const struct wf_lockstep_more message = {.src = node,
                                                 .bytes = net->mail.reply,
                                                 .sent = reaction->cycle * net->cycle_ps,
                                                 .reply = 1};
        wf_lockstep_send_message(net, reaction->src, &message, reaction->cycle);
    } else if (--own->missing == 0) {
        wf_lockstep_begin_round(net, node, reaction->cycle);
    }
}

/* At the beginning of a cycle, before the node's router takes it: reacts to messages that have
 * arrived. */
static inline void wf_lockstep_messages_react(const struct wf_lockstep_net *net, uint32_t node,
                                              uint32_t cycle)
{
    struct wf_lockstep_list *list = &wf_lockstep_sender(net, node)->reactions;
    uint32_t *slot =
        &net->mail.done[(size_t)(cycle & net->mail.done_mask) * net->n_nodes + node];
    uint32_t done = WF_LOCKSTEP_LOAD(*slot);

    if (done > 0) {
        WF_LOCKSTEP_STORE(*slot, 0);
    }
    for (; done > 0; done--) {
        const struct wf_lockstep_reaction next = {.cycle = cycle,
                                                  .what = WF_LOCKSTEP_ROUND_DONE};
        wf_lockstep_react(net, node, &next);
    }
    while (list->first < list->n &&
           ((struct wf_lockstep_reaction *)list->items)[list->first].cycle == cycle) {
        const struct wf_lockstep_reaction next =
            ((struct wf_lockstep_reaction *)list->items)[list->first++];
        wf_lockstep_react(net, node, &next);
    }
}

/* Rounds that a node has left. */
static inline uint64_t wf_lockstep_messages_left(const struct wf_lockstep_net *net,
                                                 uint32_t node)
{
    const struct wf_lockstep_sender *own = wf_lockstep_sender(net, node);

    return net->mail.rounds - own->rounds + (own->missing > 0);
}
