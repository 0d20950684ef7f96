/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of messages. Messages that take different routes arrive in any order, and so do messages
 * that take turns in the interface, and the packets of a message if each takes its own route. This
 * file reassembles messages and hands them over in the order in which one node sent them to another.
 * Both sides count the messages between two nodes, in a cell for each peer.
 *
 * Where messages overtake each other in the interface, those that need no order have numbers of their
 * own, with the bit FREE. They are handed over as soon as they are complete.
 */
#include "model/net/packet/hop.h"

enum { NUMBER_BITS = 31 };

#define FREE    (UINT32_C(1) << NUMBER_BITS)
#define NUMBERS (FREE - 1)

struct peer {
    uint32_t next; /* cell, of the same hash */
    uint32_t node;
    uint32_t sent;     /* messages sent to it */
    uint32_t expected; /* number of the message to be handed over next */
    uint32_t pending;  /* cell of the first message with packets here */
    uint32_t free;     /* likewise, of those that need no order */
};

/* A message of which some packets have arrived, or all while an earlier message is missing. */
struct pending {
    uint32_t next; /* cell */
    uint32_t number;
    uint64_t packets; /* packets that have arrived */
    int64_t at;       /* arrival of the latest of them */
    struct wf_net_message msg;
    uint32_t has_last; /* 1: the last packet, with `msg`, has arrived */
    uint32_t is_lost;  /* 1: some packet will never arrive */
};

_Static_assert(sizeof(struct pending) <= sizeof(struct wf_packet_train), "fits into a cell");

/* The cell of a peer; created if there is none. */
static uint32_t find_peer(const struct wf_packet_view *view, uint32_t node)
{
    uint32_t *bucket = &view->node->peers[node % WF_PACKET_PEERS];

    for (uint32_t cell = *bucket; cell != 0;) {
        const struct peer *peer = wf_cell_read(view->ctx, cell);
        if (peer->node == node) {
            return cell;
        }
        cell = peer->next;
    }

    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct peer));
    struct peer *peer = wf_cell_edit(view->ctx, cell);

    wf_touch(view->ctx, bucket, sizeof(*bucket));
    peer->node = node;
    peer->next = *bucket;
    *bucket = cell;
    return cell;
}

uint32_t wf_packet_order_next(const struct wf_packet_view *view, uint32_t dst)
{
    struct peer *peer = wf_cell_edit(view->ctx, find_peer(view, dst));

    return peer->sent++ & NUMBERS;
}

uint32_t wf_packet_order_number(const struct wf_packet_view *view, uint32_t dst,
                                const struct wf_net_message *msg)
{
    const struct wf_packet_net *model = view->model;
    uint32_t number = view->node->messages++;

    if (model->order == WF_PACKET_IN_ORDER) {
        return number;
    }
    if (wf_packet_nic_overtakes(model) && wf_net_is_free(&model->net, msg)) {
        return number | FREE;
    }
    return wf_packet_order_next(view, dst);
}

/* Whether a number comes before another one. Numbers wrap around after 2^31 messages; fewer are in
 * progress at any time. */
static bool is_before(uint32_t number, uint32_t other)
{
    return (int32_t)((number - other) << (32 - NUMBER_BITS)) < 0;
}

static const struct pending *first_pending(const struct wf_packet_view *view,
                                           const struct peer *peer)
{
    return peer->pending == 0 ? NULL : wf_cell_read(view->ctx, peer->pending);
}

static bool is_complete(const struct wf_packet_net *model, const struct pending *pending)
{
    return pending->has_last != 0 &&
           pending->packets == wf_packet_count(model, pending->msg.bytes);
}

static bool is_due(const struct wf_packet_view *view, const struct peer *peer)
{
    const struct pending *first = first_pending(view, peer);

    return first != NULL && first->number == peer->expected && is_complete(view->model, first);
}

/* The entry of a message in its list, which is sorted by number; created if there is none. */
static struct pending *find_pending(const struct wf_packet_view *view, uint32_t peer_cell,
                                    uint32_t number)
{
    struct peer *peer = wf_cell_edit(view->ctx, peer_cell);
    uint32_t *link = number >= FREE ? &peer->free : &peer->pending;

    while (*link != 0) {
        const struct pending *read = wf_cell_read(view->ctx, *link);
        if (read->number == number) {
            return wf_cell_edit(view->ctx, *link);
        }
        if (is_before(number, read->number)) {
            break;
        }
        link = &((struct pending *)wf_cell_edit(view->ctx, *link))->next;
    }

    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct pending));
    struct pending *pending = wf_cell_edit(view->ctx, cell);

    pending->number = number;
    pending->next = *link;
    *link = cell;
    return pending;
}

static void plan_next(const struct wf_packet_view *view, uint64_t src)
{
    wf_packet_schedule_own(view, 0, WF_PACKET_READY, &src, sizeof(src));
}

