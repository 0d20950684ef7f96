/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports with credits: a packet may enter a router's pipeline only when the queue at the end of
 * the link has a free slot on the packet's virtual channel. Until then the packet waits and
 * keeps its own slot. Packets for the same channel wait in the order of arrival.
 *
 * A packet with a credit takes the router's delay and then its place in the port's queue. Its
 * departure is therefore known at once: no event starts it, and the event that returns its own
 * credit is scheduled ahead. Each packet costs two events per hop, whether it waits or not.
 */
#include "model/net/packet/port.h"

/* A packet that waits for a credit. */
struct waiter {
    uint32_t next; /* cell */
    uint32_t is_last;
    struct wf_packet_head in, out; /* the header on arrival, and for the next router */
    uint64_t first;
    int64_t since;             /* arrival of the packet */
    struct wf_net_message msg; /* only for a last packet */
};

size_t wf_packet_credit_cell_size(void)
{
    return sizeof(struct waiter);
}

static struct wf_packet_channel *channel_at(const struct wf_packet_view *view, uint32_t port,
                                            uint32_t channel)
{
    return &view->channels[(size_t)port * view->model->n_channels + channel];
}

/* A credit, and where and when it arrives. */
struct credit {
    struct wf_packet_credit_event event;
    uint32_t vertex;
    int64_t delay;
};

static inline struct credit credit_for(const struct wf_packet_net *model, uint32_t vertex,
                                       const struct wf_packet_head *head, int64_t at,
                                       int64_t now)
{
    const struct wf_packet_links *links = &model->links;
    uint32_t link = wf_packet_links_number(links, vertex, head->in_port);
    const struct wf_packet_link_kind *kind = &links->kinds[wf_packet_links_kind(links, link)];
    int64_t arrival = wf_time_add(at, kind->latency + kind->delay);

    return (struct credit){
        .event = {.port = links->in_port[link], .channel = wf_packet_channel_of(model, head)},
        .vertex = links->to[link],
        .delay = arrival == WF_TIME_MAX ? WF_TIME_MAX : arrival - now};
}

void wf_packet_credit_return(const struct wf_packet_view *view,
                             const struct wf_packet_head *head, int64_t at)
{
    if (head->in_port == WF_PACKET_NO_PORT) {
        return; /* the packet was injected here */
    }

    const struct credit credit =
        credit_for(view->model, view->vertex, head, at, wf_now(view->ctx));

    wf_packet_schedule(view, credit.vertex, credit.delay, WF_PACKET_CREDIT, &credit.event,
                       sizeof(credit.event));
}

void wf_packet_credit_give(const struct wf_packet_here *here, const struct wf_packet_head *head,
                           int64_t at)
{
    const struct credit credit =
        credit_for(here->model, here->vertex, head, at, wf_now(here->ctx));
    struct wf_packet_credit_event *event = wf_schedule_begin(
        here->ctx, wf_net_target(&here->model->net, 0, credit.vertex, WF_PACKET_CREDIT),
        credit.delay, sizeof(*event));

    *event = credit.event;
    wf_schedule_end(here->ctx);
}

/* Sends on a packet that has its credit, that is, a slot of the channel. */
static void grant(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                  const struct wf_packet_head *in, struct wf_packet_run *run, int64_t waited)
{
    if (view->model->faults != NULL) {
        bool is_lost;
        int64_t left = wf_packet_fault_send(view, outlet, run, waited, &is_lost);
        channel_at(view, outlet->number, wf_packet_channel_of(view->model, &run->head))->used -=
            is_lost ? 1 : 0; /* announced by the caller */
        wf_packet_credit_return(view, in, left);
        return;
    }
    int64_t ready = wf_time_add(view->key.time, outlet->delay);

    wf_packet_emit(view, outlet, run, wf_packet_serve(view, outlet, run, ready, waited));
    wf_packet_credit_return(view, in, outlet->port->free);
}

static void wait(const struct wf_packet_view *view, struct wf_packet_channel *channel,
                 const struct wf_packet_head *in, const struct wf_packet_run *run,
                 int64_t since)
{
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct waiter));
    struct waiter *waiter = wf_cell_edit(view->ctx, cell);

    *waiter = (struct waiter){.in = *in, .out = run->head, .first = run->first, .since = since};
    if (run->msg != NULL) {
        waiter->is_last = 1;
        waiter->msg = *run->msg;
    }
    if (channel->tail == 0) {
        channel->head = cell;
    } else {
        ((struct waiter *)wf_cell_edit(view->ctx, channel->tail))->next = cell;
    }
    channel->tail = cell;
    channel->waiting++;
    if (in->in_port == WF_PACKET_NO_PORT && view->node != NULL) {
        wf_touch(view->ctx, view->node, sizeof(*view->node));
        view->node->held++;
    }
}

