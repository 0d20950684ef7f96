/* SPDX-License-Identifier: Apache-2.0 */
#include "lockstep/flits.h"

#include "base/mem.h"
#include "lockstep/inside.h"
#include "lockstep/step.h"

#include <stdlib.h>

enum {
    PORTS_MAX = 8,   /* of a router, with that to its node */
    QUEUES_MAX = 64, /* of a router; its channels are as many */
    PACKETS_MAX = 250,
    NO_PORT = 0xff,
    HEAD = 0x80,                /* of a packet, beside the channel of a flit */
    CYCLES_BETWEEN_LOOKS = 1024 /* at the user's wish to stop, and for progress */
};

/* A packet in a queue, or at its node. */
struct packet {
    uint32_t dst, born;
    uint32_t way; /* hops so far << 16 | bit d: it travels dimension d downwards */
};

/* No member of what follows is a byte: for all a compiler knows, a byte that is written may be part
 * of anything, so that it would load everything again. */

/* A queue at the end of a channel, or between a node and its router. Its packets are in a ring:
 * from `first` those whose head has arrived, up to `tail` those whose head is on its way. */
struct queue {
    uint32_t ready;          /* first cycle in which the first packet may request a channel */
    uint16_t here, gone;     /* flits that have arrived; flits of the first that have left */
    uint16_t vcs;            /* channels of its port that the first packet may take, as bits */
    uint16_t port;           /* output port of the first packet; NO_PORT: not routed yet */
    uint16_t channel;        /* that the first packet holds, if it is in `goes` */
    uint16_t accept;         /* channel to accept first, if several are offered */
    uint16_t first, n, tail; /* ring */
};

/* A virtual channel of an output port; the last ones lead from the node to its router. */
struct channel {
    uint16_t used;   /* flits in the queue at its end, or on the link */
    uint16_t holder; /* queue whose packet holds it, unless it is in `free` */
    uint16_t grant;  /* queue that gets its first offer */
};

/* The far end of a link. The link that ends at the same port comes from there. The port to the node
 * leads to the router itself. */
struct link {
    uint32_t to;
    uint16_t to_port;
    uint16_t to_shift; /* of the byte of that port in a wheel */
};

/* A port as an input and as an output of the switch. */
struct port {
    uint16_t turn;   /* virtual channel that requests the switch first */
    uint16_t accept; /* output to accept first */
    uint16_t grant;  /* input that gets its first offer */
};

/* Sets of queues and channels are words, a bit for each. */
struct router {
    uint64_t waits, goes; /* queues whose first packet waits for a channel, or has one */
    uint64_t flits;       /* queues in which a flit is */
    uint64_t room;        /* queues at the end of whose channel there is room for a flit */
    uint64_t free;        /* channels that no packet holds */
    struct port ports[PORTS_MAX];
    /* The node: the packets that wait are a ring; the first may have left in part. */
    uint32_t waiting_first, n_waiting;
    uint32_t sent; /* flits of the first that have left */
    uint32_t vc;   /* channel of the last flit that left */
};

/* The whole run. A word of a wheel has a byte for each port of a router: the virtual channel on
 * which a flit arrives there in a cycle, or for which a place becomes free, + 1. */
struct flits {
    struct wf_lockstep_net net;
    uint32_t vcs, n_ports, local; /* the number of ports without and of that to the node */
    uint32_t n_queues, n_channels, n_places, capacity;
    uint32_t hop, entry, back; /* cycles of a flit on a link, from its node, of a free place */
    uint32_t routing_delay, mask;
    uint8_t port_of[QUEUES_MAX];  /* of each queue, as a table: a division takes longer */
    struct link *links;           /* by router and port */
    uint64_t *arrivals, *credits; /* wheels... */
    /* ...and their words of this cycle, and of those in which what is sent now arrives */
    uint64_t *arrivals_now, *arrivals_by_link, *arrivals_by_node, *credits_now, *credits_sent;
    struct router *routers;
    struct queue *queues;
    struct channel *channels;
    struct packet *packets, *waiting;
    uint32_t *carried; /* packets of each channel of links */
    struct wf_lockstep_count count;
};

/* ---- where things are ---- */

/* A router in a cycle. */
struct here {
    struct flits *f;
    struct router *router;
    struct queue *queues;
    struct channel *channels;
    uint32_t r, cycle;
};

