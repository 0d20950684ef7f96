/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flits at a router: they arrive, get the switch and leave, and the previous router is told
 * about the free space. A router has a step in each cycle in which something can change. A
 * node is a source of flits: it sends one packet after another, each on the next virtual
 * channel that has space.
 */
#include "model/net/router/events/flit.h"
#include "model/net/router/events/reads.h"
#include "model/net/router/events/stats.h"
#include "model/net/router/rules/inject.h"
#include "model/net/router/rules/wormhole.h"

/* ---- arrivals ---- */

/* Prepares the first packet of a queue to be routed from the cycle `at` on. */
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
    bool was_empty = wf_router_append(view, packet->input, packet);
    struct wf_router_flit_input *flits = wf_router_flit_edit(view, packet->input);

    flits->here++;
    if (was_empty) {
        begin(view, flits, view->now);
    }
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
    if (channel->used-- == wf_router_flit_capacity(view, number) ||
        (view->model->atomic && channel->used == 0)) {
        wf_router_wake(view, view->now);
    }
    if (view->model->notice_step > 0 &&
        number / view->model->rules.vcs < view->layout->n_ports) {
        wf_router_notice_send(view, number / view->model->rules.vcs);
    }
}

/* ---- departures ---- */

/* Tells the previous router or node that there is space for one more flit. */
static void give_back(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = input / model->rules.vcs;
    struct wf_router_end before = {view->vertex, view->layout->n_ports + 1};
    const struct wf_router_link_kind *kind = model->kinds;

    if (port < view->layout->n_ports) {
        before = wf_router_before(model, view->vertex, port);
        kind = wf_router_kind(model, before.vertex, before.port);
    }
    uint64_t channel = before.port * model->rules.vcs + input % model->rules.vcs;
    wf_router_schedule(view, before.vertex, 1 + kind->link_delay + model->set.credit_delay,
                       WF_ROUTER_SLOT, &channel, sizeof(channel));
}

/* Sends a flit to the next vertex. A node is told about the tail only. */
static void tell_next(const struct wf_router_view *view, uint32_t channel, uint32_t gone,
                      const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = channel / model->rules.vcs, next = packet->dst;
    const struct wf_router_link_kind *kind = wf_router_flit_kind(view, port);
    uint64_t cycles = UINT64_C(1) + kind->pipeline + kind->link_delay;
    struct wf_router_packet there = *packet;

    if (port < view->layout->n_ports) {
        next = model->topo->ops->neighbor(model->topo, view->vertex, port);
        there.input = (wf_router_in_port(model, view->vertex, port) * model->rules.vcs +
                       channel % model->rules.vcs) &
                      0x7fff;
        there.hops++;
        if (gone == 1) {
            wf_router_stats_leaves(view, port, packet);
        }
    }
    if (wf_router_flit_is_terminal(view, port)) {
        if (gone == model->rules.phits) {
            wf_router_schedule(view, next, cycles, WF_ROUTER_TAIL, &there, sizeof(there));
        }
    } else if (gone == 1) {
        wf_router_schedule(view, next, cycles, WF_ROUTER_HEAD, &there, sizeof(there));
    } else {
        uint64_t input = there.input;
        wf_router_schedule(view, next, cycles, WF_ROUTER_FLIT, &input, sizeof(input));
    }
}

/* Removes the first packet, whose tail has left. */
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
        wf_router_mark(view, number, false);
    } else {
        begin(view, flits, view->now + 1);
    }
}

/* Sends the next flit of an input, which got the switch. */
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
    if (flits->gone == 1) {
        view->head->digest += wf_router_fact((uint64_t)view->now, view->vertex, taken,
                                             entry->packet.dst, (uint64_t)entry->packet.born);
    }
    wf_router_flit_use_link(view, taken / view->model->rules.vcs);
    if (!wf_router_flit_is_terminal(view, taken / view->model->rules.vcs)) {
        struct wf_router_flit_channel *channel = &wf_router_flit_channels(view)[taken];
        wf_touch(view->ctx, channel, sizeof(*channel));
        channel->used++;
    }
    tell_next(view, taken, flits->gone, &entry->packet);
    give_back(view, input);
    if (flits->gone == view->model->rules.phits) {
        end(view, input);
    }
}

/* ---- routes ---- */

static void set_route(const struct wf_router_view *view, uint32_t input, uint32_t port,
                      uint32_t vcs)
{
    struct wf_router_flit_input *at = wf_router_flit_edit(view, input);

    at->port = (uint16_t)(port + 1);
    at->vcs = (uint16_t)vcs;
}

