/* SPDX-License-Identifier: Apache-2.0 */
#include "lockstep/flits.h"

#include "base/mem.h"
#include "lockstep/flits_state.h"
#include "lockstep/inside.h"

#include <assert.h>
#include <stdlib.h>

enum { CYCLES_BETWEEN_LOOKS = 1024 }; /* at the user's wish to stop, and for progress */

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

static void take_flits(const struct here *h, const struct arrivals *arrivals)
{
    h->router->flits |= arrivals->flits;
    for (uint64_t left = arrivals->flits; left != 0; left &= left - 1) {
        h->queues[lowest(left)].here++;
    }
    for (uint64_t left = arrivals->heads; left != 0; left &= left - 1) {
        if (h->queues[lowest(left)].n++ == 0) {
            begin(h, lowest(left), h->cycle);
        }
    }
}

static void take_credits(const struct here *h, uint64_t credits)
{
    struct router *router = h->router;

    for (; credits != 0; credits &= credits - 1) {
        uint32_t number = lowest(credits);
        struct channel *channel = &h->channels[number];
        bool is_held = (router->free >> number & 1) == 0;
        channel->used--;
        router->room |= (uint64_t)is_held << channel->holder;
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

    for (uint32_t i = 1; i <= h->shape.vcs; i++) {
        uint32_t vc =
            router->vc + i < h->shape.vcs ? router->vc + i : router->vc + i - h->shape.vcs;
        if (h->channels[h->shape.local * h->shape.vcs + vc].used < f->capacity) {
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
    uint32_t queue = h->shape.local * h->shape.vcs + h->router->vc;
    struct queue *q = &h->queues[queue];
    const struct packet *packet = waiting_of(h, 0);

    *packet_of(h, h->r, queue, q->tail) = *packet;
    q->tail = after(f, q->tail);
    f->count.injected++;
    f->count.waited += h->cycle - packet->born;
}

/* A flit will enter a queue. */
static void send_flit(struct arrivals *there, uint32_t queue, bool is_head)
{
    there->flits |= bit(queue);
    there->heads |= (uint64_t)is_head << queue;
}

/* Sends a flit from the node to its router, if there is room. */
static void send_one(const struct here *h)
{
    struct flits *f = h->f;
    struct router *router = h->router;
    bool is_head = router->sent == 0;

    if (is_head ? !choose_vc(h)
                : h->channels[h->shape.local * h->shape.vcs + router->vc].used == f->capacity) {
        return;
    }
    h->channels[h->shape.local * h->shape.vcs + router->vc].used++;
    if (is_head) {
        send_head(h);
    }
    send_flit(&h->wheels.by_node[h->r], h->shape.local * h->shape.vcs + router->vc, is_head);
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
    const struct packet *packet = packet_of(h, h->r, queue, q->first);
    uint32_t all = (1u << h->shape.vcs) - 1, half = h->shape.vcs / 2, dim = 0;

    q->vcs = (uint16_t)all;
    if (packet->dst == h->r) {
        q->port = (uint16_t)h->shape.local;
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
        uint32_t in = port_of(h, queue);
        bool upper = in == (q->port ^ 1u) ? queue - in * h->shape.vcs >= half : there < here;
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
    return (uint64_t)q->vcs << q->port * h->shape.vcs & h->router->free;
}

static void take_channel(const struct here *h, uint32_t queue, uint32_t number)
{
    struct flits *f = h->f;
    struct router *router = h->router;
    struct queue *q = &h->queues[queue];
    struct channel *channel = &h->channels[number];
    const struct link link = link_of(h, q->port);

    channel->holder = (uint16_t)queue;
    channel->grant = (uint16_t)(queue + 1);
    q->channel = (uint16_t)number;
    q->next = (uint16_t)(link.first + number - q->port * h->shape.vcs);
    q->to = link.to;
    q->accept = (uint16_t)(number + 1);
    router->free &= ~bit(number);
    router->waits &= ~bit(queue);
    router->goes |= bit(queue);
    router->toward[q->port] |= bit(queue);
    if (q->port == h->shape.local || channel->used < f->capacity) {
        router->room |= bit(queue);
    }
    if (q->port != h->shape.local) {
        f->carried[(size_t)h->r * h->shape.local * h->shape.vcs + number]++;
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
    router->toward[q->port] &= ~bit(queue);
    q->first = after(h->f, q->first);
    if (--q->n > 0) {
        begin(h, queue, h->cycle + 1);
    }
}

/* Puts a packet into the next queue, where its head will arrive later. */
static void hand_over(const struct here *h, const struct packet *packet, const struct queue *q)
{
    struct flits *f = h->f;
    struct queue *next = &f->queues[(size_t)q->to * h->shape.n_queues + q->next];
    struct packet *there = packet_of(h, q->to, q->next, next->tail);

    *there = *packet;
    there->way += UINT32_C(1) << 16; /* a hop */
    next->tail = after(f, next->tail);
    f->count.sends++;
}

/* The head of a queue's first packet leaves. */
static void head_leaves(const struct here *h, uint32_t queue)
{
    const struct queue *q = &h->queues[queue];
    const struct packet *packet = packet_of(h, h->r, queue, q->first);

    h->f->count.digest += wf_router_fact(h->cycle, h->r, q->channel, packet->dst, packet->born);
    if (q->port != h->shape.local) {
        hand_over(h, packet, q);
    }
}

/* Its tail leaves. */
static void tail_leaves(const struct here *h, uint32_t queue)
{
    const struct queue *q = &h->queues[queue];

    if (q->port == h->shape.local) {
        consume(h, packet_of(h, h->r, queue, q->first), h->cycle + h->f->hop);
    }
    end(h, queue);
}

/* Sends the next flit of a queue, which got the switch, and tells the previous router or node
 * that there is room for one more. There are few branches here, because processors could not predict
 * them: a flit for the node is sent as well, to a router that does not exist. */
static void move(const struct here *h, uint32_t queue)
{
    struct router *router = h->router;
    struct queue *q = &h->queues[queue];
    uint32_t in = port_of(h, queue);
    bool is_head = q->gone == 0, is_tail = ++q->gone == h->f->net.phits;
    const struct link *back = &h->backs[in];
    struct channel *channel = &h->channels[q->channel];
    uint32_t is_link = q->port != h->shape.local, used = channel->used + is_link;
    uint64_t is_full = (used == h->f->capacity) & is_link, is_empty = --q->here == 0;

    channel->used = (uint16_t)used;
    router->flits &= ~(is_empty << queue);
    router->room &= ~(is_full << queue);
    send_flit(&h->wheels.by_link[q->to], q->next, is_head);
    h->wheels.credits[back->to].credits |= bit(back->first + queue - in * h->shape.vcs);
    if (is_head) {
        head_leaves(h, queue);
    }
    if (is_tail) {
        tail_leaves(h, queue);
    }
}

/* An input port wins an output for one of its virtual channels. */
static void win(const struct here *h, uint32_t queue)
{
    struct port *ports = h->router->ports;
    uint32_t in = port_of(h, queue), out = h->queues[queue].port;

    ports[in].turn = (uint16_t)(queue - in * h->shape.vcs + 1);
    ports[in].accept = (uint16_t)(out + 1);
    ports[out].grant = (uint16_t)(in + 1);
    move(h, queue);
}

/* Every output is offered to one of the inputs that want it. Returns a byte for each input, in which
 * there is a bit for each output. Without branches, which processors could not predict. */
static uint64_t offer_outputs(const struct here *h, uint64_t bids)
{
    const struct router *router = h->router;
    uint64_t offers = 0;

    for (uint32_t out = 0; out <= h->shape.local; out++) {
        uint64_t those = bids & router->toward[out], any = those != 0;
        /* Queues are in the order of ports: the first from those of a port on is of the first port. */
        uint32_t queue = first_from(those | !any, router->ports[out].grant * h->shape.vcs);
        offers |= any << (8 * port_of(h, queue) + out);
    }
    return offers;
}

/* Every input accepts one of its offers, for the first virtual channel in turn that wants it. */
static void give_switch(const struct here *h, uint64_t bids)
{
    const struct router *router = h->router;
    const uint32_t vcs = h->shape.vcs;

    if ((bids & (bids - 1)) == 0) { /* one bid wins */
        win(h, lowest(bids));
        return;
    }
    for (uint64_t left = offer_outputs(h, bids); left != 0; left = without_byte(left)) {
        uint32_t in = lowest(left) / 8;
        uint32_t out = first_from(left >> 8 * in & 0xff, router->ports[in].accept);
        uint64_t those = (bids & router->toward[out]) >> in * vcs & (bit(vcs) - 1);
        win(h, in * vcs + first_from(those, router->ports[in].turn));
    }
}

/* ---- the run ---- */

static inline void cycle_of(const struct here *h)
{
    struct router *router = h->router;
    struct arrivals *arrivals = &h->wheels.now[h->r];

    take_flits(h, arrivals);
    take_credits(h, arrivals->credits);
    *arrivals = (struct arrivals){.flits = 0};
    if (h->f->net.next[h->r] == h->cycle) {
        send_burst(h);
    }
    if (router->n_waiting > 0) {
        send_one(h);
    }
    /* A packet that gets a channel now bids for the switch in the next cycle. */
    uint64_t bids = router->goes & router->flits & router->room;
    if (router->waits != 0) {
        give_channels(h);
    }
    if (bids != 0) {
        give_switch(h, bids);
    }
}

static inline void cycle_all(struct flits *f, const struct shape *shape, uint32_t cycle)
{
    const uint32_t n = f->net.n;

    for (struct here here = here_first(f, shape, cycle); here.r < n; here_next(&here)) {
        cycle_of(&here);
    }
}

/* A cycle of all routers. */
typedef void cycle_function(struct flits *f, uint32_t cycle);

static void cycle_any(struct flits *f, uint32_t cycle)
{
    cycle_all(f, &f->shape, cycle);
}

/* The same for a frequent shape, which the compiler knows: all functions become part of this one. */
#define VARIANT(n_links, vcs)                                                     \
    __attribute__((flatten)) static void cycle_##n_links##_##vcs(struct flits *f, \
                                                                 uint32_t cycle)  \
    {                                                                             \
        const struct shape shape = shape_of(n_links, vcs);                        \
        cycle_all(f, &shape, cycle);                                              \
    }
VARIANT(4, 2)
VARIANT(4, 4)
VARIANT(6, 2)
VARIANT(6, 4)
#undef VARIANT

static const struct variant {
    uint32_t n_links, vcs;
    cycle_function *cycle;
} variants[] = {{4, 2, cycle_4_2}, {4, 4, cycle_4_4}, {6, 2, cycle_6_2}, {6, 4, cycle_6_4}};

/* ---- after the run ---- */

/* Whether the first packet of a queue waits for room, or for the packets that hold the channels
 * which it may take. */
static bool is_blocked(const struct flits *f, const struct wf_router_view *view, uint32_t queue,
                       struct wf_net_wait *wait)
{
    const struct router *router = &f->routers[view->vertex];
    const struct queue *q = &f->queues[(size_t)view->vertex * f->shape.n_queues + queue];
    const struct channel *channels = &f->channels[(size_t)view->vertex * f->shape.n_queues];

    *wait = (struct wf_net_wait){.queue = wf_router_queue(view, queue), .is_full = 1};
    if ((router->goes & ~router->room & router->flits & bit(queue)) != 0) {
        wait->targets[wait->n++] = wf_router_queue_after(view, q->channel);
        return true;
    }
    if ((router->waits & bit(queue)) == 0 || q->port == NO_PORT) {
        return false;
    }
    for (uint32_t left = q->vcs; left != 0; left &= left - 1) {
        uint32_t number = q->port * f->shape.vcs + lowest(left);
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
        for (uint32_t queue = 0; queue < f->shape.n_queues; queue++) {
            if (is_blocked(f, &view, queue, &wait)) {
                wf_net_waits_add(waits, &wait);
            }
        }
    }
}

/* ---- the whole ---- */

static void size_up(struct flits *f, const struct wf_router_net *model)
{
    const struct wf_router_link_kind *kind = &model->kinds[0];

    f->shape = shape_of(model->node.n_ports, model->vcs);
    f->n_places = kind->queue + 2; /* a part of the first may have left, of the last arrived */
    f->capacity = kind->queue * model->phits;
    f->hop = 1 + kind->pipeline + kind->link_delay;
    f->entry = 1 + kind->link_delay;
    f->back = 1 + kind->link_delay + (uint32_t)model->set.credit_delay;
    f->routing_delay = (uint32_t)model->set.routing_delay;
    for (uint32_t i = 0; i < f->shape.n_queues; i++) {
        f->port_of[i] = (uint8_t)(i / f->shape.vcs);
    }
    for (f->mask = 1; f->mask <= (f->hop > f->back ? f->hop : f->back);) {
        f->mask = 2 * f->mask + 1;
    }
}

static void allocate(struct flits *f)
{
    size_t n = f->net.n, wheel = (size_t)(f->mask + 1) * (n + 1);

    f->arrivals = wf_xcalloc_huge(wheel, sizeof(*f->arrivals));
    f->routers = wf_xcalloc_huge(n, sizeof(*f->routers));
    f->queues = wf_xcalloc_huge(n * f->shape.n_queues, sizeof(*f->queues));
    f->channels = wf_xcalloc_huge(n * f->shape.n_queues, sizeof(*f->channels));
    f->packets = wf_xcalloc_huge(n * f->shape.n_queues * f->n_places, sizeof(*f->packets));
    f->waiting = wf_xcalloc(n * f->net.injection_length, sizeof(*f->waiting));
    f->carried = wf_xcalloc(n * f->shape.local * f->shape.vcs + 1, sizeof(*f->carried));
    f->net.nodes = wf_xcalloc(n, sizeof(*f->net.nodes));
    f->net.next = wf_xcalloc(n, sizeof(*f->net.next));
    f->net.out = wf_xcalloc(1, sizeof(*f->net.out));
    f->backs = wf_xcalloc(n * PORTS_MAX, sizeof(*f->backs));
}

/* A router at the beginning. The link that ends at a port comes from where the link of the port ends. */
static void begin_router(const struct here *h)
{
    struct link *backs = &h->f->backs[(size_t)h->r * PORTS_MAX];

    assert(h->shape.n_queues > 0 && h->shape.n_queues <= QUEUES_MAX);
    h->router->free = ~UINT64_C(0) >> (64 - h->shape.n_queues);
    for (uint32_t port = 0; port < h->shape.local; port++) {
        backs[port] = link_of(h, port);
    }
    backs[h->shape.local] = (struct link){h->r, h->shape.local * h->shape.vcs};
}

static void release(struct flits *f)
{
    free(f->backs);
    free(f->arrivals);
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

/* The code for networks of a shape. */
static cycle_function *code_for(const struct shape *shape)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        if (variants[i].n_links == shape->local && variants[i].vcs == shape->vcs) {
            return variants[i].cycle;
        }
    }
    return cycle_any;
}

/* Returns the number of cycles until the end or the user's wish to stop. */
static uint32_t simulate(struct flits *f, const struct wf_lockstep_run *run)
{
    cycle_function *take_cycle = code_for(&f->shape);

    for (struct here h = here_first(f, &f->shape, 0); h.r < f->net.n; here_next(&h)) {
        begin_router(&h);
        f->net.next[h.r] = wf_lockstep_next_burst(&f->net, h.r, 0);
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
        take_cycle(f, cycle);
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
