/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of flows. A flow sends its packets in order, and lost ones again, as far as its
 * window and its rate allow. The interface takes a packet of each flow in turn. It waits while a
 * packet of the same class that it has sent waits in the queue of its own router.
 */
#include "base/arith.h"
#include "base/int128.h"
#include "model/net/transport/model.h"

enum { TRIES_MAX = 8 };

void wf_transport_view_at_node(struct wf_transport_view *v, const struct wf_transport_net *net,
                               struct wf_ctx *ctx, void *node, uint32_t nic)
{
    wf_packet_view_at_node(&v->at, &net->packet, ctx, node, nic);
    v->net = net;
    v->ports = (unsigned char *)node + net->node_ports_at;
    v->node = (void *)((unsigned char *)node + net->node_at);
}

static struct wf_transport_sender *edit(const struct wf_transport_view *v, uint32_t cell)
{
    return wf_cell_edit(v->at.ctx, cell);
}

static const struct wf_transport_sender *look(const struct wf_transport_view *v, uint32_t cell)
{
    return wf_cell_read(v->at.ctx, cell);
}

/* ---- flows ---- */

/* The cell of a flow, or 0. */
static uint32_t find_flow_to(const struct wf_transport_view *v, uint32_t dst, uint32_t class)
{
    return wf_transport_flow_find(v->at.ctx, &v->node->senders, dst, class);
}

/* The time of the head of a packet with so much data from a node to another. */
static int64_t idle_latency(const struct wf_packet_net *model, uint32_t src, uint32_t dst,
                            uint64_t bytes)
{
    return model->net.ops->uncontended(&model->net, src, dst, bytes).latency;
}

int64_t wf_transport_round_trip(const struct wf_transport_net *net, uint32_t src, uint32_t dst)
{
    const struct wf_packet_link_kind *own = &net->packet.links.kinds[net->packet.links.own];

    return idle_latency(&net->packet, src, dst, net->packet.packet_bytes) +
           idle_latency(&net->packet, dst, src, net->params.ack) + 2 * own->full_ps +
           2 * wf_packet_link_ps(own, net->params.ack);
}

static uint32_t create(const struct wf_transport_view *v, uint32_t dst, uint32_t class)
{
    const struct wf_transport_net *net = v->net;
    uint32_t cell = wf_transport_flow_add(v->at.ctx, &v->node->senders, dst, class,
                                          sizeof(struct wf_transport_sender));
    struct wf_transport_sender *flow = edit(v, cell);

    flow->window = flow->credit = WF_TRANSPORT_NO_LIMIT;
    flow->round_trip = wf_transport_round_trip(net, v->at.vertex, dst);
    net->control->begin(net, flow);
    return cell;
}

uint64_t wf_transport_window(const struct wf_transport_net *net,
                             const struct wf_transport_sender *flow)
{
    const struct wf_packet_link_kind *own = &net->packet.links.kinds[net->packet.links.own];
    uint64_t full = net->packet.links.full_bytes;
    uint64_t packets = net->params.window != 0
                           ? (net->params.window + full - 1) / full
                           : (uint64_t)(flow->round_trip / own->full_ps) + 4;

    return wf_max_u64(packets, 1) * WF_TRANSPORT_ONE;
}

/* ---- the ring of flows ---- */

/* Puts a flow into the ring, before the one whose turn was last. */
static void join(const struct wf_transport_view *v, uint32_t cell)
{
    struct wf_transport_node *node = v->node;

    if (look(v, cell)->credit == 0 && v->net->control->refill != NULL) {
        v->net->control->refill(v->net, edit(v, cell));
    }
    if (look(v, cell)->ring != 0) {
        return;
    }
    wf_touch(v->at.ctx, node, sizeof(*node));
    if (node->ring == 0) {
        edit(v, cell)->ring = cell;
    } else {
        edit(v, cell)->ring = look(v, node->ring)->ring;
        edit(v, node->ring)->ring = cell;
    }
    node->ring = cell;
}

/* Removes the flow after the one whose turn was last. */
static void leave(const struct wf_transport_view *v)
{
    struct wf_transport_node *node = v->node;
    uint32_t cell = look(v, node->ring)->ring;

    if (cell == node->ring) {
        node->ring = 0;
    } else {
        edit(v, node->ring)->ring = look(v, cell)->ring;
    }
    edit(v, cell)->ring = 0;
}