static struct here here_at(struct flits *f, uint32_t r, uint32_t cycle)
{
    return (struct here){
        .f = f,
        .router = &f->routers[r],
        .queues = &f->queues[(size_t)r * f->n_queues],
        .channels = &f->channels[(size_t)r * (f->n_channels + f->vcs)],
        .r = r,
        .cycle = cycle,
    };
}

static struct packet *packet_of(const struct flits *f, uint32_t r, uint32_t queue,
                                uint32_t place)
{
    return &f->packets[((size_t)r * f->n_queues + queue) * f->n_places + place];
}

static uint16_t after(const struct flits *f, uint32_t place)
{
    return (uint16_t)(place + 1 == f->n_places ? 0 : place + 1);
}

static uint64_t bit(uint32_t number)
{
    return UINT64_C(1) << number;
}

static uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

/* A word without its lowest byte that is not 0. */
static uint64_t without_byte(uint64_t word)
{
    return word & ~(UINT64_C(0xff) << (lowest(word) & ~7u));
}

/* The first member of a set in a cyclic order that begins with `first`. */
static uint32_t first_from(uint64_t set, uint32_t first)
{
    uint64_t behind = set >> first << first;

    return lowest(behind != 0 ? behind : set);
}

/* ---- what reaches a router ---- */

/* The first packet of a queue is to be routed from the cycle `at` on. */
static void begin(const struct here *h, uint32_t queue, uint32_t at)
{
    struct queue *q = &h->queues[queue];

    q->port = NO_PORT;
    q->gone = 0;
    q->ready = at + h->f->routing_delay;
    h->router->waits |= bit(queue);
}

static void take_flits(const struct here *h, uint64_t word)
{
    for (; word != 0; word = without_byte(word)) {
        uint32_t port = lowest(word) / 8, what = (uint32_t)(word >> 8 * port & 0xff);
        uint32_t queue = port * h->f->vcs + (what & ~(uint32_t)HEAD) - 1;
        struct queue *q = &h->queues[queue];

        q->here++;
        h->router->flits |= bit(queue);
        if ((what & HEAD) != 0 && q->n++ == 0) {
            begin(h, queue, h->cycle);
        }
    }
}

static void take_credits(const struct here *h, uint64_t word)
{
    struct router *router = h->router;

    for (; word != 0; word = without_byte(word)) {
        uint32_t port = lowest(word) / 8, vc = (uint32_t)(word >> 8 * port & 0xff) - 1;
        uint32_t number = (port == h->f->local ? port + 1 : port) * h->f->vcs + vc;
        struct channel *channel = &h->channels[number];

        channel->used--;
        if (port != h->f->local && (router->free & bit(number)) == 0) {
            router->room |= bit(channel->holder);
        }
    }
}

/* ---- nodes ---- */

static struct packet *waiting_of(const struct here *h, uint32_t i)
{
    uint32_t length = h->f->net.injection_length, at = h->router->waiting_first + i;

    return &h->f->waiting[(size_t)h->r * length + (at >= length ? at - length : at)];
}

/* As wf_lockstep_send_burst(). */
static void send_burst(const struct here *h)
{
    const struct wf_lockstep_net *net = &h->f->net;
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, h->cycle * net->cycle_ps);
    struct wf_lockstep_node *own = &net->nodes[h->r];

    for (uint32_t i = 0; i < net->burst; i++) {
        struct wf_lockstep_lots lots = {.node = h->r, .message = own->messages++};
        uint32_t dst = wf_lockstep_destination(net, &lots);
        if (dst == WF_LOCKSTEP_NONE) {
            continue;
        }
        batch->offered++;
        batch->offered_bytes += net->message_bytes;
        if (h->router->n_waiting == net->injection_length) {
            batch->dropped++;
            batch->dropped_bytes += net->message_bytes;
            continue;
        }
        uint32_t way = wf_lockstep_directions(net, h->r, dst, own->numbers++, 1);
        *waiting_of(h, h->router->n_waiting++) = (struct packet){dst, h->cycle, way};
    }
    net->next[h->r] = wf_lockstep_next_burst(net, h->r, h->cycle);
}

