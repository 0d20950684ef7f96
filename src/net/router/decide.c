/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a router does in a cycle in which something can change: inputs ask for channels, each
 * channel is given to one of those that ask, and each idle link begins to send the packet of
 * one of its channels that are held. A link keeps to a packet until its tail has gone, so that
 * a packet is one event at the next router, whatever its length.
 */
#include "base/rng.h"
#include "net/router/stats.h"
#include "net/router/watch.h"

/* The askers of one decision and what became of them. */
struct round {
    uint32_t n;
    struct wf_router_wish wishes[WF_ROUTER_INPUTS_MAX];
    int64_t next; /* cycle in which there is something to do again */
};

static void soonest(struct round *round, int64_t at)
{
    round->next = at < round->next ? at : round->next;
}

void wf_router_wake(const struct wf_router_spot *spot, int64_t at)
{
    struct wf_router_head *head = spot->head;

    if (head->wake != 0 && head->wake <= at + 1) {
        return;
    }
    wf_touch(spot->ctx, head, sizeof(*head));
    head->wake = at + 1;
    int64_t cycle = spot->model->set.cycle;
    if (at >= WF_TIME_MAX / cycle) {
        wf_schedule(spot->ctx, wf_self(spot->ctx), WF_TIME_MAX, WF_ROUTER_DECIDE, NULL, 0);
    } else {
        wf_schedule(spot->ctx, wf_self(spot->ctx), at * cycle + 1 - wf_now(spot->ctx),
                    WF_ROUTER_DECIDE, NULL, 0);
    }
}

static void mark(const struct wf_router_spot *spot, uint32_t input, bool full)
{
    uint64_t *word = &spot->words[input / 64];

    wf_touch(spot->ctx, word, sizeof(*word));
    *word = full ? *word | UINT64_C(1) << input % 64 : *word & ~(UINT64_C(1) << input % 64);
}

/* From when on the first packet of a queue may ask. */
static int64_t ready_at(const struct wf_router_spot *spot, const struct wf_router_input *input)
{
    return input->leave == 0
               ? 0
               : input->leave - 1 + spot->model->phits + (int64_t)spot->model->set.turnaround;
}

void wf_router_enqueue(const struct wf_router_spot *spot, uint32_t number,
                       const struct wf_router_packet *packet)
{
    struct wf_router_input *input = wf_router_edit_input(spot, number);
    uint32_t cell = wf_cell_new(spot->ctx);
    struct wf_router_cell *entry = wf_cell_edit(spot->ctx, cell);

    entry->packet = *packet;
    entry->at = spot->now;
    if (input->n++ == 0) {
        input->first = cell;
        mark(spot, number, true);
    } else {
        ((struct wf_router_cell *)wf_cell_edit(spot->ctx, input->last))->next = cell;
    }
    input->last = cell;
    input->head = spot->now;
    if (input->blocked == WF_ROUTER_STUCK) { /* the overseer wants to know if it is full */
        wf_router_watch(spot);
    }

    int64_t ready = ready_at(spot, input);
    if (input->n == 1) {
        wf_router_wake(spot, ready > spot->now ? ready : spot->now);
    }
}

/* The first packet of an input begins to leave. */
static struct wf_router_packet begin(const struct wf_router_spot *spot, uint32_t number,
                                     struct round *round)
{
    struct wf_router_input *input = wf_router_edit_input(spot, number);
    const struct wf_router_cell *entry = wf_cell_read(spot->ctx, input->first);
    struct wf_router_packet packet = entry->packet;
    uint32_t next = entry->next;

    if (input->blocked != 0) {
        wf_router_unwatch(spot, input, number);
    }
    wf_cell_free(spot->ctx, input->first);
    input->first = next;
    input->n--;
    input->taken = 0;
    input->bet = 0;
    input->asked = 0;
    input->leave = spot->now + 1;
    if (input->n == 0) {
        mark(spot, number, false);
    } else {
        soonest(round, ready_at(spot, input));
    }
    return packet;
}

static void schedule(const struct wf_router_spot *spot, uint32_t vertex, int64_t cycles,
                     uint16_t kind, const void *payload, size_t size)
{
    int64_t delay = cycles * spot->model->set.cycle - 1;

    wf_schedule(spot->ctx, wf_router_process(spot->model, vertex), delay, kind, payload, size);
}

/* Tells the router before that a slot will be free when the tail has left. */
static void give_back(const struct wf_router_spot *spot, uint32_t input)
{
    const struct wf_router_net *model = spot->model;
    uint32_t port = input / model->vcs;

    if (input >= spot->layout->n_ports * model->vcs) {
        return;
    }
    uint32_t before = model->topo->ops->neighbor(model->topo, spot->vertex, port);
    uint64_t channel =
        wf_router_reverse(model, spot->vertex, port) * model->vcs + input % model->vcs;
    schedule(spot, before, model->phits + (int64_t)model->set.credit_delay, WF_ROUTER_SLOT,
             &channel, sizeof(channel));
}

/* ---- who gets a channel ---- */

