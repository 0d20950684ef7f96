/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadlock detector: one process to which all routers report, always with the same
 * delay. It therefore knows the state of all routers at one time. Queues that waited for
 * each other then will do so for ever, and the detector ends the traffic. It also stops
 * injection while the network is full (net.global_restriction).
 *
 * A router reports a queue whose first packet has not moved for long, and reports again when
 * the packet moves. It also reports how many packets its node injected and consumed. All
 * routers do so in the same cycles, after the decisions of the cycle. A router without
 * packets reports nothing.
 */
#include "base/array.h"
#include "base/mem.h"
#include "model/net/router/events/reads.h"
#include "model/net/router/rules/inject.h"

#include <stdlib.h>
#include <string.h>

/* Cycles from any router to the detector, and back. */
static int64_t delay_of(const struct wf_router_net *model)
{
    bool wormhole = model->set.switching == WF_ROUTER_WORMHOLE;

    return 2 * (int64_t)model->least_hop + (wormhole ? 2 : 0);
}

/* ---- a router ---- */

static void tell(const struct wf_router_view *view, int64_t cycles, uint16_t kind,
                 const void *payload, size_t size)
{
    const struct wf_router_net *model = view->model;
    int64_t at = (view->now + cycles) * model->set.cycle;

    wf_schedule(view->ctx, model->detector, at - wf_now(view->ctx), kind, payload, size);
}

/* Schedules an event after the decisions of the next cycle that is a multiple of `every`. */
static void come_back(const struct wf_router_view *view, uint64_t every, uint16_t kind)
{
    int64_t next = (int64_t)wf_router_next_round((uint64_t)view->now, every),
            cycle = view->model->set.cycle;

    if (next < WF_TIME_MAX / cycle) {
        wf_router_schedule_own(view, next * cycle + 2 - wf_now(view->ctx), kind, NULL, 0);
    }
}

void wf_router_watch(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    if (head->watching == 0 && view->model->set.watchdog > 0) {
        wf_touch(view->ctx, head, sizeof(*head));
        head->watching = 1;
        come_back(view, view->model->set.watchdog, WF_ROUTER_WATCH);
    }
}

/* Reports the first packet of a queue if it is blocked. Returns whether it is too early to
 * tell. */
static bool look_at(const struct wf_router_view *view, uint32_t number)
{
    struct wf_router_input *input = &view->inputs[number];
    const struct wf_router_cell *entry = wf_cell_read(view->ctx, input->first);
    struct wf_net_wait wait;

    if (wf_router_first_for(wf_router_cycles(view->now - entry->at),
                            wf_router_since_left(view, input)) < view->model->set.watchdog) {
        return true;
    }
    if (!wf_router_is_blocked(view, number, &wait)) {
        return false;
    }
    uint8_t known =
        (uint8_t)(WF_ROUTER_IS_BLOCKED | (wait.is_full != 0 ? WF_ROUTER_IS_FULL : 0));
    if (known != input->blocked) {
        input = wf_router_edit_input(view, number);
        input->blocked = known;
        tell(view, delay_of(view->model), WF_ROUTER_BLOCKED, &wait, sizeof(wait));
    }
    return false;
}

/* Continues only while packets may still become blocked, since runs have to end. */
void wf_router_look(const struct wf_router_view *view)
{
    bool again = false;

    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        for (uint64_t left = view->words[w]; left != 0; left &= left - 1) {
            again = look_at(view, w * 64 + (uint32_t)__builtin_ctzll(left)) || again;
        }
    }
    if (again) {
        come_back(view, view->model->set.watchdog, WF_ROUTER_WATCH);
    } else {
        wf_touch(view->ctx, view->head, sizeof(*view->head));
        view->head->watching = 0;
    }
}

void wf_router_unwatch(const struct wf_router_view *view, struct wf_router_input *input,
                       uint32_t number)
{
    const struct wf_net_queue queue = wf_router_queue(view, number);

    input->blocked = 0; /* the caller has called wf_touch() */
    tell(view, delay_of(view->model), WF_ROUTER_MOVED, &queue, sizeof(queue));
}

void wf_router_counted(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    if (view->model->packets_limit > 0 && head->reporting == 0) {
        wf_touch(view->ctx, head, sizeof(*head));
        head->reporting = 1;
        come_back(view, view->model->set.global_delay, WF_ROUTER_REPORT);
    }
}

void wf_router_report(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;
    int64_t inside = (int64_t)(head->injected - head->consumed - head->dropped),
            change = inside - head->told;

    wf_touch(view->ctx, head, sizeof(*head));
    head->reporting = 0;
    head->told = inside;
    if (change != 0) {
        tell(view, (int64_t)view->model->set.global_delay / 2, WF_ROUTER_COUNT, &change,
             sizeof(change));
    }
}

/* ---- the detector ---- */

struct detector {
    int64_t inside;     /* packets in the network */
    uint32_t waits;     /* cells */
    uint32_t n_waits;   /* number of cells */
    uint8_t checking;   /* WF_ROUTER_CHECK is scheduled */
    uint8_t more_waits; /* since the last check */
    bool shut;          /* nodes were told not to inject */
    uint8_t over;       /* nodes were told of a deadlock */
    uint32_t spare;
};