/* Takes the next channel to the router with room; false if there is none. */
static bool choose_vc(const struct here *h)
{
    struct router *router = h->router;
    const struct flits *f = h->f;

    for (uint32_t i = 1; i <= f->vcs; i++) {
        uint32_t vc = router->vc + i < f->vcs ? router->vc + i : router->vc + i - f->vcs;
        if (h->channels[f->n_channels + vc].used < f->capacity) {
            router->vc = vc;
            return true;
        }
    }
    return false;
}

/* A packet begins to leave its node. */
static void send_head(const struct here *h)
{
    struct flits *f = h->f;
    uint32_t queue = f->local * f->vcs + h->router->vc;
    struct queue *q = &h->queues[queue];
    const struct packet *packet = waiting_of(h, 0);

    *packet_of(f, h->r, queue, q->tail) = *packet;
    q->tail = after(f, q->tail);
    f->count.injected++;
    f->count.waited += h->cycle - packet->born;
}

/* Sends a flit from the node to its router, if there is room. */
static void send_one(const struct here *h)
{
    struct flits *f = h->f;
    struct router *router = h->router;
    bool is_head = router->sent == 0;

    if (is_head ? !choose_vc(h) : h->channels[f->n_channels + router->vc].used == f->capacity) {
        return;
    }
    h->channels[f->n_channels + router->vc].used++;
    if (is_head) {
        send_head(h);
    }
    f->arrivals_by_node[h->r] |= (uint64_t)((router->vc + 1) | (is_head ? (uint32_t)HEAD : 0))
                                 << 8 * f->local;
    if (++router->sent == f->net.phits) {
        router->sent = 0;
        router->n_waiting--;
        router->waiting_first = router->waiting_first + 1 == f->net.injection_length
                                    ? 0
                                    : router->waiting_first + 1;
    }
}

/* The tail of a packet reaches its node at the beginning of the cycle `at`. */
static void consume(const struct here *h, const struct packet *packet, uint32_t at)
{
    struct flits *f = h->f;
    const struct wf_lockstep_net *net = &f->net;
    uint32_t hops = packet->way >> 16;

    if (at >= net->end) {
        return;
    }
    f->count.consumed++;
    f->count.hops += hops;
    f->count.digest +=
        wf_router_fact(at, h->r, WF_ROUTER_FACT_EATEN, packet->dst, packet->born);
    net->out->by_hops[hops < WF_LOCKSTEP_HOPS ? hops : WF_LOCKSTEP_HOPS - 1]++;

    uint64_t time = at * net->cycle_ps, latency = time - packet->born * net->cycle_ps;
    wf_traffic_latency(wf_lockstep_batch(net, time), (int64_t)latency, net->message_bytes);
    net->out->last = time > net->out->last ? time : net->out->last;
    net->out->latencies[wf_histogram_bucket(latency)]++;
}

/* ---- channels ---- */

/* Dimension order, and the halves of the channels on rings: net/router/flit.c. */
static void route(const struct here *h, uint32_t queue)
{
    const struct flits *f = h->f;
    struct queue *q = &h->queues[queue];
    const struct packet *packet = packet_of(f, h->r, queue, q->first);
    uint32_t all = (1u << f->vcs) - 1, half = f->vcs / 2, dim = 0;

    q->vcs = (uint16_t)all;
    if (packet->dst == h->r) {
        q->port = (uint16_t)f->local;
        return;
    }
    while (wf_lockstep_coord(&f->net, h->r, dim) ==
           wf_lockstep_coord(&f->net, packet->dst, dim)) {
        dim++;
    }
    uint32_t here = wf_lockstep_coord(&f->net, h->r, dim);
    uint32_t there = wf_lockstep_coord(&f->net, packet->dst, dim);
    q->port = (uint16_t)wf_lockstep_dim_port(packet->way, dim);
    if (f->net.scheme == WF_LOCKSTEP_DATELINE && (f->net.rings >> dim & 1) != 0) {
        uint32_t in = f->port_of[queue];
        bool upper = in == (q->port ^ 1u) ? queue - in * f->vcs >= half : there < here;
        q->vcs = (uint16_t)(((1u << half) - 1) << (upper ? half : 0));
    }
}

/* The free channels that the first packet of a queue may take in this cycle. */
static uint64_t wanted_by(const struct here *h, uint32_t queue)
{
    struct queue *q = &h->queues[queue];

    if (q->ready > h->cycle) {
        return 0;
    }
    if (q->port == NO_PORT) {
        route(h, queue);
    }
    return (uint64_t)q->vcs << q->port * h->f->vcs & h->router->free;
}