static bool has_packet(const struct wf_transport_sender *flow)
{
    return flow->lost != 0 || flow->sent < flow->end;
}

static bool has_window(const struct wf_transport_sender *flow)
{
    return flow->credit > 0 && (flow->window == WF_TRANSPORT_NO_LIMIT || flow->pipe == 0 ||
                                (flow->pipe + 1) * WF_TRANSPORT_ONE <= flow->window);
}

/* ---- sending ---- */

static void wake_at(const struct wf_transport_view *v, int64_t at)
{
    struct wf_transport_node *node = v->node;

    if (at == WF_TIME_MAX || (node->wake != 0 && node->wake - 1 <= at)) {
        return;
    }
    wf_touch(v->at.ctx, node, sizeof(*node));
    node->wake = at + 1;
    wf_packet_schedule_own(&v->at, at - v->at.key.time, WF_TRANSPORT_WAKE, NULL, 0);
}

/* The message with a packet, from a message before it or with it on; 0 if there is none. */
static uint32_t message_of(const struct wf_transport_view *v, uint32_t cell, uint64_t sequence)
{
    while (cell != 0) {
        const struct wf_transport_message *message = wf_cell_read(v->at.ctx, cell);
        if (sequence < message->first + message->count) {
            break;
        }
        cell = message->next;
    }
    return cell;
}

static void set_timer(const struct wf_transport_view *v, struct wf_transport_sender *flow)
{
    const struct wf_transport_timer timer = {.dst = flow->id.peer, .class = flow->id.class};
    int64_t wait = v->net->params.timeout;

    if (v->net->full != WF_TRANSPORT_DROP && v->net->packet.faults == NULL) {
        return; /* nothing is lost without a word */
    }
    for (uint32_t i = 0; i < flow->tries && wait < WF_TIME_MAX / 4; i++) {
        wait *= 2;
    }
    flow->deadline = wf_time_add(v->at.key.time, wait);
    if (flow->timer == 0 && flow->deadline != WF_TIME_MAX) {
        flow->timer = 1;
        wf_packet_schedule_own(&v->at, wait, WF_TRANSPORT_TIMEOUT, &timer, sizeof(timer));
    }
}

/* The sequence of the packet that a flow sends next; *is_again tells whether it was lost. */
static uint64_t next_sequence(const struct wf_transport_view *v,
                              struct wf_transport_sender *flow, bool *is_again)
{
    uint64_t begin, end;

    *is_again = wf_transport_ranges_first(v->at.ctx, flow->lost, &begin, &end);
    if (!*is_again) {
        return flow->sent++;
    }
    (void)wf_transport_ranges_remove(v->at.ctx, &flow->lost, begin, begin + 1);
    flow->again++;
    v->node->sent_again++;
    return begin;
}

/* The bit of a route among those that are to be left out. */
static uint64_t *avoided(struct wf_transport_sender *flow, uint32_t path, uint64_t *bit)
{
    *bit = UINT64_C(1) << path % 64;
    return &flow->avoided[path / 64 % (WF_TRANSPORT_AVOIDED / 64)];
}

/* An answer tells how its packet's route was. */
static void judge_path(const struct wf_transport_view *v, struct wf_transport_sender *flow,
                       const struct wf_transport_packet *packet)
{
    uint64_t bit, *word = avoided(flow, packet->path, &bit);

    if (v->net->params.avoid_paths && (packet->flags & WF_TRANSPORT_MARKED) != 0) {
        *word |= bit;
    }
}

/* The next route in turn that is not left out. */
static uint32_t next_path(const struct wf_transport_view *v, struct wf_transport_sender *flow)
{
    uint32_t n = (uint32_t)v->net->params.paths;

    for (uint32_t i = 0; i < WF_TRANSPORT_AVOIDED; i++) {
        uint64_t bit, *word = avoided(flow, 1 + flow->path % n, &bit);
        if ((*word & bit) == 0) {
            break;
        }
        *word &= ~bit;
        flow->path++;
    }
    return 1 + flow->path % n;
}

