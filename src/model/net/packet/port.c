/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/packet/port.h"

#include "base/mem.h"
#include "base/rng.h"

/* Bytes that wait at a port of this vertex, or of a neighbour according to its last notice. */
static uint64_t queue_bytes(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_packet_view *view = query->arg;
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_link_kind *kind = &model->links.kinds[wf_packet_links_kind(
        &model->links, wf_packet_links_number(&model->links, vertex, port))];

    if (vertex != view->vertex) {
        return model->sends_notices
                   ? wf_packet_notice_queue(view, vertex, port) * model->links.full_bytes
                   : 0;
    }
    uint64_t packets = wf_packet_waiting(view, port);
    int64_t free = view->ports[port].free - kind->burst_ps;
    if (free > view->key.time) {
        packets += (uint64_t)((free - view->key.time) / kind->full_ps);
    }
    return packets * model->links.full_bytes;
}

/* A number that is the same for all packets of a flow at a router, so that asking a policy
 * twice gives the same answer. */
static uint64_t flow_random(const struct wf_route_query *query)
{
    return wf_rng_draw(query->flow, query->at, query->dst);
}

static uint64_t packet_random(const struct wf_route_query *query)
{
    return wf_random(((const struct wf_packet_view *)query->arg)->ctx);
}

/* The flow number, shared by all packets on the same route: net.ecmp. */
static uint64_t flow_of(const struct wf_packet_view *view, const struct wf_packet_head *head)
{
    uint64_t pair = (uint64_t)head->src << 32 | head->dst;

    if (view->model->flow == WF_ROUTE_FLOW_PAIR) {
        return pair;
    }
    return view->model->flow == WF_ROUTE_FLOW_MESSAGE
               ? wf_rng_mix(pair) + (head->number + UINT64_C(1)) * WF_RNG_GOLDEN
               : wf_random(view->ctx);
}

static uint32_t choose_port(const struct wf_packet_view *view, struct wf_packet_head *head,
                            const struct wf_topo *topo, const struct wf_route *route)
{
    const struct wf_route_ops *ops = route->ops;
    const struct wf_route_query query = {
        .topo = topo,
        .route = route,
        .at = view->vertex,
        .dst = head->dst,
        .in_port = head->in_port == WF_PACKET_NO_PORT ? WF_TOPO_NO_PORT : head->in_port,
        .flow = flow_of(view, head),
        .queue = queue_bytes,
        .random = ops->is_oblivious ? flow_random : packet_random,
        .arg = wf_unconst(view), /* only read */
    };

    return ops->next(&query, &head->route);
}

struct wf_packet_outlet wf_packet_outlet_at(const struct wf_packet_view *view, uint32_t port)
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

static struct wf_packet_outlet take_port(const struct wf_packet_view *view,
                                         struct wf_packet_head *head, uint32_t port)
{
    const struct wf_packet_net *model = view->model;
    struct wf_packet_outlet outlet = wf_packet_outlet_at(view, port);
    uint8_t *hops = &head->route.vcs.hops;

    *hops = (uint8_t)(*hops + (*hops < UINT8_MAX ? 1 : 0));
    if (outlet.full_ps > model->links.kinds[head->slowest].full_ps) {
        head->slowest = (uint16_t)outlet.kind;
    }
    head->in_port = model->links.in_port[outlet.link];
    return outlet;
}

struct wf_packet_outlet wf_packet_route(const struct wf_packet_view *view,
                                        struct wf_packet_head *head)
{
    const struct wf_packet_net *model = view->model;
    uint32_t port = model->is_minimal
                        ? model->topo->ops->next_port(model->topo, view->vertex, head->dst)
                        : choose_port(view, head, model->topo, model->route);

    return take_port(view, head, port);
}

struct wf_packet_outlet wf_packet_route_in(const struct wf_packet_view *view,
                                           struct wf_packet_head *head, uint32_t epoch)
{
    const struct wf_packet_net *model = view->model;
    const struct wf_topo *topo = wf_fault_topo(model->faults, epoch);
    uint32_t port = model->is_minimal
                        ? topo->ops->next_port(topo, view->vertex, head->dst)
                        : choose_port(view, head, topo, wf_fault_route(model->faults, epoch));

