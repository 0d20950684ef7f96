/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/transport/model.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>

static const struct wf_transport_control *const table[] = {
#define WF_TRANSPORT(name) &wf_transport_##name,
#include "model/net/transport/transports.def"
};

const char *const wf_transport_names[] = {
    "none",
#define WF_TRANSPORT(name) #name,
#include "model/net/transport/transports.def"
    NULL,
};

const char *const wf_transport_full_names[] = {"auto",  "drop",    "trim",
                                               "pause", "credits", NULL};
const char *const wf_transport_repair_names[] = {"auto", "go_back_n", "selective", NULL};
const char *const wf_transport_delivery_names[] = {"in_order", "any_order", NULL};

size_t wf_transport_size(void)
{
    return sizeof(struct wf_transport_net);
}

/* ---- events ---- */

/* A message that a node sent to itself arrives. */
static void arrive_at_self(const struct wf_transport_view *v,
                           const struct wf_transport_last *last)
{
    const struct wf_net_user *user = &v->net->packet.net.user;
    struct wf_packet_node *node = v->at.node;

    assert(node != NULL); /* only nodes send messages */
    wf_touch(v->at.ctx, node, sizeof(*node));
    node->packets_received += last->packet.other + 1;
    node->bytes_received += last->msg.bytes;
    node->fingerprint += (uint64_t)v->at.key.time * (last->packet.head.number + UINT64_C(1));
    user->arrived(user->arg, v->at.ctx, v->at.ports, &last->msg, v->at.key.time);
}

/* A packet arrives at a vertex. */
static void arrive(const struct wf_transport_view *v, const struct wf_event *ev, bool ends)
{
    const struct wf_transport_last *last = ends ? (const void *)ev->payload : NULL;
    struct wf_transport_packet packet =
        *(const struct wf_transport_packet *)(const void *)ev->payload;

    if (packet.head.dst != v->at.vertex) {
        wf_transport_forward(v, &packet, last);
    } else if (packet.type == WF_TRANSPORT_DATA || packet.type == WF_TRANSPORT_TRIMMED) {
        wf_transport_received(v, &packet, last);
    } else {
        wf_transport_answered(v, &packet);
    }
}

static void dispatch(const struct wf_transport_view *v, const struct wf_event *ev)
{
    const void *payload = ev->payload;

    switch (wf_net_kind(ev)) {
    case WF_TRANSPORT_PACKET:
        arrive(v, ev, false);
        break;
    case WF_TRANSPORT_LAST:
        arrive(v, ev, true);
        break;
    case WF_TRANSPORT_SERVE:
        wf_transport_serve(v, (uint32_t)ev->payload[0]);
        break;
    case WF_TRANSPORT_WAKE:
        wf_transport_wake(v);
        break;
    case WF_TRANSPORT_TIMEOUT:
        wf_transport_timeout(v, payload);
        break;
    case WF_TRANSPORT_READY:
        wf_transport_ready(v, ev->payload[0]);
        break;
    case WF_TRANSPORT_ORDER:
        wf_packet_order_ready(&v->at, (uint32_t)ev->payload[0]);
        break;
    case WF_TRANSPORT_PULL_TURN:
        wf_transport_pull_turn(v);
        break;
    case WF_TRANSPORT_SELF:
        arrive_at_self(v, payload);
        break;
    case WF_TRANSPORT_CREDIT:
        wf_transport_credited(v, payload);
        break;
    default:
        wf_transport_stopped(v, payload);
    }
}

static void node_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev)
{
    struct wf_transport_view view;

    wf_transport_view_at_node(&view, wf_transport_of(wf_packet_of(net)), ctx, node,
                              wf_net_nic(ev));
    dispatch(&view, ev);
}

static void other_view(struct wf_transport_view *v, void *state, struct wf_ctx *ctx)
{
    const struct wf_transport_net *net = wf_model(ctx);

    wf_packet_view_at_other(&v->at, &net->packet, ctx, state);
    v->net = net;
    v->ports = (unsigned char *)state + net->other_ports_at;
    v->node = NULL;
}

static void other_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct wf_transport_view view;

    other_view(&view, state, ctx);
    dispatch(&view, ev);
}

