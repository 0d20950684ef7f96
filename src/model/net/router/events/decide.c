/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a router does in a cycle in which something can change. Inputs request channels, each
 * channel goes to one of those that request it, and each idle link begins to send the packet of
 * one of its held channels. A link sends a packet without interruption, so that a packet is one
 * event at the next router, whatever its length.
 */
#include "model/net/router/events/reads.h"
#include "model/net/router/events/stats.h"
#include "model/net/router/rules/inject.h"

/* The requests of one decision; granted requests become WF_ROUTER_NONE. */
struct round {
    uint32_t n;
    struct wf_router_request requests[WF_ROUTER_INPUTS_MAX];
    int64_t next; /* next cycle with something to do */
};

static void soonest(struct round *round, int64_t at)
{
    round->next = at < round->next ? at : round->next;
}

void wf_router_wake(const struct wf_router_view *view, int64_t at)
{
    struct wf_router_head *head = view->head;

    if (head->wake != 0 && head->wake <= at + 1) {
        return;
    }
    wf_touch(view->ctx, head, sizeof(*head));
    head->wake = at + 1;
    int64_t cycle = view->model->set.cycle;
    if (at >= WF_TIME_MAX / cycle) {
        wf_router_schedule_own(view, WF_TIME_MAX, WF_ROUTER_DECIDE, NULL, 0);
    } else {
        wf_router_schedule_own(view, at * cycle + 1 - wf_now(view->ctx), WF_ROUTER_DECIDE, NULL,
                               0);
    }
}

void wf_router_mark(const struct wf_router_view *view, uint32_t input, bool has_packets)
{
    uint64_t *word = &view->words[input / 64], bit = UINT64_C(1) << input % 64;

    wf_touch(view->ctx, word, sizeof(*word));
    *word = has_packets ? *word | bit : *word & ~bit;
}

static inline bool append(const struct wf_router_view *view, uint32_t number,
                          const struct wf_router_packet *packet)
{
    struct wf_router_input *input = wf_router_edit_input(view, number);
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct wf_router_cell));
    struct wf_router_cell *entry = wf_cell_edit(view->ctx, cell);
    bool was_empty = input->n++ == 0;

    entry->packet = *packet;
    entry->at = view->now;
    if (was_empty) {
        input->first = cell;
        wf_router_mark(view, number, true);
    } else {
        ((struct wf_router_cell *)wf_cell_edit(view->ctx, input->last))->next = cell;
    }
    input->last = cell;
    return was_empty;
}

bool wf_router_append(const struct wf_router_view *view, uint32_t number,
                      const struct wf_router_packet *packet)
{
    return append(view, number, packet);
}

void wf_router_enqueue(const struct wf_router_view *view, uint32_t number,
                       const struct wf_router_packet *packet)
{
    struct wf_router_input *input = &view->inputs[number];
    bool was_empty = append(view, number, packet);

    input->head = view->now;
    if (input->blocked ==
        WF_ROUTER_IS_BLOCKED) { /* the detector must know whether it is full */
        wf_router_watch(view);
    }

    if (was_empty) {
        wf_router_wake(view, view->now + wf_router_ready(view, input));
    }
}

/* Removes the first packet of an input, which begins to leave, a phit in `pace` cycles. */
static struct wf_router_packet begin(const struct wf_router_view *view, uint32_t number,
                                     uint32_t pace, struct round *round)
{
    struct wf_router_input *input = wf_router_edit_input(view, number);
    const struct wf_router_cell *entry = wf_cell_read(view->ctx, input->first);
    struct wf_router_packet packet = entry->packet;
    uint32_t next = entry->next;

    if (input->blocked != 0) {
        wf_router_unwatch(view, input, number);
    }
    wf_cell_free(view->ctx, input->first);
    input->first = next;
    input->n--;
    input->taken = 0;
    input->bet = 0;
    input->asked = 0;
    input->leave = view->now + 1;
    input->pace = (uint16_t)pace;
    if (input->n == 0) {
        wf_router_mark(view, number, false);
    } else {
        soonest(round, view->now + wf_router_ready(view, input));
    }
    return packet;
}

/* Tells the previous router that a slot is free as soon as the tail has left. */
static void give_back(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = input / model->rules.vcs;

    if (input >= view->layout->n_ports * model->rules.vcs) {
        return;
    }
    const struct wf_router_end before = wf_router_before(model, view->vertex, port);
    uint64_t channel = before.port * model->rules.vcs + input % model->rules.vcs;
    wf_router_schedule(view, before.vertex,
                       (uint64_t)model->rules.phits * view->inputs[input].pace +
                           model->set.credit_delay,
                       WF_ROUTER_SLOT, &channel, sizeof(channel));
}

/* ---- who gets a channel ---- */

static bool is_injected(const struct wf_router_view *view, uint32_t input)
{
    return input >= view->layout->n_ports * view->model->rules.vcs;
}

