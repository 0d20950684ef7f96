/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures in time. A packet is lost if a link fails before the last phit of the packet has
 * passed it. Since all failures are known beforehand, this is known when the packet begins to
 * leave, and the packet is not sent. Packets in queues are not lost: at a change of the network
 * they choose their channels anew, and only those without a route are dropped.
 *
 * Deadlock. The routes of one epoch are free of deadlock by themselves (model/net/vc/vc.h), those of
 * two epochs together are not. Each link therefore has two sets of channels, and packets that
 * are sent in an epoch use the set of the epoch: even or odd (T. M. Pinkston, R. Pang and J.
 * Duato, "Deadlock-free dynamic reconfiguration schemes for increased network dependability",
 * IEEE Transactions on Parallel and Distributed Systems 14, 2003). Packets go on from the set of
 * the last epoch to that of this one, and never back. A packet that would still be in the set of
 * the epoch before the last, when its channels are used again, is dropped.
 */
#include "model/net/router/events/model.h"

static int64_t time_of(const struct wf_router_net *model, int64_t cycle)
{
    return cycle < WF_TIME_MAX / model->set.cycle ? cycle * model->set.cycle : WF_TIME_MAX;
}

/* The first cycle that begins at the time `at` or later. */
static int64_t cycle_from(const struct wf_router_net *model, int64_t at)
{
    return at / model->set.cycle + (at % model->set.cycle != 0 ? 1 : 0);
}

static uint32_t epoch_at(const struct wf_router_net *model, int64_t cycle)
{
    return wf_fault_epoch(model->faults, time_of(model, cycle));
}

/* When an epoch begins; WF_TIME_MAX if there is none with this number. */
static int64_t begin_of(const struct wf_router_net *model, uint32_t epoch)
{
    return epoch < wf_fault_n_epochs(model->faults) ? wf_fault_epoch_begin(model->faults, epoch)
                                                    : WF_TIME_MAX;
}

static struct wf_net_losses *losses_of(const struct wf_router_view *view)
{
    return (void *)((unsigned char *)view->head + view->layout->losses);
}

const struct wf_net_losses *wf_router_fault_losses(const struct wf_router_view *view)
{
    return losses_of(view);
}

static bool is_injected(const struct wf_router_view *view, uint32_t input)
{
    return input >= view->layout->n_ports * view->model->rules.vcs;
}

/* ---- lost packets ---- */

static void tell(const struct wf_router_view *view, uint32_t node, int64_t at, uint16_t kind,
                 const void *payload, size_t size)
{
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(view->ctx);

    wf_schedule_to(view->ctx, wf_net_target(&view->model->net, view->nic, node, kind), delay,
                   payload, size);
}

/* A packet is lost at the time `at` on the link of a port, or without one. */
static void lose(const struct wf_router_view *view, const struct wf_router_packet *packet,
                 uint32_t port, int64_t at)
{
    const struct wf_router_net *model = view->model;

    if (model->set.fail_action == WF_FAULT_RESEND) {
        tell(view, packet->msg.src_node, wf_time_add(at, model->set.resend_delay),
             WF_ROUTER_RESEND, packet, sizeof(*packet));
        return;
    }
    const struct wf_router_lost lost = {
        .src = packet->msg.src_node,
        .dst = packet->dst,
        .number = packet->number,
        .order = packet->order,
        .at = at,
        .vertex = view->vertex,
        .port = port,
    };
    /* Routers decide one picosecond after the beginning of a cycle. */
    tell(view, packet->dst, wf_time_add(at, model->net.promise_ps + 1), WF_ROUTER_LOST, &lost,
         sizeof(lost));
}

/* A packet that had entered the network is lost. */
static void drop(const struct wf_router_view *view, const struct wf_router_packet *packet,
                 uint32_t port, int64_t at)
{
    wf_touch(view->ctx, view->head, sizeof(*view->head));
    view->head->dropped++;
    wf_router_counted(view);
    lose(view, packet, port, at);
}

