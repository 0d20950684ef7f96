/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What packets do at a vertex, compiled once for each set of features: these functions are inlined
 * into the handlers of events.c, port.c, credit.c, deliver.c and nic.c with the features as a
 * constant, and the compiler removes what cannot happen (docs/dev/decisions/0025-lean-handlers.md).
 *
 * The lean handlers serve full packets that travel singly, nearly all events of a run without
 * trains. A function that returns a bool returns false, with nothing changed, if the event needs
 * the general handler. In the general handler the answer is always true.
 */

#include "model/net/packet/port.h"

enum wf_packet_features {
    WF_PACKET_ALL,  /* whatever the model has */
    WF_PACKET_LEAN, /* cut-through on the topology's own routes, with unbounded queues and one
                       interface a node; no failures, bursts, notices, statistics, overtaking
                       packets */
    WF_PACKET_LEAN_POLICY, /* as WF_PACKET_LEAN, but a policy chooses a port for each packet */
    WF_PACKET_LEAN_CREDITS, /* as WF_PACKET_LEAN, with credits, as long as no packet has to wait for one */
};

#define WF_PACKET_HOP static inline __attribute__((always_inline))

WF_PACKET_HOP bool wf_packet_has_credits(const struct wf_packet_net *model,
                                         enum wf_packet_features features)
{
    return features == WF_PACKET_ALL ? model->n_channels > 0
                                     : features == WF_PACKET_LEAN_CREDITS;
}

/* ---- routes ---- */

WF_PACKET_HOP struct wf_packet_outlet wf_packet_outlet_at(const struct wf_packet_view *view,
                                                          uint32_t port)
{
    const struct wf_packet_links *links = &view->model->links;
    uint32_t link = wf_packet_links_number(links, view->vertex, port);
    uint32_t kind = wf_packet_links_kind(links, link);

    return (struct wf_packet_outlet){
        .port = &view->ports[port],
        .number = port,
        .link = link,
        .kind = kind,
        .delay = wf_packet_links_delay(links, view->vertex, kind),
        .full_ps = links->kinds[kind].full_ps,
    };
}

/* Changes the head to what it is at the end of the link of a port. */
WF_PACKET_HOP struct wf_packet_outlet wf_packet_take_port(const struct wf_packet_view *view,
                                                          struct wf_packet_head *head,
                                                          uint32_t port)
{
    const struct wf_packet_links *links = &view->model->links;
    struct wf_packet_outlet outlet = wf_packet_outlet_at(view, port);
    uint8_t *hops = &head->route.vcs.hops;

    *hops = (uint8_t)(*hops + (*hops < UINT8_MAX ? 1 : 0));
    if (outlet.full_ps > links->kinds[head->slowest].full_ps) {
        head->slowest = (uint16_t)outlet.kind;
    }
    head->in_port = links->in_port[outlet.link];
    return outlet;
}

/* Routes packets that are not at their destination; changes the head for the next router. */
WF_PACKET_HOP struct wf_packet_outlet wf_packet_route(const struct wf_packet_view *view,
                                                      struct wf_packet_run *run,
                                                      enum wf_packet_features features)
{
    const struct wf_packet_net *model = view->model;
    struct wf_packet_head *head = &run->head;
    static const enum wf_packet_ports by[] = {
        [WF_PACKET_LEAN] = WF_PACKET_BY_TOPOLOGY,
        [WF_PACKET_LEAN_POLICY] = WF_PACKET_BY_POLICY,
        [WF_PACKET_LEAN_CREDITS] = WF_PACKET_BY_CHANNELS,
    };
    enum wf_packet_ports ports = features == WF_PACKET_ALL ? model->next_ports : by[features];
    uint32_t port;

    if (ports == WF_PACKET_BY_TOPOLOGY) {
        port = model->topo->ops->next_port(model->topo, view->vertex, head->dst);
    } else if (ports == WF_PACKET_BY_CHANNELS) {
        struct wf_vc_state vcs = head->route.vcs;
        port = wf_vc_hop_fixed(&model->route->vcs, view->vertex, head->dst, &vcs);
        head->route.vcs = vcs;
    } else if (features == WF_PACKET_ALL && model->adapt == WF_PACKET_BY_MESSAGE) {
        port = wf_packet_adapt_port(view, run, model->topo, model->route);
    } else {
        port = wf_packet_choose_port(view, head, model->topo, model->route, NULL);
    }
    return wf_packet_take_port(view, head, port);
}

/* ---- ports ---- */

/* When the head of a packet that starts at `start` arrives at the end of the link; with
 * store-and-forward, when all of it has. */