static void count_injected(const struct wf_router_view *view, uint32_t input,
                           const struct wf_router_packet *packet, struct round *round)
{
    if (is_injected(view, input)) {
        if (view->head->backlog != 0) { /* there is space for the next packet */
            soonest(round, view->now + 1);
        }
        view->head->injected++;
        wf_router_counted(view);
        if (packet->last != 0 && view->model->net.user.sent != NULL) {
            int64_t cycles = (int64_t)view->model->rules.phits * view->inputs[input].pace;
            wf_router_schedule_own(view, cycles * view->model->set.cycle - 1, WF_ROUTER_SENT,
                                   packet, sizeof(*packet));
        }
        view->head->waited += (uint64_t)(view->now - packet->born);
    }
}

/* The next request for the channel of request `from` after request `i`; round->n if there is none. */
static inline uint32_t next_request(const struct round *round, uint32_t from, uint32_t i)
{
    do {
        i++;
    } while (i < round->n && round->requests[i].channel != round->requests[from].channel);
    return i;
}

/* The winner among the requests for a channel, the first of which is `from`. */
static uint32_t choose(const struct wf_router_view *view, const struct round *round,
                       uint32_t from, uint32_t winner)
{
    const struct wf_router_here here = wf_router_here(view);
    uint32_t channel = round->requests[from].channel, best = from;
    uint32_t what =
        channel == WF_ROUTER_CONSUME ? WF_ROUTER_DRAW_EAT : WF_ROUTER_DRAW_GRANT + channel;

    if (next_request(round, from, from) == round->n) {
        return from;
    }
    struct wf_router_contest contest =
        wf_router_contest(&here, what, winner, view->layout->n_inputs,
                          view->layout->n_ports * view->model->rules.vcs);

    for (uint32_t i = from; i < round->n; i = next_request(round, from, i)) {
        wf_router_contend(&contest, round->requests[i].input);
        best = contest.best == round->requests[i].input ? i : best;
    }
    return best;
}

static void grant(const struct wf_router_view *view, const struct wf_router_request *request)
{
    struct wf_router_channel *channel = &view->channels[request->channel];
    struct wf_router_link *link = &view->links[request->channel / view->model->rules.vcs];
    struct wf_router_input *input = wf_router_edit_input(view, request->input);

    wf_touch(view->ctx, channel, sizeof(*channel));
    wf_touch(view->ctx, link, sizeof(*link));
    channel->holder = (uint16_t)(request->input + 1);
    channel->winner = (uint16_t)(request->input + 1);
    link->waiting++;
    input->taken = (uint16_t)(request->channel + 1);
}

/* A node consumes a packet as fast as the link moves it by which the packet arrives. */
static void eat(const struct wf_router_view *view, uint32_t input, struct round *round)
{
    uint32_t pace = is_injected(view, input) ? 1
                                             : wf_router_kind_in(view->model, view->vertex,
                                                                 input / view->model->rules.vcs)
                                                   ->pace;
    struct wf_router_packet packet = begin(view, input, pace, round);

    count_injected(view, input, &packet, round);
    wf_router_consume(view, &packet);
    give_back(view, input);
}

static void consume(const struct wf_router_view *view, struct round *round, uint32_t at)
{
    struct wf_router_head *head = view->head;

    if (!view->model->set.consume_one) {
        eat(view, round->requests[at].input, round);
        round->requests[at].channel = WF_ROUTER_NONE;
        round->requests[at].input = WF_ROUTER_NONE;
        return;
    }
    if (head->consume_free > view->now) {
        round->requests[at].channel = WF_ROUTER_NONE;
        return;
    }
    uint32_t best = choose(view, round, at, head->consume_winner);
    wf_touch(view->ctx, head, sizeof(*head));
    head->consume_winner = round->requests[best].input + 1;
    eat(view, round->requests[best].input, round);
    head->consume_free = view->now + (int64_t)view->model->rules.phits *
                                         view->inputs[round->requests[best].input].pace;
    round->requests[best].input = WF_ROUTER_NONE;
    for (uint32_t i = at; i < round->n; i++) {
        if (round->requests[i].channel == WF_ROUTER_CONSUME) {
            round->requests[i].channel = WF_ROUTER_NONE;
        }
    }
}

/* Gives the channel of a request to one of the inputs that request it; the others get none. */
static void give_channel(const struct wf_router_view *view, struct round *round,
                         uint32_t request)
{
    uint32_t channel = round->requests[request].channel;
    uint32_t best = choose(view, round, request, view->channels[channel].winner);

    grant(view, &round->requests[best]);
    round->requests[best].input = WF_ROUTER_NONE;
    for (uint32_t i = request; i < round->n; i++) {
        if (round->requests[i].channel == channel) {
            round->requests[i].channel = WF_ROUTER_NONE;
        }
    }
}

/* Grants every channel that is requested. The requests that remain have no channel. */
static void arbitrate(const struct wf_router_view *view, struct round *round)
{
    for (uint32_t i = 0; i < round->n; i++) {
        uint32_t channel = round->requests[i].channel;

        if (channel == WF_ROUTER_CONSUME) {
            consume(view, round, i);
        } else if (channel != WF_ROUTER_NONE) {
            give_channel(view, round, i);
        }
    }
}

