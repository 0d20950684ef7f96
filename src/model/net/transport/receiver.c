/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destinations of flows. Every packet is answered: with the packets that have arrived without a
 * gap, and with the packet itself. A message is handed over when it and all messages of the flow
 * before it have arrived, or when it has and need not wait for others.
 */
#include "base/arith.h"
#include "model/net/transport/model.h"

static struct wf_transport_receiver *edit(const struct wf_transport_view *v, uint32_t cell)
{
    return wf_cell_edit(v->at.ctx, cell);
}

/* The cell of a flow; created if there is none. */
static uint32_t find_flow_from(const struct wf_transport_view *v, uint32_t src, uint32_t class)
{
    struct wf_cellmap *flows = &v->node->receivers;
    uint32_t cell = wf_transport_flow_find(v->at.ctx, flows, src, class);

    return cell != 0 ? cell
                     : wf_transport_flow_add(v->at.ctx, flows, src, class,
                                             sizeof(struct wf_transport_receiver));
}

/* ---- answers ---- */

/* Answers a packet: `type`, all before `cumulative` have arrived, `count` from `sequence` on are
 * missing. */
static void answer(const struct wf_transport_view *v, const struct wf_transport_packet *packet,
                   const struct wf_transport_packet *what)
{
    const struct wf_packet_inject_event inject = {.dst = packet->head.src,
                                                  .number = packet->head.number};
    struct wf_transport_packet out = *what;

    out.head = wf_packet_first_head(&v->at, &inject);
    out.sent = packet->sent;
    out.path = packet->path;
    out.class = packet->class;
    out.flags = packet->flags & WF_TRANSPORT_MARKED;
    out.load = packet->load;
    wf_transport_forward(v, &out, NULL);
}

static void acknowledge(const struct wf_transport_view *v,
                        const struct wf_transport_packet *packet, uint64_t cumulative)
{
    answer(v, packet,
           &(struct wf_transport_packet){
               .type = WF_TRANSPORT_ACK, .sequence = packet->sequence, .other = cumulative});
}

static void ask(const struct wf_transport_view *v, const struct wf_transport_packet *packet,
                uint64_t cumulative, uint64_t from, uint64_t count)
{
    answer(v, packet,
           &(struct wf_transport_packet){.type = WF_TRANSPORT_NACK,
                                         .sequence = from,
                                         .other = cumulative,
                                         .count = (uint32_t)wf_min_u64(count, UINT32_MAX)});
}

/* Tells the sender that a packet was marked, but not too often. */
static void notice(const struct wf_transport_view *v, struct wf_transport_receiver *flow,
                   const struct wf_transport_packet *packet)
{
    int64_t interval = v->net->params.dcqcn_interval;

    if (!v->net->control->wants_notices || (packet->flags & WF_TRANSPORT_MARKED) == 0 ||
        (flow->noticed != 0 && v->at.key.time - (flow->noticed - 1) < interval)) {
        return;
    }
    flow->noticed = v->at.key.time + 1;
    answer(v, packet, &(struct wf_transport_packet){.type = WF_TRANSPORT_NOTICE});
}

/* ---- pulls ---- */

/* Removes the flow after `before` from the ring of flows that are to be pulled. */
static void leave(const struct wf_transport_view *v, uint32_t before)
{
    uint32_t cell = edit(v, before)->ring;

    v->node->pull_ring = cell == before ? 0 : before;
    edit(v, before)->ring = edit(v, cell)->ring;
    edit(v, cell)->ring = 0;
}

static void send_pull(const struct wf_transport_view *v)
{
    const struct wf_packet_links *links = &v->net->packet.links;
    struct wf_transport_node *node = v->node;
    uint32_t before = node->pull_ring, cell = edit(v, before)->ring;
    struct wf_transport_receiver *flow = edit(v, cell);
    const struct wf_transport_packet pull = {
        .head = {.src = flow->id.peer, .dst = v->at.vertex}, .class = (uint8_t)flow->id.class};

    flow->pulls--;
    node->pull_ring = cell;
    if (flow->pulls == 0) {
        leave(v, before);
    }
    node->pull_free = wf_time_add(v->at.key.time, links->kinds[links->own].full_ps);
    answer(v, &pull, &(struct wf_transport_packet){.type = WF_TRANSPORT_PULL});
}

static void plan_pull(const struct wf_transport_view *v)
{
    struct wf_transport_node *node = v->node;

    if (node->pull_ring != 0 && node->pull_is_planned == 0 && node->pull_free != WF_TIME_MAX) {
        node->pull_is_planned = 1;
        wf_packet_schedule_own(&v->at, wf_max_i64(node->pull_free - v->at.key.time, 0),
                               WF_TRANSPORT_PULL_TURN, NULL, 0);
    }
}

