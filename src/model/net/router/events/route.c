/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What packets request. The rules on grids are those of INSEE's FSIN: which channels a packet
 * may take, in which order it tries them, and that random choices are made anew in every cycle.
 * A packet that got nothing asks again in the next cycle only if it could get something then;
 * otherwise it sleeps until that may have changed.
 */
#include "model/net/router/events/flit.h"

#include <string.h>

enum { ESCAPE = 0 }; /* the channel of adaptive routing that cannot deadlock by itself */

/* The channels that a packet may request. */
struct options {
    uint32_t n;
    uint32_t escape; /* channel to be tried last; WF_ROUTER_NONE */
    uint16_t channel[WF_ROUTER_INPUTS_MAX];
};

/* The first packet of an input, and where it comes from. */
struct asker {
    const struct wf_router_packet *packet;
    int64_t at; /* cycle in which its head arrived */
    uint32_t input;
    bool injected;
    uint32_t port; /* input port, unless it is injected here */
    uint32_t vc;   /* virtual channel, unless injected */
};

static struct asker asker_of(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_cell *cell = wf_cell_read(view->ctx, view->inputs[input].first);
    uint32_t vcs = view->model->vcs;
    struct asker asker = {.packet = &cell->packet, .at = cell->at, .input = input};

    asker.injected = input >= view->layout->n_ports * vcs;
    if (!asker.injected) {
        asker.port = input / vcs;
        asker.vc = input % vcs;
    }
    return asker;
}

/* ---- grids ---- */

/* The first dimension in which the packet is not at its destination. */
static uint32_t first_dim(const struct wf_router_view *view,
                          const struct wf_router_packet *packet)
{
    const uint16_t *here = wf_router_coords_of(view->model, view->vertex);
    const uint16_t *there = wf_router_coords_of(view->model, packet->dst);
    uint32_t dim = 0;

    while (dim + 1 < view->model->grid->n_dims && here[dim] == there[dim]) {
        dim++;
    }
    return dim;
}

/* Whether the rest of the route in a dimension crosses the dateline of its ring. */
static bool crosses(const struct wf_router_view *view, const struct wf_router_packet *packet,
                    uint32_t dim)
{
    uint32_t here = wf_router_coords_of(view->model, view->vertex)[dim];
    uint32_t there = wf_router_coords_of(view->model, packet->dst)[dim];

    return (packet->on.down >> dim & 1) != 0 ? there > here : there < here;
}

/* Cycles in which a phit arrives by an input port. */
static int64_t pace_in(const struct wf_router_view *view, uint32_t port)
{
    return wf_router_kind_in(view->model, view->vertex, port)->pace;
}

static const struct wf_router_link_kind *kind_of(const struct wf_router_view *view,
                                                 uint32_t channel)
{
    return wf_router_kind(view->model, view->vertex, channel / view->model->vcs);
}

/* Phits that have passed entirely after so many cycles. */
static int64_t phits_moved(int64_t cycles, uint32_t pace)
{
    return pace <= 1 ? cycles : cycles / pace; /* most links move one in each cycle */
}

/* Phits in a queue at the end of a link, at the beginning of this cycle. Only the last packet
 * may have arrived partly, and only the first may have left partly. */
static int64_t phits_in(const struct wf_router_view *view, const struct wf_router_input *input,
                        const struct wf_router_link_kind *link)
{
    int64_t phits = view->model->phits;
    int64_t gone = phits_moved(view->now - (input->leave - 1), input->pace);
    bool leaving = input->leave != 0 && gone < phits;
    int64_t here = phits_moved(view->now - input->head, link->pace) + 1;

    if (input->n == 0 && !leaving) {
        return 0;
    }
    return phits * (input->n + leaving) - (leaving ? gone : 0) -
           (here < phits ? phits - here : 0);
}

/* The queue at this router from which packets of a ring continue on the channel. */
static uint32_t ring_input(const struct wf_router_net *model, uint32_t channel)
{
    return (channel / model->vcs ^ 1) * model->vcs + channel % model->vcs;
}

/* The free space, in packets, that the queue of a channel's ring must have at this router
 * before the packet may enter the ring; 0 if the packet may always enter. */
