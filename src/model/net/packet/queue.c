/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interface that decides packet by packet, because messages take turns or because packets
 * wait for credits. Its messages wait in a queue; an event at the end of each packet takes the
 * next one. Control messages may have a queue of their own, which goes first.
 *
 * A message that has the interface to itself leaves as a train, as if no other message came
 * before its last packet. If one comes, the train is cut where the next turn begins. The order
 * of events at one instant must not matter for this: a message that arrives at the very instant
 * of a turn does not get the turn if another one waits, even if it is a control message.
 */
#include "model/net/packet/hop.h"

enum { CALM_SHIFT_MAX = 6 };

/* A message in the queue. */
struct entry {
    uint32_t next;  /* cell */
    uint16_t cuts;  /* how many of its trains were cut, at most CALM_SHIFT_MAX */
    uint16_t calm;  /* turns since then without another message waiting */
    int64_t since;  /* its arrival; during a train, the start of the first turn... */
    uint64_t ahead; /* ...and the packets of the train; 0: there is none */
    struct wf_packet_inject_event inject;
};

/* The ends of a queue in the state of the node. */
struct queue {
    uint32_t *head, *tail;
};

_Static_assert(sizeof(struct entry) <= sizeof(struct wf_packet_train), "fits into a cell");

static void wake(const struct wf_packet_view *view, int64_t delay)
{
    view->node->awake = 1;
    view->node->turn = wf_time_add(wf_now(view->ctx), delay);
    wf_packet_schedule_own(view, delay, WF_PACKET_TURN, NULL, 0);
}

static const struct entry *look(const struct wf_packet_view *view, uint32_t cell)
{
    return wf_cell_read(view->ctx, cell);
}

static struct entry *edit(const struct wf_packet_view *view, uint32_t cell)
{
    return wf_cell_edit(view->ctx, cell);
}

/* The queue of a message. */
static struct queue queue_of(const struct wf_packet_view *view,
                             const struct wf_net_message *msg)
{
    const struct wf_net_user *user = &view->model->net.user;
    struct wf_packet_node *node = view->node;

    return view->model->control_queue && user->is_control != NULL && user->is_control(msg)
               ? (struct queue){&node->control, &node->control_tail}
               : (struct queue){&node->head, &node->tail};
}

/* Inserts a message into a queue after the cell `before`, or as the first if `before` is 0. */
static void insert_after(const struct wf_packet_view *view, struct queue queue, uint32_t before,
                         uint32_t cell)
{
    uint32_t *link = before == 0 ? queue.head : &edit(view, before)->next;

    edit(view, cell)->next = *link;
    *queue.tail = *link == 0 ? cell : *queue.tail;
    *link = cell;
}

/* Inserts a message after all that came before now. */
static void insert_in_turn(const struct wf_packet_view *view, struct queue queue, uint32_t cell)
{
    uint32_t before = 0, next = *queue.head;
    int64_t now = wf_now(view->ctx);

    while (next != 0 && (look(view, next)->since != now || look(view, cell)->since == now)) {
        before = next;
        next = look(view, next)->next;
    }
    insert_after(view, queue, before, cell);
}

/* Removes the message whose turn it is; returns its cell, or 0 if there is none. */
static uint32_t take_next(const struct wf_packet_view *view)
{
    struct wf_packet_node *node = view->node;
    bool control = node->control != 0 &&
                   (node->head == 0 || look(view, node->control)->since != wf_now(view->ctx));
    struct queue queue = control ? (struct queue){&node->control, &node->control_tail}
                                 : (struct queue){&node->head, &node->tail};
    uint32_t cell = *queue.head;

    if (cell != 0) {
        *queue.head = look(view, cell)->next;
        *queue.tail = *queue.head == 0 ? 0 : *queue.tail;
    }
    return cell;
}

/* Another message waits now: the train in progress ends with the turn that has begun. */
static void shorten(const struct wf_packet_view *view)
{
    struct wf_packet_node *node = view->node;
    const struct entry *entry = look(view, node->current);

    if (entry->ahead > 0) {
        int64_t now = wf_now(view->ctx), step = view->model->pace;
        int64_t next = entry->since + ((now - entry->since) / step + 1) * step;
        if (next < node->turn) {
            wake(view, next - now);
        }
    }
}

void wf_packet_enqueue(const struct wf_packet_view *view,
                       const struct wf_packet_inject_event *inject)
{
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct entry));
    struct entry *entry = edit(view, cell);

    entry->inject = *inject;
    entry->since = wf_now(view->ctx);
    struct queue queue = queue_of(view, &inject->msg);
    insert_after(view, queue, *queue.tail, cell);
    if (view->node->current != 0) {
        shorten(view);
    } else if (view->node->awake == 0) {
        wake(view, 0);
    }
}

void wf_packet_unhold(const struct wf_packet_view *view)
{
    wf_touch(view->ctx, view->node, sizeof(*view->node));
    view->node->held--;
    if (view->node->held == 0 && view->node->awake == 0) {
        wake(view, 0);
    }
}

/* The next packet of the message. */
static struct wf_packet_run next_packet(const struct wf_packet_view *view,
                                        const struct wf_packet_inject_event *inject)
{
    uint64_t last = wf_packet_count(view->model, inject->msg.bytes) - 1;

    return (struct wf_packet_run){
        .head = wf_packet_first_head(view, inject),
        .first = inject->next,
        .count = 1,
        .from = wf_packet_source_here(view),
        .msg = inject->next == last ? &inject->msg : NULL,
    };
}

