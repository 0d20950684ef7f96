/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues of a port: one for each class of traffic, and one for control packets, which go
 * first. A packet that finds its port idle starts as in the packet model; otherwise it waits,
 * and an event at the end of each packet starts the next one.
 */
#include "base/arith.h"
#include "base/rng.h"
#include "model/net/transport/model.h"

enum { CONTROLS_MAX = 10, SHARE_SHIFT = 16 };

/* A packet that waits. */
struct waiter {
    uint32_t next;                 /* cell */
    uint32_t in_port;              /* through which it came */
    int64_t since;                 /* when it arrived */
    struct wf_transport_last last; /* only `packet` unless it ends its message */
};

size_t wf_transport_waiter_cell_size(void)
{
    return sizeof(struct waiter);
}

/* ---- routes ---- */

/* Bytes that wait at a port of this vertex. */
static uint64_t queue_bytes(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_transport_view *v = query->arg; /* its first member is the view */
    int64_t free = v->at.ports[port].free - v->at.key.time;
    const struct wf_packet_links *links = &v->net->packet.links;
    const struct wf_packet_link_kind *kind =
        &links->kinds[wf_packet_links_kind(links, wf_packet_links_number(links, vertex, port))];
    uint64_t bytes =
        free > 0 ? links->full_bytes * (uint64_t)free / (uint64_t)kind->full_ps : 0;

    for (uint32_t i = 0; i < v->net->n_queues; i++) {
        bytes += wf_transport_queue_at(v, port, i)->bytes;
    }
    return bytes;
}

/* Routes a packet, and prepares its header for the next vertex. */
static struct wf_packet_outlet route(const struct wf_transport_view *v,
                                     struct wf_transport_packet *packet)
{
    const struct wf_packet_net *model = &v->net->packet;
    struct wf_packet_head *head = &packet->head;
    bool fails = model->faults != NULL;
    const struct wf_topo *topo = fails ? wf_transport_fault_topo(v) : model->topo;
    uint64_t pair = (uint64_t)head->src << 32 | head->dst;
    const struct wf_packet_question question = {
        .topo = topo,
        .route = fails ? wf_transport_fault_route(v) : model->route,
        .flow = packet->path == 0 ? pair : wf_rng_mix(pair) + packet->path * WF_RNG_GOLDEN,
        .queue = queue_bytes,
    };
    uint32_t port = model->next_ports == WF_PACKET_BY_TOPOLOGY
                        ? topo->ops->next_port(topo, v->at.vertex, head->dst)
                        : wf_packet_ask_policy(&v->at, head, &question);

    return wf_packet_take_port(&v->at, head, port);
}

/* ---- sending ---- */

/* A packet takes the space that it needs behind the link, and leaves that which it has here. */
static void move_credit(const struct wf_transport_view *v,
                        const struct wf_packet_outlet *outlet, const struct waiter *waiter,
                        int64_t begin)
{
    const struct wf_transport_packet *packet = &waiter->last.packet;

    if (v->net->full != WF_TRANSPORT_CREDITS || packet->type != WF_TRANSPORT_DATA) {
        return;
    }
    if (v->net->packet.links.to[outlet->link] != packet->head.dst) {
        wf_transport_credit_take(v, outlet->number, packet->class,
                                 wf_transport_packet_bytes(v->net, packet));
    }
    if (waiter->in_port != WF_PACKET_NO_PORT) {
        wf_transport_credit_give(v, waiter->in_port, packet, begin - v->at.key.time);
    }
}

