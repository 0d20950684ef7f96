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
#include "model/net/packet/hop.h"

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

int64_t wf_packet_credit_fault(const struct wf_packet_view *view,
                               const struct wf_packet_outlet *outlet, struct wf_packet_run *run,
                               int64_t waited)
{
    bool is_lost;
    int64_t left = wf_packet_fault_send(view, outlet, run, waited, &is_lost);

    wf_packet_channel_at(view, outlet->number, wf_packet_channel_of(view->model, &run->head))
        ->used -= is_lost ? 1 : 0;
    return left;
}

void wf_packet_credit_wait(const struct wf_packet_view *view, uint32_t port,
                           const struct wf_packet_head *in, const struct wf_packet_run *run,
                           int64_t since)
{
    struct wf_packet_channel *channel =
        wf_packet_channel_at(view, port, wf_packet_channel_of(view->model, &run->head));
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
    if (view->model->faults != NULL) {
        wf_packet_fault_watch(view, port);
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
        (void)wf_packet_hop_enter(view, &run, waiter->since, WF_PACKET_ALL);
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
        struct wf_packet_channel *channel =
            wf_packet_channel_at(view, port, (routed - 1) % 2 * n + i);
        wf_touch(view->ctx, channel, sizeof(*channel));
        while (channel->head != 0) {
            const struct waiter waiter = take(view, channel);
            route_anew(view, &waiter, port);
        }
    }
}

void wf_packet_credit_pass_on(const struct wf_packet_view *view, uint32_t port,
                              struct wf_packet_channel *channel)
{
    const struct waiter waiter = take(view, channel);
    const struct wf_packet_outlet outlet = wf_packet_outlet_at(view, port);
    struct wf_packet_run run = {
        .head = waiter.out,
        .first = waiter.first,
        .count = 1,
        .msg = waiter.is_last != 0 ? &waiter.msg : NULL,
    };

    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    wf_packet_hop_grant(view, &outlet, &waiter.in, &run, view->key.time - waiter.since,
                        WF_PACKET_ALL);
    if (view->model->notice_step > 0) {
        wf_packet_notice_send(view, port);
    }
    if (waiter.in.in_port == WF_PACKET_NO_PORT && view->node != NULL) {
        wf_packet_unhold(view);
    }
}