static uint32_t room_needed(const struct wf_router_view *view, const struct asker *asker,
                            uint32_t channel)
{
    const struct wf_router_net *model = view->model;
    uint32_t room = asker->injected ? (uint32_t)model->set.restriction : 0;

    if (model->bubble && wf_router_is_ring(model, channel / model->vcs / 2) &&
        (model->escapes == 0 || channel % model->vcs == ESCAPE) &&
        (asker->injected || asker->input != ring_input(model, channel))) {
        room = room < 2 ? 2 : room;
    }
    return room;
}

/* The first cycle in which the ring's queue has that space, if no packet arrives. */
static int64_t room_at(const struct wf_router_view *view, const struct asker *asker,
                       uint32_t channel)
{
    const struct wf_router_net *model = view->model;
    uint32_t room = room_needed(view, asker, channel);

    if (room == 0) {
        return view->now;
    }
    uint32_t ring = ring_input(model, channel);
    const struct wf_router_input *queue = &view->inputs[ring];
    int64_t phits = model->phits;
    const struct wf_router_link_kind *link =
        wf_router_kind_in(model, view->vertex, ring / model->vcs);
    int64_t limit = ((int64_t)link->queue - room) * phits;

    if (phits_in(view, queue, link) <= limit) {
        return view->now;
    }
    int64_t began = queue->leave - 1;
    if (queue->leave == 0 || began + phits * queue->pace <= view->now) {
        return WF_ROUTER_NEVER;
    }
    int64_t gone = phits * (queue->n + 1) - limit;
    int64_t at = began + (gone < phits ? gone : phits) * queue->pace;
    return at > view->now ? at : view->now + 1;
}

/* The first cycle in which a packet can begin to leave without gaps: from a slower link it
 * comes phit by phit, and the last phit must be here when its turn comes. */
static int64_t flow_at(const struct wf_router_view *view, const struct asker *asker,
                       uint32_t channel)
{
    if (view->model->kind_of == NULL || asker->injected) {
        return view->now;
    }
    int64_t slower = pace_in(view, asker->port) - kind_of(view, channel)->pace;
    return slower <= 0 ? view->now : asker->at + (view->model->phits - 1) * slower;
}

/* Whether a packet may take a channel, if no other packet holds it. */
static bool fits(const struct wf_router_view *view, const struct asker *asker, uint32_t channel)
{
    return view->channels[channel].used < kind_of(view, channel)->queue &&
           room_at(view, asker, channel) <= view->now &&
           flow_at(view, asker, channel) <= view->now;
}

static bool is_held(const struct wf_router_view *view, uint32_t channel)
{
    const struct wf_router_channel *c = &view->channels[channel];

    return c->holder != 0 || c->free > view->now;
}

static void add(struct options *options, uint32_t channel)
{
    options->channel[options->n++] = (uint16_t)channel;
}

static void add_all(const struct wf_router_net *model, uint32_t port, uint32_t first,
                    struct options *options)
{
    for (uint32_t vc = first; vc < model->vcs; vc++) {
        add(options, port * model->vcs + vc);
    }
}

/* Dimension order: a packet that stays in a dimension keeps its channel. */
static void dor_options(const struct wf_router_view *view, const struct asker *asker,
                        struct options *options)
{
    uint32_t dim = first_dim(view, asker->packet),
             port = wf_router_dim_port(asker->packet, dim);

    if (!asker->injected && asker->port / 2 == dim) {
        add(options, port * view->model->vcs + asker->vc);
    } else {
        add_all(view->model, port, 0, options);
    }
}

/* Two classes of channels: the lower ones for packets that have still to cross the dateline of
 * the ring, the upper ones for the others (Dally and Seitz, "Deadlock-free message routing in
 * multiprocessor interconnection networks", IEEE Transactions on Computers, 1987). */
static void dateline_options(const struct wf_router_view *view, const struct asker *asker,
                             struct options *options)
{
    const struct wf_router_net *model = view->model;
    uint32_t dim = first_dim(view, asker->packet), half = model->vcs / 2;
    uint32_t port = wf_router_dim_port(asker->packet, dim);
    bool low = crosses(view, asker->packet, dim);
    bool high = !low;

