/* SPDX-License-Identifier: Apache-2.0 */
/* What packets request: the rules of net/router/rules, for routers executed by events. */
#include "model/net/router/events/flit.h"
#include "model/net/router/events/reads.h"

/* A digit of the source's number to the base n, a different digit at each level of a tree:
 * packets from one switch to one destination take different paths up. */
static uint32_t source_digit(const struct wf_router_packet *packet, uint32_t n)
{
    uint32_t digits = packet->msg.src_node;

    for (uint32_t level = 1; level < packet->hops && n > 1; level++) {
        digits /= n;
    }
    return digits % n;
}

uint32_t wf_router_ports(const struct wf_router_view *view,
                         const struct wf_router_packet *packet, uint32_t *ports)
{
    const struct wf_topo *topo = view->model->topo;
    uint32_t target = packet->dst;

    if (view->model->rules.request == WF_ROUTER_FIRST) {
        ports[0] = topo->ops->next_port(topo, view->vertex, target);
        return 1;
    }
    uint32_t n = wf_topo_minimal_ports(topo, view->vertex, target, ports);
    if (view->model->rules.request == WF_ROUTER_SOURCE) {
        ports[0] = ports[source_digit(packet, n)];
        return 1;
    }
    return n;
}

/* ---- the first packet of a queue ---- */

/* A packet that came by an input, or is injected here; `ports` has room for the ports of a router. */
static inline __attribute__((always_inline)) struct wf_router_asker
asker_of(const struct wf_router_view *view, const struct wf_router_packet *packet,
         uint32_t input, bool injected, uint32_t *ports)
{
    const struct wf_router_net *model = view->model;
    const struct wf_router_rules *rules = &model->rules;
    struct wf_router_asker asker = {.input = input,
                                    .injected = injected,
                                    .port = input / rules->vcs,
                                    .vc = input % rules->vcs};

    if (rules->n_dims > 0) {
        const uint16_t *here = wf_router_coords_of(model, view->vertex);
        const uint16_t *there = wf_router_coords_of(model, packet->dst);
        asker.down = packet->on.down;
        asker.left = wf_router_left(rules, here, there);
        asker.before = wf_router_is_before(rules, here, there, asker.down, asker.left);
    } else if (rules->scheme == WF_ROUTER_UPDOWN) {
        asker.ports = ports;
        asker.n_ports = wf_router_ports(view, packet, ports);
    }
    return asker;
}

/* The first packet of an input. */
static inline __attribute__((always_inline)) struct wf_router_asker
asker_at(const struct wf_router_view *view, uint32_t input, const struct wf_router_cell *cell,
         uint32_t *ports)
{
    const struct wf_router_net *model = view->model;
    bool injected = input >= view->layout->n_ports * model->rules.vcs;
    struct wf_router_asker asker = asker_of(view, &cell->packet, input, injected, ports);

    if (model->kind_of != NULL && !injected) {
        asker.since = wf_router_cycles(view->now - cell->at);
        asker.pace = wf_router_kind_in(model, view->vertex, asker.port)->pace;
    }
    asker.chosen = cell->count; /* with a policy */
    return asker;
}

uint32_t wf_router_channels_of(const struct wf_router_net *model, uint32_t vertex,
                               const struct wf_router_packet *packet, uint32_t input,
                               uint16_t *channels, uint32_t *escape)
{
    const struct wf_router_view view = {.model = model, .vertex = vertex};
    uint32_t ports[WF_ROUTER_INPUTS_MAX], n = 0;
    const struct wf_router_asker asker =
        asker_of(&view, packet, input, input == WF_ROUTER_NONE, ports);

    for (uint32_t k = 0; k < wf_router_spans(&model->rules, &asker); k++) {
        const struct wf_router_span span = wf_router_span(&model->rules, &asker, k);
        for (uint32_t c = span.first; c < span.end; c += span.step) {
            channels[n++] = (uint16_t)c;
        }
    }
    *escape = wf_router_escape(&model->rules, &asker);
    return n;
}

/* ---- requests ---- */

struct wf_router_request wf_router_ask(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_here here = wf_router_here(view);
    uint32_t ports[WF_ROUTER_INPUTS_MAX], bet = view->inputs[input].bet;
    struct wf_router_request request = {.input = input, .channel = WF_ROUTER_CONSUME};

    if (here.rules->scheme == WF_ROUTER_POLICY) {
        wf_router_policy_ask(view, input);
    }
    const struct wf_router_cell *cell = wf_cell_read(view->ctx, view->inputs[input].first);
    if (cell->packet.dst != view->vertex) {
        const struct wf_router_asker asker = asker_at(view, input, cell, ports);
        request.channel = wf_router_request(&here, &asker, &bet);
    }
    if (bet != view->inputs[input].bet) {
        wf_router_edit_input(view, input)->bet = (uint8_t)bet;
    }
    return request;
}

int64_t wf_router_ask_again(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_here here = wf_router_here(view);
    const struct wf_router_cell *cell = wf_cell_read(view->ctx, view->inputs[input].first);
    uint32_t ports[WF_ROUTER_INPUTS_MAX];

    if (cell->packet.dst == view->vertex) {
        return view->head->consume_free > view->now ? view->head->consume_free : view->now + 1;
    }
    const struct wf_router_asker asker = asker_at(view, input, cell, ports);
    uint32_t in = wf_router_again_in(&here, &asker);
    return in == WF_ROUTER_NOT_SOON ? WF_ROUTER_NEVER : view->now + in;
}

/* Packets that fit into the queue of an input. */
static uint32_t capacity_of(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;

    return input < view->layout->n_ports * model->rules.vcs
               ? wf_router_kind_in(model, view->vertex, input / model->rules.vcs)->queue
               : (uint32_t)model->set.queue;
}

bool wf_router_is_blocked(const struct wf_router_view *view, uint32_t input,
                          struct wf_net_wait *wait)
{
    const struct wf_router_here here = wf_router_here(view);
    const struct wf_router_input *queue = &view->inputs[input];
    uint32_t ports[WF_ROUTER_INPUTS_MAX], full[WF_NET_WAIT_TARGETS], n;

    if (view->model->set.switching == WF_ROUTER_WORMHOLE) {
        return wf_router_flit_is_blocked(view, input, wait);
    }
    *wait = (struct wf_net_wait){
        .queue = wf_router_queue(view, input),
        .is_full = queue->n > 0 && queue->n >= capacity_of(view, input),
    };
    if (queue->n == 0 || queue->taken != 0 ||
        input >= view->layout->n_ports * here.rules->vcs) {
        return false;
    }
    const struct wf_router_cell *cell = wf_cell_read(view->ctx, queue->first);
    if (cell->packet.dst == view->vertex) {
        return false;
    }
    const struct wf_router_asker asker = asker_at(view, input, cell, ports);
    bool stuck = wf_router_is_stuck(&here, &asker, full, &n, WF_NET_WAIT_TARGETS);
    for (; wait->n < n; wait->n++) {
        wait->targets[wait->n] = wf_router_queue_after(view, full[wait->n]);
    }
    return stuck;
}