static void take_channel(const struct here *h, uint32_t queue, uint32_t number)
{
    struct flits *f = h->f;
    struct router *router = h->router;
    struct queue *q = &h->queues[queue];
    struct channel *channel = &h->channels[number];

    channel->holder = (uint16_t)queue;
    channel->grant = (uint16_t)(queue + 1 == f->n_queues ? 0 : queue + 1);
    q->channel = (uint16_t)number;
    q->accept = (uint16_t)(number + 1 == f->n_channels ? 0 : number + 1);
    router->free &= ~bit(number);
    router->waits &= ~bit(queue);
    router->goes |= bit(queue);
    if (q->port == f->local || channel->used < f->capacity) {
        router->room |= bit(queue);
    }
    if (q->port != f->local) {
        f->carried[(size_t)h->r * f->n_ports * f->vcs + number]++;
    }
}

/* Offers each of the channels `all` to one of several packets that want it. */
static void offer_channels(const struct here *h, uint64_t askers, uint64_t all,
                           const uint64_t *wanted, uint64_t *offered)
{
    for (; all != 0; all &= all - 1) {
        uint32_t number = lowest(all);
        uint64_t those = 0;
        for (uint64_t left = askers; left != 0; left &= left - 1) {
            those |= (wanted[lowest(left)] >> number & 1) << lowest(left);
        }
        offered[first_from(those, h->channels[number].grant)] |= bit(number);
    }
}

/* Every channel is offered to one of the packets that want it, and every packet accepts one of
 * its offers. */
static void give_channels(const struct here *h)
{
    uint64_t askers = 0, all = 0, wanted[QUEUES_MAX], offered[QUEUES_MAX];

    for (uint64_t left = h->router->waits; left != 0; left &= left - 1) {
        uint32_t queue = lowest(left);
        uint64_t set = wanted_by(h, queue);
        if (set != 0) {
            wanted[queue] = set;
            offered[queue] = 0;
            askers |= bit(queue);
            all |= set;
        }
    }
    if ((askers & (askers - 1)) != 0) {
        offer_channels(h, askers, all, wanted, offered);
    } else if (askers != 0) {
        offered[lowest(askers)] = all;
    }
    for (; askers != 0; askers &= askers - 1) {
        uint32_t queue = lowest(askers);
        if (offered[queue] != 0) {
            take_channel(h, queue, first_from(offered[queue], h->queues[queue].accept));
        }
    }
}

/* ---- the switch ---- */

/* Removes the first packet of a queue, whose tail has left. */
static void end(const struct here *h, uint32_t queue)
{
    struct router *router = h->router;
    struct queue *q = &h->queues[queue];

    router->free |= bit(q->channel);
    router->room &= ~bit(queue);
    router->goes &= ~bit(queue);
    q->first = after(h->f, q->first);
    if (--q->n > 0) {
        begin(h, queue, h->cycle + 1);
    }
}

/* Puts a packet into the next queue, where its head will arrive later. */
static void hand_over(const struct here *h, const struct packet *packet,
                      const struct link *link, uint32_t vc)
{
    struct flits *f = h->f;
    uint32_t queue = link->to_port * f->vcs + vc;
    struct queue *next = &f->queues[(size_t)link->to * f->n_queues + queue];
    struct packet *there = packet_of(f, link->to, queue, next->tail);

    *there = *packet;
    there->way += UINT32_C(1) << 16; /* a hop */
    next->tail = after(f, next->tail);
    f->count.sends++;
}

/* Sends the next flit of a queue, which got the switch, and tells the previous router or node
 * that there is room for one more. */