bool wf_router_fault_cuts(const struct wf_router_view *view, uint32_t channel,
                          const struct wf_router_packet *packet, int64_t head, int64_t tail)
{
    const struct wf_router_net *model = view->model;
    uint32_t port = channel / model->rules.vcs;
    int64_t fails = wf_fault_next(model->faults, view->vertex, port, time_of(model, view->now));
    int64_t stale = begin_of(model, view->head->epoch + 2);

    if (time_of(model, tail) <= fails && time_of(model, head) < stale) {
        return false;
    }
    int64_t at = fails < stale ? fails : stale, end = cycle_from(model, at);
    struct wf_router_channel *used = &view->channels[channel];
    struct wf_router_link *link = &view->links[port];

    used->used--; /* the caller has announced the change; no slot is taken at the end */
    used->free = used->free < end ? used->free : end;
    link->free = link->free < end ? link->free : end;
    drop(view, packet, fails < stale ? port : WF_TOPO_NO_PORT, at);
    return true;
}

/* ---- packets in queues ---- */

/* The first packet of an input gives back the channel that it holds, and forgets its route. */
static void unroute(const struct wf_router_view *view, uint32_t number)
{
    struct wf_router_input *input = wf_router_edit_input(view, number);
    const struct wf_router_cell *seen = wf_cell_read(view->ctx, input->first);

    if (seen->count != 0) {
        struct wf_router_cell *entry = wf_cell_edit(view->ctx, input->first);
        uint8_t hops = entry->packet.on.route.vcs.hops;
        entry->count = 0;
        entry->packet.on.route = (struct wf_route_state){.vcs = {.hops = hops}};
    }
    if (input->blocked != 0) {
        wf_router_unwatch(view, input, number); /* it may wait for other channels now */
    }
    if (input->taken != 0) {
        struct wf_router_channel *channel = &view->channels[input->taken - 1];
        struct wf_router_link *link = &view->links[(input->taken - 1) / view->model->rules.vcs];
        wf_touch(view->ctx, channel, sizeof(*channel));
        wf_touch(view->ctx, link, sizeof(*link));
        channel->holder = 0;
        link->waiting--;
        input->taken = 0;
    }
}

/* Removes a packet from a queue; `before` is the cell before it, or 0. The previous router is
 * told that its slot is free. */
static void remove_packet(const struct wf_router_view *view, uint32_t number, uint32_t before,
                          uint32_t cell)
{
    const struct wf_router_net *model = view->model;
    struct wf_router_input *input = wf_router_edit_input(view, number);
    uint32_t next = ((const struct wf_router_cell *)wf_cell_read(view->ctx, cell))->next;

    if (before == 0) {
        if (input->blocked != 0) {
            wf_router_unwatch(view, input, number);
        }
        input->first = next;
        input->bet = 0;
        input->asked = 0;
    } else {
        ((struct wf_router_cell *)wf_cell_edit(view->ctx, before))->next = next;
    }
    input->last = input->last == cell ? before : input->last;
    wf_cell_free(view->ctx, cell);
    if (--input->n == 0) {
        wf_router_mark(view, number, false);
    }
    if (!is_injected(view, number)) {
        const struct wf_router_end end =
            wf_router_before(model, view->vertex, number / model->rules.vcs);
        uint64_t channel = end.port * model->rules.vcs + number % model->rules.vcs;
        wf_router_schedule(view, end.vertex,
                           (uint64_t)model->rules.phits * model->least.pace +
                               model->set.credit_delay,
                           WF_ROUTER_SLOT, &channel, sizeof(channel));
    }
}

static bool has_route(const struct wf_router_view *view, const struct wf_router_packet *packet)
{
    return packet->dst == view->vertex ||
           wf_fault_reaches(view->model->faults, view->head->epoch, view->vertex, packet->dst);
}

/* Whether a packet was sent in an epoch before the last one. It arrived in the epoch in which it
 * was sent or in the next one, and its channel tells which. */
static bool is_stale(const struct wf_router_view *view, uint32_t number,
                     const struct wf_router_cell *entry)
{
    const struct wf_router_net *model = view->model;
    uint32_t set = number % model->rules.vcs / model->rules.set_vcs,
             sent = epoch_at(model, entry->at);

    sent -= sent % 2 != set ? 1 : 0;
    return sent + 2 <= view->head->epoch;
}

