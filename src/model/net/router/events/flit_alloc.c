/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation of channels and of the switch (rules/wormhole.h). Offers that are lost keep such a
 * router below the capacity of its links. */
#include "model/net/router/events/flit.h"
#include "model/net/router/rules/wormhole.h"

enum { CHANNELS_MAX = WF_ROUTER_INPUTS_MAX + 2 * WF_ROUTER_VCS_MAX };

static uint32_t n_channels(const struct wf_router_view *view)
{
    return (view->layout->n_ports + 1) * view->model->rules.vcs;
}

/* ---- channels ---- */

struct askers {
    uint32_t n;
    uint16_t input[WF_ROUTER_INPUTS_MAX];
    uint16_t offer[CHANNELS_MAX]; /* by channel: the input that gets its offer, + 1 */
};

/* The first channel from `from` on that the packet may take; WF_ROUTER_NONE after the last. */
static uint32_t next_channel(const struct wf_router_view *view, uint32_t input, uint32_t from)
{
    const struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];
    uint32_t first = (at->port - 1u) * view->model->rules.vcs;
    uint32_t seen = from > first ? from - first : 0, left = (uint32_t)at->vcs >> seen << seen;

    return left == 0 ? WF_ROUTER_NONE : first + (uint32_t)__builtin_ctz(left);
}

static uint32_t first_channel(const struct wf_router_view *view, uint32_t input)
{
    return next_channel(view, input, 0);
}

static bool is_asker(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];

    if (at->state != WF_ROUTER_FLIT_WAITS) {
        return false;
    }
    if (at->ready > view->now) {
        wf_router_wake(view, at->ready);
        return false;
    }
    if (at->port == 0 || view->model->rules.scheme == WF_ROUTER_ADAPTIVE) {
        wf_router_flit_route(view, input);
    }
    return true;
}

static void find_askers(const struct wf_router_view *view, struct askers *askers)
{
    askers->n = 0;
    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        for (uint64_t left = view->words[w]; left != 0; left &= left - 1) {
            uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (is_asker(view, input)) {
                askers->input[askers->n++] = (uint16_t)input;
            }
        }
    }
}

static void offer_channels(const struct wf_router_view *view, struct askers *askers)
{
    const struct wf_router_flit_channel *channels = wf_router_flit_channels(view);
    uint32_t n = view->layout->n_inputs;

    for (uint32_t i = 0; i < askers->n; i++) {
        uint32_t input = askers->input[i], c = first_channel(view, input);
        for (; c != WF_ROUTER_NONE; c = next_channel(view, input, c + 1)) {
            askers->offer[c] = 0;
        }
    }
    for (uint32_t i = 0; i < askers->n; i++) {
        uint32_t input = askers->input[i], c = first_channel(view, input);
        for (; c != WF_ROUTER_NONE; c = next_channel(view, input, c + 1)) {
            if (wf_router_flit_is_open(view, c)) {
                askers->offer[c] =
                    (uint16_t)wf_router_in_turn(askers->offer[c], input, channels[c].grant, n);
            }
        }
    }
}

static void take_channel(const struct wf_router_view *view, uint32_t input, uint32_t channel)
{
    struct wf_router_flit_input *at = wf_router_flit_edit(view, input);
    struct wf_router_flit_channel *offered = &wf_router_flit_channels(view)[channel];
    struct wf_router_channel *held = &view->channels[channel];

    wf_touch(view->ctx, offered, sizeof(*offered));
    wf_touch(view->ctx, held, sizeof(*held));
    held->holder = (uint16_t)(input + 1);
    held->packets++;
    wf_router_channel_taken(&offered->grant, &at->accept, input, channel);
    at->state = WF_ROUTER_FLIT_GOES;
    wf_router_edit_input(view, input)->taken = (uint16_t)(channel + 1);
}

static bool give_channels(const struct wf_router_view *view, struct askers *askers)
{
    bool again = false;

    offer_channels(view, askers);
    for (uint32_t i = 0; i < askers->n; i++) {
        uint32_t input = askers->input[i], c = first_channel(view, input);
        uint32_t first = wf_router_flit_inputs(view)[input].accept, best = 0;

        for (; c != WF_ROUTER_NONE; c = next_channel(view, input, c + 1)) {
            again = again || askers->offer[c] != 0;
            if (askers->offer[c] == input + 1) {
                best = wf_router_in_turn(best, c, first, n_channels(view));
            }
        }
        if (best != 0) {
            take_channel(view, input, best - 1);
        }
    }
    return again;
}