/* Which route the next packet takes. */
static uint32_t path_of(const struct wf_transport_view *v, struct wf_transport_sender *flow,
                        uint32_t number)
{
    const struct wf_transport_params *params = &v->net->params;
    int kind = v->net->packet.flow;
    bool is_flowlet = params->flowlet_gap > 0 && flow->sent_at > 0 &&
                      v->at.key.time - flow->sent_at >= params->flowlet_gap;

    if (kind == WF_ROUTE_FLOW_MESSAGE) {
        return number + 1;
    }
    flow->path += is_flowlet || kind == WF_ROUTE_FLOW_PACKET ? 1 : 0;
    return kind == WF_ROUTE_FLOW_PACKET && params->paths > 0 ? next_path(v, flow) : flow->path;
}

static struct wf_transport_last make_packet(const struct wf_transport_view *v,
                                            struct wf_transport_sender *flow,
                                            const struct wf_transport_message *message,
                                            uint64_t sequence)
{
    const struct wf_packet_net *model = &v->net->packet;
    const struct wf_packet_inject_event inject = {.dst = flow->id.peer,
                                                  .number = message->number};
    bool ends = sequence + 1 == message->first + message->count;

    return (struct wf_transport_last){
        .packet = {.head = wf_packet_first_head(&v->at, &inject),
                   .sequence = sequence,
                   .other = sequence - message->first,
                   .sent = v->at.key.time,
                   .bytes = (uint32_t)(ends ? wf_packet_rest(model, message->msg.bytes)
                                            : model->packet_bytes),
                   .path = path_of(v, flow, message->number),
                   .type = WF_TRANSPORT_DATA,
                   .class = (uint8_t)flow->id.class,
                   .flags = ends ? WF_TRANSPORT_ENDS : 0,
                   .count = has_packet(flow) ? 1 : 0},
        .msg = message->msg,
        .born = message->born,
    };
}

/* The flow sends a packet. */
static void send_packet(const struct wf_transport_view *v, uint32_t cell)
{
    const struct wf_transport_net *net = v->net;
    struct wf_transport_node *node = v->node;
    struct wf_transport_sender *flow = edit(v, cell);
    uint32_t injection = net->packet.injection;
    bool is_again;
    uint64_t sequence = next_sequence(v, flow, &is_again);
    uint32_t at = message_of(v, is_again ? flow->first : flow->current, sequence);

    if (at == 0) {
        return; /* only in an event that will be undone */
    }
    flow->current = is_again ? flow->current : at;
    struct wf_transport_last last = make_packet(v, flow, wf_cell_read(v->at.ctx, at), sequence);
    uint64_t bytes = wf_transport_packet_bytes(net, &last.packet);
    flow->pipe++;
    flow->credit -= flow->credit != WF_TRANSPORT_NO_LIMIT ? 1 : 0;
    flow->sent_at = v->at.key.time;
    if (flow->timer == 0 || flow->pipe == 1) {
        set_timer(v, flow);
    }
    if (net->control->sent != NULL) {
        net->control->sent(net, flow, v->at.key.time, bytes);
    }
    node->free = v->at.key.time;
    if (injection != WF_PACKET_UNLIMITED) {
        node->free = wf_time_add(node->free,
                                 wf_packet_link_ps(&net->packet.links.kinds[injection], bytes));
    }
    if ((last.packet.flags & WF_TRANSPORT_ENDS) != 0 && !is_again) {
        node->has_left = 1;
        node->left = last.msg;
    }
    if (is_again) {
        last.packet.flags |= WF_TRANSPORT_AGAIN;
    }
    last.packet.flags |=
        WF_TRANSPORT_LOCAL; /* until it leaves; one-way links have no input port */
    wake_at(v, node->free);
    wf_transport_forward(v, &last.packet,
                         (last.packet.flags & WF_TRANSPORT_ENDS) != 0 ? &last : NULL);
}

/* The first flow in the ring that may send now and has the highest priority of those, or 0.
 * Flows that cannot send until something happens leave the ring; *at is when the first of the
 * others may. */