struct wait_cell {
    struct wf_net_wait wait;
    uint32_t next, spare;
};

static const struct wait_cell *read_cell(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

/* Removes the wait of a queue from the list, if it is there. */
static void forget(struct detector *own, struct wf_ctx *ctx, const struct wf_net_queue *queue)
{
    uint32_t last = 0, cell = own->waits;

    while (cell != 0 && wf_net_queue_compare(&read_cell(ctx, cell)->wait.queue, queue) != 0) {
        last = cell;
        cell = read_cell(ctx, cell)->next;
    }
    if (cell == 0) {
        return;
    }
    uint32_t next = read_cell(ctx, cell)->next;
    if (last == 0) {
        own->waits = next;
    } else {
        ((struct wait_cell *)wf_cell_edit(ctx, last))->next = next;
    }
    own->n_waits--;
    wf_cell_free(ctx, cell);
}

static void remember(struct detector *own, struct wf_ctx *ctx, const struct wf_net_wait *wait)
{
    forget(own, ctx, &wait->queue);
    uint32_t cell = wf_cell_new_for(ctx, sizeof(struct wait_cell));
    struct wait_cell *entry = wf_cell_edit(ctx, cell);
    entry->wait = *wait;
    entry->next = own->waits;
    own->waits = cell;
    own->n_waits++;
    own->more_waits = 1;
}

/* Sends an event to all interfaces, for the time `at`. */
static void tell_all(const struct wf_router_net *model, struct wf_ctx *ctx, int64_t at,
                     uint16_t kind, const struct wf_net_deadlock *deadlock)
{
    const struct wf_net_ends *ends = &model->net.ends;
    uint64_t shut = deadlock->n;

    for (uint32_t i = 0; i < ends->after; i++) {
        uint32_t end = wf_net_end(ends, i / ends->nics, i % ends->nics);
        wf_schedule_to(ctx, wf_net_target(&model->net, 0, end, kind), at - wf_now(ctx),
                       kind == WF_ROUTER_GATE ? (const void *)&shut : deadlock,
                       kind == WF_ROUTER_GATE ? sizeof(shut) : sizeof(*deadlock));
    }
}

static int by_queue(const void *a, const void *b)
{
    const struct wf_net_wait *x = a, *y = b;

    return wf_net_queue_compare(&x->queue, &y->queue);
}

static struct wf_net_deadlock find_deadlock(const struct detector *own, struct wf_ctx *ctx)
{
    struct wf_net_wait *waits = wf_xcalloc(own->n_waits, sizeof(*waits));
    uint32_t n = 0;

    for (uint32_t cell = own->waits; cell != 0; cell = read_cell(ctx, cell)->next) {
        waits[n++] = read_cell(ctx, cell)->wait;
    }
    WF_SORT(waits, n, by_queue);
    n = wf_net_waits_prune(waits, n);
    struct wf_net_deadlock deadlock = wf_net_deadlock_find(waits, n);
    free(waits);
    return deadlock;
}

static void check(const struct wf_router_net *model, struct detector *own, struct wf_ctx *ctx)
{
    int64_t cycle = model->set.cycle, now = wf_now(ctx) / cycle * cycle;
    int64_t later = (int64_t)model->set.global_delay - (int64_t)model->set.global_delay / 2;

    own->checking = 0;
    if (wf_router_gate_moves(&own->shut, own->inside, model->packets_limit)) {
        tell_all(model, ctx, now + later * cycle, WF_ROUTER_GATE,
                 &(struct wf_net_deadlock){.n = own->shut});
    }
    if (own->more_waits != 0 && own->over == 0 && own->n_waits > 0) {
        struct wf_net_deadlock deadlock = find_deadlock(own, ctx);
        if (deadlock.n > 0) {
            own->over = 1;
            tell_all(model, ctx, now + delay_of(model) * cycle, WF_ROUTER_HALT, &deadlock);
        }
    }
    own->more_waits = 0;
}

/* Reports that arrive together are checked together, a picosecond later. */
static void detector_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct detector *own = state;
    int64_t change;

    wf_touch(ctx, own, sizeof(*own));
    switch (ev->kind) {
    case WF_ROUTER_BLOCKED:
        remember(own, ctx, (const void *)ev->payload);
        break;
    case WF_ROUTER_MOVED:
        forget(own, ctx, (const void *)ev->payload);
        break;
    case WF_ROUTER_COUNT:
        memcpy(&change, ev->payload, sizeof(change));
        own->inside += change;
        break;
    default:
        check(wf_model(ctx), own, ctx);
        return;
    }
    if (own->checking == 0) {
        own->checking = 1;
        wf_schedule(ctx, wf_self(ctx), 1, WF_ROUTER_CHECK, NULL, 0);
    }
}

void wf_router_add_detector(struct wf_router_net *model, struct wf_engine *engine)
{
    if (model->set.watchdog == 0 && model->packets_limit == 0) {
        return;
    }
    model->detector_ops = (struct wf_process_ops){
        .name = "deadlock detector",
        .payload_max = sizeof(struct wf_net_wait),
        .announces_changes = true,
        .event = detector_event,
    };
    wf_engine_cells(engine, sizeof(struct wait_cell));
    model->detector =
        wf_engine_add(engine, &model->detector_ops, 1, sizeof(struct detector), model);
}
