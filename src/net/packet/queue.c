/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interface that decides packet by packet, because messages take turns or because the
 * network may hold it up. Its messages wait in a queue; an event at the end of each packet
 * takes the next.
 *
 * A message that has the interface to itself leaves as a train, as if nothing else were to be
 * sent before its last packet. If something is, the train is cut where the next turn begins.
 * For this it must not matter in which order things happen at one instant: a message that is
 * given to the interface at the very instant of a turn has none of it if another one waits.
 */
#include "net/packet/port.h"

enum { CALM_SHIFT_MAX = 6 };

/* A message in the queue. */
struct entry {
    uint32_t next;  /* cell */
    uint16_t cuts;  /* trains of it that were cut, as far as that counts */
    uint16_t calm;  /* turns since in which nothing else waited */
    int64_t since;  /* when it came; of a train, when its first turn began... */
    uint64_t ahead; /* ...and its packets; 0: there is none */
    struct wf_packet_inject inject;
};

_Static_assert(sizeof(struct entry) <= sizeof(struct wf_train), "fits into a cell");

static void wake(const struct wf_spot *spot, int64_t delay)
{
    spot->node->awake = 1;
    spot->node->turn = wf_time_add(wf_now(spot->ctx), delay);
    wf_schedule(spot->ctx, wf_self(spot->ctx), delay, WF_PACKET_TURN, NULL, 0);
}