static uint32_t find_turn(const struct wf_transport_view *v, int64_t *at)
{
    struct wf_transport_node *node = v->node;
    const struct wf_transport_class *classes = v->net->classes;
    uint32_t stop = 0, best = 0;

    *at = WF_TIME_MAX;
    while (node->ring != 0) {
        uint32_t cell = look(v, node->ring)->ring;
        const struct wf_transport_sender *flow = look(v, cell);

        if (cell == stop) { /* all have been asked */
            node->ring = best != 0 ? best : node->ring;
            return best;
        }
        if (!has_packet(flow) || !has_window(flow)) {
            leave(v);
            continue;
        }
        bool may_send =
            flow->next_at <= v->at.key.time && (node->held >> flow->id.class & 1) == 0;
        if (may_send && !v->net->has_priorities) {
            node->ring = cell;
            return cell;
        }
        if (may_send && (best == 0 || classes[flow->id.class].priority >
                                          classes[look(v, best)->id.class].priority)) {
            best = cell;
        }
        if (flow->next_at > v->at.key.time) {
            *at = wf_min_i64(*at, flow->next_at);
        }
        stop = stop == 0 ? cell : stop;
        node->ring = cell;
    }
    return 0;
}

void wf_transport_run(const struct wf_transport_view *v)
{
    struct wf_transport_node *node = v->node;
    int64_t at;

    if (node->ring == 0 && node->has_left == 0) {
        return;
    }
    wf_touch(v->at.ctx, node, sizeof(*node));
    if (node->free > v->at.key.time || node->has_left != 0) {
        wake_at(v, node->free);
        return;
    }
    uint32_t cell = find_turn(v, &at);
    if (cell != 0) {
        send_packet(v, cell);
    } else {
        wake_at(v, at);
    }
}

void wf_transport_wake(const struct wf_transport_view *v)
{
    const struct wf_net_user *user = &v->net->packet.net.user;
    struct wf_transport_node *node = v->node;

    if (node->wake != v->at.key.time + 1) {
        return; /* void: an earlier one took its place */
    }
    wf_touch(v->at.ctx, node, sizeof(*node));
    node->wake = 0;
    bool has_left = node->has_left != 0 && node->free <= v->at.key.time;
    const struct wf_net_message left = node->left;
    if (has_left) {
        node->has_left = 0;
    }
    wf_transport_run(v);
    if (has_left && user->sent != NULL) {
        user->sent(user->arg, v->at.ctx, v->at.ports, &left);
    }
}

/* ---- messages ---- */

/* A message for this node itself goes through the interface, but not through the network. */
static int64_t send_to_self(const struct wf_transport_view *v, const struct wf_net_message *msg,
                            uint32_t number)
{
    const struct wf_packet_net *model = &v->net->packet;
    uint64_t n = wf_packet_count(model, msg->bytes);
    int64_t begin = wf_max_i64(v->node->self_free, v->at.key.time), duration = 0;

    if (model->injection != WF_PACKET_UNLIMITED) {
        const struct wf_packet_link_kind *kind = &model->links.kinds[model->injection];
        wf_u128 all = (wf_u128)(n - 1) * (uint64_t)kind->full_ps +
                      (uint64_t)wf_packet_link_ps(kind, wf_packet_rest(model, msg->bytes) +
                                                            model->header_bytes);
        duration = all > (wf_u128)(WF_TIME_MAX / 4) ? WF_TIME_MAX : (int64_t)all;
    }
    const struct wf_transport_last last = {
        .packet = {.head = {.src = v->at.vertex, .dst = v->at.vertex, .number = number},
                   .other = n - 1},
        .msg = *msg,
        .born = v->at.key.time,
    };
    v->node->self_free = wf_time_add(begin, duration);
    wf_packet_schedule_own(&v->at, wf_packet_delay(&v->at, v->node->self_free),
                           WF_TRANSPORT_SELF, &last, sizeof(last));
    return v->node->self_free;
}

static void add_message(const struct wf_transport_view *v, struct wf_transport_sender *flow,
                        const struct wf_net_message *msg, uint32_t number)
{
    uint32_t cell = wf_cell_new_for(v->at.ctx, sizeof(struct wf_transport_message));
    uint64_t count = wf_packet_count(&v->net->packet, msg->bytes);

    *(struct wf_transport_message *)wf_cell_edit(v->at.ctx, cell) =
        (struct wf_transport_message){.number = number,
                                      .first = flow->end,
                                      .count = count,
                                      .born = v->at.key.time,
                                      .msg = *msg};
    if (flow->last == 0) {
        flow->first = cell;
    } else {
        ((struct wf_transport_message *)wf_cell_edit(v->at.ctx, flow->last))->next = cell;
    }
    flow->last = cell;
    flow->current = flow->current == 0 ? cell : flow->current;
    flow->end += count;
}

