/* SPDX-License-Identifier: Apache-2.0 */
#include "net/packet/notice.h"

#include "base/rng.h"

/* On whose behalf a routing policy asks. */
struct asker {
    const struct wf_spot *spot;
};

/* Bytes that wait before a port of this vertex, or of a neighbour as far as it has told. */
static uint64_t queue_bytes(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_spot *spot = ((const struct asker *)query->arg)->spot;
    const struct wf_packet_net *model = spot->model;
    const struct wf_link_kind *kind =
        &model->links
             .kinds[wf_links_kind(&model->links, wf_links_number(&model->links, vertex, port))];
    uint64_t packets = 0;

    if (vertex != spot->vertex) {
        return model->tells_queues ? wf_news_waits(spot, vertex, port) * model->links.full_bytes
                                   : 0;
    }
    for (uint32_t i = 0; i < model->n_channels; i++) {
        packets += spot->channels[port * model->n_channels + i].waiting;
    }
    if (spot->ports[port].free > spot->key.time) {
        packets += (uint64_t)((spot->ports[port].free - spot->key.time) / kind->full_ps);
    }
    return packets * model->links.full_bytes;
}

/* Numbers that are the same for all packets of a flow at a router, so that it does not matter
 * how often a policy is asked. */
static uint64_t flow_random(const struct wf_route_query *query)
{
    return wf_rng_draw(query->flow, query->at, query->dst);
}

static uint64_t packet_random(const struct wf_route_query *query)
{
    return wf_random(((const struct asker *)query->arg)->spot->ctx);
}

/* What takes one way by a hash: net.ecmp. */
static uint64_t flow_of(const struct wf_spot *spot, const struct wf_packet_head *head)
{
    uint64_t pair = (uint64_t)head->src << 32 | head->dst;

    if (spot->model->flow == WF_PACKET_FLOW_PAIR) {
        return pair;
    }
    return spot->model->flow == WF_PACKET_FLOW_MESSAGE
               ? wf_rng_mix(pair) + (head->number + UINT64_C(1)) * WF_RNG_GOLDEN
               : wf_random(spot->ctx);
}

static uint32_t choose_port(const struct wf_spot *spot, struct wf_packet_head *head)
{
    const struct wf_packet_net *model = spot->model;
    const struct wf_route_ops *ops = model->route->ops;
    struct asker asker = {spot};
    const struct wf_route_query query = {
        .topo = model->topo,
        .route = model->route,
        .at = spot->vertex,
        .dst = head->dst,
        .in_port = head->in_port == WF_PACKET_NO_PORT ? WF_TOPO_NO_PORT : head->in_port,
        .flow = flow_of(spot, head),
        .queue = queue_bytes,
        .random = ops->is_oblivious ? flow_random : packet_random,
        .arg = &asker,
    };

    return ops->next(&query, &head->route);
}

struct wf_outlet wf_packet_route(const struct wf_spot *spot, struct wf_packet_head *head)
{
    const struct wf_packet_net *model = spot->model;
    uint32_t port = model->is_minimal
                        ? model->topo->ops->next_port(model->topo, spot->vertex, head->dst)
                        : choose_port(spot, head);
    uint32_t link = wf_links_number(&model->links, spot->vertex, port);
    uint32_t kind = wf_links_kind(&model->links, link);
    const struct wf_link_kind *kinds = model->links.kinds;

    head->route.hops = (uint8_t)(head->route.hops + (head->route.hops < UINT8_MAX ? 1 : 0));
    if (kinds[kind].full_ps > kinds[head->slowest].full_ps) {
        head->slowest = (uint16_t)kind;
    }
    head->in_port = model->links.in_port[link];
    return (struct wf_outlet){
        .port = &spot->ports[port],
        .number = port,
        .link = link,
        .kind = kind,
        .delay = wf_links_delay(&model->links, spot->vertex),
        .full_ps = kinds[kind].full_ps,
    };
}

static void schedule(const struct wf_spot *spot, const struct wf_outlet *outlet, int64_t at,
                     uint16_t kind, const void *payload, size_t size)
{
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(spot->ctx);

    wf_schedule(spot->ctx, wf_packet_process(spot->model, spot->model->links.to[outlet->link]),
                delay, kind, payload, size);
}

void wf_packet_emit(const struct wf_spot *spot, const struct wf_outlet *outlet,
                    const struct wf_piece *piece, int64_t start)
{
    int64_t at = wf_time_add(start, spot->model->links.kinds[outlet->kind].latency);

    if (spot->model->timing == WF_PACKET_STORE_AND_FORWARD) {
        at = wf_time_add(at, wf_piece_ps(spot->model, piece, outlet->kind));
    }
    if (piece->msg != NULL) {
        const struct wf_packet_last last = {.head = piece->head, .msg = *piece->msg};
        schedule(spot, outlet, at, WF_PACKET_LAST, &last, sizeof(last));
    } else if (piece->count == 1 && !piece->is_cut) {
        const struct wf_packet_body body = {.head = piece->head, .first = piece->first};
        schedule(spot, outlet, at, WF_PACKET_BODY, &body, sizeof(body));
    } else {
        const struct wf_packet_train train = {.head = piece->head,
                                              .first = piece->first,
                                              .spacing = piece->spacing,
                                              .count = piece->count};
        schedule(spot, outlet, at, piece->is_cut ? WF_PACKET_CUT : WF_PACKET_TRAIN, &train,
                 sizeof(train));
    }
}

int64_t wf_packet_serve(const struct wf_spot *spot, const struct wf_outlet *outlet,
                        const struct wf_piece *piece, int64_t ready, int64_t waited)
{
    const struct wf_packet_net *model = spot->model;
    int64_t each = wf_piece_ps(model, piece, outlet->kind);
    int64_t duration = piece->count == 1 ? each : (int64_t)piece->count * each;
    int64_t start = wf_port_serve(outlet->port, ready, duration);

    if (spot->stats != NULL) {
        uint64_t bytes = piece->msg != NULL
                             ? wf_packet_rest(model, piece->msg->bytes) + model->header_bytes
                             : model->links.full_bytes;
        wf_stats_count(spot, outlet->number,
                       &(struct wf_served){.n = piece->count,
                                           .bytes = piece->count * bytes,
                                           .duration = duration,
                                           .wait = start - ready + waited,
                                           .step = each,
                                           .at = start,
                                           .spacing = each,
                                           .node = piece->head.src});
    }
    return start;
}

void wf_packet_arrive(const struct wf_spot *spot, struct wf_piece *piece)
{
    if (piece->head.dst == spot->vertex) {
        wf_packet_deliver(spot, piece);
        return;
    }
    if (spot->model->n_channels > 0) {
        wf_credit_arrive(spot, piece);
        return;
    }

    struct wf_outlet outlet = wf_packet_route(spot, &piece->head);

    wf_touch(spot->ctx, outlet.port, sizeof(*outlet.port));
    if (outlet.port->trains != 0) {
        wf_train_settle(spot, &outlet);
    }
    if (outlet.port->trains != 0 || piece->count > 1) {
        wf_train_arrive(spot, &outlet, piece);
        return;
    }

    int64_t ready = wf_time_add(spot->key.time, outlet.delay);
    wf_packet_emit(spot, &outlet, piece, wf_packet_serve(spot, &outlet, piece, ready, 0));
    if (spot->model->tells_queues) {
        wf_news_tell(spot, outlet.number);
    }
}