    low = low || model->scheme == WF_ROUTER_DATELINE_FREE;
    for (uint32_t vc = low ? 0 : half; vc < (high ? model->vcs : half); vc++) {
        add(options, port * model->vcs + vc);
    }
}

/* Fully adaptive, minimal; dimension order as the escape. */
static void adaptive_options(const struct wf_router_view *view, const struct asker *asker,
                             struct options *options)
{
    const struct wf_router_net *model = view->model;
    const uint16_t *here = wf_router_coords_of(model, view->vertex);
    const uint16_t *there = wf_router_coords_of(model, asker->packet->dst);
    bool stays = !asker->injected && asker->vc != ESCAPE && model->request == WF_ROUTER_SMART;

    for (uint32_t dim = 0; dim < model->grid->n_dims; dim++) {
        uint32_t port = wf_router_dim_port(asker->packet, dim);
        if (here[dim] == there[dim]) {
            continue;
        }
        if (stays && (port ^ 1) == asker->port) {
            add(options, port * model->vcs + asker->vc);
        } else {
            add_all(model, port, 1, options);
        }
    }
    options->escape =
        wf_router_dim_port(asker->packet, first_dim(view, asker->packet)) * model->vcs + ESCAPE;
}

/* ---- other networks ---- */

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

    if (view->model->request == WF_ROUTER_FIRST) {
        ports[0] = topo->ops->next_port(topo, view->vertex, target);
        return 1;
    }
    uint32_t n = wf_topo_minimal_ports(topo, view->vertex, target, ports);
    if (view->model->request == WF_ROUTER_SOURCE) {
        ports[0] = ports[source_digit(packet, n)];
        return 1;
    }
    return n;
}

/* Up and then down: any channel is free of deadlock. */
static void updown_options(const struct wf_router_view *view, const struct asker *asker,
                           struct options *options)
{
    uint32_t ports[WF_ROUTER_INPUTS_MAX];
    uint32_t n = wf_router_ports(view, asker->packet, ports);

    for (uint32_t i = 0; i < n; i++) {
        add_all(view->model, ports[i], 0, options);
    }
}

static void policy_options(const struct wf_router_view *view, const struct asker *asker,
                           struct options *options)
{
    options->n = wf_router_policy_channels(view, asker->input, options->channel);
}

/* ---- requests ---- */

typedef void options_fn(const struct wf_router_view *view, const struct asker *asker,
                        struct options *options);

static options_fn *const schemes[] = {
    [WF_ROUTER_DOR] = dor_options,           [WF_ROUTER_ADAPTIVE] = adaptive_options,
    [WF_ROUTER_DATELINE] = dateline_options, [WF_ROUTER_DATELINE_FREE] = dateline_options,
    [WF_ROUTER_UPDOWN] = updown_options,     [WF_ROUTER_POLICY] = policy_options,
};

static void find_options(const struct wf_router_view *view, const struct asker *asker,
                         struct options *options)
{
    options->n = 0;
    options->escape = WF_ROUTER_NONE;
    schemes[view->model->scheme](view, asker, options);
}

uint32_t wf_router_channels_of(const struct wf_router_net *model, uint32_t vertex,
                               const struct wf_router_packet *packet, uint32_t input,
                               uint16_t *channels, uint32_t *escape)
{
    const struct wf_router_view view = {.model = model, .vertex = vertex};
    struct asker asker = {.packet = packet, .injected = input == WF_ROUTER_NONE};
    struct options options;

    if (!asker.injected) {
        asker.input = input;
        asker.port = input / model->vcs;
        asker.vc = input % model->vcs;
    }
    find_options(&view, &asker, &options);
    memcpy(channels, options.channel, options.n * sizeof(*channels));
    *escape = options.escape;
    return options.n;
}

static uint32_t first_request(const struct wf_router_view *view, const struct asker *asker,
                              const struct options *options)
{
    for (uint32_t i = 0; i < options->n; i++) {
        if (fits(view, asker, options->channel[i])) {
            return options->channel[i];
        }
    }
    return WF_ROUTER_NONE;
}

/* Packets in the queue at the end of a channel. In trees a packet on the link does not count
 * yet, as in INSEE, which counts phits. */
