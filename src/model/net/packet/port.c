/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/packet/hop.h"

#include "base/mem.h"

/* The policy has a choice. */
static void note(const struct wf_route_query *query)
{
    if (query->asked != NULL) {
        *query->asked = true;
    }
}

/* Bytes that wait at a port of this vertex, or of a neighbour according to its last notice. */
static uint64_t queue_bytes(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct wf_packet_view *view = query->arg;
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_port *own = &view->ports[port];

    note(query);
    if (vertex != view->vertex) {
        return model->notice_step > 0
                   ? wf_packet_notice_queue(view, vertex, port) * model->links.full_bytes
                   : 0;
    }
    uint64_t packets = wf_packet_waiting(view, port);
    int64_t busy =
        (model->trains && own->trains != 0 ? wf_packet_train_free(view, port) : own->free) -
        view->key.time;
    if (busy > 0) {
        const struct wf_packet_link_kind *kind = &model->links.kinds[wf_packet_links_kind(
            &model->links, wf_packet_links_number(&model->links, vertex, port))];
        busy = wf_max_i64(busy - kind->burst_ps, 0);
        packets += busy <= UINT32_MAX && kind->full_ps <= UINT32_MAX
                       ? wf_reciprocal_divide((uint32_t)busy, kind->per_full)
                       : (uint64_t)(busy / kind->full_ps);
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
    note(query);
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

uint32_t wf_packet_ask_policy(const struct wf_packet_view *view, struct wf_packet_head *head,
                              const struct wf_packet_question *question)
{
    const struct wf_route_ops *ops = question->route->ops;
    const struct wf_route_query query = {
        .topo = question->topo,
        .route = question->route,
        .at = view->vertex,
        .dst = head->dst,
        .in_port = head->in_port == WF_PACKET_NO_PORT ? WF_TOPO_NO_PORT : head->in_port,
        .flow = question->flow,
        .queue = question->queue,
        .random = ops->is_oblivious ? flow_random : packet_random,
        .arg = wf_unconst(view), /* only read */
        .asked = question->asked,
    };

    return ops->next(&query, &head->route);
}

uint32_t wf_packet_choose_port(const struct wf_packet_view *view, struct wf_packet_head *head,
                               const struct wf_topo *topo, const struct wf_route *route,
                               bool *asked)
{
    const struct wf_packet_question question = {.topo = topo,
                                                .route = route,
                                                .flow = flow_of(view, head),
                                                .queue = queue_bytes,
                                                .asked = asked};

    return wf_packet_ask_policy(view, head, &question);
}

void wf_packet_emit(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                    const struct wf_packet_run *run, int64_t start)
{
    int64_t at = wf_packet_arrival(view, outlet, run, start, WF_PACKET_ALL);
    int64_t delay = wf_packet_delay(view, at);
    uint32_t to = view->model->links.to[outlet->link];

    if (run->msg != NULL) {
        const struct wf_packet_last_event last = {.head = run->head, .msg = *run->msg};
        wf_packet_schedule(view, to, delay, WF_PACKET_LAST, &last, sizeof(last));
    } else if (run->count == 1 && !run->is_cut) {
        wf_packet_emit_body(view, outlet, run, at);
    } else {
        const struct wf_packet_train_event train = {.head = run->head,
                                                    .first = run->first,
                                                    .spacing = run->spacing,
                                                    .count = run->count};
        wf_packet_schedule(view, to, delay, run->is_cut ? WF_PACKET_CUT : WF_PACKET_TRAIN,
                           &train, sizeof(train));
    }
}

void wf_packet_arrive(const struct wf_packet_view *view, struct wf_packet_run *run)
{
    (void)wf_packet_hop_arrive(view, run, WF_PACKET_ALL);
}