int64_t wf_transport_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    const struct wf_transport_net *transport = wf_transport_of(wf_packet_of(net));
    struct wf_transport_view view, *v = &view;

    (void)start; /* WF_NET_NOW */
    wf_transport_view_at_node(v, transport, ctx, node,
                              wf_net_interface_of(&net->ends, msg->src_node).nic);
    struct wf_packet_node *own = v->at.node;
    wf_touch(ctx, own, sizeof(*own));
    wf_touch(ctx, v->node, sizeof(*v->node));
    uint32_t number = own->messages++;
    if (transport->overtakes && !wf_transport_is_free(transport, msg)) {
        number = wf_packet_order_next(&v->at, dst_node);
    }
    own->packets_sent += wf_packet_count(&transport->packet, msg->bytes);
    own->bytes_sent += msg->bytes;
    if (dst_node == v->at.vertex) {
        return send_to_self(v, msg, number);
    }
    uint32_t class = wf_transport_class_of(transport, msg),
             cell = find_flow_to(v, dst_node, class);
    cell = cell != 0 ? cell : create(v, dst_node, class);
    add_message(v, edit(v, cell), msg, number);
    join(v, cell);
    wf_transport_run(v);
    return WF_NET_LATER;
}

/* ---- answers ---- */

/* Forgets messages that have arrived completely. */
static void drop_messages(const struct wf_transport_view *v, struct wf_transport_sender *flow)
{
    while (flow->first != 0) {
        const struct wf_transport_message *message = wf_cell_read(v->at.ctx, flow->first);
        uint32_t next = message->next;

        if (message->first + message->count > flow->acked) {
            return;
        }
        wf_cell_free(v->at.ctx, flow->first);
        flow->current = flow->current == flow->first ? next : flow->current;
        flow->first = next;
        flow->last = next == 0 ? 0 : flow->last;
    }
}

static void shrink_pipe(struct wf_transport_sender *flow, uint64_t n)
{
    flow->pipe -= n < flow->pipe ? n : flow->pipe;
}

/* All packets before `to`, and the packet that is answered, have arrived. Returns how many of
 * them nobody knew of. */
static uint64_t take_answer(const struct wf_transport_view *v, struct wf_transport_sender *flow,
                            uint64_t to, const struct wf_transport_packet *packet)
{
    struct wf_ctx *ctx = v->at.ctx;
    uint64_t sequence = packet->sequence, n_new = 0;

    if (to > flow->acked) {
        uint64_t known = wf_transport_ranges_remove(ctx, &flow->has, flow->acked, to);
        uint64_t lost = wf_transport_ranges_remove(ctx, &flow->lost, flow->acked, to);
        n_new = to - flow->acked - known;
        shrink_pipe(flow, n_new - lost);
        flow->acked = to;
        drop_messages(v, flow);
    }
    if (v->net->is_selective && packet->type == WF_TRANSPORT_ACK && sequence >= flow->acked &&
        sequence < flow->sent &&
        wf_transport_ranges_add(ctx, &flow->has, sequence, sequence + 1) > 0) {
        shrink_pipe(flow,
                    1 - wf_transport_ranges_remove(ctx, &flow->lost, sequence, sequence + 1));
        n_new++;
    }
    return n_new;
}

/* Packets from `begin` to before `end` are lost, except those that have arrived. */
static void give_up(const struct wf_transport_view *v, struct wf_transport_sender *flow,
                    uint64_t begin, uint64_t end)
{
    struct wf_ctx *ctx = v->at.ctx;
    uint64_t from, to, at = wf_max_u64(begin, flow->acked), n = 0;

    end = wf_min_u64(end, flow->sent);
    for (uint32_t cell = flow->has; wf_transport_ranges_first(ctx, cell, &from, &to);
         cell = wf_transport_ranges_next(ctx, cell)) {
        n += wf_transport_ranges_add(ctx, &flow->lost, at, wf_min_u64(from, end));
        at = wf_max_u64(at, to);
    }
    n += wf_transport_ranges_add(ctx, &flow->lost, at, end);
    shrink_pipe(flow, n);
}

