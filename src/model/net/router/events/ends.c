/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages at the two ends of the network. The source cuts them into packets and injects these
 * as its queues allow. The destination reassembles them and hands them over in the order in
 * which they were sent. All lists consist of cells and are short: they hold the messages in
 * progress between a node and its peers.
 */
#include "model/net/router/events/flit.h"
#include "model/net/router/events/stats.h"

static const struct wf_router_cell *read_cell(const struct wf_router_view *view, uint32_t cell)
{
    return wf_cell_read(view->ctx, cell);
}

static struct wf_router_cell *edit_cell(const struct wf_router_view *view, uint32_t cell)
{
    return wf_cell_edit(view->ctx, cell);
}

/* Adds a cell at the front of a list. */
static struct wf_router_cell *push(const struct wf_router_view *view, uint32_t *list,
                                   const struct wf_router_packet *packet)
{
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct wf_router_cell));
    struct wf_router_cell *entry = edit_cell(view, cell);

    entry->packet = *packet;
    entry->next = *list;
    wf_touch(view->ctx, list, sizeof(*list));
    *list = cell;
    return entry;
}

/* Removes a cell from a list. `last` is the cell before it, or 0. */
static void pull(const struct wf_router_view *view, uint32_t *list, uint32_t last,
                 uint32_t cell)
{
    uint32_t next = read_cell(view, cell)->next;

    if (last == 0) {
        wf_touch(view->ctx, list, sizeof(*list));
        *list = next;
    } else {
        edit_cell(view, last)->next = next;
    }
    wf_cell_free(view->ctx, cell);
}

static uint64_t n_packets(const struct wf_router_net *model, uint64_t bytes)
{
    return bytes <= model->set.packet ? 1 : (bytes - 1) / model->set.packet + 1;
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
    uint32_t first = layout->n_ports * model->rules.vcs, best = first;

    if (model->rules.injection != WF_ROUTER_INJECT_SHORTEST && model->grid != NULL) {
        return first + wf_router_injector(&model->rules, model->grid->size,
                                          wf_router_coords_of(model, view->vertex),
                                          wf_router_coords_of(model, packet->dst),
                                          packet->on.down, layout->n_injection);
    }
    for (uint32_t i = first + 1; i < layout->n_inputs; i++) {
        if (view->inputs[i].n < view->inputs[best].n) {
            best = i;
        }
    }
    return best;
}

/* ---- the source ---- */

static bool inject_one(const struct wf_router_view *view, struct wf_router_packet *packet,
                       uint32_t index)
{
    wf_router_prepare(view, packet, index);
    packet->last = index == 1;

    uint32_t queue = injector(view, packet);
    if (view->inputs[queue].n >= view->model->set.injection_length) {
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
            pull(view, &head->backlog, 0, head->backlog);
        }
    }
}

/* The number of messages so far between this node and another; then counts one more. */
static uint32_t next_order(const struct wf_router_view *view, uint32_t *list, uint32_t other)
{
    for (uint32_t cell = *list; cell != 0; cell = read_cell(view, cell)->next) {
        if (read_cell(view, cell)->packet.dst == other) {
            return edit_cell(view, cell)->count++;
        }
    }
    push(view, list, &(struct wf_router_packet){.dst = other})->count = 1;
    return 0;
}

static void append_backlog(const struct wf_router_view *view,
                           const struct wf_router_packet *packet, uint64_t count)
{
    struct wf_router_head *head = view->head;
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct wf_router_cell));
    struct wf_router_cell *entry = edit_cell(view, cell);

    entry->packet = *packet;
    entry->count = (uint32_t)count;
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
    bool was_empty = head->backlog == 0;
    struct wf_router_cell *entry = push(view, &head->backlog, packet);

    wf_touch(view->ctx, head, sizeof(*head));
    entry->count = 1;
    entry->at = WF_ROUTER_AGAIN;
    head->backlog_last = was_empty ? head->backlog : head->backlog_last;
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
           view.inputs[injector(&view, &packet)].n < view.model->set.injection_length;
}