void wf_transport_pull_turn(const struct wf_transport_view *v)
{
    wf_touch(v->at.ctx, v->node, sizeof(*v->node));
    v->node->pull_is_planned = 0;
    if (v->node->pull_ring != 0) {
        send_pull(v);
    }
    plan_pull(v);
}

/* A packet has arrived, with its data or without: the flow may send another one, if it has. */
static void want_pull(const struct wf_transport_view *v, uint32_t cell,
                      const struct wf_transport_packet *packet)
{
    struct wf_transport_receiver *flow = edit(v, cell);
    struct wf_transport_node *node = v->node;

    if (!v->net->control->wants_pulls ||
        (packet->count == 0 && packet->type != WF_TRANSPORT_TRIMMED)) {
        return;
    }
    wf_touch(v->at.ctx, node, sizeof(*node));
    flow->pulls++;
    if (flow->ring == 0) { /* it is the last in turn */
        flow->ring = node->pull_ring == 0 ? cell : edit(v, node->pull_ring)->ring;
        if (node->pull_ring != 0) {
            edit(v, node->pull_ring)->ring = cell;
        }
        node->pull_ring = cell;
    }
    plan_pull(v);
}

/* ---- messages ---- */

/* Remembers the end of a message, in the order of sequence. */
static void keep_end(const struct wf_transport_view *v, struct wf_transport_receiver *flow,
                     const struct wf_transport_last *last)
{
    uint32_t *link = &flow->first,
             cell = wf_cell_new_for(v->at.ctx, sizeof(struct wf_transport_arrival));

    while (*link != 0) {
        const struct wf_transport_arrival *other = wf_cell_read(v->at.ctx, *link);
        if (other->sequence > last->packet.sequence) {
            break;
        }
        link = &((struct wf_transport_arrival *)wf_cell_edit(v->at.ctx, *link))->next;
    }
    *(struct wf_transport_arrival *)wf_cell_edit(v->at.ctx, cell) =
        (struct wf_transport_arrival){.next = *link,
                                      .number = last->packet.head.number,
                                      .sequence = last->packet.sequence,
                                      .born = last->born,
                                      .msg = last->msg};
    *link = cell;
}

static bool is_due(const struct wf_transport_view *v, const struct wf_transport_receiver *flow,
                   const struct wf_transport_arrival *message)
{
    if (message->sequence < flow->expected) {
        return true;
    }
    if (!wf_transport_is_free(v->net, &message->msg)) {
        return false;
    }
    uint64_t end = message->sequence + 1;
    uint64_t begin = end - wf_packet_count(&v->net->packet, message->msg.bytes);
    return wf_transport_ranges_has(v->at.ctx, flow->has, wf_max_u64(begin, flow->expected),
                                   end);
}

/* The cell of the first message that is due, and of the one before it; 0: none. */
static uint32_t find_due(const struct wf_transport_view *v,
                         const struct wf_transport_receiver *flow, uint32_t *before)
{
    uint32_t cell = flow->first;

    *before = 0;
    while (cell != 0) {
        const struct wf_transport_arrival *message = wf_cell_read(v->at.ctx, cell);
        if (is_due(v, flow, message)) {
            break;
        }
        *before = cell;
        cell = v->net->params.delivery == WF_TRANSPORT_ANY_ORDER ? message->next : 0;
    }
    return cell;
}

/* Removes the message of a cell. */
static struct wf_transport_arrival take(const struct wf_transport_view *v,
                                        struct wf_transport_receiver *flow, uint32_t cell,
                                        uint32_t before)
{
    const struct wf_transport_arrival message =
        *(const struct wf_transport_arrival *)wf_cell_read(v->at.ctx, cell);

    wf_cell_free(v->at.ctx, cell);
    if (before == 0) {
        flow->first = message.next;
    } else {
        ((struct wf_transport_arrival *)wf_cell_edit(v->at.ctx, before))->next = message.next;
    }
    return message;
}

/* Hands over the first message that is due; another one gets an event of its own. */
static void hand_over(const struct wf_transport_view *v, struct wf_transport_receiver *flow)
{
    const struct wf_net_user *user = &v->net->packet.net.user;

    uint32_t before = 0, cell = flow->ready != 0 ? 0 : find_due(v, flow, &before);

    if (cell == 0) {
        return;
    }
    const struct wf_transport_arrival first = take(v, flow, cell, before);
    if (find_due(v, flow, &before) != 0) {
        uint64_t key = (uint64_t)flow->id.class << 32 | flow->id.peer;
        flow->ready = 1;
        wf_packet_schedule_own(&v->at, 0, WF_TRANSPORT_READY, &key, sizeof(key));
    }
    int64_t at = wf_max_i64(flow->at, v->at.key.time);
    flow->begin = flow->messages == 0 ? first.born : wf_min_i64(flow->begin, first.born);
    flow->end = wf_max_i64(flow->end, at);
    flow->messages++;
    flow->bytes += first.msg.bytes;
    if (v->net->overtakes && !wf_transport_is_free(v->net, &first.msg)) {
        const struct wf_packet_run run = {
            .head = {.src = flow->id.peer, .dst = v->at.vertex, .number = first.number},
            .count = 1,
            .msg = &first.msg};
        wf_packet_order_deliver(&v->at, &run, at);
        return;
    }
    user->arrived(user->arg, v->at.ctx, v->at.ports, &first.msg, at);
}

