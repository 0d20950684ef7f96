/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A cycle of a block of routers with wormhole switching, phase by phase:
 *
 *   take      flits, heads of packets and free places that reach the routers
 *   nodes     new messages, and a flit of each node
 *   switch    which queues send a flit
 *   channels  for packets that wait for one, which may send from the next cycle on
 *   move      the flits that got the switch, then what is due for heads and for tails
 *
 * What leaves a router reaches another one in a later cycle, so that blocks, and the routers of a
 * block in each phase, may take a cycle in any order. Private to model/net/router/lockstep/flits.c.
 *
 * Lists are written without branches: each candidate is written to the end of the list, which then
 * grows by 1 or by 0. Processors cannot predict which router has a flit to send, whether a flit is
 * for the node, or whether it is the first or the last of its packet.
 */

#include "model/net/router/lockstep/flits_state.h"
#include "model/net/router/lockstep/inside.h"
#include "model/net/router/rules/wormhole.h"

/* ---- what reaches routers ---- */

/* The first packet of a queue is to be routed in the cycle `at` + the routing delay. As the delay is
 * the same for all, packets begin in the order in which they are routed. */
static void begin(const struct here *h, uint32_t place, uint32_t at)
{
    struct block *block = h->block;
    const uint32_t length = begun_length(&h->shape), i = block->begun_first + block->n_begun++;

    queue_at(h, place)->gone = 0;
    h->begun[i < length ? i : i - length] = (struct begun){at + h->f->routing_delay, place};
}

static void take_flits(const struct here *h, struct arrivals *arrivals)
{
    const uint16_t *places = list_of_flits(arrivals), *heads = list_of_heads(h, arrivals);

    for (uint32_t i = 0, n = arrivals->n_flits; i < n; i++) {
        h->block->flits[router_at(places[i])] |= bit(number_at(places[i]));
        queue_at(h, places[i])->here++;
    }
    for (uint32_t i = 0, n = arrivals->n_heads; i < n; i++) {
        if (queue_at(h, heads[i])->n++ == 0) {
            begin(h, heads[i], h->cycle);
        }
    }
}

static void take_credits(const struct here *h, struct arrivals *arrivals)
{
    const uint16_t *places = list_of_credits(h, arrivals);

    for (uint32_t i = 0, n = arrivals->n_credits; i < n; i++) {
        uint32_t router = router_at(places[i]), number = number_at(places[i]);
        struct channel *channel = &h->channels[router * h->shape.n_queues + number];
        uint64_t is_held = ~h->block->free[router] >> number & 1;
        h->block->room[router] |= is_held << channel->holder;
        channel->used--;
    }
}

static void take(const struct here *h)
{
    struct arrivals *arrivals = arrivals_of(h->wheels.now, h->at);

    take_flits(h, arrivals);
    take_credits(h, arrivals);
    arrivals->n_flits = arrivals->n_heads = arrivals->n_credits = 0;
}

/* ---- nodes ---- */

static struct packet *waiting_of(const struct here *h, uint32_t router, uint32_t i)
{
    uint32_t length = h->f->net.injection_length, at = h->routers[router].waiting_first + i;

    return &h->f->waiting[(size_t)(h->first + router) * length +
                          (at >= length ? at - length : at)];
}

/* As wf_lockstep_send_burst(). */
static void send_burst(const struct here *h, uint32_t router)
{
    const struct wf_lockstep_net *net = &h->f->net;
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, h->cycle * net->cycle_ps);
    const uint32_t r = h->first + router;
    struct wf_lockstep_node *own = &net->nodes[r];

    for (uint32_t i = 0; i < net->burst; i++) {
        struct wf_lockstep_lots lots = {.node = r, .message = own->messages++};
        uint32_t dst = wf_lockstep_destination(net, &lots);
        if (dst == WF_LOCKSTEP_NONE) {
            continue;
        }
        batch->offered++;
        batch->offered_bytes += net->message_bytes;
        if (h->routers[router].n_waiting == net->injection_length) {
            batch->dropped++;
            batch->dropped_bytes += net->message_bytes;
            continue;
        }
        uint32_t way = wf_lockstep_directions(net, r, dst, own->numbers++, 1);
        *waiting_of(h, router, h->routers[router].n_waiting++) =
            (struct packet){dst, h->cycle, way};
        h->block->sending |= bit(router);
    }
    net->next[r] = wf_lockstep_next_burst(net, r, h->cycle);
}