    return take_port(view, head, port);
}

static void schedule(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                     int64_t at, uint16_t kind, const void *payload, size_t size)
{
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(view->ctx);

    wf_packet_schedule(view, view->model->links.to[outlet->link], delay, kind, payload, size);
}

int64_t wf_packet_arrival(const struct wf_packet_view *view,
                          const struct wf_packet_outlet *outlet,
                          const struct wf_packet_run *run, int64_t start)
{
    int64_t at = wf_time_add(start, view->model->links.kinds[outlet->kind].latency);

    return view->model->timing == WF_PACKET_STORE_AND_FORWARD
               ? wf_time_add(at, wf_packet_run_ps(view->model, run, outlet->kind))
               : at;
}

void wf_packet_emit(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                    const struct wf_packet_run *run, int64_t start)
{
    int64_t at = wf_packet_arrival(view, outlet, run, start);

    if (run->msg != NULL) {
        const struct wf_packet_last_event last = {.head = run->head, .msg = *run->msg};
        schedule(view, outlet, at, WF_PACKET_LAST, &last, sizeof(last));
    } else if (run->count == 1 && !run->is_cut) {
        const struct wf_packet_body_event body = {.head = run->head, .first = run->first};
        schedule(view, outlet, at, WF_PACKET_BODY, &body, sizeof(body));
    } else {
        const struct wf_packet_train_event train = {.head = run->head,
                                                    .first = run->first,
                                                    .spacing = run->spacing,
                                                    .count = run->count};
        schedule(view, outlet, at, run->is_cut ? WF_PACKET_CUT : WF_PACKET_TRAIN, &train,
                 sizeof(train));
    }
}

int64_t wf_packet_serve(const struct wf_packet_view *view,
                        const struct wf_packet_outlet *outlet, const struct wf_packet_run *run,
                        int64_t ready, int64_t waited)
{
    const struct wf_packet_net *model = view->model;
    int64_t each = wf_packet_run_ps(model, run, outlet->kind);
    int64_t duration = run->count == 1 ? each : (int64_t)run->count * each;
    int64_t burst = model->links.kinds[outlet->kind].burst_ps;
    int64_t start = burst == 0 ? wf_packet_port_serve(outlet->port, ready, duration)
                               : wf_packet_port_burst(outlet->port, ready, duration, burst);

    if (view->stats != NULL) {
        uint64_t bytes = run->msg != NULL
                             ? wf_packet_rest(model, run->msg->bytes) + model->header_bytes
                             : model->links.full_bytes;
        wf_packet_stats_count(view, outlet->number,
                              &(struct wf_packet_served){.n = run->count,
                                                         .bytes = run->count * bytes,
                                                         .duration = duration,
                                                         .wait = start - ready + waited,
                                                         .step = each,
                                                         .at = start,
                                                         .spacing = each,
                                                         .node = run->head.src});
    }
    return start;
}

void wf_packet_arrive(const struct wf_packet_view *view, struct wf_packet_run *run)
{
    if (run->head.dst == view->vertex) {
        wf_packet_deliver(view, run);
        return;
    }
    if (view->model->faults != NULL) {
        wf_packet_fault_arrive(view, run);
        return;
    }
    if (view->model->n_channels > 0) {
        wf_packet_credit_arrive(view, run);
        return;
    }

    struct wf_packet_outlet outlet = wf_packet_route(view, &run->head);

    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    if (outlet.port->trains != 0) {
        wf_packet_train_settle(view, &outlet);
    }
    if (outlet.port->trains != 0 || run->count > 1) {
        wf_packet_train_arrive(view, &outlet, run);
        return;
    }

    int64_t ready = wf_time_add(view->key.time, outlet.delay);
    wf_packet_emit(view, &outlet, run, wf_packet_serve(view, &outlet, run, ready, 0));
    if (view->model->sends_notices) {
        wf_packet_notice_send(view, outlet.number);
    }
}
