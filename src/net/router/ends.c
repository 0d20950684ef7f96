/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages at the two ends of the network: cut into packets and injected as the queues allow,
 * put together again, and handed on in the order in which they were sent. All lists are of
 * cells and short: of what is under way between a node and those it talks to.
 */
#include "net/router/flit.h"
#include "net/router/stats.h"
#include "net/router/watch.h"

static const struct wf_router_cell *read_cell(const struct wf_router_spot *spot, uint32_t cell)
{
    return wf_cell_read(spot->ctx, cell);
}

static struct wf_router_cell *edit_cell(const struct wf_router_spot *spot, uint32_t cell)
{
    return wf_cell_edit(spot->ctx, cell);
}

/* A new cell at the front of a list. */
static struct wf_router_cell *push(const struct wf_router_spot *spot, uint32_t *list,
                                   const struct wf_router_packet *packet)
{
    uint32_t cell = wf_cell_new(spot->ctx);
    struct wf_router_cell *entry = edit_cell(spot, cell);

    entry->packet = *packet;
    entry->next = *list;
    wf_touch(spot->ctx, list, sizeof(*list));
    *list = cell;
    return entry;
}

/* Takes a cell out of a list. `last` is the one before it, or 0. */
static void pull(const struct wf_router_spot *spot, uint32_t *list, uint32_t last,
                 uint32_t cell)
{
    uint32_t next = read_cell(spot, cell)->next;

    if (last == 0) {
        wf_touch(spot->ctx, list, sizeof(*list));
        *list = next;
    } else {
        edit_cell(spot, last)->next = next;
    }
    wf_cell_free(spot->ctx, cell);
}

static uint64_t n_packets(const struct wf_router_net *model, uint64_t bytes)
{
    return bytes <= model->set.packet ? 1 : (bytes - 1) / model->set.packet + 1;
}

/* ---- the source ---- */

static bool inject_one(const struct wf_router_spot *spot, struct wf_router_packet *packet,
                       uint32_t index)
{
    wf_router_prepare(spot, packet, index);
    packet->last = index == 1;

    uint32_t queue = wf_router_injector(spot, packet);
    if (spot->inputs[queue].n >= spot->model->set.injection_length) {
        return false;
    }
    packet->born = spot->now;
    wf_router_enqueue(spot, queue, packet);
    return true;
}

void wf_router_inject(const struct wf_router_spot *spot)
{
    struct wf_router_head *head = spot->head;

    wf_touch(spot->ctx, head, sizeof(*head));
    while (head->backlog != 0) {
        struct wf_router_cell *entry = edit_cell(spot, head->backlog);
        struct wf_router_packet packet = entry->packet;

        if (!inject_one(spot, &packet, entry->count)) {
            return; /* until a packet begins to leave */
        }
        if (--entry->count == 0) {
            pull(spot, &head->backlog, 0, head->backlog);
        }
    }
}

/* The number of messages so far between this node and another, which grows by one. */
static uint32_t next_order(const struct wf_router_spot *spot, uint32_t *list, uint32_t other)
{
    for (uint32_t cell = *list; cell != 0; cell = read_cell(spot, cell)->next) {
        if (read_cell(spot, cell)->packet.dst == other) {
            return edit_cell(spot, cell)->count++;
        }
    }
    push(spot, list, &(struct wf_router_packet){.dst = other})->count = 1;
    return 0;
}

static void append_backlog(const struct wf_router_spot *spot,
                           const struct wf_router_packet *packet, uint64_t count)
{
    struct wf_router_head *head = spot->head;
    uint32_t cell = wf_cell_new(spot->ctx);
    struct wf_router_cell *entry = edit_cell(spot, cell);

    entry->packet = *packet;
    entry->count = (uint32_t)count;
    if (head->backlog == 0) {
        head->backlog = cell;
    } else {
        edit_cell(spot, head->backlog_last)->next = cell;
    }
    head->backlog_last = cell;
}

bool wf_router_room(const struct wf_net *net, struct wf_ctx *ctx, void *node, uint32_t dst)
{
    struct wf_router_spot spot = wf_router_here(wf_to_router(net), ctx, node);
    struct wf_router_packet packet = {.dst = dst, .number = spot.head->numbers};

    if (spot.model->set.switching == WF_ROUTER_WORMHOLE) {
        return wf_flit_room(&spot);
    }
    wf_router_prepare(&spot, &packet, 1);
    return spot.head->backlog == 0 &&
           spot.inputs[wf_router_injector(&spot, &packet)].n < spot.model->set.injection_length;
}