static int64_t age_of(const struct wf_router_spot *spot, uint32_t input)
{
    const struct wf_router_cell *entry = wf_cell_read(spot->ctx, spot->inputs[input].first);

    return entry->packet.born;
}

/* How far behind the last winner an input comes in turn. */
static uint32_t turns_to(const struct wf_router_spot *spot, uint32_t winner, uint32_t input)
{
    uint32_t n = spot->layout->n_inputs;

    return (input + n - winner % n) % n;
}

/* Whether `a` goes before `b`. `winner` is the input that won last, + 1. */
static bool before(const struct wf_router_spot *spot, uint32_t winner, uint32_t a, uint32_t b)
{
    int64_t by = 0;

    if (spot->model->set.arbitration == WF_ROUTER_AGE) {
        by = age_of(spot, a) - age_of(spot, b);
    } else if (spot->model->set.arbitration == WF_ROUTER_FIFO) {
        by = spot->inputs[a].asked - spot->inputs[b].asked;
    }
    return by != 0 ? by < 0 : turns_to(spot, winner, a) < turns_to(spot, winner, b);
}

static bool is_injected(const struct wf_router_spot *spot, uint32_t input)
{
    return input >= spot->layout->n_ports * spot->model->vcs;
}

static void count_injected(const struct wf_router_spot *spot, uint32_t input,
                           const struct wf_router_packet *packet, struct round *round)
{
    if (is_injected(spot, input)) {
        if (spot->head->backlog != 0) { /* there is room for the next one */
            soonest(round, spot->now + 1);
        }
        spot->head->injected++;
        wf_router_counted(spot);
        if (packet->last != 0 && spot->model->net.user.sent != NULL) {
            wf_schedule(spot->ctx, wf_self(spot->ctx),
                        spot->model->phits * spot->model->set.cycle - 1, WF_ROUTER_SENT, packet,
                        sizeof(*packet));
        }
        spot->head->waited += (uint64_t)(spot->now - packet->born);
    }
}

/* True with the probability that packets in transit go first this time. */
static bool transit_first(const struct wf_router_spot *spot)
{
    double priority = spot->model->set.transit_priority;

    return priority > 0 &&
           (priority >= 1 || (double)(wf_random(spot->ctx) >> 11) * 0x1p-53 < priority);
}

/* The place of the winner among the wishes for a channel, of which `from` is the first. */
static uint32_t choose(const struct wf_router_spot *spot, const struct round *round,
                       uint32_t from, uint32_t winner)
{
    uint32_t channel = round->wishes[from].channel, best = from, n = 1;
    bool transit = transit_first(spot);

    for (uint32_t i = from + 1; i < round->n; i++) {
        uint32_t a = round->wishes[i].input, b = round->wishes[best].input;
        if (round->wishes[i].channel != channel) {
            continue;
        }
        n++;
        if (transit && is_injected(spot, a) != is_injected(spot, b)) {
            best = is_injected(spot, a) ? best : i;
        } else if (spot->model->set.arbitration == WF_ROUTER_DICE
                       ? wf_rng_below(wf_random(spot->ctx), n) == 0
                       : before(spot, winner, a, b)) {
            best = i;
        }
    }
    return best;
}

static void grant(const struct wf_router_spot *spot, const struct wf_router_wish *wish)
{
    struct wf_router_channel *channel = &spot->channels[wish->channel];
    struct wf_router_link *link = &spot->links[wish->channel / spot->model->vcs];
    struct wf_router_input *input = wf_router_edit_input(spot, wish->input);

    wf_touch(spot->ctx, channel, sizeof(*channel));
    wf_touch(spot->ctx, link, sizeof(*link));
    channel->holder = (uint16_t)(wish->input + 1);
    channel->winner = (uint16_t)(wish->input + 1);
    link->waiting++;
    input->taken = (uint16_t)(wish->channel + 1);
}

static void eat(const struct wf_router_spot *spot, uint32_t input, struct round *round)
{
    struct wf_router_packet packet = begin(spot, input, round);

    count_injected(spot, input, &packet, round);
    wf_router_consume(spot, &packet);
    give_back(spot, input);
}

static void consume(const struct wf_router_spot *spot, struct round *round, uint32_t at)
{
    struct wf_router_head *head = spot->head;

    if (!spot->model->set.consume_one) {
        eat(spot, round->wishes[at].input, round);
        round->wishes[at].channel = WF_ROUTER_NONE;
        round->wishes[at].input = WF_ROUTER_NONE;
        return;
    }
    if (head->consume_free > spot->now) {
        round->wishes[at].channel = WF_ROUTER_NONE;
        return;
    }
    uint32_t best = choose(spot, round, at, head->consume_winner);
    wf_touch(spot->ctx, head, sizeof(*head));
    head->consume_winner = round->wishes[best].input + 1;
    head->consume_free = spot->now + spot->model->phits;
    eat(spot, round->wishes[best].input, round);
    round->wishes[best].input = WF_ROUTER_NONE;
    for (uint32_t i = at; i < round->n; i++) {
        if (round->wishes[i].channel == WF_ROUTER_CONSUME) {
            round->wishes[i].channel = WF_ROUTER_NONE;
        }
    }
}

