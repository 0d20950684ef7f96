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
    uint32_t sent;             /* messages sent to it */
    uint32_t expected;         /* number of the message to be handed over next */
    struct wf_cellmap waiting; /* number of a message -> its struct pending... */
    struct wf_cellmap free;    /* ...likewise, of those that need no order */
};

/* A message of which some packets have arrived, or all while an earlier message is missing. */
struct pending {
    uint64_t packets; /* packets that have arrived */
    int64_t at;       /* arrival of the latest of them */
    struct wf_net_message msg;
    uint32_t has_last; /* 1: the last packet, with `msg`, has arrived */
    uint32_t is_lost;  /* 1: some packet will never arrive */
};

void wf_packet_order_cells(struct wf_engine *engine)
{
    wf_engine_cells(engine, WF_CELLMAP_CELL_SIZE);
    wf_engine_cells(engine, sizeof(struct peer));
    wf_engine_cells(engine, sizeof(struct pending));
}

/* The cell of a peer; created if there is none. */
static uint32_t find_peer(const struct wf_packet_view *view, uint32_t node)
{
    struct wf_cellmap *peers = &view->node->peers;
    uint32_t cell = wf_cellmap_get(view->ctx, peers, node);

    if (cell == 0) {
        cell = wf_cell_new_for(view->ctx, sizeof(struct peer));
        wf_touch(view->ctx, peers, sizeof(*peers));
        wf_cellmap_put(view->ctx, peers, node, cell);
    }
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

static bool is_complete(const struct wf_packet_net *model, const struct pending *pending)
{
    return pending->has_last != 0 && pending->is_lost == 0 &&
           pending->packets == wf_packet_count(model, pending->msg.bytes);
}

/* ---- the messages that wait for packets or for earlier ones ---- */

static uint32_t find_pending(const struct wf_packet_view *view, const struct peer *peer,
                             uint32_t number)
{
    return wf_cellmap_get(view->ctx, number >= FREE ? &peer->free : &peer->waiting,
                          number & NUMBERS);
}

/* Those of a peer to which a message belongs, to be changed. */
static struct wf_cellmap *edit_pending(const struct wf_packet_view *view, uint32_t peer_cell,
                                       uint32_t number)
{
    struct peer *peer = wf_cell_edit(view->ctx, peer_cell);

    return number >= FREE ? &peer->free : &peer->waiting;
}

/* Begins to keep what arrives of a message. */
static struct pending *new_pending(const struct wf_packet_view *view, uint32_t peer_cell,
                                   uint32_t number)
{
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct pending));

    wf_cellmap_put(view->ctx, edit_pending(view, peer_cell, number), number & NUMBERS, cell);
    return wf_cell_edit(view->ctx, cell);
}

/* The part of a message that has arrived; all zero if none has. */
static struct pending get_pending(const struct wf_packet_view *view, uint32_t peer_cell,
                                  uint32_t number)
{
    uint32_t cell = find_pending(view, wf_cell_read(view->ctx, peer_cell), number);

    return cell == 0 ? (struct pending){.packets = 0}
                     : *(const struct pending *)wf_cell_read(view->ctx, cell);
}

static void drop_pending(const struct wf_packet_view *view, uint32_t peer_cell, uint32_t number)
{
    if (find_pending(view, wf_cell_read(view->ctx, peer_cell), number) != 0) {
        struct wf_cellmap *map = edit_pending(view, peer_cell, number);
        wf_cell_free(view->ctx, wf_cellmap_take(view->ctx, map, number & NUMBERS));
    }
}

/* ---- whose turn it is ---- */

static uint32_t expected(const struct wf_packet_view *view, uint32_t peer_cell)
{
    return ((const struct peer *)wf_cell_read(view->ctx, peer_cell))->expected;
}

static void go_on(const struct wf_packet_view *view, uint32_t peer_cell)
{
    struct peer *peer = wf_cell_edit(view->ctx, peer_cell);

    peer->expected = (peer->expected + 1) & NUMBERS;
}

static bool is_due(const struct wf_packet_view *view, uint32_t peer_cell)
{
    const struct pending next = get_pending(view, peer_cell, expected(view, peer_cell));

    return is_complete(view->model, &next);
}