static void move(const struct here *h, uint32_t queue)
{
    struct flits *f = h->f;
    struct router *router = h->router;
    struct queue *q = &h->queues[queue];
    const struct link *links = &f->links[(size_t)h->r * PORTS_MAX];
    uint32_t in = f->port_of[queue], vc = q->channel - q->port * f->vcs;
    bool is_head = q->gone == 0, is_tail = ++q->gone == f->net.phits;
    const struct packet *packet =
        is_head || is_tail ? packet_of(f, h->r, queue, q->first) : NULL;

    if (--q->here == 0) {
        router->flits &= ~bit(queue);
    }
    if (is_head) {
        f->count.digest +=
            wf_router_fact(h->cycle, h->r, q->channel, packet->dst, packet->born);
    }
    if (q->port != f->local) {
        const struct link *link = &links[q->port];
        if (is_head) {
            hand_over(h, packet, link, vc);
        }
        if (++h->channels[q->channel].used == f->capacity) {
            router->room &= ~bit(queue);
        }
        f->arrivals_by_link[link->to] |= (uint64_t)((vc + 1) | (is_head ? (uint32_t)HEAD : 0))
                                         << link->to_shift;
    } else if (is_tail) {
        consume(h, packet, h->cycle + f->hop);
    }
    f->credits_sent[links[in].to] |= (uint64_t)(queue - in * f->vcs + 1) << links[in].to_shift;
    if (is_tail) {
        end(h, queue);
    }
}

/* An input port wins an output for one of its virtual channels. */
static void win(const struct here *h, uint32_t queue)
{
    const struct flits *f = h->f;
    struct port *ports = h->router->ports;
    uint32_t in = f->port_of[queue], vc = queue - in * f->vcs, out = h->queues[queue].port;

    ports[in].turn = (uint16_t)(vc + 1 == f->vcs ? 0 : vc + 1);
    ports[in].accept = (uint16_t)(out == f->local ? 0 : out + 1);
    ports[out].grant = (uint16_t)(in == f->local ? 0 : in + 1);
    move(h, queue);
}

/* The queue with which an input port bids for an output: that of the first virtual channel in
 * turn. */
static uint32_t bidder(const struct here *h, uint64_t bids, uint32_t in, uint32_t out)
{
    uint32_t vcs = h->f->vcs, first = in * vcs;
    uint64_t those = bids >> first & (bit(vcs) - 1);

    for (uint64_t left = those; left != 0; left &= left - 1) {
        if (h->queues[first + lowest(left)].port != out) {
            those &= ~bit(lowest(left));
        }
    }
    return first + first_from(those, h->router->ports[in].turn);
}

/* Every output is offered to one of the inputs that want it, and every input accepts one of its
 * offers. Both are words with a byte for each port, in which there is a bit for each port. */
static void give_switch(const struct here *h, uint64_t bids)
{
    const struct port *ports = h->router->ports;
    uint64_t inputs = 0, offers = 0; /* bytes of outputs; of inputs */

    for (uint64_t left = bids; left != 0; left &= left - 1) {
        uint32_t queue = lowest(left), out = h->queues[queue].port;
        inputs |= bit(8 * out + h->f->port_of[queue]);
    }
    for (uint64_t left = inputs; left != 0; left = without_byte(left)) {
        uint32_t out = lowest(left) / 8;
        offers |= bit(8 * first_from(inputs >> 8 * out & 0xff, ports[out].grant) + out);
    }
    for (; offers != 0; offers = without_byte(offers)) {
        uint32_t in = lowest(offers) / 8;
        uint32_t out = first_from(offers >> 8 * in & 0xff, ports[in].accept);
        win(h, bidder(h, bids, in, out));
    }
}

/* ---- the run ---- */

static void cycle_of(struct flits *f, uint32_t r, uint32_t cycle)
{
    const struct here h = here_at(f, r, cycle);
    struct router *router = h.router;
    uint64_t arrivals = f->arrivals_now[r], credits = f->credits_now[r];

    if (arrivals != 0) {
        f->arrivals_now[r] = 0;
        take_flits(&h, arrivals);
    }
    if (credits != 0) {
        f->credits_now[r] = 0;
        take_credits(&h, credits);
    }
    if (f->net.next[r] == cycle) {
        send_burst(&h);
    }
    if (router->n_waiting > 0) {
        send_one(&h);
    }
    /* A packet that gets a channel now bids for the switch in the next cycle. */
    uint64_t bids = router->goes & router->flits & router->room;
    if (router->waits != 0) {
        give_channels(&h);
    }
    if (bids != 0) {
        give_switch(&h, bids);
    }
}

/* Where what arrives in the cycle is, and what is sent in it goes. */
static void turn_wheels(struct flits *f, uint32_t cycle)
{
    size_t n = f->net.n;

    f->arrivals_now = f->arrivals + (cycle & f->mask) * n;
    f->credits_now = f->credits + (cycle & f->mask) * n;
    f->arrivals_by_link = f->arrivals + ((cycle + f->hop) & f->mask) * n;
    f->arrivals_by_node = f->arrivals + ((cycle + f->entry) & f->mask) * n;
    f->credits_sent = f->credits + ((cycle + f->back) & f->mask) * n;
}