/* ---- the switch ---- */

struct bid {
    uint16_t in, out, vc;
    bool is_speculative; /* speculative: the packet may get a channel in the same cycle */
};

struct bids {
    uint32_t n;
    struct bid at[WF_ROUTER_INPUTS_MAX];
    uint16_t
        offer[WF_ROUTER_INPUTS_MAX + 1]; /* by output: the input that gets its offer, + 1 */
};

/* Adds a bid. If several channels of a port want the same output, the one whose turn it is
 * bids. */
static void add_bid(const struct wf_router_view *view, struct bids *bids, const struct bid *bid)
{
    uint32_t turn = wf_router_flit_ports(view)[bid->in].turn, vcs = view->model->rules.vcs;

    for (uint32_t i = bids->n; i > 0 && bids->at[i - 1].in == bid->in; i--) {
        struct bid *other = &bids->at[i - 1];
        if (other->out == bid->out) {
            if (bid->is_speculative < other->is_speculative ||
                (bid->is_speculative == other->is_speculative &&
                 wf_router_in_turn(other->vc + 1u, bid->vc, turn, vcs) != other->vc + 1u)) {
                *other = *bid;
            }
            return;
        }
    }
    bids->at[bids->n++] = *bid;
}

/* Whether a packet that requests a channel might get one with space. */
static bool may_speculate(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];

    if (!view->model->set.speculative || at->state != WF_ROUTER_FLIT_WAITS || at->port == 0) {
        return false;
    }
    for (uint32_t c = first_channel(view, input); c != WF_ROUTER_NONE;
         c = next_channel(view, input, c + 1)) {
        if (wf_router_flit_is_open(view, c) && wf_router_flit_has_room(view, c)) {
            return true;
        }
    }
    return false;
}

/* Whether a packet with a speculative bid got a channel of that port. */
static bool is_granted(const struct wf_router_view *view, uint32_t input, uint32_t port)
{
    uint32_t channel = view->inputs[input].taken - 1u;

    return wf_router_flit_inputs(view)[input].state == WF_ROUTER_FLIT_GOES &&
           channel / view->model->rules.vcs == port && wf_router_flit_has_room(view, channel);
}

static void find_bids(const struct wf_router_view *view, struct bids *bids)
{
    const struct wf_router_flit_port *ports = wf_router_flit_ports(view);
    uint32_t vcs = view->model->rules.vcs;

    bids->n = 0;
    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        for (uint64_t left = view->words[w]; left != 0; left &= left - 1) {
            uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(left);
            const struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];
            bool goes = at->state == WF_ROUTER_FLIT_GOES && at->here > 0 &&
                        wf_router_flit_has_room(view, view->inputs[input].taken - 1u);
            struct bid bid = {.in = (uint16_t)(input / vcs),
                              .out = (uint16_t)(at->port - 1),
                              .vc = (uint16_t)(input % vcs),
                              .is_speculative = !goes};

            if ((goes || may_speculate(view, input)) && ports[bid.in].holds == 0 &&
                !ports[bid.out].is_held && wf_router_flit_link_is_free(view, bid.out)) {
                add_bid(view, bids, &bid);
            }
        }
    }
}

static void offer_outputs(const struct wf_router_view *view, struct bids *bids)
{
    const struct wf_router_flit_port *ports = wf_router_flit_ports(view);
    uint32_t n = view->layout->n_ports + 1;

    for (uint32_t i = 0; i < bids->n; i++) {
        bids->offer[bids->at[i].out] = 0;
    }
    for (uint32_t i = 0; i < bids->n; i++) {
        uint32_t in = bids->at[i].in, out = bids->at[i].out;
        bids->offer[out] =
            (uint16_t)wf_router_in_turn(bids->offer[out], in, ports[out].grant, n);
    }
}

/* The bid that an input port wins among its bids from `from` to before `end`; `end` if it
 * wins none. */
