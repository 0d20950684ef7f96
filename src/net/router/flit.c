/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to flits: they arrive, are given the switch and leave, and room for them becomes
 * known to the router before. A router has a step in each cycle in which something can change.
 */
#include "net/router/flit.h"
#include "net/router/stats.h"
#include "net/router/watch.h"

static void mark(const struct wf_router_spot *spot, uint32_t input, bool full)
{
    uint64_t *word = &spot->words[input / 64], bit = UINT64_C(1) << input % 64;

    wf_touch(spot->ctx, word, sizeof(*word));
    *word = full ? *word | bit : *word & ~bit;
}

static void schedule(const struct wf_router_spot *spot, uint32_t vertex, uint64_t cycles,
                     uint16_t kind, const void *payload, size_t size)
{
    wf_schedule(spot->ctx, wf_router_process(spot->model, vertex),
                (int64_t)cycles * spot->model->set.cycle - 1, kind, payload, size);
}

/* ---- arrivals ---- */

/* The first packet of a queue is to be routed from the cycle `at` on. */
static void begin(const struct wf_router_spot *spot, struct wf_flit_input *flits, int64_t at)
{
    flits->state = WF_FLIT_WAITS;
    flits->port = 0;
    flits->gone = 0;
    flits->ready = at + (int64_t)spot->model->set.routing_delay;
    wf_router_wake(spot, flits->ready);
}

static void head_arrives(const struct wf_router_spot *spot,
                         const struct wf_router_packet *packet)
{
    struct wf_router_input *input = wf_router_edit_input(spot, packet->input);
    struct wf_flit_input *flits = wf_flit_edit(spot, packet->input);
    uint32_t cell = wf_cell_new(spot->ctx);
    struct wf_router_cell *entry = wf_cell_edit(spot->ctx, cell);

    entry->packet = *packet;
    entry->at = spot->now;
    flits->here++;
    if (input->n++ == 0) {
        input->first = cell;
        mark(spot, packet->input, true);
        begin(spot, flits, spot->now);
    } else {
        ((struct wf_router_cell *)wf_cell_edit(spot->ctx, input->last))->next = cell;
    }
    input->last = cell;
}

static void body_arrives(const struct wf_router_spot *spot, uint32_t input)
{
    struct wf_flit_input *flits = wf_flit_edit(spot, input);

    if (flits->here++ == 0) {
        wf_router_wake(spot, spot->now);
    }
}

static void room_behind(const struct wf_router_spot *spot, uint32_t number)
{
    struct wf_flit_channel *channel = &wf_flit_channels(spot)[number];

    wf_touch(spot->ctx, channel, sizeof(*channel));
    if (channel->used-- == spot->model->set.queue * spot->model->phits) {
        wf_router_wake(spot, spot->now);
    }
}

/* ---- departures ---- */

/* The router or node before learns that there is room for one more flit. */
static void give_back(const struct wf_router_spot *spot, uint32_t input)
{
    const struct wf_router_net *model = spot->model;
    uint32_t port = input / model->vcs, vc = input % model->vcs, before = spot->vertex;
    uint64_t channel = (spot->layout->n_ports + 1) * model->vcs + vc;

    if (port < spot->layout->n_ports) {
        before = model->topo->ops->neighbor(model->topo, spot->vertex, port);
        channel = wf_router_reverse(model, spot->vertex, port) * model->vcs + vc;
    }
    schedule(spot, before, 1 + model->set.link_delay + model->set.credit_delay, WF_ROUTER_SLOT,
             &channel, sizeof(channel));
}