/* Ends the train of a message with the turn that ends now, and takes back the remaining
 * packets. */
static void end_train(const struct wf_packet_view *view, struct entry *entry)
{
    uint64_t turns = (uint64_t)((wf_now(view->ctx) - entry->since) / view->model->pace);

    if (turns < entry->ahead) {
        struct wf_packet_run rest = {.head = wf_packet_first_head(view, &entry->inject),
                                     .first = entry->inject.next + turns,
                                     .count = entry->ahead - turns};
        wf_packet_cut(view, &rest);
        entry->cuts = (uint16_t)(entry->cuts + (entry->cuts < CALM_SHIFT_MAX ? 1 : 0));
        entry->calm = 0;
    }
    entry->inject.next += turns - 1;
    entry->ahead = 0;
}

/* The current packet has left the interface. Returns whether it was its message's last. */
static bool end_packet(const struct wf_packet_view *view, struct wf_packet_inject_event *inject)
{
    struct wf_packet_node *node = view->node;
    uint32_t cell = node->current;
    struct entry *entry = edit(view, cell);

    if (entry->ahead > 0) {
        end_train(view, entry);
    }
    bool last = entry->inject.next + 1 == wf_packet_count(view->model, entry->inject.msg.bytes);

    struct queue queue = queue_of(view, &entry->inject.msg);

    *inject = entry->inject;
    entry->inject.next++;
    node->current = 0;
    if (last) {
        wf_cell_free(view->ctx, cell);
    } else if (view->model->nic == WF_PACKET_ROUND_ROBIN) {
        insert_in_turn(view, queue, cell);
    } else {
        insert_after(view, queue, 0, cell);
    }
    return last;
}

/* Begins the turn of a message. Returns whether its packet has to be stored first. */
static bool begin_packet(const struct wf_packet_view *view, uint32_t cell,
                         struct wf_packet_inject_event *inject)
{
    const struct wf_packet_net *model = view->model;

    *inject = look(view, cell)->inject;
    struct wf_packet_run run = next_packet(view, inject);
    int64_t duration = model->injection == WF_PACKET_UNLIMITED
                           ? 0
                           : wf_packet_run_ps(model, &run, model->injection);

    view->node->current = cell;
    wake(view, duration);
    return wf_packet_store_ps(view, &run) > 0;
}

/* How many full packets of the message can leave as a train from now on; 1 means no train. */
static uint64_t run_of(const struct wf_packet_view *view, uint32_t cell)
{
    const struct wf_packet_net *model = view->model;

    if (!model->trains || model->injection == WF_PACKET_UNLIMITED || view->node->head != 0 ||
        view->node->control != 0) {
        return 1;
    }
    const struct entry *entry = look(view, cell);
    uint64_t last = wf_packet_count(model, entry->inject.msg.bytes) - 1;
    if (last < entry->inject.next + 2) {
        return 1;
    }
    if (entry->cuts > 0 && entry->calm < 1U << entry->cuts) {
        edit(view, cell)->calm++;
        return 1;
    }
    uint64_t n = last - entry->inject.next;
    uint64_t most = (uint64_t)(WF_TIME_MAX / 4 / model->links.kinds[model->slowest].full_ps);
    return wf_now(view->ctx) > WF_TIME_MAX / 2 || n > most ? 1 : n;
}

/* Makes the run, a packet that has just arrived, the head of a train of `n` packets. */
static void begin_train(const struct wf_packet_view *view, struct wf_packet_run *run,
                        uint64_t n)
{
    struct entry *entry = edit(view, view->node->current);

    entry->since = wf_now(view->ctx);
    entry->ahead = n;
    run->count = n;
    run->spacing = view->model->pace;
    wake(view, (int64_t)n * run->spacing);
}

void wf_packet_turn(const struct wf_packet_view *view)
{
    struct wf_packet_node *node = view->node;
    const struct wf_net_user *user = &view->model->net.user;
    struct wf_packet_inject_event ended, begun;
    struct wf_packet_run run;
    bool last = false, arrives = false;

    if (node->awake == 0 || node->turn != wf_now(view->ctx)) {
        return; /* void: another turn came before this one, which was to end a train */
    }
    wf_touch(view->ctx, node, sizeof(*node));
    node->awake = 0;
    if (node->held != 0) {
        return; /* until the packet has its credit */
    }
    uint32_t before = node->current;
    if (before != 0) {
        last = end_packet(view, &ended);
        run = next_packet(view, &ended);
        arrives = wf_packet_store_ps(view, &run) > 0;
    }
    uint32_t cell = take_next(view);
    if (cell != 0) {
        uint64_t n = run_of(view, cell);
        bool stored = begin_packet(view, cell, &begun);
        if (!stored) {
            run = next_packet(view, &begun);
            arrives = true;
        }
        if (n > 1 && (!stored || (cell == before && !last))) {
            begin_train(view, &run, n);
        }
    }
    if (arrives) {
        wf_packet_arrive(view, &run);
    }
    if (last && user->sent != NULL) {
        user->sent(user->arg, view->ctx, view->ports, &ended.msg);
    }
}