/* Chooses one of several ports: at random, or the one with the fewest waiting flits. */
static uint32_t choose_port(const struct wf_router_view *view, uint32_t input,
                            const uint32_t *ports, uint32_t n)
{
    const struct wf_router_here here = wf_router_here(view);
    uint32_t best = 0, least = WF_ROUTER_NONE, ties = 0;

    if (view->model->rules.request == WF_ROUTER_RANDOM) {
        return ports[wf_router_below(&here, input, 0, n)];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t used = 0;
        for (uint32_t vc = 0; vc < view->model->rules.vcs; vc++) {
            used += wf_router_flit_channels(view)[ports[i] * view->model->rules.vcs + vc].used;
        }
        ties = used < least ? 1 : used == least ? ties + 1 : ties;
        if (used < least || (used == least && wf_router_below(&here, input, i, ties) == 0)) {
            best = i;
            least = used;
        }
    }
    return ports[best];
}

/* Whether a packet can be given a channel of a port that is no escape channel. */
static bool is_open(const struct wf_router_view *view, uint32_t port)
{
    const struct wf_router_net *model = view->model;

    for (uint32_t vc = model->rules.escapes; vc < model->rules.vcs; vc++) {
        if (wf_router_flit_is_open(view, port * model->rules.vcs + vc)) {
            return true;
        }
    }
    return false;
}

/* The escape channels of a packet: dimension order. On a ring, a packet that has its end before
 * it uses the upper one, and afterwards the lower one. */
static void route_by_escape(const struct wf_router_view *view, uint32_t input, uint32_t down,
                            const uint16_t *here, const uint16_t *there)
{
    const struct wf_router_rules *rules = &view->model->rules;
    uint32_t dim = wf_router_first_dim(wf_router_left(rules, here, there));
    uint32_t vcs = wf_router_all_vcs(rules->escapes);

    if ((rules->rings >> dim & 1) != 0) {
        vcs = wf_router_crosses(here, there, down, dim) ? 2 : 1;
    }
    set_route(view, input, wf_router_dim_port(down, dim), vcs);
}

/* Whether a packet came by an escape channel and stays in these. */
static bool stays_in_escape(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;

    return model->set.escape == WF_ROUTER_STAYS &&
           input < view->layout->n_ports * model->rules.vcs &&
           input % model->rules.vcs < model->rules.escapes;
}

/* Any shortest route (Duato, "A new theory of deadlock-free adaptive routing in wormhole networks",
 * 1993): a channel of any link that leads nearer, if one can be had now, or else an escape channel.
 * Packets are routed anew in each cycle until they get one. If packets may leave escape channels, a
 * channel is given only when the queue at its end is empty: then no packet waits behind another for
 * a channel that it does not need, and following who waits for whom leads to ever later escape
 * channels, hence never around. If they stay there, they wait for escape channels alone, whose order
 * has no cycle, and every other packet that is first in its queue may ask for one. */
static void route_adaptively(const struct wf_router_view *view, uint32_t input,
                             const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    const uint16_t *here = wf_router_coords_of(model, view->vertex);
    const uint16_t *there = wf_router_coords_of(model, packet->dst);
    uint32_t ports[WF_ROUTER_INPUTS_MAX], n = 0;

    bool stays = stays_in_escape(view, input);

    for (uint32_t dim = 0; dim < model->grid->n_dims && !stays; dim++) {
        uint32_t port = wf_router_dim_port(packet->on.down, dim);
        if (here[dim] != there[dim] && is_open(view, port)) {
            ports[n++] = port;
        }
    }
    if (n == 0) {
        route_by_escape(view, input, packet->on.down, here, there);
    } else {
        set_route(view, input, choose_port(view, input, ports, n),
                  wf_router_all_vcs(model->rules.vcs) &
                      ~wf_router_all_vcs(model->rules.escapes));
    }
}

static void route_by_policy(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_rules *rules = &view->model->rules;
    uint32_t vcs = 0;

    wf_router_policy_ask(view, input);
    const struct wf_router_cell *cell = wf_cell_read(view->ctx, view->inputs[input].first);
    const struct wf_router_asker asker = {.chosen = cell->count};
    const struct wf_router_span span = wf_router_chosen(rules, &asker);
    for (uint32_t c = span.first; c < span.end; c += span.step) {
        vcs |= UINT32_C(1) << c % rules->vcs;
    }
    set_route(view, input, span.first / rules->vcs, vcs);
}