/* Sends the packet, which has been here since `since`, on, or lets it wait; returns the port. */
static uint32_t enter(const struct wf_packet_view *view, struct wf_packet_run *run,
                      int64_t since)
{
    const struct wf_packet_head in = run->head;
    struct wf_packet_outlet outlet = view->model->faults != NULL
                                         ? wf_packet_fault_route(view, &run->head)
                                         : wf_packet_route(view, &run->head);
    struct wf_packet_channel *channel =
        channel_at(view, outlet.number, wf_packet_channel_of(view->model, &run->head));

    wf_touch(view->ctx, channel, sizeof(*channel));
    if (channel->head != 0 || channel->used >= view->model->links.kinds[outlet.kind].slots) {
        wait(view, channel, &in, run, since);
        if (view->model->faults != NULL) {
            wf_packet_fault_watch(view, outlet.number);
        }
        return outlet.number;
    }
    channel->used++;
    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    grant(view, &outlet, &in, run, view->key.time - since);
    return outlet.number;
}

void wf_packet_credit_arrive(const struct wf_packet_view *view, struct wf_packet_run *run)
{
    uint32_t port = enter(view, run, view->key.time);

    if (view->model->sends_notices) {
        wf_packet_notice_send(view, port);
    }
}

/* Removes the first packet that waits. */
static struct waiter take(const struct wf_packet_view *view, struct wf_packet_channel *channel)
{
    uint32_t cell = channel->head;
    struct waiter waiter = *(const struct waiter *)wf_cell_read(view->ctx, cell);

    channel->head = waiter.next;
    channel->tail = waiter.next == 0 ? 0 : channel->tail;
    channel->waiting--;
    wf_cell_free(view->ctx, cell);
    return waiter;
}

/* The network has changed: a packet that waits goes on by another route, or is dropped. */
static void route_anew(const struct wf_packet_view *view, const struct waiter *waiter,
                       uint32_t port)
{
    struct wf_packet_run run = {
        .head = waiter->in,
        .first = waiter->first,
        .count = 1,
        .from = wf_packet_source_here(view),
        .msg = waiter->is_last != 0 ? &waiter->msg : NULL,
    };

    if (wf_packet_fault_strands(view, &run, port, waiter->since)) {
        wf_packet_credit_return(view, &waiter->in, view->key.time);
    } else {
        uint32_t to = enter(view, &run, waiter->since);
        if (view->model->sends_notices) {
            wf_packet_notice_send(view, to);
        }
    }
    if (waiter->in.in_port == WF_PACKET_NO_PORT && view->node != NULL) {
        wf_packet_unhold(view);
    }
}

void wf_packet_credit_change(const struct wf_packet_view *view, uint32_t port)
{
    uint32_t routed = view->ports[port].routed, n = view->model->set_channels;

    if (!wf_packet_fault_has_changed(view, port)) {
        return; /* void: none waits, or a credit came first */
    }
    wf_touch(view->ctx, &view->ports[port], sizeof(view->ports[port]));
    view->ports[port].routed = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct wf_packet_channel *channel = channel_at(view, port, (routed - 1) % 2 * n + i);
        wf_touch(view->ctx, channel, sizeof(*channel));
        while (channel->head != 0) {
            const struct waiter waiter = take(view, channel);
            route_anew(view, &waiter, port);
        }
    }
}

void wf_packet_credit_received(const struct wf_packet_view *view,
                               const struct wf_packet_credit_event *credit)
{
    struct wf_packet_channel *channel = channel_at(view, credit->port, credit->channel);

    if (view->model->faults != NULL && wf_packet_fault_has_changed(view, credit->port)) {
        wf_packet_credit_change(view, credit->port);
    }
    wf_touch(view->ctx, channel, sizeof(*channel));
    if (channel->head == 0) {
        wf_packet_channel_release(channel);
        return;
    }

    struct waiter waiter = take(view, channel);
    const struct wf_packet_outlet outlet = wf_packet_outlet_at(view, credit->port);
    struct wf_packet_run run = {
        .head = waiter.out,
        .first = waiter.first,
        .count = 1,
        .msg = waiter.is_last != 0 ? &waiter.msg : NULL,
    };

    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    grant(view, &outlet, &waiter.in, &run, view->key.time - waiter.since);
    if (view->model->sends_notices) {
        wf_packet_notice_send(view, credit->port);
    }
    if (waiter.in.in_port == WF_PACKET_NO_PORT && view->node != NULL) {
        wf_packet_unhold(view);
    }
}