static const struct entry *look(const struct wf_spot *spot, uint32_t cell)
{
    return wf_cell_read(spot->ctx, cell);
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

/* Behind all that came before now. */
static void insert(const struct wf_spot *spot, uint32_t cell)
{
    struct wf_packet_node *node = spot->node;
    uint32_t before = 0, next = node->head;
    int64_t now = wf_now(spot->ctx);

    while (next != 0 && (look(spot, next)->since != now || look(spot, cell)->since == now)) {
        before = next;
        next = look(spot, next)->next;
    }
    if (next == 0) {
        append(spot, cell);
        return;
    }
    ((struct entry *)wf_cell_edit(spot->ctx, cell))->next = next;
    if (before == 0) {
        node->head = cell;
    } else {
        ((struct entry *)wf_cell_edit(spot->ctx, before))->next = cell;
    }
}

static uint32_t take_first(const struct wf_spot *spot)
{
    struct wf_packet_node *node = spot->node;
    uint32_t cell = node->head;

    if (cell != 0) {
        node->head = look(spot, cell)->next;
        node->tail = node->head == 0 ? 0 : node->tail;
    }
    return cell;
}

/* Time between the beginnings of two full packets. */
static int64_t pace(const struct wf_packet_net *model)
{
    return model->links.kinds[model->injection].full_ps;
}

/* Something else waits now: the train under way ends with the turn that has begun. */
static void shorten(const struct wf_spot *spot)
{
    struct wf_packet_node *node = spot->node;
    const struct entry *entry = look(spot, node->current);

    if (entry->ahead > 0) {
        int64_t now = wf_now(spot->ctx), step = pace(spot->model);
        int64_t next = entry->since + ((now - entry->since) / step + 1) * step;
        if (next < node->turn) {
            wake(spot, next - now);
        }
    }
}

void wf_packet_enqueue(const struct wf_spot *spot, const struct wf_packet_inject *inject)
{
    uint32_t cell = wf_cell_new(spot->ctx);
    struct entry *entry = wf_cell_edit(spot->ctx, cell);

    entry->inject = *inject;
    entry->since = wf_now(spot->ctx);
    append(spot, cell);
    if (spot->node->current != 0) {
        shorten(spot);
    } else if (spot->node->awake == 0) {
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

/* The train that began with `entry` has come to the turn that ends now: what is left of it is
 * taken back. */
static void end_train(const struct wf_spot *spot, struct entry *entry)
{
    uint64_t turns = (uint64_t)((wf_now(spot->ctx) - entry->since) / pace(spot->model));

    if (turns < entry->ahead) {
        struct wf_packet_head head = wf_packet_first_head(spot, &entry->inject);
        wf_packet_cut(spot, &head);
        entry->cuts = (uint16_t)(entry->cuts + (entry->cuts < CALM_SHIFT_MAX ? 1 : 0));
        entry->calm = 0;
    }
    entry->inject.next += turns - 1;
    entry->ahead = 0;
}

/* The packet under way has left the interface. True if it was its message's last. */
static bool end_packet(const struct wf_spot *spot, struct wf_packet_inject *inject)
{
    struct wf_packet_node *node = spot->node;
    uint32_t cell = node->current;
    struct entry *entry = wf_cell_edit(spot->ctx, cell);

    if (entry->ahead > 0) {
        end_train(spot, entry);
    }
    bool last = entry->inject.next + 1 == wf_packet_count(spot->model, entry->inject.msg.bytes);

    *inject = entry->inject;
    entry->inject.next++;
    node->current = 0;
    if (last) {
        wf_cell_free(spot->ctx, cell);
    } else if (spot->model->nic == WF_PACKET_ROUND_ROBIN) {
        insert(spot, cell);
    } else {
        prepend(spot, cell);
    }
    return last;
}

/* The turn of a message begins: true if its packet has to be stored first. */
static bool begin_packet(const struct wf_spot *spot, uint32_t cell,
                         struct wf_packet_inject *inject)
{
    const struct wf_packet_net *model = spot->model;

    *inject = look(spot, cell)->inject;
    struct wf_piece piece = next_piece(spot, inject);
    int64_t duration = model->injection == WF_PACKET_UNLIMITED
                           ? 0
                           : wf_piece_ps(model, &piece, model->injection);

    spot->node->current = cell;
    wake(spot, duration);
    return wf_packet_store_ps(spot, &piece) > 0;
}

/* How many full packets follow each other from now on if nothing comes between: those from the
 * next one of the message whose turn begins, or 1. */
static uint64_t run_of(const struct wf_spot *spot, uint32_t cell)
{
    const struct wf_packet_net *model = spot->model;

    if (!model->trains || model->injection == WF_PACKET_UNLIMITED || spot->node->head != 0) {
        return 1;
    }
    const struct entry *entry = look(spot, cell);
    uint64_t last = wf_packet_count(model, entry->inject.msg.bytes) - 1;
    if (last < entry->inject.next + 2) {
        return 1;
    }
    if (entry->cuts > 0 && entry->calm < 1U << entry->cuts) {
        ((struct entry *)wf_cell_edit(spot->ctx, cell))->calm++;
        return 1;
    }
    uint64_t n = last - entry->inject.next;
    uint64_t most = (uint64_t)(WF_TIME_MAX / 4 / model->links.kinds[model->slowest].full_ps);
    return wf_now(spot->ctx) > WF_TIME_MAX / 2 || n > most ? 1 : n;
}

/* The piece, which is here now, leads a train of the message whose turn has begun. */
static void begin_train(const struct wf_spot *spot, struct wf_piece *piece, uint64_t n)
{
    struct entry *entry = wf_cell_edit(spot->ctx, spot->node->current);

    entry->since = wf_now(spot->ctx);
    entry->ahead = n;
    piece->count = n;
    piece->spacing = pace(spot->model);
    wake(spot, (int64_t)n * piece->spacing);
}

void wf_packet_turn(const struct wf_spot *spot)
{
    struct wf_packet_node *node = spot->node;
    const struct wf_net_user *user = &spot->model->net.user;
    struct wf_packet_inject ended, begun;
    struct wf_piece piece;
    bool last = false, arrives = false;

    if (node->awake == 0 || node->turn != wf_now(spot->ctx)) {
        return; /* another turn came before this one, at which it would have ended a train */
    }
    wf_touch(spot->ctx, node, sizeof(*node));
    node->awake = 0;
    if (node->held != 0) {
        return; /* until it can go on */
    }
    uint32_t before = node->current;
    if (before != 0) {
        last = end_packet(spot, &ended);
        piece = next_piece(spot, &ended);
        arrives = wf_packet_store_ps(spot, &piece) > 0;
    }
    uint32_t cell = take_first(spot);
    if (cell != 0) {
        uint64_t n = run_of(spot, cell);
        bool stored = begin_packet(spot, cell, &begun);
        if (!stored) {
            piece = next_piece(spot, &begun);
            arrives = true;
        }
        if (n > 1 && (!stored || (cell == before && !last))) {
            begin_train(spot, &piece, n);
        }
    }
    if (arrives) {
        wf_packet_arrive(spot, &piece);
    }
    if (last && user->sent != NULL) {
        user->sent(user->arg, spot->ctx, spot->ports, &ended.msg);
    }
}