static void other_finish(const void *state, struct wf_ctx *ctx)
{
    struct wf_transport_view view;

    other_view(&view, wf_unconst(state), ctx); /* only read */
    wf_packet_stats_finish(&view.at);
    wf_transport_stats_finish(&view);
}

static void node_finish(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                        uint32_t nic, struct wf_net_totals *totals)
{
    struct wf_transport_view view;

    wf_transport_view_at_node(&view, wf_transport_of(wf_packet_of(net)), ctx, wf_unconst(node),
                              nic); /* only read */
    wf_net_packet_ops.finish(net, ctx, node, nic, totals);
    wf_transport_fault_finish(&view, totals);
    wf_transport_stats_finish(&view);
}

static void attach(struct wf_net *net, struct wf_engine *engine)
{
    struct wf_packet_net *packet = (struct wf_packet_net *)net;
    const size_t sizes[] = {
        wf_transport_waiter_cell_size(),
        wf_transport_ranges_cell_size(),
        sizeof(struct wf_transport_sender),
        sizeof(struct wf_transport_receiver),
        sizeof(struct wf_transport_message),
        sizeof(struct wf_transport_arrival),
        WF_CELLMAP_CELL_SIZE,
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        wf_engine_cells(engine, sizes[i]);
    }
    if (wf_transport_of(packet)->overtakes) {
        wf_packet_order_cells(engine);
    }
    wf_net_add_others(net, engine, packet->topo->n_vertices, &packet->other_ops,
                      packet->other_size);
}

/* ---- set-up ---- */

/* Fails if something is asked for that transports do not have. */
static enum wf_status check(const struct wf_packet_net *packet,
                            const struct wf_packet_params *given, struct wf_err *err)
{
    const char *not_with = given->buffers != WF_PACKET_UNBOUNDED
                               ? "net.buffers=credits; net.full_queue=credits is its own kind"
                           : given->burst != 0            ? "net.burst"
                           : given->stats_window != 0     ? "net.stats_window"
                           : packet->route->ops->asks_far ? "net.routing=ugal_g"
                                                          : NULL;

    if (not_with != NULL) {
        return wf_err_set(err, WF_EUSAGE, "net.transport cannot be used with %s", not_with);
    }
    if (given->transport.ecn_min > given->transport.ecn_max) {
        return wf_err_set(err, WF_EUSAGE, "net.ecn_min is larger than net.ecn_max");
    }
    if (given->transport.resume_at > given->transport.pause_at) {
        return wf_err_set(err, WF_EUSAGE, "net.resume_at is larger than net.pause_at");
    }
    return WF_OK;
}

static enum wf_status choose(struct wf_transport_net *net, const struct wf_packet_params *given,
                             struct wf_err *err)
{
    const struct wf_packet_net *packet = &net->packet;
    const struct wf_transport_params *params = &given->transport;
    const struct wf_transport_control *control = table[params->kind - 1];
    uint64_t full = packet->links.full_bytes;
    int repair =
        params->repair != WF_TRANSPORT_REPAIR_AUTO ? params->repair : (int)control->repair;