/* ---- links ---- */

static uint32_t next_channel(const struct wf_router_view *view, uint32_t port)
{
    uint32_t vcs = view->model->rules.vcs, vc = view->links[port].turn;

    while (view->channels[port * vcs + vc].holder == 0) {
        vc = wf_router_after(vc, vcs);
    }
    return vc;
}

static void send(const struct wf_router_view *view, uint32_t port, struct round *round)
{
    const struct wf_router_net *model = view->model;
    struct wf_router_link *link = &view->links[port];
    uint32_t vc = next_channel(view, port);
    struct wf_router_channel *channel = &view->channels[port * model->rules.vcs + vc];
    uint32_t input = channel->holder - 1u;
    const struct wf_router_link_kind *kind = wf_router_kind(model, view->vertex, port);

    wf_touch(view->ctx, link, sizeof(*link));
    wf_touch(view->ctx, channel, sizeof(*channel));
    channel->holder = 0;
    channel->free = link->free = view->now + (int64_t)model->rules.phits * kind->pace;
    channel->used++;
    channel->packets++;
    link->waiting--;
    link->turn = (uint16_t)wf_router_after(vc, model->rules.vcs);

    struct wf_router_packet packet = begin(view, input, kind->pace, round);
    count_injected(view, input, &packet, round);
    view->head->digest +=
        wf_router_fact((uint64_t)view->now, view->vertex, port * model->rules.vcs + vc,
                       packet.dst, (uint64_t)packet.born);
    wf_router_stats_leaves(view, port, &packet);
    packet.hops++;
    packet.input =
        (wf_router_in_port(model, view->vertex, port) * model->rules.vcs + vc) & 0x7fff;
    int64_t there = view->now + kind->pipeline + kind->link_delay;
    int64_t tail = there + (int64_t)(model->rules.phits - 1) * kind->pace;
    if (model->faults == NULL ||
        !wf_router_fault_cuts(view, port * model->rules.vcs + vc, &packet, there, tail)) {
        wf_router_schedule(view, model->topo->ops->neighbor(model->topo, view->vertex, port),
                           (uint64_t)(there - view->now), WF_ROUTER_HEAD, &packet,
                           sizeof(packet));
    }
    give_back(view, input);
}

static void send_all(const struct wf_router_view *view, struct round *round)
{
    for (uint32_t port = 0; port < view->layout->n_ports; port++) {
        struct wf_router_link *link = &view->links[port];

        if (link->waiting > 0 && link->free <= view->now) {
            send(view, port, round);
        }
        if (link->waiting > 0) {
            soonest(round, link->free);
        }
    }
}

/* ---- the cycle ---- */

static void ask(const struct wf_router_view *view, uint32_t number, struct round *round)
{
    const struct wf_router_input *input = &view->inputs[number];
    uint32_t ready = wf_router_ready(view, input);

    if (input->taken != 0 ||
        !wf_router_gate_passes(view->head->shut != 0, is_injected(view, number))) {
        return;
    }
    if (ready > 0) {
        soonest(round, view->now + ready);
        return;
    }
    if (view->model->faults != NULL && wf_router_fault_strands(view, number)) {
        soonest(round, view->now + 1);
        return;
    }
    if (input->asked == 0 && view->model->set.arbitration == WF_ROUTER_FIFO) {
        wf_router_edit_input(view, number)->asked = view->now + 1;
    }
    round->requests[round->n++] = wf_router_ask(view, number);
}

static void ask_all(const struct wf_router_view *view, struct round *round)
{
    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        for (uint64_t left = view->words[w]; left != 0; left &= left - 1) {
            ask(view, w * 64 + (uint32_t)__builtin_ctzll(left), round);
        }
    }
}

void wf_router_decide(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;
    struct round round;

    if (head->wake != view->now + 1) {
        return; /* void: an earlier decision replaced this one */
    }
    wf_touch(view->ctx, head, sizeof(*head));
    head->wake = 0;
    round.n = 0;
    round.next = WF_ROUTER_NEVER;
    if (view->model->faults != NULL) {
        wf_router_fault_begin(view);
    }
    if (head->backlog != 0) {
        wf_router_inject(view);
    }
    ask_all(view, &round);
    arbitrate(view, &round);
    send_all(view, &round);
    for (uint32_t i = 0; i < round.n; i++) {
        if (round.requests[i].input != WF_ROUTER_NONE) {
            wf_router_watch(view);
            soonest(&round, wf_router_ask_again(view, round.requests[i].input));
        }
    }
    if (view->model->faults != NULL) {
        soonest(&round, wf_router_fault_wake(view));
    }
    if (round.next != WF_ROUTER_NEVER) {
        wf_router_wake(view, round.next);
    }
    if (view->model->notice_step > 0) {
        wf_router_notice_send_all(view);
    }
}