static uint32_t take_output(const struct wf_router_view *view, const struct bids *bids,
                            uint32_t from, uint32_t end)
{
    uint32_t first = wf_router_flit_ports(view)[bids->at[from].in].accept, best = 0, at = end;
    uint32_t n = view->layout->n_ports + 1;

    for (uint32_t i = from; i < end; i++) {
        const struct bid *bid = &bids->at[i];
        if (bids->offer[bid->out] == bid->in + 1) {
            best = wf_router_in_turn(best, bid->out, first, n);
            at = best == bid->out + 1u ? i : at;
        }
    }
    return at;
}

static void go_on(const struct wf_router_view *view, const struct bid *bid)
{
    struct wf_router_flit_port *in = &wf_router_flit_ports(view)[bid->in];
    struct wf_router_flit_port *out = &wf_router_flit_ports(view)[bid->out];

    wf_touch(view->ctx, in, sizeof(*in));
    wf_touch(view->ctx, out, sizeof(*out));
    wf_router_switch_taken(&in->turn, &in->accept, &out->grant, bid->vc, bid->out,
                           bid->in + 1u);
}

/* ---- packets that keep the switch ---- */

/* Whether the packet of a queue that has just sent a flit has another one here. */
static bool has_more(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];

    return at->state == WF_ROUTER_FLIT_GOES && at->gone > 0 && at->here > 0;
}

static void hold(const struct wf_router_view *view, const struct bid *bid, bool holds)
{
    struct wf_router_flit_port *in = &wf_router_flit_ports(view)[bid->in];
    struct wf_router_flit_port *out = &wf_router_flit_ports(view)[bid->out];

    wf_touch(view->ctx, in, sizeof(*in));
    wf_touch(view->ctx, out, sizeof(*out));
    in->holds = (uint16_t)(holds ? bid->vc + 1 : 0);
    out->is_held = holds;
}

/* Sends the next flits of packets that hold the switch. A packet without a flit, or without
 * space for it, releases the switch. */
static bool move_on(const struct wf_router_view *view, wf_router_flit_move *move)
{
    uint32_t vcs = view->model->rules.vcs;
    bool again = false;

    for (uint32_t port = 0; port <= view->layout->n_ports; port++) {
        uint32_t vc = wf_router_flit_ports(view)[port].holds;
        if (vc == 0) {
            continue;
        }
        uint32_t input = port * vcs + vc - 1, channel = view->inputs[input].taken - 1u;
        struct bid bid = {
            .in = (uint16_t)port, .out = (uint16_t)(channel / vcs), .vc = (uint16_t)(vc - 1)};
        bool goes = wf_router_flit_has_room(view, channel);
        if (goes && !wf_router_flit_link_is_free(view, bid.out)) {
            continue;
        }
        if (goes) {
            move(view, input);
        }
        if (!goes || !has_more(view, input)) {
            hold(view, &bid, false);
        }
        again = true;
    }
    return again;
}

/* ---- the allocation ---- */

static void give_switch(const struct wf_router_view *view, struct bids *bids,
                        wf_router_flit_move *move)
{
    offer_outputs(view, bids);
    for (uint32_t from = 0, end; from < bids->n; from = end) {
        end = from + 1;
        while (end < bids->n && bids->at[end].in == bids->at[from].in) {
            end++;
        }
        uint32_t won = take_output(view, bids, from, end);
        if (won == end) {
            continue;
        }
        const struct bid *bid = &bids->at[won];
        uint32_t input = (uint32_t)bid->in * view->model->rules.vcs + bid->vc;
        go_on(view, bid);
        if (bid->is_speculative && !is_granted(view, input, bid->out)) {
            continue;
        }
        move(view, input);
        if (view->model->set.hold_switch && has_more(view, input)) {
            hold(view, bid, true);
        }
    }
}

bool wf_router_flit_allocate(const struct wf_router_view *view, wf_router_flit_move *move)
{
    struct askers askers;
    struct bids bids;

    /* A packet that gets a channel now bids for the switch in the next cycle, unless it has a
     * speculative bid. The channel of a packet whose tail leaves now is free in the next
     * cycle. */
    find_askers(view, &askers);
    find_bids(view, &bids);
    bool again = give_channels(view, &askers);
    if (view->model->set.hold_switch) {
        again = move_on(view, move) || again;
    }
    give_switch(view, &bids, move);
    return again || bids.n > 0;
}