/* Sends a packet on that is ready at the time `ready`. */
static void start(const struct wf_transport_view *v, const struct wf_packet_outlet *outlet,
                  const struct waiter *waiter, int64_t ready)
{
    const struct wf_packet_net *model = &v->net->packet;
    const struct wf_packet_link_kind *kind = &model->links.kinds[outlet->kind];
    struct wf_transport_last copy = waiter->last;
    int64_t waited = ready - outlet->delay - waiter->since;
    uint64_t bytes = wf_transport_packet_bytes(v->net, &copy.packet);
    int64_t duration = wf_packet_link_ps(kind, bytes);
    bool ends = (copy.packet.flags & WF_TRANSPORT_ENDS) != 0;

    wf_touch(v->at.ctx, outlet->port, sizeof(*outlet->port));
    int64_t begin = wf_packet_port_serve(outlet->port, ready, duration);
    if (v->net->control->leaves != NULL && copy.packet.type == WF_TRANSPORT_DATA &&
        (copy.packet.flags & WF_TRANSPORT_LOCAL) == 0) {
        v->net->control->leaves(v, outlet, &copy.packet, begin);
    }
    copy.packet.flags &= (uint8_t)~WF_TRANSPORT_LOCAL;
    move_credit(v, outlet, waiter, begin);
    int64_t at = wf_time_add(begin, kind->latency);
    at = model->timing == WF_PACKET_STORE_AND_FORWARD ? wf_time_add(at, duration) : at;
    if (v->at.stats != NULL) {
        wf_packet_stats_count(&v->at, outlet->number,
                              &(struct wf_packet_served){.n = 1,
                                                         .bytes = bytes,
                                                         .duration = duration,
                                                         .wait = begin - ready + waited,
                                                         .step = duration,
                                                         .at = begin,
                                                         .spacing = duration,
                                                         .node = copy.packet.head.src});
    }
    if (wf_transport_fault_cuts(v, outlet, &copy.packet, at)) {
        return;
    }
    wf_packet_schedule(&v->at, model->links.to[outlet->link], wf_packet_delay(&v->at, at),
                       ends ? WF_TRANSPORT_LAST : WF_TRANSPORT_PACKET, &copy,
                       ends ? sizeof(copy) : sizeof(copy.packet));
}

static void plan(const struct wf_transport_view *v, uint32_t number, int64_t at)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);
    uint64_t payload = number;

    if (at == WF_TIME_MAX || (port->serve != 0 && port->serve - 1 <= at)) {
        return;
    }
    wf_touch(v->at.ctx, port, sizeof(*port));
    port->serve = at + 1;
    wf_packet_schedule_own(&v->at, at - v->at.key.time, WF_TRANSPORT_SERVE, &payload,
                           sizeof(payload));
}

/* The class of data whose packet goes next; n_queues if there is none. */
static uint32_t next_data(const struct wf_transport_view *v, uint32_t port)
{
    uint32_t stopped = wf_transport_port_at(v, port)->stopped;

    const struct wf_transport_class *classes = v->net->classes;
    uint32_t best = v->net->n_queues;

    for (uint32_t i = 0; i < v->net->n_classes; i++) {
        const struct wf_transport_queue *queue = wf_transport_queue_at(v, port, i);
        if ((stopped >> i & 1) != 0 || queue->head == 0) {
            continue;
        }
        if (best == v->net->n_queues || classes[i].priority > classes[best].priority ||
            (classes[i].priority == classes[best].priority &&
             queue->served < wf_transport_queue_at(v, port, best)->served)) {
            best = i;
        }
    }
    return best;
}

/* The same with control packets. They go first, but not for ever: else nothing but headers would
 * arrive where too many packets lose their data. */
static uint32_t next_class(const struct wf_transport_view *v, uint32_t port)
{
    uint32_t n = v->net->n_classes;
    bool has_control = wf_transport_queue_at(v, port, n)->head != 0;

    if (has_control && wf_transport_port_at(v, port)->controls < CONTROLS_MAX) {
        return n;
    }
    uint32_t data = next_data(v, port);
    return data == v->net->n_queues && has_control ? n : data;
}

/* Counts what a class got of the port: start-time fair queueing (P. Goyal, H. M. Vin and
 * H. Cheng, SIGCOMM 1996). */
static void count_share(const struct wf_transport_view *v, uint32_t number, uint32_t class,
                        uint64_t bytes)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);
    struct wf_transport_queue *queue = wf_transport_queue_at(v, number, class);

    wf_touch(v->at.ctx, queue, sizeof(*queue));
    port->virtual_time = queue->served;
    queue->served += (bytes << SHARE_SHIFT) / v->net->classes[class].share;
}

static struct waiter take(const struct wf_transport_view *v, struct wf_transport_queue *queue)
{
    uint32_t cell = queue->head;
    struct waiter waiter = *(const struct waiter *)wf_cell_read(v->at.ctx, cell);

    wf_touch(v->at.ctx, queue, sizeof(*queue));
    queue->head = waiter.next;
    queue->tail = waiter.next == 0 ? 0 : queue->tail;
    queue->bytes -= wf_transport_packet_bytes(v->net, &waiter.last.packet);
    wf_cell_free(v->at.ctx, cell);
    return waiter;
}

uint32_t wf_transport_input_of(const struct wf_transport_view *v, uint32_t *cell)
{
    const struct waiter *waiter = wf_cell_read(v->at.ctx, *cell);

    *cell = waiter->next;
    return waiter->in_port;
}