/* A flit is on its way. Of those that go to a node only the tail is told of. */
static void tell_next(const struct wf_router_spot *spot, uint32_t channel, uint32_t gone,
                      const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = spot->model;
    uint32_t port = channel / model->vcs, next = packet->dst;
    uint64_t cycles = 1 + model->set.pipeline + model->set.link_delay;
    struct wf_router_packet there = *packet;

    if (port < spot->layout->n_ports) {
        next = model->topo->ops->neighbor(model->topo, spot->vertex, port);
        there.input =
            (wf_router_reverse(model, spot->vertex, port) * model->vcs + channel % model->vcs) &
            0x7fff;
        there.hops++;
        if (gone == 1) {
            wf_router_stats_leaves(spot, port, packet);
        }
    }
    if (wf_flit_is_terminal(spot, port)) {
        if (gone == model->phits) {
            schedule(spot, next, cycles, WF_ROUTER_TAIL, &there, sizeof(there));
        }
    } else if (gone == 1) {
        schedule(spot, next, cycles, WF_ROUTER_HEAD, &there, sizeof(there));
    } else {
        uint64_t input = there.input;
        schedule(spot, next, cycles, WF_ROUTER_FLIT, &input, sizeof(input));
    }
}

/* The tail of the first packet has left. */
static void end(const struct wf_router_spot *spot, uint32_t number)
{
    struct wf_router_input *input = wf_router_edit_input(spot, number);
    struct wf_flit_input *flits = wf_flit_edit(spot, number);
    struct wf_router_channel *channel = &spot->channels[input->taken - 1];
    const struct wf_router_cell *entry = wf_cell_read(spot->ctx, input->first);
    uint32_t next = entry->next;

    wf_touch(spot->ctx, channel, sizeof(*channel));
    channel->holder = 0;
    wf_cell_free(spot->ctx, input->first);
    input->first = next;
    input->taken = 0;
    input->leave = spot->now + 1;
    if (--input->n == 0) {
        flits->state = WF_FLIT_IDLE;
        mark(spot, number, false);
    } else {
        begin(spot, flits, spot->now + 1);
    }
}

/* A flit was given the switch. */
static void move(const struct wf_router_spot *spot, uint32_t input)
{
    struct wf_flit_input *flits = wf_flit_edit(spot, input);
    const struct wf_router_cell *entry = wf_cell_read(spot->ctx, spot->inputs[input].first);
    uint32_t taken = spot->inputs[input].taken - 1u;

    if (spot->inputs[input].blocked != 0) {
        wf_router_unwatch(spot, wf_router_edit_input(spot, input), input);
    }
    flits->here--;
    flits->gone++;
    if (!wf_flit_is_terminal(spot, taken / spot->model->vcs)) {
        struct wf_flit_channel *channel = &wf_flit_channels(spot)[taken];
        wf_touch(spot->ctx, channel, sizeof(*channel));
        channel->used++;
    }
    tell_next(spot, taken, flits->gone, &entry->packet);
    give_back(spot, input);
    if (flits->gone == spot->model->phits) {
        end(spot, input);
    }
}

/* ---- the step ---- */

static void step(const struct wf_router_spot *spot)
{
    struct wf_router_head *head = spot->head;

    if (head->wake != spot->now + 1) {
        return; /* an earlier one took its place */
    }
    wf_touch(spot->ctx, head, sizeof(*head));
    head->wake = 0;
    bool again = wf_flit_send_one(spot);
    again = wf_flit_allocate(spot, move) || again;
    for (uint32_t w = 0; w < spot->layout->n_words; w++) {
        if (spot->words[w] != 0) {
            wf_router_watch(spot);
        }
    }
    if (again) {
        wf_router_wake(spot, spot->now + 1);
    }
}

bool wf_flit_event(const struct wf_router_spot *spot, const struct wf_event *ev)
{
    const struct wf_router_packet *packet = (const void *)ev->payload;

    switch (ev->kind) {
    case WF_ROUTER_HEAD:
        head_arrives(spot, packet);
        return true;
    case WF_ROUTER_FLIT:
        body_arrives(spot, (uint32_t)ev->payload[0]);
        return true;
    case WF_ROUTER_SLOT:
        room_behind(spot, (uint32_t)ev->payload[0]);
        return true;
    case WF_ROUTER_TAIL:
        wf_router_consume(spot, packet);
        return true;
    case WF_ROUTER_DECIDE:
        step(spot);
        return true;
    default:
        return false;
    }
}