static void send_bursts(const struct here *h)
{
    const uint32_t *next = &h->f->net.next[h->first];

    for (uint32_t router = 0; router < h->n; router++) {
        if (next[router] == h->cycle) {
            send_burst(h, router);
        }
    }
}

/* The channel from a node to its router by which its last flit left. */
static struct channel *node_channel(const struct here *h, uint32_t router, uint32_t vc)
{
    return &h->channels[router * h->shape.n_queues + h->shape.local * h->shape.vcs + vc];
}

/* Takes the next channel to the router with room; false if there is none. */
static bool choose_vc(const struct here *h, uint32_t router)
{
    uint64_t with_room = 0;

    for (uint32_t vc = 0; vc < h->shape.vcs; vc++) {
        with_room |= (uint64_t)(node_channel(h, router, vc)->used < h->capacity) << vc;
    }
    return wf_router_source_vc(with_room, &h->routers[router].vc);
}

/* A packet begins to leave its node. */
static void send_head(const struct here *h, uint32_t place)
{
    struct flits *f = h->f;
    struct queue *q = queue_at(h, place);
    const struct packet *packet = waiting_of(h, router_at(place), 0);
    struct arrivals *there = arrivals_of(h->wheels.by_node, h->at);

    *packet_of(h, h->first + router_at(place), number_at(place), q->tail) = *packet;
    q->tail = after(f, q->tail);
    list_of_heads(h, there)[there->n_heads++] = (uint16_t)place;
    f->count.injected++;
    f->count.waited += h->cycle - packet->born;
}

/* The tail of a packet has left its node. */
static void end_sending(const struct here *h, uint32_t router)
{
    struct router *own = &h->routers[router];

    own->sent = 0;
    own->waiting_first =
        own->waiting_first + 1 == h->f->net.injection_length ? 0 : own->waiting_first + 1;
    if (--own->n_waiting == 0) {
        h->block->sending &= ~bit(router);
    }
}

/* Each node sends a flit to its router, if there is room. */
static void send_all(const struct here *h)
{
    struct arrivals *there = arrivals_of(h->wheels.by_node, h->at);
    uint16_t *places = list_of_flits(there);

    for (uint64_t left = h->block->sending; left != 0; left &= left - 1) {
        uint32_t router = lowest(left);
        struct router *own = &h->routers[router];
        bool is_head = own->sent == 0;
        if (is_head && !choose_vc(h, router)) {
            continue;
        }
        uint32_t place = place_of(router, h->shape.local * h->shape.vcs + own->vc);
        struct channel *channel = node_channel(h, router, own->vc);
        uint32_t has_room = channel->used < h->capacity;
        channel->used = (uint16_t)(channel->used + has_room);
        places[there->n_flits] = (uint16_t)place;
        there->n_flits += has_room;
        own->sent += has_room;
        if (is_head) {
            send_head(h, place);
        }
        if (own->sent == h->phits) {
            end_sending(h, router);
        }
    }
}

/* The tail of a packet reaches its node r at the beginning of the cycle `at`. */
static void consume(const struct here *h, uint32_t r, const struct packet *packet, uint32_t at)
{
    struct flits *f = h->f;
    const struct wf_lockstep_net *net = &f->net;
    uint32_t hops = packet->way >> 16;

    if (at >= net->end) {
        return;
    }
    f->count.consumed++;
    f->count.hops += hops;
    f->count.digest += wf_router_fact(at, r, WF_ROUTER_FACT_EATEN, packet->dst, packet->born);
    net->out->by_hops[hops < WF_LOCKSTEP_HOPS ? hops : WF_LOCKSTEP_HOPS - 1]++;

    uint64_t time = at * net->cycle_ps, latency = time - packet->born * net->cycle_ps;
    wf_traffic_latency(wf_lockstep_batch(net, time), (int64_t)latency, net->message_bytes);
    net->out->last = time > net->out->last ? time : net->out->last;
    net->out->latencies[wf_histogram_bucket(latency)]++;
}

/* ---- the switch ---- */

/* The queues that send a flit in this cycle, as places. */
struct moves {
    uint32_t n;
    uint16_t places[BLOCK * PORTS_MAX];
};