/* Gives the channel of a wish to one of those who ask for it. The others have none then. */
static void give_channel(const struct wf_router_spot *spot, struct round *round, uint32_t wish)
{
    uint32_t channel = round->wishes[wish].channel;
    uint32_t best = choose(spot, round, wish, spot->channels[channel].winner);

    grant(spot, &round->wishes[best]);
    round->wishes[best].input = WF_ROUTER_NONE;
    for (uint32_t i = wish; i < round->n; i++) {
        if (round->wishes[i].channel == channel) {
            round->wishes[i].channel = WF_ROUTER_NONE;
        }
    }
}

/* Gives every channel that is asked for to somebody. What is left has no channel. */
static void arbitrate(const struct wf_router_spot *spot, struct round *round)
{
    for (uint32_t i = 0; i < round->n; i++) {
        uint32_t channel = round->wishes[i].channel;

        if (channel == WF_ROUTER_CONSUME) {
            consume(spot, round, i);
        } else if (channel != WF_ROUTER_NONE) {
            give_channel(spot, round, i);
        }
    }
}

/* ---- links ---- */

static uint32_t next_channel(const struct wf_router_spot *spot, uint32_t port)
{
    uint32_t vcs = spot->model->vcs, vc = spot->links[port].turn;

    while (spot->channels[port * vcs + vc].holder == 0) {
        vc = vc + 1 == vcs ? 0 : vc + 1;
    }
    return vc;
}

static void send(const struct wf_router_spot *spot, uint32_t port, struct round *round)
{
    const struct wf_router_net *model = spot->model;
    struct wf_router_link *link = &spot->links[port];
    uint32_t vc = next_channel(spot, port);
    struct wf_router_channel *channel = &spot->channels[port * model->vcs + vc];
    uint32_t input = channel->holder - 1u;

    wf_touch(spot->ctx, link, sizeof(*link));
    wf_touch(spot->ctx, channel, sizeof(*channel));
    channel->holder = 0;
    channel->free = link->free = spot->now + model->phits;
    channel->used++;
    channel->packets++;
    link->waiting--;
    link->turn = (uint16_t)(vc + 1 == model->vcs ? 0 : vc + 1);

    struct wf_router_packet packet = begin(spot, input, round);
    count_injected(spot, input, &packet, round);
    wf_router_stats_leaves(spot, port, &packet);
    packet.hops++;
    packet.input = (wf_router_reverse(model, spot->vertex, port) * model->vcs + vc) & 0x7fff;
    schedule(spot, model->topo->ops->neighbor(model->topo, spot->vertex, port),
             (int64_t)(model->set.pipeline + model->set.link_delay), WF_ROUTER_HEAD, &packet,
             sizeof(packet));
    give_back(spot, input);
}

static void send_all(const struct wf_router_spot *spot, struct round *round)
{
    for (uint32_t port = 0; port < spot->layout->n_ports; port++) {
        struct wf_router_link *link = &spot->links[port];

        if (link->waiting > 0 && link->free <= spot->now) {
            send(spot, port, round);
        }
        if (link->waiting > 0) {
            soonest(round, link->free);
        }
    }
}

/* ---- the cycle ---- */

static void ask(const struct wf_router_spot *spot, uint32_t number, struct round *round)
{
    const struct wf_router_input *input = &spot->inputs[number];
    int64_t ready = ready_at(spot, input);

    if (input->taken != 0 || (spot->head->shut != 0 && is_injected(spot, number))) {
        return;
    }
    if (ready > spot->now) {
        soonest(round, ready);
        return;
    }
    if (input->asked == 0 && spot->model->set.arbitration == WF_ROUTER_FIFO) {
        wf_router_edit_input(spot, number)->asked = spot->now + 1;
    }
    round->wishes[round->n++] = wf_router_wish(spot, number);
}

static void ask_all(const struct wf_router_spot *spot, struct round *round)
{
    for (uint32_t w = 0; w < spot->layout->n_words; w++) {
        for (uint64_t left = spot->words[w]; left != 0; left &= left - 1) {
            ask(spot, w * 64 + (uint32_t)__builtin_ctzll(left), round);
        }
    }
}

void wf_router_decide(const struct wf_router_spot *spot)
{
    struct wf_router_head *head = spot->head;
    struct round round;

    if (head->wake != spot->now + 1) {
        return; /* an earlier one took its place */
    }
    wf_touch(spot->ctx, head, sizeof(*head));
    head->wake = 0;
    round.n = 0;
    round.next = WF_ROUTER_NEVER;
    if (head->backlog != 0) {
        wf_router_inject(spot);
    }
    ask_all(spot, &round);
    arbitrate(spot, &round);
    send_all(spot, &round);
    for (uint32_t i = 0; i < round.n; i++) {
        if (round.wishes[i].input != WF_ROUTER_NONE) {
            wf_router_watch(spot);
            soonest(&round, wf_router_ask_again(spot, round.wishes[i].input));
        }
    }
    if (round.next != WF_ROUTER_NEVER) {
        wf_router_wake(spot, round.next);
    }
}