static uint32_t fill_of(const struct wf_router_view *view, uint32_t channel)
{
    const struct wf_router_channel *c = &view->channels[channel];

    bool on_its_way = view->model->grid == NULL && c->free > view->now && c->used > 0;

    return on_its_way ? c->used - 1u : c->used;
}

/* The channel whose queue has most space. Ties go to the first channel on grids, as in
 * INSEE, and elsewhere to a random one, so that the paths up in a tree are used evenly. */
static uint32_t shortest_request(const struct wf_router_view *view, const struct asker *asker,
                                 const struct options *options)
{
    uint32_t best = WF_ROUTER_NONE, ties = 0;
    bool lots = view->model->grid == NULL;

    for (uint32_t i = 0; i < options->n; i++) {
        uint32_t c = options->channel[i];
        if (!fits(view, asker, c)) {
            continue;
        }
        if (best == WF_ROUTER_NONE || fill_of(view, c) < fill_of(view, best)) {
            best = c;
            ties = 1;
        } else if (lots && fill_of(view, c) == fill_of(view, best) &&
                   wf_router_below(view, asker->input, i, ++ties) == 0) {
            best = c;
        }
    }
    return best;
}

static uint32_t random_request(const struct wf_router_view *view, const struct asker *asker,
                               const struct options *options)
{
    struct options fitting = {.n = 0};

    for (uint32_t i = 0; i < options->n; i++) {
        if (fits(view, asker, options->channel[i])) {
            add(&fitting, options->channel[i]);
        }
    }
    return fitting.n == 0 ? WF_ROUTER_NONE
                          : fitting.channel[wf_router_below(view, asker->input, 0, fitting.n)];
}

/* One random choice, whether it fits or not: the oblivious designs. */
static uint32_t blind_request(const struct wf_router_view *view, const struct asker *asker,
                              const struct options *options)
{
    uint32_t channel = options->channel[wf_router_below(view, asker->input, 0, options->n)];

    return fits(view, asker, channel) ? channel : WF_ROUTER_NONE;
}

/* INSEE's smart requests: the packet's own dimension first, then the others in turn, one in
 * each cycle, and the escape last; then again from the start. */
static uint32_t smart_request(const struct wf_router_view *view, const struct asker *asker)
{
    const struct wf_router_net *model = view->model;
    const uint16_t *here = wf_router_coords_of(model, view->vertex);
    const uint16_t *there = wf_router_coords_of(model, asker->packet->dst);
    struct wf_router_input *input = wf_router_edit_input(view, asker->input);
    uint32_t n_dims = model->grid->n_dims;

    for (uint32_t bet = input->bet; bet < n_dims; bet++) {
        uint32_t dim = asker->injected ? bet : (asker->port / 2 + bet) % n_dims;
        uint32_t port = wf_router_dim_port(asker->packet, dim);
        bool stays = !asker->injected && asker->vc != ESCAPE && (port ^ 1) == asker->port;

        if (here[dim] == there[dim]) {
            continue;
        }
        uint32_t vc =
            stays ? asker->vc : 1 + wf_router_below(view, asker->input, bet, model->vcs - 1);
        if (fits(view, asker, port * model->vcs + vc)) {
            input->bet = (uint8_t)(bet + 1);
            return port * model->vcs + vc;
        }
    }
    input->bet = 0;
    uint32_t escape =
        wf_router_dim_port(asker->packet, first_dim(view, asker->packet)) * model->vcs + ESCAPE;
    return fits(view, asker, escape) ? escape : WF_ROUTER_NONE;
}

static uint32_t choose_channel(const struct wf_router_view *view, const struct asker *asker)
{
    struct options options;
    uint32_t channel;

    if (view->model->scheme == WF_ROUTER_ADAPTIVE && view->model->request == WF_ROUTER_SMART) {
        return smart_request(view, asker);
    }
    find_options(view, asker, &options);
    if (view->model->scheme == WF_ROUTER_DOR || view->model->scheme == WF_ROUTER_DATELINE) {
        return blind_request(view, asker, &options);
    }
    if (view->model->request == WF_ROUTER_FIRST) {
        channel = first_request(view, asker, &options);
    } else if (view->model->request == WF_ROUTER_SHORTEST) {
        channel = shortest_request(view, asker, &options);
    } else {
        channel = random_request(view, asker, &options);
    }
    if (channel == WF_ROUTER_NONE && options.escape != WF_ROUTER_NONE &&
        fits(view, asker, options.escape)) {
        channel = options.escape;
    }
    return channel;
}

