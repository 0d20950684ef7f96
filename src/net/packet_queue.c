/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interface that decides packet by packet, because messages take turns or because the
 * network may hold it up. Its messages wait in a queue; an event at the end of each packet
 * takes the next.
 */
#include "net/packet_port.h"

/* A message in the queue. */
struct entry {
    uint32_t next; /* cell */
    uint32_t spare;
    struct wf_packet_inject inject;
};

_Static_assert(sizeof(struct entry) <= sizeof(struct wf_train), "fits into a cell");

static void wake(const struct wf_spot *spot, int64_t delay)
{
    spot->node->awake = 1;
    wf_schedule(spot->ctx, wf_self(spot->ctx), delay, WF_PACKET_TURN, NULL, 0);
}

static void append(const struct wf_spot *spot, uint32_t cell)
{
    struct wf_packet_node *node = spot->node;

    ((struct entry *)wf_cell_edit(spot->ctx, cell))->next = 0;
    if (node->tail == 0) {
        node->head = cell;
    } else {
        ((struct entry *)wf_cell_edit(spot->ctx, node->tail))->next = cell;
    }
    node->tail = cell;
}

static void prepend(const struct wf_spot *spot, uint32_t cell)
{
    struct wf_packet_node *node = spot->node;

    ((struct entry *)wf_cell_edit(spot->ctx, cell))->next = node->head;
    node->head = cell;
    node->tail = node->tail == 0 ? cell : node->tail;
}

static uint32_t take_first(const struct wf_spot *spot)
{
    struct wf_packet_node *node = spot->node;
    uint32_t cell = node->head;

    if (cell != 0) {
        node->head = ((const struct entry *)wf_cell_read(spot->ctx, cell))->next;
        node->tail = node->head == 0 ? 0 : node->tail;
    }
    return cell;
}

void wf_packet_enqueue(const struct wf_spot *spot, const struct wf_packet_inject *inject)
{
    uint32_t cell = wf_cell_new(spot->ctx);

    ((struct entry *)wf_cell_edit(spot->ctx, cell))->inject = *inject;
    append(spot, cell);
    if (spot->node->current == 0 && spot->node->awake == 0) {
        wake(spot, 0);
    }
}

void wf_packet_unhold(const struct wf_spot *spot)
{
    wf_touch(spot->ctx, spot->node, sizeof(*spot->node));
    spot->node->held = 0;
    if (spot->node->awake == 0) {
        wake(spot, 0);
    }
}

/* The packet that `inject` says is next. */
static struct wf_piece next_piece(const struct wf_spot *spot,
                                  const struct wf_packet_inject *inject)
{
    uint64_t last = wf_packet_count(spot->model, inject->msg.bytes) - 1;

    return (struct wf_piece){
        .head = wf_packet_first_head(spot, inject),
        .first = inject->next,
        .count = 1,
        .from = wf_self(spot->ctx),
        .msg = inject->next == last ? &inject->msg : NULL,
    };
}

/* The packet under way has left the interface. True if it was its message's last. */
static bool end_packet(const struct wf_spot *spot, struct wf_packet_inject *inject)
{
    struct wf_packet_node *node = spot->node;
    uint32_t cell = node->current;
    struct entry *entry = wf_cell_edit(spot->ctx, cell);
    bool last = entry->inject.next + 1 == wf_packet_count(spot->model, entry->inject.msg.bytes);

    *inject = entry->inject;
    entry->inject.next++;
    node->current = 0;
    if (last) {
        wf_cell_free(spot->ctx, cell);
    } else if (spot->model->nic == WF_PACKET_ROUND_ROBIN) {
        append(spot, cell);
    } else {
        prepend(spot, cell);
    }
    return last;
}

static void begin_packet(const struct wf_spot *spot, uint32_t cell, bool *stored,
                         struct wf_packet_inject *inject)
{
    const struct wf_packet_net *model = spot->model;

    *inject = ((const struct entry *)wf_cell_read(spot->ctx, cell))->inject;
    struct wf_piece piece = next_piece(spot, inject);
    int64_t duration = model->injection == WF_PACKET_UNLIMITED
                           ? 0
                           : wf_piece_ps(model, &piece, model->injection);

    spot->node->current = cell;
    *stored = wf_packet_store_ps(spot, &piece) > 0;
    wake(spot, duration);
}

void wf_packet_turn(const struct wf_spot *spot)
{
    struct wf_packet_node *node = spot->node;
    const struct wf_net_user *user = &spot->model->net.user;
    struct wf_packet_inject ended, begun;
    struct wf_piece piece;
    bool last = false, arrives = false, stored = false;

    wf_touch(spot->ctx, node, sizeof(*node));
    node->awake = 0;
    if (node->held != 0) {
        return; /* until it can go on */
    }
    if (node->current != 0) {
        last = end_packet(spot, &ended);
        piece = next_piece(spot, &ended);
        arrives = wf_packet_store_ps(spot, &piece) > 0;
    }
    uint32_t cell = take_first(spot);
    if (cell != 0) {
        begin_packet(spot, cell, &stored, &begun);
        if (!stored) {
            piece = next_piece(spot, &begun);
            arrives = true;
        }
    }
    if (arrives) {
        wf_packet_arrive(spot, &piece);
    }
    if (last) {
        user->sent(user->arg, spot->ctx, spot->ports, &ended.msg);
    }
}