void wf_transport_ready(const struct wf_transport_view *v, uint64_t key)
{
    struct wf_transport_receiver *flow =
        edit(v, find_flow_from(v, (uint32_t)key, (uint32_t)(key >> 32)));

    flow->ready = 0;
    hand_over(v, flow);
}

/* ---- packets ---- */

/* The time at which a packet whose head arrives now has arrived. */
static int64_t tail_at(const struct wf_transport_view *v,
                       const struct wf_transport_packet *packet)
{
    const struct wf_packet_net *model = &v->net->packet;
    uint64_t bytes = wf_transport_packet_bytes(v->net, packet);
    const struct wf_packet_link_kind *kinds = model->links.kinds;
    int64_t at = v->at.key.time, tail = 0;

    if (model->timing == WF_PACKET_CUT_THROUGH) {
        tail = wf_packet_link_ps(&kinds[packet->head.slowest], bytes);
    }
    if (model->ejection != WF_PACKET_UNLIMITED) {
        int64_t ejection = wf_packet_link_ps(&kinds[model->ejection], bytes);
        at = wf_packet_port_serve(&v->at.node->ejection, at, ejection);
        tail = wf_max_i64(tail, ejection);
    }
    return wf_time_add(at, tail);
}

/* Counts a packet that arrives for the first time, as the packet model does. */
static void count_in(const struct wf_transport_view *v,
                     const struct wf_transport_packet *packet, int64_t at)
{
    const struct wf_packet_run run = {.head = packet->head, .first = packet->other, .count = 1};
    const struct wf_packet_factors factors = wf_packet_factors(&run.head);
    struct wf_packet_node *node = v->at.node;

    node->fingerprint += (uint64_t)at * (factors.a + run.first * factors.b);
    node->packets_received++;
    node->bytes_received += packet->bytes;
    wf_packet_report(&v->at, &run, at);
}

/* Takes packets in order only. Returns whether this one is taken. */
static bool take_in_order(const struct wf_transport_view *v, struct wf_transport_receiver *flow,
                          const struct wf_transport_packet *packet)
{
    if (packet->sequence == flow->expected) {
        flow->expected++;
        flow->asked = 0;
        acknowledge(v, packet, flow->expected);
        return true;
    }
    if (packet->sequence < flow->expected) {
        acknowledge(v, packet, flow->expected);
    } else if (flow->asked == 0) {
        flow->asked = 1;
        ask(v, packet, flow->expected, flow->expected, 1);
    }
    return false;
}

/* Takes packets in any order. */
static bool take_any(const struct wf_transport_view *v, struct wf_transport_receiver *flow,
                     const struct wf_transport_packet *packet)
{
    struct wf_ctx *ctx = v->at.ctx;
    uint64_t sequence = packet->sequence, begin, end, gap = flow->highest;

    if (sequence < flow->expected ||
        wf_transport_ranges_add(ctx, &flow->has, sequence, sequence + 1) == 0) {
        acknowledge(v, packet, flow->expected);
        return false;
    }
    flow->highest = wf_max_u64(flow->highest, sequence + 1);
    if (wf_transport_ranges_first(ctx, flow->has, &begin, &end) && begin == flow->expected) {
        (void)wf_transport_ranges_remove(ctx, &flow->has, begin, end);
        flow->expected = end;
    }
    acknowledge(v, packet, flow->expected);
    if (sequence > gap && v->net->finds_gaps) {
        ask(v, packet, flow->expected, gap, sequence - gap);
    }
    return true;
}

void wf_transport_received(const struct wf_transport_view *v,
                           const struct wf_transport_packet *packet,
                           const struct wf_transport_last *last)
{
    uint32_t cell = find_flow_from(v, packet->head.src, packet->class);
    struct wf_transport_receiver *flow = edit(v, cell);

    want_pull(v, cell, packet);
    wf_touch(v->at.ctx, v->at.node, sizeof(*v->at.node));
    notice(v, flow, packet);
    if (packet->type == WF_TRANSPORT_TRIMMED) {
        ask(v, packet, flow->expected, packet->sequence, 1);
        return;
    }
    bool is_new =
        v->net->is_selective ? take_any(v, flow, packet) : take_in_order(v, flow, packet);
    if (!is_new) {
        return;
    }
    int64_t at = tail_at(v, packet);
    count_in(v, packet, at);
    flow->at = wf_max_i64(flow->at, at);
    if (last != NULL) {
        keep_end(v, flow, last);
    }
    hand_over(v, flow);
}
