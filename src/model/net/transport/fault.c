/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures in time (model/net/fault/fault.h) with a transport. A packet is lost that is on a link when
 * it fails, that waits for a link that has failed, or whose destination cannot be reached. The
 * source notices by its timer and sends again, as after any loss. While the destination cannot be
 * reached the timer waits for the time at which it can; if that never comes the flow is given up.
 */
#include "base/arith.h"
#include "base/mem.h"
#include "model/net/transport/model.h"

static uint32_t epoch_of(const struct wf_transport_view *v)
{
    return wf_fault_epoch(v->net->packet.faults, v->at.key.time);
}

const struct wf_topo *wf_transport_fault_topo(const struct wf_transport_view *v)
{
    return wf_fault_topo(v->net->packet.faults, epoch_of(v));
}

const struct wf_route *wf_transport_fault_route(const struct wf_transport_view *v)
{
    return wf_fault_route(v->net->packet.faults, epoch_of(v));
}

static void count_drop(const struct wf_transport_view *v, uint32_t number)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);

    wf_touch(v->at.ctx, port, sizeof(*port));
    port->drops++;
}

bool wf_transport_fault_strands(const struct wf_transport_view *v,
                                const struct wf_transport_packet *packet)
{
    if (v->net->packet.faults == NULL ||
        wf_fault_reaches(v->net->packet.faults, epoch_of(v), v->at.vertex, packet->head.dst)) {
        return false;
    }
    count_drop(v, 0); /* it has no port */
    return true;
}

bool wf_transport_fault_is_down(const struct wf_transport_view *v, uint32_t number)
{
    if (v->net->packet.faults == NULL) {
        return false;
    }
    const struct wf_topo *topo = wf_transport_fault_topo(v);

    return topo->ops->neighbor(topo, v->at.vertex, number) == WF_TOPO_NO_VERTEX;
}

void wf_transport_fault_drop(const struct wf_transport_view *v, uint32_t number)
{
    count_drop(v, number);
}

bool wf_transport_fault_cuts(const struct wf_transport_view *v,
                             const struct wf_packet_outlet *outlet,
                             struct wf_transport_packet *packet, int64_t arrival)
{
    const struct wf_packet_net *model = &v->net->packet;
    const struct wf_packet_link_kind *slowest = &model->links.kinds[packet->head.slowest];
    uint8_t hops = packet->head.route.vcs.hops;

    if (model->faults == NULL) {
        return false;
    }
    int64_t tail =
        model->timing == WF_PACKET_STORE_AND_FORWARD
            ? arrival
            : wf_time_add(arrival, wf_packet_link_ps(
                                       slowest, wf_transport_packet_bytes(v->net, packet)));
    int64_t fails = wf_fault_next(model->faults, v->at.vertex, outlet->number, v->at.key.time);
    if (tail > fails) {
        outlet->port->free =
            wf_min_i64(outlet->port->free, fails); /* the caller announced it */
        count_drop(v, outlet->number);
        return true;
    }
    if (wf_fault_epoch(model->faults, arrival) != epoch_of(v)) {
        /* The route begins anew at the next router. */
        packet->head.route = (struct wf_route_state){.vcs = {.hops = hops}};
    }
    return false;
}

int64_t wf_transport_fault_retry(const struct wf_transport_view *v,
                                 const struct wf_transport_sender *flow)
{
    const struct wf_packet_net *model = &v->net->packet;
    const struct wf_net_loss loss = {.at = v->at.key.time + 1,
                                     .src = v->at.vertex,
                                     .dst = flow->id.peer,
                                     .vertex = v->at.vertex,
                                     .port = WF_TOPO_NO_PORT};

    if (model->faults == NULL) {
        return v->at.key.time;
    }
    int64_t at = wf_fault_retry(model->faults, v->at.vertex, flow->id.peer, v->at.key.time,
                                v->net->params.timeout);
    if (at == WF_TIME_MAX) {
        struct wf_net_losses *losses = wf_unconst(wf_packet_fault_losses(&v->at));
        wf_touch(v->at.ctx, losses, sizeof(*losses));
        wf_net_losses_add(losses, &loss, 0); /* how much it is: wf_transport_fault_finish() */
    }
    return at;
}

/* Only both ends together know what has arrived. Counts are modulo 2^64, so each node adds what it
 * sent less what it received. */
void wf_transport_fault_finish(const struct wf_transport_view *v, struct wf_net_totals *totals)
{
    const struct wf_packet_node *node = v->at.node;

    if (v->net->packet.faults == NULL) {
        return;
    }
    const struct wf_net_losses *noted = wf_packet_fault_losses(&v->at);
    uint64_t packets = node->packets_sent - node->packets_received - noted->n_packets;

    totals->losses.n_packets += packets;
    totals->losses.n_cut_off += packets;
    totals->losses.n_bytes += node->bytes_sent - node->bytes_received - noted->n_bytes;
}