int64_t wf_router_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_message *msg, int64_t start)
{
    const struct wf_router_net *model = wf_to_router(net);
    struct wf_router_spot spot = wf_router_here(model, ctx, node);
    int64_t cycle = model->set.cycle;
    struct wf_router_packet packet = {.msg = *msg, .dst = dst_node};
    uint64_t count = n_packets(model, msg->bytes);

    (void)start; /* WF_NET_NOW */
    wf_touch(ctx, spot.head, sizeof(*spot.head));
    packet.number = spot.head->numbers++;
    if (!net->user.any_order) {
        packet.order = next_order(&spot, &spot.head->sent_orders, dst_node);
    }
    if (count > UINT32_MAX) { /* would take longer than there is time */
        wf_schedule(ctx, wf_self(ctx), WF_TIME_MAX, WF_ROUTER_DECIDE, NULL, 0);
        return WF_NET_LATER;
    }
    packet.born = (wf_now(ctx) + cycle - 1) / cycle;
    if (model->set.switching == WF_ROUTER_CUT_THROUGH && count == 1 &&
        spot.head->backlog == 0 && wf_now(ctx) % cycle == 0 && inject_one(&spot, &packet, 1)) {
        return WF_NET_LATER;
    }
    append_backlog(&spot, &packet, count);
    wf_router_wake(&spot, packet.born);
    return WF_NET_LATER;
}

/* ---- the destination ---- */

static void deliver(const struct wf_router_spot *spot, const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = spot->model;
    bool is_here = model->set.switching == WF_ROUTER_WORMHOLE;

    wf_schedule(spot->ctx, wf_self(spot->ctx),
                is_here ? 0 : (model->phits - 1) * model->set.cycle, WF_ROUTER_DELIVER, packet,
                sizeof(*packet));
}

/* Whether this packet completes its message. */
static bool completes(const struct wf_router_spot *spot, const struct wf_router_packet *packet)
{
    uint64_t all = n_packets(spot->model, packet->msg.bytes);
    uint32_t *list = &spot->head->partial, last = 0;

    if (all == 1) {
        return true;
    }
    for (uint32_t cell = *list; cell != 0; last = cell, cell = read_cell(spot, cell)->next) {
        const struct wf_router_cell *entry = read_cell(spot, cell);
        if (entry->packet.msg.src_node != packet->msg.src_node ||
            entry->packet.number != packet->number) {
            continue;
        }
        if (entry->count + UINT64_C(1) < all) {
            edit_cell(spot, cell)->count++;
            return false;
        }
        pull(spot, list, last, cell);
        return true;
    }
    push(spot, list, packet)->count = 1;
    return false;
}

/* The order of the message from a node that is to be handed on next. */
static uint32_t *expected(const struct wf_router_spot *spot, uint32_t src)
{
    for (uint32_t cell = spot->head->seen_orders; cell != 0;
         cell = read_cell(spot, cell)->next) {
        if (read_cell(spot, cell)->packet.dst == src) {
            return &edit_cell(spot, cell)->count;
        }
    }
    return &push(spot, &spot->head->seen_orders, &(struct wf_router_packet){.dst = src})->count;
}

/* Hands on an early message whose turn it is. */
static bool deliver_early(const struct wf_router_spot *spot, uint32_t src, uint32_t order)
{
    uint32_t last = 0;

    for (uint32_t cell = spot->head->early; cell != 0;
         last = cell, cell = read_cell(spot, cell)->next) {
        const struct wf_router_cell *entry = read_cell(spot, cell);
        if (entry->packet.msg.src_node == src && entry->packet.order == order) {
            deliver(spot, &entry->packet);
            pull(spot, &spot->head->early, last, cell);
            return true;
        }
    }
    return false;
}

static void deliver_in_order(const struct wf_router_spot *spot,
                             const struct wf_router_packet *packet)
{
    uint32_t *next = expected(spot, packet->msg.src_node);

    if (packet->order != *next) {
        (void)push(spot, &spot->head->early, packet);
        return;
    }
    deliver(spot, packet);
    do {
        ++*next;
    } while (deliver_early(spot, packet->msg.src_node, *next));
}

void wf_router_consume(const struct wf_router_spot *spot, const struct wf_router_packet *packet)
{
    struct wf_router_head *head = spot->head;

    wf_touch(spot->ctx, head, sizeof(*head));
    head->consumed++;
    head->hops += packet->hops;
    wf_router_stats_consumed(spot, packet);
    wf_router_counted(spot);
    if (!completes(spot, packet)) {
        return;
    }
    if (spot->model->net.user.any_order) {
        deliver(spot, packet);
    } else {
        deliver_in_order(spot, packet);
    }
}