/* The network has changed: looks at all packets of an input. */
static void look_at(const struct wf_router_view *view, uint32_t number)
{
    uint32_t before = 0;

    unroute(view, number);
    for (uint32_t cell = view->inputs[number].first; cell != 0 && !is_injected(view, number);) {
        const struct wf_router_cell *entry = wf_cell_read(view->ctx, cell);
        const struct wf_router_packet packet = entry->packet;
        uint32_t next = entry->next;

        if (packet.dst != view->vertex &&
            (!has_route(view, &packet) || is_stale(view, number, entry))) {
            remove_packet(view, number, before, cell);
            drop(view, &packet, WF_TOPO_NO_PORT, time_of(view->model, view->now));
        } else {
            before = cell;
        }
        cell = next;
    }
}

void wf_router_fault_begin(const struct wf_router_view *view)
{
    uint32_t epoch = epoch_at(view->model, view->now);

    if (epoch == view->head->epoch) {
        return;
    }
    view->head->epoch = epoch; /* the caller has announced the change */
    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        for (uint64_t left = view->words[w]; left != 0; left &= left - 1) {
            look_at(view, w * 64 + (uint32_t)__builtin_ctzll(left));
        }
    }
}

int64_t wf_router_fault_wake(const struct wf_router_view *view)
{
    int64_t next = begin_of(view->model, view->head->epoch + 1);

    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        if (view->words[w] != 0) {
            return next == WF_TIME_MAX ? WF_ROUTER_NEVER : cycle_from(view->model, next);
        }
    }
    return WF_ROUTER_NEVER;
}

bool wf_router_fault_strands(const struct wf_router_view *view, uint32_t input)
{
    const struct wf_router_net *model = view->model;
    uint32_t cell = view->inputs[input].first;
    struct wf_router_packet packet =
        ((const struct wf_router_cell *)wf_cell_read(view->ctx, cell))->packet;
    int64_t now = time_of(model, view->now);

    if (has_route(view, &packet)) {
        return false;
    }
    remove_packet(view, input, 0, cell);
    if (!is_injected(view, input)) {
        drop(view, &packet, WF_TOPO_NO_PORT, now);
        return true;
    }
    /* It has not entered the network, but has left its message. */
    if (packet.last != 0 && model->net.user.sent != NULL) {
        wf_router_schedule_own(view, (int64_t)model->rules.phits * model->set.cycle - 1,
                               WF_ROUTER_SENT, &packet, sizeof(packet));
    }
    lose(view, &packet, WF_TOPO_NO_PORT, now);
    return true;
}

/* ---- the two ends ---- */

/* Gives up a packet that can never reach its destination. */
static void give_up(const struct wf_router_view *view, const struct wf_router_packet *packet)
{
    const struct wf_net_loss loss = {.at = wf_now(view->ctx) + 1,
                                     .src = packet->msg.src_node,
                                     .dst = packet->dst,
                                     .vertex = view->vertex,
                                     .port = WF_TOPO_NO_PORT};

    wf_net_losses_add(losses_of(view), &loss, view->model->set.packet);
}

void wf_router_fault_resend(const struct wf_router_view *view,
                            const struct wf_router_packet *packet)
{
    const struct wf_router_net *model = view->model;
    struct wf_net_losses *losses = losses_of(view);
    int64_t now = wf_now(view->ctx);
    int64_t at =
        wf_fault_retry(model->faults, view->vertex, packet->dst, now, model->set.resend_delay);

    if (at != WF_TIME_MAX && at > now) {
        tell(view, view->vertex, at, WF_ROUTER_RESEND, packet, sizeof(*packet));
        return;
    }
    wf_touch(view->ctx, losses, sizeof(*losses));
    if (at == WF_TIME_MAX) {
        give_up(view, packet);
        return;
    }
    struct wf_router_packet again = *packet;
    again.on.route = (struct wf_route_state){.via = 0};
    again.hops = 0;
    again.input = 0;
    losses->resent++;
    wf_router_inject_again(view, &again);
}

void wf_router_fault_lost(const struct wf_router_view *view, const struct wf_router_lost *lost)
{
    struct wf_net_losses *losses = losses_of(view);
    const struct wf_net_loss loss = {.at = lost->at + 1,
                                     .src = lost->src,
                                     .dst = lost->dst,
                                     .vertex = lost->vertex,
                                     .port = lost->port};

    wf_touch(view->ctx, losses, sizeof(*losses));
    wf_net_losses_add(losses, &loss, view->model->set.packet);
    wf_router_forget(view, lost);
}