WF_PACKET_HOP int64_t wf_packet_arrival(const struct wf_packet_view *view,
                                        const struct wf_packet_outlet *outlet,
                                        const struct wf_packet_run *run, int64_t start,
                                        enum wf_packet_features features)
{
    const struct wf_packet_net *model = view->model;
    int64_t at = wf_time_add(start, model->links.kinds[outlet->kind].latency);

    return features == WF_PACKET_ALL && model->timing == WF_PACKET_STORE_AND_FORWARD
               ? wf_time_add(at, wf_packet_run_ps(model, run, outlet->kind))
               : at;
}

/* Serves packets that have all arrived, one after another; returns when the first starts. `ready` is
 * the earliest time at which they could have started; before that they waited `waited` for a
 * credit. */
WF_PACKET_HOP int64_t wf_packet_serve(const struct wf_packet_view *view,
                                      const struct wf_packet_outlet *outlet,
                                      const struct wf_packet_run *run, int64_t ready,
                                      int64_t waited, enum wf_packet_features features)
{
    const struct wf_packet_net *model = view->model;
    int64_t each =
        run->msg == NULL ? outlet->full_ps : wf_packet_run_ps(model, run, outlet->kind);
    int64_t duration = run->count == 1 ? each : (int64_t)run->count * each;
    int64_t burst = features == WF_PACKET_ALL ? model->links.kinds[outlet->kind].burst_ps : 0;
    int64_t start = burst == 0 ? wf_packet_port_serve(outlet->port, ready, duration)
                               : wf_packet_port_burst(outlet->port, ready, duration, burst);

    if (features == WF_PACKET_ALL && view->stats != NULL) {
        wf_packet_stats_count(
            view, outlet->number,
            &(struct wf_packet_served){.n = run->count,
                                       .bytes = wf_packet_run_payload(model, run) +
                                                run->count * model->header_bytes,
                                       .duration = duration,
                                       .wait = start - ready + waited,
                                       .step = each,
                                       .at = start,
                                       .spacing = each,
                                       .node = run->head.src});
    }
    return start;
}

/* A full packet that travels singly arrives at the end of the link at the time `at`. The header is
 * written member by member: copying a struct just after one of its members was stored stalls on
 * store forwarding, which took a seventh of the time of random pairs. */
WF_PACKET_HOP void wf_packet_emit_body(const struct wf_packet_view *view,
                                       const struct wf_packet_outlet *outlet,
                                       const struct wf_packet_run *run, int64_t at)
{
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_head *head = &run->head;
    struct wf_event_target to =
        wf_net_target(&model->net, view->nic, model->links.to[outlet->link], WF_PACKET_BODY);
    struct wf_packet_body_event *body =
        wf_schedule_begin(view->ctx, to, wf_packet_delay(view, at), sizeof(*body));

    body->head.src = head->src;
    body->head.dst = head->dst;
    body->head.number = head->number;
    body->head.slowest = head->slowest;
    body->head.in_port = head->in_port;
    body->head.route.via = head->route.via;
    body->head.route.vcs.vc = head->route.vcs.vc;
    body->head.route.vcs.hops = head->route.vcs.hops;
    body->head.route.vcs.hop = head->route.vcs.hop;
    body->head.route.vcs.turn = head->route.vcs.turn;
    body->first = run->first;
    wf_schedule_end(view->ctx);
}

/* Serves packets that have all arrived, and sends them on. Before they were ready they waited
 * `waited` for a credit. */
WF_PACKET_HOP void wf_packet_hop_send(const struct wf_packet_view *view,
                                      const struct wf_packet_outlet *outlet,
                                      const struct wf_packet_run *run, int64_t waited,
                                      enum wf_packet_features features)
{
    int64_t ready = wf_time_add(view->key.time, outlet->delay);
    int64_t start = wf_packet_serve(view, outlet, run, ready, waited, features);

    if (features == WF_PACKET_ALL) {
        wf_packet_emit(view, outlet, run, start);
    } else {
        wf_packet_emit_body(view, outlet, run,
                            wf_packet_arrival(view, outlet, run, start, features));
    }
}

/* ---- credits ---- */

/* Returns the credit of a packet that leaves the vertex at the time `at`; `head` is its header on
 * arrival. */
WF_PACKET_HOP void wf_packet_credit_return(const struct wf_packet_view *view,
                                           const struct wf_packet_head *head, int64_t at)
{
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_links *links = &model->links;

    if (head->in_port == WF_PACKET_NO_PORT) {
        return; /* the packet was injected here */
    }
    uint32_t link = wf_packet_links_number(links, view->vertex, head->in_port);
    const struct wf_packet_link_kind *kind = &links->kinds[wf_packet_links_kind(links, link)];
    int64_t arrival = wf_time_add(at, kind->latency + kind->delay);
    struct wf_event_target to =
        wf_net_target(&model->net, view->nic, links->to[link], WF_PACKET_CREDIT);
    struct wf_packet_credit_event *credit =
        wf_schedule_begin(view->ctx, to, wf_packet_delay(view, arrival), sizeof(*credit));

    credit->port = links->in_port[link];
    credit->channel = wf_packet_channel_of(model, head);
    wf_schedule_end(view->ctx);
}

