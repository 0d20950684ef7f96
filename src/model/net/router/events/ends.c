/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages at the two ends of the network. The source cuts them into packets and injects these
 * as its queues allow. The destination reassembles them and hands them over in the order in
 * which they were sent. Peers, and the messages in progress with each, are found in maps, so
 * that a packet costs the same whatever their number.
 */
#include "model/net/router/events/flit.h"
#include "model/net/router/events/reads.h"
#include "model/net/router/events/stats.h"
#include "model/net/router/rules/inject.h"

static const struct wf_router_cell *read_cell(const struct wf_router_view *view, uint32_t cell)
{
    return wf_cell_read(view->ctx, cell);
}

static struct wf_router_cell *edit_cell(const struct wf_router_view *view, uint32_t cell)
{
    return wf_cell_edit(view->ctx, cell);
}

/* A new cell with a packet or a message. */
static uint32_t keep(const struct wf_router_view *view, const struct wf_router_packet *packet,
                     uint32_t count)
{
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct wf_router_cell));
    struct wf_router_cell *entry = edit_cell(view, cell);

    entry->packet = *packet;
    entry->count = count;
    return cell;
}

/* ---- peers ---- */

/* What the node knows of another; null if nothing. */
static const struct wf_router_peer *read_peer(const struct wf_router_view *view, uint32_t node)
{
    uint32_t cell = wf_cellmap_get(view->ctx, &view->head->peers, node);

    return cell == 0 ? NULL : wf_cell_read(view->ctx, cell);
}

/* The same, to be changed; the caller has announced the head. */
static struct wf_router_peer *edit_peer(const struct wf_router_view *view, uint32_t node)
{
    uint32_t cell = wf_cellmap_get(view->ctx, &view->head->peers, node);

    if (cell == 0) {
        cell = wf_cell_new_for(view->ctx, sizeof(struct wf_router_peer));
        wf_cellmap_put(view->ctx, &view->head->peers, node, cell);
    }
    return wf_cell_edit(view->ctx, cell);
}

/* A message's number or order as a key; those of 2^31 messages at a time differ. */
static uint32_t key_of(uint32_t number)
{
    return number & INT32_MAX;
}

/* ---- directions and injection queues ---- */

void wf_router_prepare(const struct wf_router_view *view, struct wf_router_packet *packet,
                       uint32_t index)
{
    const struct wf_router_net *model = view->model;

    if (model->grid != NULL) {
        packet->on.down = wf_router_directions(
            &model->rules, model->grid->size, wf_router_coords_of(model, view->vertex),
            wf_router_coords_of(model, packet->dst),
            wf_router_lots(&model->rules, view->vertex, packet->number, index));
    }
}

static uint32_t injector(const struct wf_router_view *view,
                         const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    const struct wf_router_layout *layout = view->layout;
    const struct wf_router_here here = wf_router_here(view);
    struct wf_router_ends ends = {NULL, NULL, NULL};

    if (model->grid != NULL) {
        ends =
            (struct wf_router_ends){model->grid->size, wf_router_coords_of(model, view->vertex),
                                    wf_router_coords_of(model, packet->dst)};
    }
    return wf_router_injection_queue(&here, ends, packet->on.down,
                                     layout->n_ports * model->rules.vcs, layout->n_injection);
}

/* ---- the source ---- */

static bool inject_one(const struct wf_router_view *view, struct wf_router_packet *packet,
                       uint32_t index)
{
    wf_router_prepare(view, packet, index);
    packet->last = index == 1;

    uint32_t queue = injector(view, packet);
    if (!wf_router_queue_takes(view->inputs[queue].n, view->model->set.injection_length)) {
        return false;
    }
    packet->born = view->now;
    wf_router_enqueue(view, queue, packet);
    return true;
}