void wf_transport_serve(const struct wf_transport_view *v, uint32_t number)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);
    bool was_local = false;

    if (port->serve == v->at.key.time + 1) {
        wf_touch(v->at.ctx, port, sizeof(*port));
        port->serve = 0;
    }
    uint32_t class = next_class(v, number);
    if (class < v->net->n_queues && v->at.ports[number].free <= v->at.key.time) {
        const struct waiter waiter = take(v, wf_transport_queue_at(v, number, class));
        const struct wf_packet_outlet outlet = wf_packet_outlet_at(&v->at, number);
        int64_t ready = wf_time_add(waiter.since, outlet.delay);

        wf_touch(v->at.ctx, port, sizeof(*port));
        port->controls = class == v->net->n_classes ? port->controls + 1 : 0;
        if (v->net->n_classes > 1 && class < v->net->n_classes) {
            count_share(v, number, class,
                        wf_transport_packet_bytes(v->net, &waiter.last.packet));
        }
        was_local = (waiter.last.packet.flags & WF_TRANSPORT_LOCAL) != 0;
        ready = ready > v->at.key.time ? ready : v->at.key.time;
        if (wf_transport_fault_is_down(v, number)) {
            wf_transport_fault_drop(v, number);
        } else {
            start(v, &outlet, &waiter, ready);
        }
        if (v->net->full == WF_TRANSPORT_PAUSE && waiter.in_port != WF_PACKET_NO_PORT &&
            class < v->net->n_classes) {
            wf_transport_pause_out(v, waiter.in_port, class,
                                   wf_transport_packet_bytes(v->net, &waiter.last.packet));
        }
        if (was_local) {
            wf_touch(v->at.ctx, v->node, sizeof(*v->node));
            v->node->held &= ~(1U << class);
        }
        class = next_class(v, number);
    }
    if (class < v->net->n_queues) {
        plan(v, number, wf_max_i64(v->at.ports[number].free, v->at.key.time));
    }
    if (was_local) {
        wf_transport_run(v);
    }
}

/* ---- waiting ---- */

/* Whether a packet that finds `bytes` in its queue is marked. */
static bool is_marked(const struct wf_transport_view *v, uint64_t bytes)
{
    uint64_t low = v->net->params.ecn_min, high = v->net->params.ecn_max;

    if (bytes <= low) {
        return false;
    }
    if (bytes >= high) {
        return true;
    }
    uint64_t chance = (uint64_t)((wf_u128)v->net->ecn_threshold * (bytes - low) / (high - low));
    return wf_rng_chance(wf_random(v->at.ctx), (uint32_t)chance) != 0;
}

/* A full queue; returns whether the packet is dropped altogether. */
static bool overflow(const struct wf_transport_view *v, uint32_t number,
                     struct wf_transport_packet *packet)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);

    wf_touch(v->at.ctx, port, sizeof(*port));
    if (v->net->full == WF_TRANSPORT_TRIM) {
        port->trims++;
        packet->type = WF_TRANSPORT_TRIMMED;
        packet->flags |= WF_TRANSPORT_MARKED;
        packet->flags &= (uint8_t)~WF_TRANSPORT_ENDS;
        return false;
    }
    port->drops++;
    return true;
}

static void append(const struct wf_transport_view *v, uint32_t port, uint32_t class,
                   const struct waiter *waiter)
{
    struct wf_transport_queue *queue = wf_transport_queue_at(v, port, class);
    uint32_t cell = wf_cell_new_for(v->at.ctx, sizeof(struct waiter));

    *(struct waiter *)wf_cell_edit(v->at.ctx, cell) = *waiter;
    wf_touch(v->at.ctx, queue, sizeof(*queue));
    if (queue->tail == 0) {
        uint64_t time = wf_transport_port_at(v, port)->virtual_time;
        queue->head = cell;
        queue->served = queue->served > time ? queue->served : time;
    } else {
        ((struct waiter *)wf_cell_edit(v->at.ctx, queue->tail))->next = cell;
    }
    queue->tail = cell;
    queue->bytes += wf_transport_packet_bytes(v->net, &waiter->last.packet);
    queue->most = queue->bytes > queue->most ? queue->bytes : queue->most;
}

/* When a packet has arrived: with store-and-forward, a node's own packets are stored, too. */
static int64_t arrival_of(const struct wf_transport_view *v,
                          const struct wf_transport_packet *packet)
{
    const struct wf_packet_net *model = &v->net->packet;

    if ((packet->flags & WF_TRANSPORT_LOCAL) == 0 || packet->type != WF_TRANSPORT_DATA ||
        model->timing == WF_PACKET_CUT_THROUGH || model->injection == WF_PACKET_UNLIMITED ||
        !wf_packet_links_is_router(&model->links, v->at.vertex)) {
        return v->at.key.time;
    }
    return wf_time_add(v->at.key.time,
                       wf_packet_link_ps(&model->links.kinds[model->injection],
                                         wf_transport_packet_bytes(v->net, packet)));
}