/* Sends on a packet that has its credit, that is, a slot of the channel; `in` is its header on
 * arrival. The caller has announced changes of the port and the channel. */
WF_PACKET_HOP void wf_packet_hop_grant(const struct wf_packet_view *view,
                                       const struct wf_packet_outlet *outlet,
                                       const struct wf_packet_head *in,
                                       struct wf_packet_run *run, int64_t waited,
                                       enum wf_packet_features features)
{
    if (features == WF_PACKET_ALL && view->model->faults != NULL) {
        wf_packet_credit_return(view, in, wf_packet_credit_fault(view, outlet, run, waited));
        return;
    }
    wf_packet_hop_send(view, outlet, run, waited, features);
    wf_packet_credit_return(view, in, outlet->port->free);
}

/* Sends the packet, which has been here since `since`, on, or lets it wait. */
WF_PACKET_HOP bool wf_packet_hop_enter(const struct wf_packet_view *view,
                                       struct wf_packet_run *run, int64_t since,
                                       enum wf_packet_features features)
{
    const struct wf_packet_net *model = view->model;
    bool all = features == WF_PACKET_ALL;
    const struct wf_packet_head in = run->head;
    const struct wf_packet_outlet outlet = all && model->faults != NULL
                                               ? wf_packet_fault_route(view, run)
                                               : wf_packet_route(view, run, features);
    struct wf_packet_channel *channel =
        wf_packet_channel_at(view, outlet.number, wf_packet_channel_of(model, &run->head));
    bool waits = channel->head != 0 || channel->used >= model->links.kinds[outlet.kind].slots;

    if (!all && waits) {
        return false;
    }
    wf_touch(view->ctx, channel, sizeof(*channel));
    if (waits) {
        wf_packet_credit_wait(view, outlet.number, &in, run, since);
    } else {
        channel->used++;
        wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
        wf_packet_hop_grant(view, &outlet, &in, run, view->key.time - since, features);
    }
    if (all && model->notice_step > 0) {
        wf_packet_notice_send(view, outlet.number);
    }
    return true;
}

/* WF_PACKET_CREDIT: a packet has left the vertex after a port. */
WF_PACKET_HOP bool wf_packet_hop_credit(const struct wf_packet_view *view,
                                        const struct wf_packet_credit_event *credit,
                                        enum wf_packet_features features)
{
    struct wf_packet_channel *channel =
        wf_packet_channel_at(view, credit->port, credit->channel);
    bool all = features == WF_PACKET_ALL;

    if (all && view->model->faults != NULL) {
        wf_packet_credit_change(view, credit->port);
    }
    if (!all && channel->head != 0) {
        return false;
    }
    wf_touch(view->ctx, channel, sizeof(*channel));
    if (channel->head == 0) {
        wf_packet_channel_release(channel);
    } else {
        wf_packet_credit_pass_on(view, credit->port, channel);
    }
    return true;
}

/* ---- arrivals ---- */

/* Counts packets that are at their destination; the first is delivered at the time `at`. */
WF_PACKET_HOP void wf_packet_hop_count(const struct wf_packet_view *view,
                                       const struct wf_packet_run *run, int64_t at,
                                       enum wf_packet_features features)
{
    struct wf_packet_node *node = view->node;
    const struct wf_packet_factors factors = wf_packet_factors(&run->head);

    node->fingerprint += run->count == 1 ? (uint64_t)at * (factors.a + run->first * factors.b)
                                         : wf_packet_fingerprint(run, at, factors);
    node->packets_received += run->count;
    node->bytes_received += wf_packet_run_payload(view->model, run);
    if (features == WF_PACKET_ALL) {
        wf_packet_report(view, run, at);
    }
}

/* From a packet's start at its last server until all of it has arrived; `ejection` is its time at
 * that server if it is the interface's. */
WF_PACKET_HOP int64_t wf_packet_hop_tail(const struct wf_packet_net *model,
                                         const struct wf_packet_run *run, int64_t ejection,
                                         enum wf_packet_features features)
{
    bool stored = features == WF_PACKET_ALL &&
                  (model->timing == WF_PACKET_STORE_AND_FORWARD || model->links.burst > 0);

    return stored ? ejection
                  : wf_max_i64(wf_packet_run_ps(model, run, run->head.slowest), ejection);
}