/* Passes over messages that will never be complete and whose turn it is. Returns whether there
 * are any. */
static bool skip_lost(const struct wf_packet_view *view, uint32_t peer_cell)
{
    bool any = false;

    for (;;) {
        uint32_t number = expected(view, peer_cell);
        if (get_pending(view, peer_cell, number).is_lost == 0) {
            return any;
        }
        drop_pending(view, peer_cell, number);
        go_on(view, peer_cell);
        any = true;
    }
}

static void plan_next(const struct wf_packet_view *view, uint64_t src)
{
    wf_packet_schedule_own(view, 0, WF_PACKET_READY, &src, sizeof(src));
}

/* Hands over the expected message, and schedules the next one if it is complete. */
static void hand_over(const struct wf_packet_view *view, uint32_t src, uint32_t peer_cell,
                      const struct pending *pending)
{
    const struct wf_net_user *user = &view->model->net.user;

    go_on(view, peer_cell);
    (void)skip_lost(view, peer_cell);
    if (is_due(view, peer_cell)) {
        plan_next(view, src);
    }
    user->arrived(user->arg, view->ctx, view->ports, &pending->msg,
                  wf_max_i64(pending->at, wf_now(view->ctx)));
}

/* Whether the turn of a message has passed. */
static bool is_over(const struct wf_packet_view *view, uint32_t peer_cell, uint32_t number)
{
    return number < FREE && is_before(number, expected(view, peer_cell));
}

void wf_packet_order_skip(const struct wf_packet_view *view, uint32_t src, uint32_t number)
{
    uint32_t cell = find_peer(view, src);

    if (is_over(view, cell, number)) {
        return; /* another packet of the message was lost before */
    }
    uint32_t kept = find_pending(view, wf_cell_read(view->ctx, cell), number);
    struct pending *pending =
        kept != 0 ? wf_cell_edit(view->ctx, kept) : new_pending(view, cell, number);
    pending->is_lost = 1;
    if (skip_lost(view, cell) && is_due(view, cell)) {
        plan_next(view, src);
    }
}

/* Notes the packet of a message. */
static void add_packet(const struct wf_packet_net *model, const struct wf_packet_run *run,
                       int64_t at, struct pending *pending)
{
    /* If the packets of a message keep their order, the last one completes it. */
    pending->packets = model->order != WF_PACKET_PACKETS_OVERTAKE && run->msg != NULL
                           ? wf_packet_count(model, run->msg->bytes)
                           : pending->packets + 1;
    pending->at = wf_max_i64(pending->at, at);
    if (run->msg != NULL) {
        pending->has_last = 1;
        pending->msg = *run->msg;
    }
}

void wf_packet_order_deliver(const struct wf_packet_view *view, const struct wf_packet_run *run,
                             int64_t at)
{
    const struct wf_net_user *user = &view->model->net.user;
    uint32_t src = run->head.src, number = run->head.number, cell = find_peer(view, src);
    bool needs_order = number < FREE;

    if (is_over(view, cell, number)) {
        return; /* another packet of the message was lost */
    }
    uint32_t kept = find_pending(view, wf_cell_read(view->ctx, cell), number);
    struct pending fresh = {.packets = 0};
    struct pending *pending = kept != 0 ? wf_cell_edit(view->ctx, kept) : &fresh;
    add_packet(view->model, run, at, pending);
    if (!is_complete(view->model, pending) || (needs_order && number != expected(view, cell))) {
        if (kept == 0) { /* for other packets, or for its turn */
            *new_pending(view, cell, number) = fresh;
        }
        return;
    }
    const struct pending whole = *pending;
    if (kept != 0) {
        drop_pending(view, cell, number);
    }
    if (needs_order) {
        hand_over(view, src, cell, &whole);
    } else {
        user->arrived(user->arg, view->ctx, view->ports, &whole.msg, whole.at);
    }
}

void wf_packet_order_ready(const struct wf_packet_view *view, uint32_t src)
{
    uint32_t cell = find_peer(view, src), number = expected(view, cell);
    const struct pending pending = get_pending(view, cell, number);

    if (is_complete(view->model, &pending)) {
        drop_pending(view, cell, number);
        hand_over(view, src, cell, &pending);
    }
}
