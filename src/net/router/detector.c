/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process that hears of all routers, always with the same delay: so what it knows is how
 * things were at one time, and queues that waited for each other then do so for ever. It ends
 * the traffic if there are such, and keeps packets out of a network that is full.
 */
#include "base/mem.h"
#include "net/router/watch.h"

#include <stdlib.h>
#include <string.h>

struct detector {
    int64_t inside;     /* packets in the network */
    uint32_t waits;     /* cells */
    uint32_t n_waits;   /* of them */
    uint8_t checking;   /* WF_ROUTER_CHECK is scheduled */
    uint8_t more_waits; /* since the last one */
    uint8_t shut;       /* nodes have been told so */
    uint8_t over;       /* there is a deadlock, and they have been told so */
    uint32_t spare;
};

struct wait_cell {
    struct wf_net_wait wait;
    uint32_t next, spare;
};

bool wf_router_has_detector(const struct wf_router_net *model)
{
    return model->set.watchdog > 0 || model->packets_limit > 0;
}

int64_t wf_router_to_detector(const struct wf_router_net *model)
{
    bool wormhole = model->set.switching == WF_ROUTER_WORMHOLE;

    return 2 * (int64_t)(model->set.pipeline + model->set.link_delay) + (wormhole ? 2 : 0);
}

static const struct wait_cell *read_cell(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

/* Takes the wait of a queue out of the list, if it is there. */
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
    uint32_t cell = wf_cell_new(ctx);
    struct wait_cell *entry = wf_cell_edit(ctx, cell);
    entry->wait = *wait;
    entry->next = own->waits;
    own->waits = cell;
    own->n_waits++;
    own->more_waits = 1;
}

/* Tells all nodes, so that they know it at the time `at`. */
static void tell_all(const struct wf_router_net *model, struct wf_ctx *ctx, int64_t at,
                     uint16_t kind, const struct wf_net_deadlock *deadlock)
{
    uint64_t shut = deadlock->n;

    for (uint32_t node = 0; node < model->net.n_nodes; node++) {
        wf_schedule(ctx, model->net.first_node + node, at - wf_now(ctx), kind,
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
    qsort(waits, n, sizeof(*waits), by_queue);
    n = wf_net_waits_prune(waits, n);
    struct wf_net_deadlock deadlock = wf_net_deadlock_find(waits, n);
    free(waits);
    return deadlock;
}

static void check(const struct wf_router_net *model, struct detector *own, struct wf_ctx *ctx)
{
    int64_t cycle = model->set.cycle, now = wf_now(ctx) / cycle * cycle;
    int64_t later = (int64_t)model->set.global_delay - (int64_t)model->set.global_delay / 2;
    bool full = model->packets_limit > 0 && own->inside > (int64_t)model->packets_limit;

    own->checking = 0;
    if (full != (own->shut != 0)) {
        own->shut = full;
        tell_all(model, ctx, now + later * cycle, WF_ROUTER_GATE,
                 &(struct wf_net_deadlock){.n = full});
    }
    if (own->more_waits != 0 && own->over == 0 && own->n_waits > 0) {
        struct wf_net_deadlock deadlock = find_deadlock(own, ctx);
        if (deadlock.n > 0) {
            own->over = 1;
            tell_all(model, ctx, now + wf_router_to_detector(model) * cycle, WF_ROUTER_HALT,
                     &deadlock);
        }
    }
    own->more_waits = 0;
}

static void detector_init(void *state, struct wf_ctx *ctx)
{
    (void)state;
    (void)ctx;
}

/* What arrives together is looked at together, a picosecond later. */
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
    model->detector_ops = (struct wf_process_ops){
        .name = "detector",
        .payload_max = sizeof(struct wf_net_wait),
        .announces_changes = true,
        .init = detector_init,
        .event = detector_event,
    };
    wf_engine_cells(engine, sizeof(struct wait_cell));
    model->detector =
        wf_engine_add(engine, &model->detector_ops, 1, sizeof(struct detector), model);
}