struct wf_router_request wf_router_ask(const struct wf_router_view *view, uint32_t input)
{
    struct asker asker = asker_of(view, input);
    struct wf_router_request request = {.input = input, .channel = WF_ROUTER_CONSUME};

    if (view->model->scheme == WF_ROUTER_POLICY) {
        wf_router_policy_ask(view, input);
    }
    if (asker.packet->dst != view->vertex) {
        request.channel = choose_channel(view, &asker);
        if (request.channel != WF_ROUTER_NONE && is_held(view, request.channel)) {
            request.channel = WF_ROUTER_NONE;
        }
    }
    return request;
}

/* When a packet can get a channel; see wf_router_ask_again(). */
static int64_t ready_at(const struct wf_router_view *view, const struct asker *asker,
                        uint32_t channel)
{
    struct wf_router_channel *c = &view->channels[channel];

    if (c->used >= kind_of(view, channel)->queue) {
        if (c->wanted == 0) {
            wf_touch(view->ctx, c, sizeof(*c));
            c->wanted = 1;
        }
        return WF_ROUTER_NEVER;
    }
    int64_t room = room_at(view, asker, channel);
    if (room > view->now) {
        return room;
    }
    int64_t flow = flow_at(view, asker, channel);
    if (flow > view->now) {
        return flow;
    }
    if (c->holder !=
        0) { /* when the holder begins to leave, that decision asks for this packet again */
        return WF_ROUTER_NEVER;
    }
    return c->free > view->now ? c->free : view->now + 1;
}

int64_t wf_router_ask_again(const struct wf_router_view *view, uint32_t input)
{
    struct asker asker = asker_of(view, input);
    int64_t first = WF_ROUTER_NEVER;
    struct options options;

    if (asker.packet->dst == view->vertex) {
        return view->head->consume_free > view->now ? view->head->consume_free : view->now + 1;
    }
    find_options(view, &asker, &options);
    for (uint32_t i = 0; i < options.n; i++) {
        int64_t at = ready_at(view, &asker, options.channel[i]);
        first = at < first ? at : first;
    }
    if (options.escape != WF_ROUTER_NONE) {
        int64_t at = ready_at(view, &asker, options.escape);
        first = at < first ? at : first;
    }
    return first;
}

/* Packets that fit into the queue of an input. */
static uint32_t capacity_of(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;

    return input < view->layout->n_ports * model->vcs
               ? wf_router_kind_in(model, view->vertex, input / model->vcs)->queue
               : (uint32_t)model->set.queue;
}

bool wf_router_is_blocked(const struct wf_router_view *view, uint32_t input,
                          struct wf_net_wait *wait)
{
    const struct wf_router_net *model = view->model;
    const struct wf_router_input *queue = &view->inputs[input];
    struct options options;

    if (model->set.switching == WF_ROUTER_WORMHOLE) {
        return wf_router_flit_is_blocked(view, input, wait);
    }
    *wait = (struct wf_net_wait){
        .queue = wf_router_queue(view, input),
        .is_full = queue->n > 0 && queue->n >= capacity_of(view, input),
    };
    if (queue->n == 0 || queue->taken != 0 || input >= view->layout->n_ports * model->vcs) {
        return false;
    }
    struct asker asker = asker_of(view, input);
    if (asker.packet->dst == view->vertex) {
        return false;
    }
    find_options(view, &asker, &options);
    if (options.escape != WF_ROUTER_NONE) {
        add(&options, options.escape);
    }
    for (uint32_t i = 0; i < options.n; i++) {
        if (view->channels[options.channel[i]].used <
                kind_of(view, options.channel[i])->queue ||
            i == WF_NET_WAIT_TARGETS) {
            return false;
        }
        wait->targets[wait->n++] = wf_router_queue_after(view, options.channel[i]);
    }
    return wait->n > 0;
}
