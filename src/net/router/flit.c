/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to flits: they arrive, are given the switch and leave, and room for them becomes
 * known to the router before. A router has a step in each cycle in which something can change.
 */
#include "net/router/flit.h"
#include "net/router/stats.h"
#include "net/router/watch.h"

static void mark(const struct wf_router_view *view, uint32_t input, bool full)
{
    uint64_t *word = &view->words[input / 64], bit = UINT64_C(1) << input % 64;

    wf_touch(view->ctx, word, sizeof(*word));
    *word = full ? *word | bit : *word & ~bit;
}

static void schedule(const struct wf_router_view *view, uint32_t vertex, uint64_t cycles,
                     uint16_t kind, const void *payload, size_t size)
{
    wf_schedule(view->ctx, wf_router_process(view->model, vertex),
                (int64_t)cycles * view->model->set.cycle - 1, kind, payload, size);
}

/* ---- arrivals ---- */

/* The first packet of a queue is to be routed from the cycle `at` on. */
static void begin(const struct wf_router_view *view, struct wf_router_flit_input *flits,
                  int64_t at)
{
    flits->state = WF_ROUTER_FLIT_WAITS;
    flits->port = 0;
    flits->gone = 0;
    flits->ready = at + (int64_t)view->model->set.routing_delay;
    wf_router_wake(view, flits->ready);
}

static void head_arrives(const struct wf_router_view *view,
                         const struct wf_router_packet *packet)
{
    struct wf_router_input *input = wf_router_edit_input(view, packet->input);
    struct wf_router_flit_input *flits = wf_router_flit_edit(view, packet->input);
    uint32_t cell = wf_cell_new(view->ctx);
    struct wf_router_cell *entry = wf_cell_edit(view->ctx, cell);

    entry->packet = *packet;
    entry->at = view->now;
    flits->here++;
    if (input->n++ == 0) {
        input->first = cell;
        mark(view, packet->input, true);
        begin(view, flits, view->now);
    } else {
        ((struct wf_router_cell *)wf_cell_edit(view->ctx, input->last))->next = cell;
    }
    input->last = cell;
}

static void body_arrives(const struct wf_router_view *view, uint32_t input)
{
    struct wf_router_flit_input *flits = wf_router_flit_edit(view, input);

    if (flits->here++ == 0) {
        wf_router_wake(view, view->now);
    }
}

static void room_behind(const struct wf_router_view *view, uint32_t number)
{
    struct wf_router_flit_channel *channel = &wf_router_flit_channels(view)[number];

    wf_touch(view->ctx, channel, sizeof(*channel));
    if (channel->used-- == view->model->set.queue * view->model->phits) {
        wf_router_wake(view, view->now);
    }
}

/* ---- departures ---- */

/* The router or node before learns that there is room for one more flit. */
static void give_back(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = input / model->vcs, vc = input % model->vcs, before = view->vertex;
    uint64_t channel = (view->layout->n_ports + 1) * model->vcs + vc;

    if (port < view->layout->n_ports) {
        before = model->topo->ops->neighbor(model->topo, view->vertex, port);
        channel = wf_router_reverse(model, view->vertex, port) * model->vcs + vc;
    }
    schedule(view, before, 1 + model->set.link_delay + model->set.credit_delay, WF_ROUTER_SLOT,
             &channel, sizeof(channel));
}

/* A flit is on its way. Of those that go to a node only the tail is told of. */
static void tell_next(const struct wf_router_view *view, uint32_t channel, uint32_t gone,
                      const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = channel / model->vcs, next = packet->dst;
    uint64_t cycles = 1 + model->set.pipeline + model->set.link_delay;
    struct wf_router_packet there = *packet;

    if (port < view->layout->n_ports) {
        next = model->topo->ops->neighbor(model->topo, view->vertex, port);
        there.input =
            (wf_router_reverse(model, view->vertex, port) * model->vcs + channel % model->vcs) &
            0x7fff;
        there.hops++;
        if (gone == 1) {
            wf_router_stats_leaves(view, port, packet);
        }
    }
    if (wf_router_flit_is_terminal(view, port)) {
        if (gone == model->phits) {
            schedule(view, next, cycles, WF_ROUTER_TAIL, &there, sizeof(there));
        }
    } else if (gone == 1) {
        schedule(view, next, cycles, WF_ROUTER_HEAD, &there, sizeof(there));
    } else {
        uint64_t input = there.input;
        schedule(view, next, cycles, WF_ROUTER_FLIT, &input, sizeof(input));
    }
}

/* The tail of the first packet has left. */
static void end(const struct wf_router_view *view, uint32_t number)
{
    struct wf_router_input *input = wf_router_edit_input(view, number);
    struct wf_router_flit_input *flits = wf_router_flit_edit(view, number);
    struct wf_router_channel *channel = &view->channels[input->taken - 1];
    const struct wf_router_cell *entry = wf_cell_read(view->ctx, input->first);
    uint32_t next = entry->next;

    wf_touch(view->ctx, channel, sizeof(*channel));
    channel->holder = 0;
    wf_cell_free(view->ctx, input->first);
    input->first = next;
    input->taken = 0;
    input->leave = view->now + 1;
    if (--input->n == 0) {
        flits->state = WF_ROUTER_FLIT_IDLE;
        mark(view, number, false);
    } else {
        begin(view, flits, view->now + 1);
    }
}

/* A flit was given the switch. */
static void move(const struct wf_router_view *view, uint32_t input)
{
    struct wf_router_flit_input *flits = wf_router_flit_edit(view, input);
    const struct wf_router_cell *entry = wf_cell_read(view->ctx, view->inputs[input].first);
    uint32_t taken = view->inputs[input].taken - 1u;

    if (view->inputs[input].blocked != 0) {
        wf_router_unwatch(view, wf_router_edit_input(view, input), input);
    }
    flits->here--;
    flits->gone++;
    if (!wf_router_flit_is_terminal(view, taken / view->model->vcs)) {
        struct wf_router_flit_channel *channel = &wf_router_flit_channels(view)[taken];
        wf_touch(view->ctx, channel, sizeof(*channel));
        channel->used++;
    }
    tell_next(view, taken, flits->gone, &entry->packet);
    give_back(view, input);
    if (flits->gone == view->model->phits) {
        end(view, input);
    }
}

/* ---- the step ---- */

static void step(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    if (head->wake != view->now + 1) {
        return; /* an earlier one took its place */
    }
    wf_touch(view->ctx, head, sizeof(*head));
    head->wake = 0;
    bool again = wf_router_flit_send_one(view);
    again = wf_router_flit_allocate(view, move) || again;
    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        if (view->words[w] != 0) {
            wf_router_watch(view);
        }
    }
    if (again) {
        wf_router_wake(view, view->now + 1);
    }
}

bool wf_router_flit_event(const struct wf_router_view *view, const struct wf_event *ev)
{
    const struct wf_router_packet *packet = (const void *)ev->payload;

    switch (ev->kind) {
    case WF_ROUTER_HEAD:
        head_arrives(view, packet);
        return true;
    case WF_ROUTER_FLIT:
        body_arrives(view, (uint32_t)ev->payload[0]);
        return true;
    case WF_ROUTER_SLOT:
        room_behind(view, (uint32_t)ev->payload[0]);
        return true;
    case WF_ROUTER_TAIL:
        wf_router_consume(view, packet);
        return true;
    case WF_ROUTER_DECIDE:
        step(view);
        return true;
    default:
        return false;
    }
}
