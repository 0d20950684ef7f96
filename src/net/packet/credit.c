/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports with credits: a packet may enter a router's pipeline only when there is room for it on
 * its virtual channel where the link ends. Until then it waits where it is, in the order of
 * arrival among those for the same channel, and keeps its own room there.
 *
 * A packet that has its credit takes the router's delay and then its place in the port's queue,
 * so when it leaves is known at once: no event is needed to start it, and the credit it gives
 * back is sent ahead with the time at which it arrives. That is two events per packet and hop,
 * waiting or not.
 */
#include "net/packet/notice.h"

/* A packet that waits for a credit. */
struct waiter {
    uint32_t next;                 /* cell */
    uint32_t link;                 /* by which it goes on */
    struct wf_packet_head in, out; /* as it came, as it goes on */
    uint64_t first;
    int64_t since; /* its arrival */
    uint32_t is_last, spare;
    struct wf_message msg; /* of a last packet */
};

size_t wf_credit_cell_size(void)
{
    return sizeof(struct waiter);
}

/* The channel that stands for what the routing policy chose. Packets from one node to another
 * stay in one lane, and so in order. */
static uint32_t channel_of(const struct wf_packet_net *model, const struct wf_packet_head *head)
{
    uint32_t lane =
        model->lanes == 1 ? 0 : (head->src ^ head->dst * 2654435761U) % model->lanes;

    return head->route.vc * model->lanes + lane;
}

static struct wf_channel *channel_at(const struct wf_spot *spot, uint32_t port,
                                     uint32_t channel)
{
    return &spot->channels[(size_t)port * spot->model->n_channels + channel];
}

void wf_credit_return(const struct wf_spot *spot, const struct wf_packet_head *head, int64_t at)
{
    const struct wf_packet_links *links = &spot->model->links;

    if (head->in_port == WF_PACKET_NO_PORT) {
        return; /* it was injected here */
    }

    uint32_t link = wf_links_number(links, spot->vertex, head->in_port);
    const struct wf_packet_credit credit = {.port = links->in_port[link],
                                            .channel = channel_of(spot->model, head)};
    int64_t back = links->kinds[wf_links_kind(links, link)].latency + links->router_delay;
    int64_t arrival = wf_time_add(at, back);
    int64_t delay = arrival == WF_TIME_MAX ? WF_TIME_MAX : arrival - wf_now(spot->ctx);

    wf_schedule(spot->ctx, wf_packet_process(spot->model, links->to[link]), delay,
                WF_PACKET_CREDIT, &credit, sizeof(credit));
}

/* The packet has its credit: it goes on. */
static void grant(const struct wf_spot *spot, const struct wf_outlet *outlet,
                  const struct wf_packet_head *in, const struct wf_piece *piece, int64_t waited)
{
    int64_t ready = wf_time_add(spot->key.time, outlet->delay);

    wf_packet_emit(spot, outlet, piece, wf_packet_serve(spot, outlet, piece, ready, waited));
    wf_credit_return(spot, in, outlet->port->free);
}

static void wait(const struct wf_spot *spot, struct wf_channel *channel, uint32_t link,
                 const struct wf_packet_head *in, const struct wf_piece *piece)
{
    uint32_t cell = wf_cell_new(spot->ctx);
    struct waiter *waiter = wf_cell_edit(spot->ctx, cell);

    *waiter = (struct waiter){.link = link,
                              .in = *in,
                              .out = piece->head,
                              .first = piece->first,
                              .since = spot->key.time};
    if (piece->msg != NULL) {
        waiter->is_last = 1;
        waiter->msg = *piece->msg;
    }
    if (channel->tail == 0) {
        channel->head = cell;
    } else {
        ((struct waiter *)wf_cell_edit(spot->ctx, channel->tail))->next = cell;
    }
    channel->tail = cell;
    channel->waiting++;
    if (in->in_port == WF_PACKET_NO_PORT && spot->node != NULL) {
        wf_touch(spot->ctx, spot->node, sizeof(*spot->node));
        spot->node->held = 1;
    }
}

/* The packet goes on, or waits, at the port that is returned. */
static uint32_t enter(const struct wf_spot *spot, struct wf_piece *piece)
{
    const struct wf_packet_head in = piece->head;
    struct wf_outlet outlet = wf_packet_route(spot, &piece->head);
    struct wf_channel *channel =
        channel_at(spot, outlet.number, channel_of(spot->model, &piece->head));

    wf_touch(spot->ctx, channel, sizeof(*channel));
    if (channel->head != 0 || channel->used >= spot->model->slots) {
        wait(spot, channel, outlet.link, &in, piece);
        return outlet.number;
    }
    channel->used++;
    wf_touch(spot->ctx, outlet.port, sizeof(*outlet.port));
    grant(spot, &outlet, &in, piece, 0);
    return outlet.number;
}

void wf_credit_arrive(const struct wf_spot *spot, struct wf_piece *piece)
{
    uint32_t port = enter(spot, piece);

    if (spot->model->tells_queues) {
        wf_news_tell(spot, port);
    }
}

/* Takes the first that waits. */
static struct waiter take(const struct wf_spot *spot, struct wf_channel *channel)
{
    uint32_t cell = channel->head;
    struct waiter waiter = *(const struct waiter *)wf_cell_read(spot->ctx, cell);

    channel->head = waiter.next;
    channel->tail = waiter.next == 0 ? 0 : channel->tail;
    channel->waiting--;
    wf_cell_free(spot->ctx, cell);
    return waiter;
}

void wf_credit_event(const struct wf_spot *spot, const struct wf_packet_credit *credit)
{
    const struct wf_packet_links *links = &spot->model->links;
    struct wf_channel *channel = channel_at(spot, credit->port, credit->channel);

    wf_touch(spot->ctx, channel, sizeof(*channel));
    if (channel->head == 0) {
        channel->used -= channel->used > 0 ? 1 : 0; /* a guess may have it that none is */
        return;
    }

    struct waiter waiter = take(spot, channel);
    uint32_t kind = wf_links_kind(links, waiter.link);
    const struct wf_outlet outlet = {
        .port = &spot->ports[credit->port],
        .number = credit->port,
        .link = waiter.link,
        .kind = kind,
        .delay = wf_links_delay(links, spot->vertex),
        .full_ps = links->kinds[kind].full_ps,
    };
    const struct wf_piece piece = {
        .head = waiter.out,
        .first = waiter.first,
        .count = 1,
        .msg = waiter.is_last != 0 ? &waiter.msg : NULL,
    };

    wf_touch(spot->ctx, outlet.port, sizeof(*outlet.port));
    grant(spot, &outlet, &waiter.in, &piece, spot->key.time - waiter.since);
    if (spot->model->tells_queues) {
        wf_news_tell(spot, credit->port);
    }
    if (waiter.in.in_port == WF_PACKET_NO_PORT && spot->node != NULL) {
        wf_packet_unhold(spot);
    }
}