/* A router of which several queues want to send. */
struct contest {
    uint64_t bids;
    uint64_t offers; /* a byte for each input, in which there is a bit for each output */
    uint32_t router;
};

/* An output is offered to an input. */
struct offer {
    uint16_t contest;
    uint16_t at; /* bit in the contest's offers */
};

/* Every output of a router is offered to one of the inputs that want it. Appends to the list, which
 * has n offers, and returns how many it has then. */
static uint32_t offer_outputs(const struct here *h, struct contest *contest, uint32_t number,
                              struct offer *offers, uint32_t n)
{
    const struct router *router = &h->routers[contest->router];
    const uint64_t bids = contest->bids;
    uint64_t matrix = 0;

    for (uint32_t out = 0; out <= h->shape.local; out++) {
        uint64_t those = bids & router->toward[out], any = those != 0;
        /* Queues are in the order of ports: the first from those of a port on is of the first port. */
        uint32_t in = port_of(h, wf_router_first_in(those | !any, router->ports[out].grant));
        matrix |= any << (8 * in + out);
        offers[n] = (struct offer){(uint16_t)number, (uint16_t)(8 * in + out)};
        n += (uint32_t)any;
    }
    contest->offers = matrix;
    return n;
}

/* An input accepts an offer that is the first of its offers in turn, for the first virtual channel in
 * turn that wants it: *place. False if it prefers another offer. */
static bool accept(const struct here *h, const struct contest *contest,
                   const struct offer *offer, uint16_t *place)
{
    const struct router *router = &h->routers[contest->router];
    const uint32_t in = offer->at / 8, out = offer->at % 8;
    const struct port *port = &router->ports[in];
    const uint32_t vcs = h->shape.vcs, first = in * vcs;
    uint64_t those = (contest->bids & router->toward[out]) >> first & (bit(vcs) - 1);

    *place = (uint16_t)place_of(contest->router, first + wf_router_first_in(those, port->turn));
    return wf_router_first_in(contest->offers >> 8 * in & 0xff, port->accept) == out;
}

/* A single bid of a router wins. */
static void give_switches(const struct here *h, struct moves *moves)
{
    const struct block *block = h->block;
    struct contest contests[BLOCK];
    struct offer offers[BLOCK * PORTS_MAX];
    uint32_t n_contests = 0, n_offers = 0, n = 0; /* in registers */

    for (uint32_t i = 0; i < h->n; i++) {
        uint64_t bids = block->goes[i] & block->flits[i] & block->room[i];
        bool several = (bids & (bids - 1)) != 0;
        moves->places[n] = (uint16_t)place_of(i, lowest(bids | bit(63)));
        n += (bids != 0) ^ several;
        contests[n_contests].bids = bids;
        contests[n_contests].router = i;
        n_contests += several;
    }
    for (uint32_t i = 0; i < n_contests; i++) {
        n_offers = offer_outputs(h, &contests[i], i, offers, n_offers);
    }
    for (uint32_t i = 0; i < n_offers; i++) {
        n += accept(h, &contests[offers[i].contest], &offers[i], &moves->places[n]);
    }
    moves->n = n;
}

/* ---- channels ---- */

static void route(const struct here *h, uint32_t place)
{
    const struct wf_lockstep_net *net = &h->f->net;
    struct queue *q = queue_at(h, place);
    const struct packet *packet = first_packet(h, place);
    const uint32_t r = h->first + router_at(place), queue = number_at(place);
    const uint32_t vcs = h->shape.vcs, in = port_of(h, queue);
    const struct wf_router_stop at = {
        .here = wf_lockstep_coords(net, r),
        .there = wf_lockstep_coords(net, packet->dst),
        .down = packet->way & 0xff,
        .in = in,
        .vc = queue - in * vcs,
    };
    const struct wf_router_exit to =
        wf_router_wormhole_exit(&net->rules, &at, h->shape.local, vcs);

    q->port = (uint16_t)to.port;
    q->vcs = (uint16_t)to.vcs;
}