/* Packets are at their destination. */
WF_PACKET_HOP bool wf_packet_hop_deliver(const struct wf_packet_view *view,
                                         const struct wf_packet_run *run,
                                         enum wf_packet_features features)
{
    const struct wf_packet_net *model = view->model;
    struct wf_packet_node *node = view->node;
    int64_t at = view->key.time, ejection = 0;

    if (features != WF_PACKET_ALL && (node->ejection.trains != 0 || model->probe != NULL)) {
        return false;
    }
    wf_touch(view->ctx, node, WF_PACKET_NODE_ARRIVALS);
    if (features == WF_PACKET_ALL && (node->ejection.trains != 0 || run->count > 1) &&
        wf_packet_deliver_trains(view, run)) {
        return true;
    }
    if (model->ejection != WF_PACKET_UNLIMITED) {
        ejection = wf_packet_run_ps(model, run, model->ejection);
        at = wf_packet_port_serve(&node->ejection, at, ejection);
    }
    at = wf_time_add(at, wf_packet_hop_tail(model, run, ejection, features));
    wf_packet_hop_count(view, run, at, features);
    if (wf_packet_has_credits(model, features)) {
        wf_packet_credit_return(view, &run->head, at);
    }
    if (features == WF_PACKET_ALL) {
        wf_packet_hand_over(view, run, at);
    } else if (features == WF_PACKET_LEAN_POLICY) {
        wf_packet_order_deliver(view, run, at);
    }
    return true;
}

/* Packets arrive at the vertex, the first of them now. */
WF_PACKET_HOP bool wf_packet_hop_arrive(const struct wf_packet_view *view,
                                        struct wf_packet_run *run,
                                        enum wf_packet_features features)
{
    bool all = features == WF_PACKET_ALL;

    if (run->head.dst == view->vertex) {
        return wf_packet_hop_deliver(view, run, features);
    }
    if (all && view->model->faults != NULL && wf_packet_fault_arrive(view, run)) {
        return true;
    }
    if (wf_packet_has_credits(view->model, features)) {
        return wf_packet_hop_enter(view, run, view->key.time, features);
    }

    const struct wf_packet_outlet outlet = wf_packet_route(view, run, features);

    if (!all && outlet.port->trains != 0) {
        return false;
    }
    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    if (all && (outlet.port->trains != 0 || run->count > 1) &&
        wf_packet_train_takes(view, &outlet, run)) {
        return true;
    }
    wf_packet_hop_send(view, &outlet, run, 0, features);
    if (all && view->model->notice_step > 0) {
        wf_packet_notice_send(view, outlet.number);
    }
    return true;
}

/* ---- interfaces ---- */

/* The header of a packet that leaves an interface. */
WF_PACKET_HOP struct wf_packet_head
wf_packet_first_head(const struct wf_packet_view *view,
                     const struct wf_packet_inject_event *inject)
{
    uint32_t injection = view->model->injection;

    return (struct wf_packet_head){
        .src = view->vertex,
        .dst = inject->dst,
        .number = inject->number,
        .slowest =
            (uint16_t)(injection == WF_PACKET_UNLIMITED ? view->model->fastest : injection),
        .in_port = WF_PACKET_NO_PORT,
    };
}

/* WF_PACKET_INJECT: the next packets of a message leave the interface, its last one alone. */
WF_PACKET_HOP bool wf_packet_inject(const struct wf_packet_view *view,
                                    const struct wf_packet_inject_event *inject,
                                    enum wf_packet_features features)
{
    const struct wf_packet_net *model = view->model;
    bool ends = inject->msg.bytes - inject->next * model->packet_bytes <= model->packet_bytes;
    struct wf_packet_run run = {.head = wf_packet_first_head(view, inject),
                                .first = inject->next,
                                .count = 1,
                                .from = wf_packet_source_here(view),
                                .msg = ends ? &inject->msg : NULL};

    if (features != WF_PACKET_ALL &&
        (ends || model->pace == 0 || model->trains || inject->dst == view->vertex)) {
        return false;
    }
    if (features == WF_PACKET_ALL && !ends && model->pace == 0) {
        wf_packet_inject_all(view, inject);
        return true;
    }
    if (!ends) {
        int64_t delay =
            features == WF_PACKET_ALL ? wf_packet_inject_run(view, inject, &run) : model->pace;
        struct wf_packet_inject_event *next = wf_schedule_begin(
            view->ctx, wf_net_target_own(view->ctx, view->nic, WF_PACKET_INJECT), delay,
            sizeof(*next));
        *next = *inject;
        next->next += run.count;
        wf_schedule_end(view->ctx);
    }
    return wf_packet_hop_arrive(view, &run, features);
}