/* ---- after the run ---- */

/* Whether the first packet of a queue waits for room, or for the packets that hold the channels
 * which it may take. */
static bool is_blocked(const struct flits *f, const struct wf_router_view *view, uint32_t queue,
                       struct wf_net_wait *wait)
{
    const struct router *router = &f->routers[view->vertex];
    const struct queue *q = &f->queues[(size_t)view->vertex * f->n_queues + queue];
    const struct channel *channels =
        &f->channels[(size_t)view->vertex * (f->n_channels + f->vcs)];

    *wait = (struct wf_net_wait){.queue = wf_router_queue(view, queue), .is_full = 1};
    if ((router->goes & ~router->room & router->flits & bit(queue)) != 0) {
        wait->targets[wait->n++] = wf_router_queue_after(view, q->channel);
        return true;
    }
    if ((router->waits & bit(queue)) == 0 || q->port == NO_PORT) {
        return false;
    }
    for (uint32_t left = q->vcs; left != 0; left &= left - 1) {
        uint32_t number = q->port * f->vcs + lowest(left);
        if ((router->free & bit(number)) != 0 || wait->n == WF_NET_WAIT_TARGETS) {
            return false;
        }
        wait->targets[wait->n++] = wf_router_queue(view, channels[number].holder);
    }
    return true;
}

static void find_waits(const struct flits *f, const struct wf_router_net *model,
                       struct wf_net_waits *waits)
{
    struct wf_router_view view = {.model = model};
    struct wf_net_wait wait;

    for (; view.vertex < f->net.n; view.vertex++) {
        for (uint32_t queue = 0; queue < f->n_queues; queue++) {
            if (is_blocked(f, &view, queue, &wait)) {
                wf_net_waits_add(waits, &wait);
            }
        }
    }
}

/* ---- the whole ---- */

static bool has_rings(const struct wf_router_net *model)
{
    uint32_t d = 0;

    while (d < model->grid->n_dims && !wf_router_is_ring(model, d)) {
        d++;
    }
    return d < model->grid->n_dims;
}

/* Whether routes cannot deadlock, and are those of route(). */
static bool is_simple(const struct wf_router_net *model)
{
    return model->grid != NULL && !model->atomic &&
           (model->scheme == WF_ROUTER_DATELINE ||
            (model->scheme == WF_ROUTER_DOR && !has_rings(model)));
}

const char *wf_lockstep_flits_limit(const struct wf_router_net *model)
{
    const struct wf_router_params *set = &model->set;
    uint32_t n_ports = model->node.n_ports + 1;
    const struct wf_router_link_kind *kind = &model->kinds[0];
    const struct {
        bool applies;
        const char *what;
    } limits[] = {
        {!is_simple(model),
         "net.switching=wormhole without dateline routing on grids, or dor on meshes,"},
        {model->kind_of != NULL || kind->pace != 1, "net.switching=wormhole with net.links"},
        {set->hold_switch, "net.hold_switch"},
        {set->speculative, "net.speculative"},
        {n_ports > PORTS_MAX || n_ports * model->vcs > QUEUES_MAX,
         "net.switching=wormhole with more than 7 links or 64 queues a router"},
        {kind->queue > PACKETS_MAX || (uint64_t)kind->queue * model->phits > UINT16_MAX,
         "net.switching=wormhole with queues of more than 250 packets or 65,535 flits"},
        {set->stats == WF_NET_STATS_LINKS, "net.switching=wormhole with net.stats=links"},
        {model->packets_limit > 0, "net.switching=wormhole with net.global_restriction"},
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].applies) {
            return limits[i].what;
        }
    }
    return NULL;
}

static void size_up(struct flits *f, const struct wf_router_net *model)
{
    const struct wf_router_link_kind *kind = &model->kinds[0];

    f->vcs = model->vcs;
    f->n_ports = f->local = model->node.n_ports;
    f->n_queues = f->n_channels = (f->n_ports + 1) * f->vcs;
    f->n_places = kind->queue + 2; /* a part of the first may have left, of the last arrived */
    f->capacity = kind->queue * model->phits;
    f->hop = 1 + kind->pipeline + kind->link_delay;
    f->entry = 1 + kind->link_delay;
    f->back = 1 + kind->link_delay + (uint32_t)model->set.credit_delay;
    f->routing_delay = (uint32_t)model->set.routing_delay;
    for (uint32_t i = 0; i < f->n_queues; i++) {
        f->port_of[i] = (uint8_t)(i / f->vcs);
    }
    for (f->mask = 1; f->mask <= (f->hop > f->back ? f->hop : f->back);) {
        f->mask = 2 * f->mask + 1;
    }
}