/* Routes the packets whose time has come. They ask for channels from now on. */
static void route_all(const struct here *h)
{
    struct block *block = h->block;

    for (; block->n_begun > 0; block->n_begun--) {
        uint32_t place = h->begun[block->begun_first].place;
        if (h->begun[block->begun_first].ready > h->cycle) {
            break;
        }
        block->begun_first =
            block->begun_first + 1 < begun_length(&h->shape) ? block->begun_first + 1 : 0;
        route(h, place);
        block->waits[router_at(place)] |= bit(number_at(place));
        block->asking |= bit(router_at(place));
    }
}

/* The free channels that the first packet of a queue may take in this cycle. */
static uint64_t wanted_by(const struct here *h, uint32_t place)
{
    const struct queue *q = queue_at(h, place);

    return (uint64_t)q->vcs << q->port * h->shape.vcs & h->block->free[router_at(place)];
}

static void take_channel(const struct here *h, uint32_t place, uint32_t number)
{
    struct flits *f = h->f;
    struct block *block = h->block;
    struct queue *q = queue_at(h, place);
    const uint32_t router = router_at(place), queue = number_at(place), r = h->first + router;
    struct channel *channel = &h->channels[router * h->shape.n_queues + number];
    const bool is_link = q->port != h->shape.local;
    const struct link link = link_of(h, r, q->port);

    channel->holder = (uint16_t)queue;
    wf_router_channel_taken(&channel->grant, &q->accept, queue, number);
    q->channel = (uint16_t)number;
    q->next_at = arrivals_at(&h->shape, link.router);
    q->next =
        (uint16_t)place_of(link.router % BLOCK, link.queue + number - q->port * h->shape.vcs);
    block->free[router] &= ~bit(number);
    block->waits[router] &= ~bit(queue);
    block->goes[router] |= bit(queue);
    h->routers[router].toward[q->port] |= bit(queue);
    if (!is_link || channel->used < h->capacity) {
        block->room[router] |= bit(queue);
    }
    if (is_link) {
        f->carried[(size_t)r * h->shape.local * h->shape.vcs + number]++;
    }
}

/* Offers each of the channels `all` to one of several packets that want it. */
static void offer_channels(const struct channel *channels, uint64_t askers, uint64_t all,
                           const uint64_t *wanted, uint64_t *offered)
{
    for (; all != 0; all &= all - 1) {
        uint32_t number = lowest(all);
        uint64_t those = 0;
        for (uint64_t left = askers; left != 0; left &= left - 1) {
            those |= (wanted[lowest(left)] >> number & 1) << lowest(left);
        }
        offered[wf_router_first_in(those, channels[number].grant)] |= bit(number);
    }
}

/* Every channel is offered to one of the packets that want it, and every packet accepts one of
 * its offers. */
static void give_channels(const struct here *h, uint32_t router)
{
    uint64_t askers = 0, all = 0, wanted[QUEUES_MAX], offered[QUEUES_MAX];

    for (uint64_t left = h->block->waits[router]; left != 0; left &= left - 1) {
        uint32_t queue = lowest(left);
        uint64_t set = wanted_by(h, place_of(router, queue));
        if (set != 0) {
            wanted[queue] = set;
            offered[queue] = 0;
            askers |= bit(queue);
            all |= set;
        }
    }
    if ((askers & (askers - 1)) != 0) {
        offer_channels(&h->channels[(size_t)router * h->shape.n_queues], askers, all, wanted,
                       offered);
    } else if (askers != 0) {
        offered[lowest(askers)] = all;
    }
    for (; askers != 0; askers &= askers - 1) {
        uint32_t place = place_of(router, lowest(askers));
        uint64_t offers = offered[lowest(askers)];
        if (offers != 0) {
            take_channel(h, place, wf_router_first_in(offers, queue_at(h, place)->accept));
        }
    }
}

static void give_all_channels(const struct here *h)
{
    for (uint64_t left = h->block->asking; left != 0; left &= left - 1) {
        uint32_t router = lowest(left);
        give_channels(h, router);
        if (h->block->waits[router] == 0) {
            h->block->asking &= ~bit(router);
        }
    }
}

/* ---- flits move ---- */