/* Packets are missing: which ones depends on what the receiver does with those after them. */
static void take_loss(const struct wf_transport_view *v, struct wf_transport_sender *flow,
                      const struct wf_transport_packet *packet)
{
    const struct wf_transport_control *control = v->net->control;

    if (v->net->is_selective) {
        give_up(v, flow, packet->sequence, packet->sequence + packet->count);
    } else {
        give_up(v, flow, flow->acked, flow->sent);
        flow->pipe = 0;
    }
    if (control->lost != NULL) {
        control->lost(v->net, flow, v->at.key.time, false);
    }
}

/* The flow may send again. */
static void go_on(const struct wf_transport_view *v, uint32_t cell)
{
    if (has_packet(look(v, cell))) {
        join(v, cell);
        wf_transport_run(v);
    }
}

void wf_transport_answered(const struct wf_transport_view *v,
                           const struct wf_transport_packet *packet)
{
    const struct wf_transport_control *control = v->net->control;
    uint32_t cell = find_flow_to(v, packet->head.src, packet->class);

    if (cell == 0) {
        return; /* only in an event that will be undone */
    }
    struct wf_transport_sender *flow = edit(v, cell);
    if (packet->type == WF_TRANSPORT_NOTICE) {
        if (control->noticed != NULL) {
            control->noticed(v->net, flow, v->at.key.time, packet->other);
        }
        return;
    }
    if (packet->type == WF_TRANSPORT_PULL) {
        if (control->pulled != NULL) {
            control->pulled(v->net, flow);
        }
        go_on(v, cell);
        return;
    }
    struct wf_transport_answer answer = {
        .now = v->at.key.time,
        .delay = wf_max_i64(v->at.key.time - packet->sent, 0),
        .n_new = take_answer(v, flow, wf_min_u64(packet->other, flow->sent), packet),
        .is_marked = (packet->flags & WF_TRANSPORT_MARKED) != 0,
        .load = packet->load,
    };
    judge_path(v, flow, packet);
    if (answer.n_new > 0) {
        flow->tries = 0;
        set_timer(v, flow);
    }
    if (packet->type == WF_TRANSPORT_NACK) {
        take_loss(v, flow, packet);
    } else if (control->answered != NULL) {
        control->answered(v->net, flow, &answer);
    }
    go_on(v, cell);
}

void wf_transport_timeout(const struct wf_transport_view *v,
                          const struct wf_transport_timer *timer)
{
    const struct wf_transport_control *control = v->net->control;
    uint32_t cell = find_flow_to(v, timer->dst, timer->class);

    if (cell == 0) {
        return; /* only in an event that will be undone */
    }
    struct wf_transport_sender *flow = edit(v, cell);
    flow->timer = 0;
    if (flow->acked >= flow->sent) {
        return; /* nothing is on its way */
    }
    if (flow->deadline > v->at.key.time) {
        flow->timer = 1;
        wf_packet_schedule_own(&v->at, flow->deadline - v->at.key.time, WF_TRANSPORT_TIMEOUT,
                               timer, sizeof(*timer));
        return;
    }
    int64_t again = wf_transport_fault_retry(v, flow);
    if (again == WF_TIME_MAX) {
        return; /* the flow has ended */
    }
    if (again > v->at.key.time) {
        flow->timer = 1;
        flow->deadline = again;
        wf_packet_schedule_own(&v->at, again - v->at.key.time, WF_TRANSPORT_TIMEOUT, timer,
                               sizeof(*timer));
        return;
    }
    wf_touch(v->at.ctx, v->node, sizeof(*v->node));
    v->node->timeouts++;
    flow->tries += flow->tries < TRIES_MAX ? 1 : 0;
    give_up(v, flow, flow->acked, flow->sent);
    flow->pipe = 0;
    if (control->lost != NULL) {
        control->lost(v->net, flow, v->at.key.time, true);
    }
    set_timer(v, flow);
    join(v, cell);
    wf_transport_run(v);
}