/* Asks the source of a packet to pause for the time of `excess` bytes at the port. */
static void press(const struct wf_transport_view *v, uint32_t port,
                  struct wf_transport_packet *packet, uint64_t excess)
{
    const struct wf_packet_outlet outlet = wf_packet_outlet_at(&v->at, port);
    const struct wf_packet_inject_event inject = {.dst = packet->head.src,
                                                  .number = packet->head.number};
    struct wf_transport_packet notice = {
        .type = WF_TRANSPORT_NOTICE,
        .head = wf_packet_first_head(&v->at, &inject),
        .path = packet->path,
        .class = packet->class,
        .other = (uint64_t)wf_packet_link_ps(&v->net->packet.links.kinds[outlet.kind], excess),
    };

    packet->flags |= WF_TRANSPORT_MARKED;
    notice.head.src = packet->head.dst;     /* by which the source knows the flow */
    if (packet->head.src == v->at.vertex) { /* its detour leads back over its source */
        wf_transport_answered(v, &notice);
        return;
    }
    wf_transport_forward(v, &notice, NULL);
}

/* Puts a packet into a queue of a port, unless it is dropped. */
static void wait(const struct wf_transport_view *v, uint32_t port, uint32_t in_port,
                 struct wf_transport_last *last)
{
    struct wf_transport_packet *packet = &last->packet;
    uint32_t class = packet->type == WF_TRANSPORT_DATA ? packet->class : v->net->n_classes;
    uint64_t bytes = wf_transport_packet_bytes(v->net, packet);
    const struct wf_transport_queue *queue = wf_transport_queue_at(v, port, class);
    bool is_local = (packet->flags & WF_TRANSPORT_LOCAL) != 0;

    if (class < v->net->n_classes && !is_local) {
        if (!v->net->is_lossless && queue->bytes + bytes > v->net->queue_bytes) {
            if (overflow(v, port, packet)) {
                return;
            }
            class = v->net->n_classes;
        } else if (is_marked(v, queue->bytes + bytes)) {
            wf_touch(v->at.ctx, wf_transport_port_at(v, port),
                     sizeof(struct wf_transport_port));
            wf_transport_port_at(v, port)->marks += 1;
            packet->flags |= WF_TRANSPORT_MARKED;
        }
        if (v->net->control->routers_notify && queue->bytes > v->net->params.pressure_at) {
            press(v, port, packet, queue->bytes - v->net->params.pressure_at);
        }
        if (v->net->full == WF_TRANSPORT_PAUSE) {
            wf_transport_pause_in(v, in_port, class, bytes);
        }
    } else if (class < v->net->n_classes) {
        wf_touch(v->at.ctx, v->node, sizeof(*v->node));
        v->node->held |= 1U << class;
    }
    const struct waiter waiter = {
        .in_port = in_port, .since = arrival_of(v, packet), .last = *last};
    append(v, port, class, &waiter);
}

void wf_transport_forward(const struct wf_transport_view *v, struct wf_transport_packet *packet,
                          const struct wf_transport_last *last)
{
    struct wf_transport_last copy = {.born = 0};
    uint32_t in_port = packet->head.in_port;

    if (wf_transport_fault_strands(v, packet)) {
        return;
    }
    if (last != NULL) {
        copy = *last;
    }
    copy.packet = *packet;
    const struct wf_packet_outlet outlet = route(v, &copy.packet);
    uint32_t stopped = wf_transport_port_at(v, outlet.number)->stopped;
    int64_t since = arrival_of(v, packet), ready = wf_time_add(since, outlet.delay);
    /* A packet that does not have to wait for the port is on its way at once. */
    bool may_start = v->at.ports[outlet.number].free <= ready &&
                     next_class(v, outlet.number) == v->net->n_queues &&
                     (packet->type != WF_TRANSPORT_DATA || (stopped >> packet->class & 1) == 0);

    if (may_start) {
        const struct waiter waiter = {.in_port = in_port, .since = since, .last = copy};
        start(v, &outlet, &waiter, ready);
        return;
    }
    wait(v, outlet.number, in_port, &copy);
    if (next_class(v, outlet.number) < v->net->n_queues) {
        plan(v, outlet.number, wf_max_i64(v->at.ports[outlet.number].free, v->at.key.time));
    }
}