void wf_router_inject(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    wf_touch(view->ctx, head, sizeof(*head));
    while (head->backlog != 0) {
        struct wf_router_cell *entry = edit_cell(view, head->backlog);
        struct wf_router_packet packet = entry->packet;

        /* A packet that is sent again does not end its message a second time. */
        if (!inject_one(view, &packet, entry->at == WF_ROUTER_AGAIN ? 0 : entry->count)) {
            return; /* a packet that begins to leave frees a slot */
        }
        if (--entry->count == 0) {
            uint32_t cell = head->backlog;
            head->backlog = entry->next;
            wf_cell_free(view->ctx, cell);
        }
    }
}

static void append_backlog(const struct wf_router_view *view,
                           const struct wf_router_packet *packet, uint64_t count)
{
    struct wf_router_head *head = view->head;
    uint32_t cell = keep(view, packet, (uint32_t)count);

    if (head->backlog == 0) {
        head->backlog = cell;
    } else {
        edit_cell(view, head->backlog_last)->next = cell;
    }
    head->backlog_last = cell;
}

void wf_router_inject_again(const struct wf_router_view *view,
                            const struct wf_router_packet *packet)
{
    struct wf_router_head *head = view->head;
    uint32_t cell = keep(view, packet, 1);
    struct wf_router_cell *entry = edit_cell(view, cell);

    wf_touch(view->ctx, head, sizeof(*head));
    entry->at = WF_ROUTER_AGAIN;
    entry->next = head->backlog;
    head->backlog_last = head->backlog == 0 ? cell : head->backlog_last;
    head->backlog = cell;
    wf_router_wake(view,
                   (wf_now(view->ctx) + view->model->set.cycle - 1) / view->model->set.cycle);
}

bool wf_router_can_inject(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          uint32_t dst)
{
    struct wf_router_view view = wf_router_view_at(wf_router_of(net), ctx, node, 0);
    struct wf_router_packet packet = {.dst = dst, .number = view.head->numbers};

    if (view.model->set.switching == WF_ROUTER_WORMHOLE) {
        return wf_router_flit_can_inject(&view);
    }
    wf_router_prepare(&view, &packet, 1);
    return view.head->backlog == 0 &&
           wf_router_queue_takes(view.inputs[injector(&view, &packet)].n,
                                 view.model->set.injection_length);
}

int64_t wf_router_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    const struct wf_router_net *model = wf_router_of(net);
    struct wf_router_view view =
        wf_router_view_at(model, ctx, node, wf_net_interface_of(&net->ends, msg->src_node).nic);
    int64_t cycle = model->set.cycle;
    struct wf_router_packet packet = {.msg = *msg, .dst = dst_node};
    uint64_t count = wf_router_packets_of(msg->bytes, model->set.packet);

    (void)start; /* WF_NET_NOW */
    wf_touch(ctx, view.head, sizeof(*view.head));
    packet.number = view.head->numbers++;
    if (!net->user.any_order) {
        packet.order = edit_peer(&view, dst_node)->sent++;
    }
    if (count > UINT32_MAX) { /* this would take longer than the simulated time can be */
        wf_router_schedule_own(&view, WF_TIME_MAX, WF_ROUTER_DECIDE, NULL, 0);
        return WF_NET_LATER;
    }
    packet.born = (wf_now(ctx) + cycle - 1) / cycle;
    if (model->set.switching == WF_ROUTER_CUT_THROUGH &&
        wf_router_enters_at_once(count, view.head->backlog != 0, wf_now(ctx) % cycle == 0) &&
        inject_one(&view, &packet, 1)) {
        return WF_NET_LATER;
    }
    append_backlog(&view, &packet, count);
    wf_router_wake(&view, packet.born);
    return WF_NET_LATER;
}

/* ---- the destination ---- */

static void deliver(const struct wf_router_view *view, const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    bool is_here = model->set.switching == WF_ROUTER_WORMHOLE;
    uint32_t pace =
        is_here || packet->hops == 0
            ? 1
            : wf_router_kind_in(model, view->vertex, packet->input / model->rules.vcs)->pace;

    wf_router_schedule_own(
        view, is_here ? 0 : (int64_t)(model->rules.phits - 1) * pace * model->set.cycle,
        WF_ROUTER_DELIVER, packet, sizeof(*packet));
}