static void route_in_grid(const struct wf_router_view *view, uint32_t input,
                          const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    uint32_t vcs = model->rules.vcs;
    const struct wf_router_stop at = {
        .here = wf_router_coords_of(model, view->vertex),
        .there = wf_router_coords_of(model, packet->dst),
        .down = packet->on.down,
        .in = input / vcs,
        .vc = input % vcs,
    };
    const struct wf_router_exit to =
        wf_router_wormhole_exit(&model->rules, &at, view->layout->n_ports, vcs);

    set_route(view, input, to.port, to.vcs);
}

void wf_router_flit_route(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;
    const struct wf_router_cell *cell = wf_cell_read(view->ctx, view->inputs[input].first);
    const struct wf_router_packet *packet = &cell->packet;
    uint32_t ports[WF_ROUTER_INPUTS_MAX];

    if (packet->dst == view->vertex) {
        set_route(view, input, view->layout->n_ports, wf_router_all_vcs(model->rules.vcs));
    } else if (model->rules.scheme == WF_ROUTER_ADAPTIVE) {
        route_adaptively(view, input, packet);
    } else if (model->grid != NULL) {
        route_in_grid(view, input, packet);
    } else if (model->rules.scheme == WF_ROUTER_POLICY) {
        route_by_policy(view, input);
    } else {
        uint32_t port = choose_port(view, input, ports, wf_router_ports(view, packet, ports));
        set_route(view, input, port, wf_router_all_vcs(model->rules.vcs));
    }
}

/* ---- sources ---- */

/* Takes the next channel with space; false if there is none. */
static bool choose_vc(const struct wf_router_view *view, struct wf_router_flit_source *source)
{
    uint32_t first = wf_router_flit_source_channels(view), vc = source->vc;
    uint64_t with_room = 0;

    for (uint32_t i = 0; i < view->model->rules.vcs; i++) {
        with_room |= (uint64_t)wf_router_flit_has_room(view, first + i) << i;
    }
    bool any = wf_router_source_vc(with_room, &vc);
    source->vc = (uint16_t)vc;
    return any;
}

/* The port by which a node reaches its router. */
static uint32_t source_port(const struct wf_router_view *view)
{
    return wf_router_flit_source_channels(view) / view->model->rules.vcs;
}

static void send_to_router(const struct wf_router_view *view, uint16_t kind,
                           const void *payload, size_t size)
{
    const struct wf_topo *topo = view->model->topo;
    uint32_t router =
        wf_topo_is_direct(topo) ? view->vertex : topo->ops->neighbor(topo, view->vertex, 0);
    uint32_t delay = wf_router_flit_kind(view, source_port(view))->link_delay;

    wf_router_flit_use_link(view, source_port(view));
    wf_router_schedule(view, router, UINT64_C(1) + delay, kind, payload, size);
}

/* The queue of the router in which this node's flits arrive. */
static uint32_t input_there(const struct wf_router_view *view)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = wf_topo_is_direct(model->topo) ? view->layout->n_ports
                                                   : wf_router_in_port(model, view->vertex, 0);

    return port * model->rules.vcs + wf_router_flit_source(view)->vc;
}

static void send_head(const struct wf_router_view *view, const struct wf_router_cell *entry)
{
    struct wf_router_head *head = view->head;
    struct wf_router_packet packet = entry->packet;

    wf_router_prepare(view, &packet, entry->count);
    packet.last = entry->count == 1;
    packet.hops = wf_topo_is_direct(view->model->topo) ? 0 : 1;
    packet.input = input_there(view) & 0x7fff;
    struct wf_router_channel *channel =
        &view->channels[wf_router_flit_source_channels(view) + wf_router_flit_source(view)->vc];
    wf_touch(view->ctx, channel, sizeof(*channel));
    channel->packets++;
    wf_touch(view->ctx, head, sizeof(*head));
    head->injected++;
    wf_router_counted(view);
    head->waited += (uint64_t)(view->now - packet.born);
    send_to_router(view, WF_ROUTER_HEAD, &packet, sizeof(packet));
}

static void send_body(const struct wf_router_view *view)
{
    uint64_t input = input_there(view);

    send_to_router(view, WF_ROUTER_FLIT, &input, sizeof(input));
}