int64_t wf_router_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    const struct wf_router_net *model = wf_router_of(net);
    struct wf_router_view view =
        wf_router_view_at(model, ctx, node, wf_net_interface_of(&net->ends, msg->src_node).nic);
    int64_t cycle = model->set.cycle;
    struct wf_router_packet packet = {.msg = *msg, .dst = dst_node};
    uint64_t count = n_packets(model, msg->bytes);

    (void)start; /* WF_NET_NOW */
    wf_touch(ctx, view.head, sizeof(*view.head));
    packet.number = view.head->numbers++;
    if (!net->user.any_order) {
        packet.order = next_order(&view, &view.head->sent_orders, dst_node);
    }
    if (count > UINT32_MAX) { /* this would take longer than the simulated time can be */
        wf_router_schedule_own(&view, WF_TIME_MAX, WF_ROUTER_DECIDE, NULL, 0);
        return WF_NET_LATER;
    }
    packet.born = (wf_now(ctx) + cycle - 1) / cycle;
    if (model->set.switching == WF_ROUTER_CUT_THROUGH && count == 1 &&
        view.head->backlog == 0 && wf_now(ctx) % cycle == 0 && inject_one(&view, &packet, 1)) {
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
    uint64_t all = n_packets(view->model, packet->msg.bytes);
    uint32_t *list = &view->head->partial, last = 0;

    if (all == 1) {
        return true;
    }
    for (uint32_t cell = *list; cell != 0; last = cell, cell = read_cell(view, cell)->next) {
        const struct wf_router_cell *entry = read_cell(view, cell);
        if (entry->packet.msg.src_node != packet->msg.src_node ||
            entry->packet.number != packet->number) {
            continue;
        }
        if (entry->count + UINT64_C(1) < all) {
            edit_cell(view, cell)->count++;
            return false;
        }
        pull(view, list, last, cell);
        return true;
    }
    push(view, list, packet)->count = 1;
    return false;
}

/* The order of the next message from a node that is to be handed over. */
static uint32_t *expected(const struct wf_router_view *view, uint32_t src)
{
    for (uint32_t cell = view->head->seen_orders; cell != 0;
         cell = read_cell(view, cell)->next) {
        if (read_cell(view, cell)->packet.dst == src) {
            return &edit_cell(view, cell)->count;
        }
    }
    return &push(view, &view->head->seen_orders, &(struct wf_router_packet){.dst = src})->count;
}

/* Hands over an early message when its turn has come. */
static bool deliver_early(const struct wf_router_view *view, uint32_t src, uint32_t order)
{
    uint32_t last = 0;

    for (uint32_t cell = view->head->early; cell != 0;
         last = cell, cell = read_cell(view, cell)->next) {
        const struct wf_router_cell *entry = read_cell(view, cell);
        if (entry->packet.msg.src_node == src && entry->packet.order == order) {
            if (entry->count == 0) { /* else the message is lost */
                deliver(view, &entry->packet);
            }
            pull(view, &view->head->early, last, cell);
            return true;
        }
    }
    return false;
}

static void deliver_in_order(const struct wf_router_view *view,
                             const struct wf_router_packet *packet)
{
    uint32_t *next = expected(view, packet->msg.src_node);

    if (packet->order != *next) {
        (void)push(view, &view->head->early, packet);
        return;
    }
    deliver(view, packet);
    do {
        ++*next;
    } while (deliver_early(view, packet->msg.src_node, *next));
}

static bool is_lost(const struct wf_router_view *view, uint32_t src, uint32_t number)
{
    uint32_t cell = view->head->lost;

    while (cell != 0 && (read_cell(view, cell)->packet.msg.src_node != src ||
                         read_cell(view, cell)->packet.number != number)) {
        cell = read_cell(view, cell)->next;
    }
    return cell != 0;
}

/* Removes the packets of a message that have arrived. */
static void forget_partial(const struct wf_router_view *view, uint32_t src, uint32_t number)
{
    uint32_t last = 0;

    for (uint32_t cell = view->head->partial; cell != 0;
         last = cell, cell = read_cell(view, cell)->next) {
        const struct wf_router_packet *packet = &read_cell(view, cell)->packet;
        if (packet->msg.src_node == src && packet->number == number) {
            pull(view, &view->head->partial, last, cell);
            return;
        }
    }
}

void wf_router_forget(const struct wf_router_view *view, const struct wf_router_lost *lost)
{
    const struct wf_router_packet packet = {.msg = {.src_node = lost->src},
                                            .dst = lost->dst,
                                            .number = lost->number,
                                            .order = lost->order};

    if (is_lost(view, lost->src, lost->number)) {
        return;
    }
    (void)push(view, &view->head->lost, &packet);
    forget_partial(view, lost->src, lost->number);
    if (view->model->net.user.any_order) {
        return;
    }
    uint32_t *next = expected(view, lost->src);
    if (lost->order != *next) {
        push(view, &view->head->early, &packet)->count = 1;
        return;
    }
    do {
        ++*next;
    } while (deliver_early(view, lost->src, *next));
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
        deliver_in_order(view, packet);
    }
}