/* Puts the first packet of a queue into the next one, where its head will arrive later. */
static void hand_over(const struct here *h, uint32_t place, const struct packet *packet)
{
    struct flits *f = h->f;
    const struct queue *q = queue_at(h, place);
    const uint32_t to = link_of(h, h->first + router_at(place), q->port).router;
    struct queue *next = &f->queues[(size_t)to * h->shape.n_queues + number_at(q->next)];
    struct packet *there = packet_of(h, to, number_at(q->next), next->tail);
    struct arrivals *arrivals = arrivals_of(h->wheels.by_link, q->next_at);

    *there = *packet;
    there->way += UINT32_C(1) << 16; /* a hop */
    next->tail = after(f, next->tail);
    list_of_heads(h, arrivals)[arrivals->n_heads++] = q->next;
    f->count.sends++;
}

/* The head of a queue's first packet leaves. */
static void head_leaves(const struct here *h, uint32_t place)
{
    const struct queue *q = queue_at(h, place);
    const struct packet *packet = first_packet(h, place);

    h->f->count.digest += wf_router_fact(h->cycle, h->first + router_at(place), q->channel,
                                         packet->dst, packet->born);
    if (q->port != h->shape.local) {
        hand_over(h, place, packet);
    }
}

/* Its tail leaves: the packet is removed. */
static void tail_leaves(const struct here *h, uint32_t place)
{
    struct block *block = h->block;
    struct queue *q = queue_at(h, place);
    const uint32_t router = router_at(place);
    const uint64_t others = ~bit(number_at(place));

    if (q->port == h->shape.local) {
        consume(h, h->first + router, first_packet(h, place), h->cycle + h->f->hop);
    }
    block->free[router] |= bit(q->channel);
    block->room[router] &= others;
    block->goes[router] &= others;
    h->routers[router].toward[q->port] &= others;
    q->first = after(h->f, q->first);
    if (--q->n > 0) {
        begin(h, place, h->cycle + 1);
    }
}

/* Remembers who got the switch. */
static void won(const struct here *h, uint32_t router, uint32_t in, uint32_t vc, uint32_t out)
{
    struct port *ports = h->routers[router].ports;

    wf_router_switch_taken(&ports[in].turn, &ports[in].accept, &ports[out].grant, vc, out,
                           (in + 1) * h->shape.vcs);
}

/* Sends the next flit of a queue, which got the switch, and tells the previous router or node
 * that there is room for one more. */
static void move(const struct here *h, uint32_t place)
{
    struct block *block = h->block;
    struct queue *q = queue_at(h, place);
    const uint32_t router = router_at(place), queue = number_at(place), in = port_of(h, queue);
    struct channel *channel = &h->channels[router * h->shape.n_queues + q->channel];
    uint32_t is_link = q->port != h->shape.local, used = channel->used + is_link;
    uint64_t is_full = (used == h->capacity) & is_link, is_empty = --q->here == 0;
    struct arrivals *there = arrivals_of(h->wheels.by_link, q->next_at);
    struct arrivals *before = arrivals_of(h->wheels.credits, q->back_at);

    q->gone++;
    channel->used = (uint16_t)used;
    block->flits[router] &= ~(is_empty << queue);
    block->room[router] &= ~(is_full << queue);
    list_of_flits(there)[there->n_flits] = q->next;
    there->n_flits += is_link;
    list_of_credits(h, before)[before->n_credits++] = q->back;
    won(h, router, in, queue - in * h->shape.vcs, q->port);
}

static void move_all(const struct here *h, const struct moves *moves)
{
    uint32_t n_heads = 0, n_tails = 0;
    uint16_t heads[BLOCK * PORTS_MAX], tails[BLOCK * PORTS_MAX];

    for (uint32_t i = 0; i < moves->n; i++) {
        uint32_t place = moves->places[i];
        const struct queue *q = queue_at(h, place);
        heads[n_heads] = tails[n_tails] = (uint16_t)place;
        n_heads += q->gone == 0;
        n_tails += q->gone + 1u == h->phits;
        move(h, place);
    }
    for (uint32_t i = 0; i < n_heads; i++) {
        head_leaves(h, heads[i]);
    }
    for (uint32_t i = 0; i < n_tails; i++) {
        tail_leaves(h, tails[i]);
    }
}

/* ---- the whole ---- */

static inline void cycle_of(const struct here *h)
{
    struct moves moves;

    take(h);
    send_bursts(h);
    send_all(h);
    give_switches(h, &moves);
    route_all(h);
    give_all_channels(h);
    move_all(h, &moves);
}