/* Whether this packet completes its message. */
static bool completes(const struct wf_router_view *view, const struct wf_router_packet *packet)
{
    uint64_t all = wf_router_packets_of(packet->msg.bytes, view->model->set.packet);

    if (all == 1) {
        return true;
    }
    struct wf_cellmap *partial = &edit_peer(view, packet->msg.src_node)->partial;
    uint32_t key = key_of(packet->number), cell = wf_cellmap_get(view->ctx, partial, key);
    if (cell == 0) {
        wf_cellmap_put(view->ctx, partial, key, keep(view, packet, 1));
        return false;
    }
    if (++edit_cell(view, cell)->count < all) {
        return false;
    }
    wf_cell_free(view->ctx, wf_cellmap_take(view->ctx, partial, key));
    return true;
}

/* The turn of a message has come: that of the early ones after it comes too. */
static void go_on(const struct wf_router_view *view, struct wf_router_peer *peer)
{
    uint32_t cell;

    while ((cell = wf_cellmap_take(view->ctx, &peer->early, key_of(++peer->seen))) != 0) {
        if (read_cell(view, cell)->count == 0) { /* else the message is lost */
            deliver(view, &read_cell(view, cell)->packet);
        }
        wf_cell_free(view->ctx, cell);
    }
}

/* Hands over a message in its turn; or passes over it, if it is lost. */
static void deliver_in_order(const struct wf_router_view *view,
                             const struct wf_router_packet *packet, bool is_lost)
{
    struct wf_router_peer *peer = edit_peer(view, packet->msg.src_node);

    if (packet->order != peer->seen) {
        uint32_t key = key_of(packet->order);
        /* There is one already only in an event that will be undone. */
        if (wf_cellmap_get(view->ctx, &peer->early, key) == 0) {
            wf_cellmap_put(view->ctx, &peer->early, key, keep(view, packet, is_lost ? 1 : 0));
        }
        return;
    }
    if (!is_lost) {
        deliver(view, packet);
    }
    go_on(view, peer);
}

static bool is_lost(const struct wf_router_view *view, uint32_t src, uint32_t number)
{
    const struct wf_router_peer *peer = read_peer(view, src);

    return peer != NULL && wf_cellmap_get(view->ctx, &peer->lost, key_of(number)) != 0;
}

void wf_router_forget(const struct wf_router_view *view, const struct wf_router_lost *lost)
{
    const struct wf_router_packet packet = {.msg = {.src_node = lost->src},
                                            .dst = lost->dst,
                                            .number = lost->number,
                                            .order = lost->order};
    uint32_t key = key_of(lost->number);

    if (is_lost(view, lost->src, lost->number)) {
        return;
    }
    wf_touch(view->ctx, view->head, sizeof(*view->head));
    struct wf_router_peer *peer = edit_peer(view, lost->src);
    wf_cellmap_put(view->ctx, &peer->lost, key, 1);
    uint32_t partial = wf_cellmap_take(view->ctx, &peer->partial, key);
    if (partial != 0) {
        wf_cell_free(view->ctx, partial);
    }
    if (!view->model->net.user.any_order) {
        deliver_in_order(view, &packet, true);
    }
}

void wf_router_consume(const struct wf_router_view *view, const struct wf_router_packet *packet)
{
    struct wf_router_head *head = view->head;

    wf_touch(view->ctx, head, sizeof(*head));
    head->consumed++;
    head->hops += packet->hops;
    head->digest += wf_router_fact((uint64_t)view->now, view->vertex, WF_ROUTER_FACT_EATEN,
                                   packet->dst, (uint64_t)packet->born);
    wf_router_stats_consumed(view, packet);
    wf_router_counted(view);
    if (is_lost(view, packet->msg.src_node, packet->number) || !completes(view, packet)) {
        return;
    }
    if (view->model->net.user.any_order) {
        deliver(view, packet);
    } else {
        deliver_in_order(view, packet, false);
    }
}