    net->control = control;
    net->params = *params;
    net->params.classes = NULL; /* the caller's */
    net->full = params->full != WF_TRANSPORT_FULL_AUTO ? (enum wf_transport_full)params->full
                                                       : control->full;
    bool keeps_order =
        packet->order != WF_PACKET_PACKETS_OVERTAKE && packet->flow == WF_ROUTE_FLOW_PAIR;
    /* Neither other routes nor headers of removed data go with packets in order only. */
    net->is_selective =
        repair == WF_TRANSPORT_SELECTIVE ||
        (params->repair == WF_TRANSPORT_REPAIR_AUTO &&
         (!keeps_order || params->flowlet_gap > 0 || net->full == WF_TRANSPORT_TRIM));
    if (!net->is_selective && net->full == WF_TRANSPORT_TRIM) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.full_queue=trim cannot be used with net.retransmit=go_back_n");
    }
    net->is_lossless = net->full == WF_TRANSPORT_PAUSE || net->full == WF_TRANSPORT_CREDITS;
    net->finds_gaps = keeps_order && net->full == WF_TRANSPORT_DROP;
    if (packet->faults != NULL && (net->is_lossless || given->fail_action == WF_FAULT_LOSE)) {
        return wf_err_set(
            err, WF_EUSAGE,
            "failures in time with net.transport need net.fail_action=resend and "
            "net.full_queue=drop or trim: without losses, a transport has no timers");
    }
    /* Without losses there are no timers, which would be needed here. */
    if (!net->is_selective && net->is_lossless && (!keeps_order || params->flowlet_gap > 0)) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.retransmit=go_back_n cannot be used with net.full_queue=%s "
                          "where packets of a flow may overtake each other",
                          wf_transport_full_names[net->full]);
    }
    net->queue_bytes = params->queue != 0 ? params->queue : control->queue * full;
    net->ecn_threshold = (uint32_t)(params->ecn_probability * UINT32_MAX);
    net->line_rate = packet->links.kinds[packet->links.own].rate;
    WF_TRY(wf_transport_classes_read(net, params->classes, err));
    net->n_queues = net->n_classes + 1;
    if (net->queue_bytes < full) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.queue: a packet of %" PRIu64 " bytes does not fit", full);
    }
    if (net->is_lossless && packet->topo->oneway) {
        return wf_err_set(err, WF_EINVAL,
                          "net.full_queue: ports pause each other only over links in both "
                          "directions, but some links of the topology are one-way");
    }
    return WF_OK;
}

/* The least latency of a link: a packet that has waited leaves without any other delay. */
static int64_t least_latency(const struct wf_packet_links *links)
{
    const struct wf_topo *topo = links->topo;
    int64_t least = WF_TIME_MAX;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t link = wf_packet_links_number(links, v, 0), n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            least = wf_min_i64(least,
                               links->kinds[wf_packet_links_kind(links, link + port)].latency);
        }
    }
    return least;
}

/* The longest round trip from the first node, as an estimate of the longest one. */
static int64_t longest_trip(const struct wf_transport_net *net)
{
    int64_t longest = 1;

    for (uint32_t dst = 1; dst < net->packet.topo->n_nodes; dst++) {
        longest = wf_max_i64(longest, wf_transport_round_trip(net, 0, dst));
    }
    return longest;
}

/* Where the parts of a vertex's state are. */
static void lay_out(struct wf_transport_net *net)
{
    struct wf_packet_net *packet = &net->packet;

    net->port_size = sizeof(struct wf_transport_port) +
                     net->n_queues * sizeof(struct wf_transport_queue) +
                     net->n_classes * sizeof(uint64_t);
    net->other_ports_at = packet->other_size;
    packet->other_size += packet->other_ports * net->port_size;
    net->node_ports_at = packet->net.node_size;
    net->node_at = net->node_ports_at + packet->node_ports * net->port_size;
    packet->net.node_size = net->node_at + sizeof(struct wf_transport_node);
}

enum wf_status wf_transport_setup(struct wf_packet_net *packet,
                                  const struct wf_packet_params *given, struct wf_err *err)
{
    struct wf_transport_net *net = (struct wf_transport_net *)packet;

    WF_TRY(check(packet, given, err));
    WF_TRY(choose(net, given, err));
    lay_out(net);
    net->longest_trip = net->control->leaves != NULL ? longest_trip(net) : 0;
    packet->ops.send = wf_transport_send;
    packet->ops.event = node_event;
    packet->ops.finish = node_finish;
    packet->ops.attach = attach;
    packet->ops.commit = NULL;
    packet->ops.describe = wf_transport_stats_describe;
    packet->ops.stuck = net->is_lossless ? wf_transport_stats_stuck : NULL;
    packet->trains = false;
    packet->order =
        WF_PACKET_MESSAGES_OVERTAKE; /* when they come to model/net/packet/order.c */
    packet->net.ahead = WF_NET_NOW;
    packet->net.payload_max = sizeof(struct wf_transport_last);
    packet->net.promise_ps = least_latency(&packet->links);
    packet->other_ops = (struct wf_process_ops){
        .name = "router",
        .payload_max = sizeof(struct wf_transport_last),
        .announces_changes = true,
        .event = other_event,
        .finish = other_finish,
    };
    wf_transport_stats_init(net);
    return WF_OK;
}