static void allocate(struct flits *f)
{
    size_t n = f->net.n, wheel = (size_t)(f->mask + 1) * n;

    f->arrivals = wf_xcalloc_huge(wheel, sizeof(*f->arrivals));
    f->credits = wf_xcalloc_huge(wheel, sizeof(*f->credits));
    f->routers = wf_xcalloc_huge(n, sizeof(*f->routers));
    f->queues = wf_xcalloc_huge(n * f->n_queues, sizeof(*f->queues));
    f->channels = wf_xcalloc_huge(n * (f->n_channels + f->vcs), sizeof(*f->channels));
    f->packets = wf_xcalloc_huge(n * f->n_queues * f->n_places, sizeof(*f->packets));
    f->waiting = wf_xcalloc(n * f->net.injection_length, sizeof(*f->waiting));
    f->carried = wf_xcalloc(n * f->n_ports * f->vcs + 1, sizeof(*f->carried));
    f->net.nodes = wf_xcalloc(n, sizeof(*f->net.nodes));
    f->net.next = wf_xcalloc(n, sizeof(*f->net.next));
    f->net.out = wf_xcalloc(1, sizeof(*f->net.out));
    f->links = wf_xcalloc(n * PORTS_MAX, sizeof(*f->links));
    for (uint32_t r = 0; r < n; r++) {
        f->routers[r].free = ~UINT64_C(0) >> (64 - f->n_channels);
        for (uint32_t port = 0; port <= f->local; port++) {
            size_t at = (size_t)r * f->n_ports + port;
            uint32_t to = port < f->local ? f->net.neighbor[at] : r;
            uint32_t to_port = port < f->local ? f->net.in_port[at] : f->local;
            f->links[(size_t)r * PORTS_MAX + port] =
                (struct link){to, (uint16_t)to_port, (uint16_t)(8 * to_port)};
        }
    }
}

static void release(struct flits *f)
{
    free(f->links);
    free(f->arrivals);
    free(f->credits);
    free(f->routers);
    free(f->queues);
    free(f->channels);
    free(f->packets);
    free(f->waiting);
    free(f->carried);
    free(f->net.nodes);
    free(f->net.next);
    free(f->net.out);
}

/* Returns the number of cycles until the end or the user's wish to stop. */
static uint32_t simulate(struct flits *f, const struct wf_lockstep_run *run)
{
    for (uint32_t r = 0; r < f->net.n_nodes; r++) {
        f->net.next[r] = wf_lockstep_next_burst(&f->net, r, 0);
    }
    for (uint32_t cycle = 0; cycle < f->net.end; cycle++) {
        if (cycle % CYCLES_BETWEEN_LOOKS == 0) {
            if (run->stop != NULL && *run->stop != 0) {
                return cycle;
            }
            if (run->progress != NULL) {
                run->progress(run->progress_arg, cycle);
            }
        }
        turn_wheels(f, cycle);
        for (uint32_t r = 0; r < f->net.n; r++) {
            cycle_of(f, r, cycle);
        }
    }
    return f->net.end;
}

enum wf_status wf_lockstep_run_flits(const struct wf_lockstep *lock,
                                     const struct wf_lockstep_run *run,
                                     struct wf_lockstep_result *result, struct wf_err *err)
{
    struct flits f = {.net = lock->net};

    size_up(&f, lock->model);
    allocate(&f);
    result->cycle = simulate(&f, run);
    result->threads = 1;
    result->hops = f.count.sends;
    wf_lockstep_count_add(&f.net, &f.count);
    const struct wf_lockstep_final final = {.out = f.net.out, .packets = f.carried};
    wf_lockstep_collect(lock, &final, result->tally);
    find_waits(&f, lock->model, &result->tally->usage.waits);
    release(&f);
    return result->cycle < lock->net.end ? WF_EINTR : WF_OK;
}