/* Removes the packet that was sent from the backlog. */
static void finish_packet(const struct wf_router_view *view)
{
    const struct wf_router_net *model = view->model;
    struct wf_router_head *head = view->head;
    struct wf_router_cell *entry = wf_cell_edit(view->ctx, head->backlog);

    wf_router_flit_source(view)->sent = 0;
    if (--entry->count > 0) {
        return;
    }
    if (model->net.user.sent != NULL) {
        wf_router_schedule_own(view, model->set.cycle - 1, WF_ROUTER_SENT, &entry->packet,
                               sizeof(entry->packet));
    }
    uint32_t cell = head->backlog;
    wf_touch(view->ctx, head, sizeof(*head));
    head->backlog = entry->next;
    wf_cell_free(view->ctx, cell);
}

static bool send_one(const struct wf_router_view *view)
{
    struct wf_router_flit_source *source = wf_router_flit_source(view);

    if (view->head->backlog == 0 ||
        !wf_router_gate_passes(view->head->shut != 0, source->sent == 0) ||
        !wf_router_flit_link_is_free(view, source_port(view))) {
        return false;
    }
    wf_touch(view->ctx, source, sizeof(*source));
    if (source->sent == 0 ? !choose_vc(view, source)
                          : !wf_router_flit_has_room(
                                view, wf_router_flit_source_channels(view) + source->vc)) {
        return false; /* wait for space */
    }
    struct wf_router_flit_channel *channel =
        &wf_router_flit_channels(view)[wf_router_flit_source_channels(view) + source->vc];
    wf_touch(view->ctx, channel, sizeof(*channel));
    channel->used++;
    if (source->sent == 0) {
        send_head(view, wf_cell_read(view->ctx, view->head->backlog));
    } else {
        send_body(view);
    }
    if (++source->sent == view->model->rules.phits) {
        finish_packet(view);
    }
    return view->head->backlog != 0;
}

bool wf_router_flit_can_inject(const struct wf_router_view *view)
{
    uint64_t n = 0;

    for (uint32_t cell = view->head->backlog;
         cell != 0 && n < view->model->set.injection_length;) {
        const struct wf_router_cell *entry = wf_cell_read(view->ctx, cell);
        n += entry->count;
        cell = entry->next;
    }
    return n < view->model->set.injection_length;
}

/* ---- who waits ---- */

bool wf_router_flit_waits(const struct wf_router_flit_now *now, struct wf_net_wait *wait)
{
    const struct wf_router_view *view = now->view;

    *wait = (struct wf_net_wait){.queue = wf_router_queue(view, now->input), .is_full = 1};
    if (now->lacks_room) {
        wait->targets[wait->n++] = wf_router_queue_after(view, now->taken);
        return true;
    }
    for (uint32_t left = now->vcs; left != 0; left &= left - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(left);
        uint32_t holder = now->holder(now->state, now->port * view->model->rules.vcs + vc);
        if (holder == 0 || wait->n == WF_NET_WAIT_TARGETS) {
            return false;
        }
        wait->targets[wait->n++] = wf_router_queue(view, holder - 1);
    }
    return now->vcs != 0;
}

static uint32_t holder_of(const void *state, uint32_t channel)
{
    const struct wf_router_view *view = state;

    return view->channels[channel].holder;
}

bool wf_router_flit_is_blocked(const struct wf_router_view *view, uint32_t input,
                               struct wf_net_wait *wait)
{
    const struct wf_router_flit_input *at = &wf_router_flit_inputs(view)[input];
    uint32_t taken = view->inputs[input].taken - 1u;
    const struct wf_router_flit_now now = {
        .view = view,
        .input = input,
        .lacks_room = at->state == WF_ROUTER_FLIT_GOES && at->here > 0 &&
                      !wf_router_flit_has_room(view, taken),
        .taken = taken,
        .vcs = at->state == WF_ROUTER_FLIT_WAITS && at->port != 0 ? at->vcs : 0,
        .port = at->port - 1u,
        .holder = holder_of,
        .state = view,
    };

    return wf_router_flit_waits(&now, wait);
}

/* ---- the step ---- */

static void step(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    if (head->wake != view->now + 1) {
        return; /* void: an earlier step replaced this one */
    }
    wf_touch(view->ctx, head, sizeof(*head));
    head->wake = 0;
    bool again = send_one(view);
    again = wf_router_flit_allocate(view, move) || again;
    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        if (view->words[w] != 0) {
            wf_router_watch(view);
        }
    }
    if (again) {
        wf_router_wake(view, view->now + 1);
    }
    if (view->model->notice_step > 0) {
        wf_router_notice_send_all(view);
    }
}

bool wf_router_flit_event(const struct wf_router_view *view, const struct wf_event *ev)
{
    const struct wf_router_packet *packet = (const void *)ev->payload;

    switch (wf_net_kind(ev)) {
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