/* Removes the first message. */
static struct pending take_first(const struct wf_packet_view *view, struct peer *peer)
{
    uint32_t cell = peer->pending;
    struct pending pending = *(const struct pending *)wf_cell_read(view->ctx, cell);

    peer->pending = pending.next;
    peer->expected = (peer->expected + 1) & NUMBERS;
    wf_cell_free(view->ctx, cell);
    return pending;
}

/* Removes messages that will never be complete and whose turn it is. Returns whether there are
 * any. */
static bool skip_lost(const struct wf_packet_view *view, struct peer *peer)
{
    const struct pending *first = first_pending(view, peer);
    bool any = false;

    while (first != NULL && first->number == peer->expected && first->is_lost != 0) {
        (void)take_first(view, peer);
        first = first_pending(view, peer);
        any = true;
    }
    return any;
}

/* Hands over the first message, and schedules the next one if it is complete. */
static void hand_over(const struct wf_packet_view *view, uint32_t src)
{
    const struct wf_net_user *user = &view->model->net.user;
    struct peer *peer = wf_cell_edit(view->ctx, find_peer(view, src));
    struct pending pending = take_first(view, peer);
    int64_t now = wf_now(view->ctx);

    (void)skip_lost(view, peer);
    if (is_due(view, peer)) {
        plan_next(view, src);
    }
    user->arrived(user->arg, view->ctx, view->ports, &pending.msg,
                  pending.at > now ? pending.at : now);
}

/* Whether the turn of a message has passed. */
static bool is_over(const struct wf_packet_view *view, uint32_t peer_cell, uint32_t number)
{
    const struct peer *peer = wf_cell_read(view->ctx, peer_cell);

    return number < FREE && is_before(number, peer->expected);
}

void wf_packet_order_skip(const struct wf_packet_view *view, uint32_t src, uint32_t number)
{
    uint32_t cell = find_peer(view, src);

    if (is_over(view, cell, number)) {
        return; /* another packet of the message was lost before */
    }
    find_pending(view, cell, number)->is_lost = 1;
    struct peer *peer = wf_cell_edit(view->ctx, cell);
    if (skip_lost(view, peer) && is_due(view, peer)) {
        plan_next(view, src);
    }
}

/* A message that needs no order is complete. */
static void hand_over_free(const struct wf_packet_view *view, uint32_t peer_cell,
                           const struct pending *complete)
{
    const struct wf_net_user *user = &view->model->net.user;
    const struct pending pending = *complete;
    uint32_t *link = &((struct peer *)wf_cell_edit(view->ctx, peer_cell))->free;
    const struct pending *read = wf_cell_read(view->ctx, *link);

    while (read->number != pending.number) {
        link = &((struct pending *)wf_cell_edit(view->ctx, *link))->next;
        read = wf_cell_read(view->ctx, *link);
    }
    uint32_t cell = *link;
    *link = pending.next;
    wf_cell_free(view->ctx, cell);
    user->arrived(user->arg, view->ctx, view->ports, &pending.msg, pending.at);
}

/* Notes the packet of a message. */
static struct pending *add_packet(const struct wf_packet_view *view, uint32_t peer_cell,
                                  const struct wf_packet_run *run, int64_t at)
{
    struct pending *pending = find_pending(view, peer_cell, run->head.number);

    /* If the packets of a message keep their order, the last one completes it. */
    pending->packets = view->model->order != WF_PACKET_PACKETS_OVERTAKE && run->msg != NULL
                           ? wf_packet_count(view->model, run->msg->bytes)
                           : pending->packets + 1;
    pending->at = at > pending->at ? at : pending->at;
    if (run->msg != NULL) {
        pending->has_last = 1;
        pending->msg = *run->msg;
    }
    return pending;
}

void wf_packet_order_deliver(const struct wf_packet_view *view, const struct wf_packet_run *run,
                             int64_t at)
{
    uint32_t src = run->head.src, cell = find_peer(view, src);

    if (is_over(view, cell, run->head.number)) {
        return; /* another packet of the message was lost */
    }
    const struct pending *pending = add_packet(view, cell, run, at);

    if (pending->is_lost != 0 || !is_complete(view->model, pending)) {
        return;
    }
    if (pending->number >= FREE) {
        hand_over_free(view, cell, pending);
    } else if (pending->number ==
               ((const struct peer *)wf_cell_read(view->ctx, cell))->expected) {
        hand_over(view, src);
    } /* Otherwise an earlier message comes first; if it is complete, an event is scheduled. */
}

void wf_packet_order_ready(const struct wf_packet_view *view, uint32_t src)
{
    if (is_due(view, wf_cell_read(view->ctx, find_peer(view, src)))) {
        hand_over(view, src);
    }
}
