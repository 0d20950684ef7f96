/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priority flow control (IEEE 802.1Qbb): a router counts, for each port and class, the bytes
 * that came in there and have not left. When they are too many it stops the port at the other
 * end of the link, for this class, and lets it go on when they are few enough. What is on the
 * link in between still comes: the router has space for it.
 */
#include "model/net/transport/model.h"

static void tell(const struct wf_transport_view *v, uint32_t port, uint32_t class, bool stops)
{
    const struct wf_packet_links *links = &v->net->packet.links;
    uint32_t link = wf_packet_links_number(links, v->at.vertex, port);
    const struct wf_packet_link_kind *kind = &links->kinds[wf_packet_links_kind(links, link)];
    const struct wf_transport_stop stop = {
        .port = links->in_port[link], .class = (uint16_t) class, .stops = stops ? 1 : 0};

    wf_packet_schedule(&v->at, links->to[link], wf_time_add(kind->latency, kind->delay),
                       WF_TRANSPORT_STOP, &stop, sizeof(stop));
}

void wf_transport_pause_in(const struct wf_transport_view *v, uint32_t port, uint32_t class,
                           uint64_t bytes)
{
    struct wf_transport_port *in = wf_transport_port_at(v, port);
    uint64_t *inside = wf_transport_inside(v, port, class);

    wf_touch(v->at.ctx, inside, sizeof(*inside));
    *inside += bytes;
    wf_touch(v->at.ctx, in, sizeof(*in));
    in->most_inside = *inside > in->most_inside ? *inside : in->most_inside;
    if (*inside > v->net->params.pause_at && (in->stopping >> class & 1) == 0) {
        in->stopping |= 1U << class;
        tell(v, port, class, true);
    }
}

void wf_transport_pause_out(const struct wf_transport_view *v, uint32_t port, uint32_t class,
                            uint64_t bytes)
{
    struct wf_transport_port *in = wf_transport_port_at(v, port);
    uint64_t *inside = wf_transport_inside(v, port, class);

    wf_touch(v->at.ctx, inside, sizeof(*inside));
    *inside -= bytes < *inside ? bytes : *inside;
    if (*inside <= v->net->params.resume_at && (in->stopping >> class & 1) != 0) {
        wf_touch(v->at.ctx, in, sizeof(*in));
        in->stopping &= ~(1U << class);
        tell(v, port, class, false);
    }
}

void wf_transport_set_stopped(const struct wf_transport_view *v, uint32_t number,
                              uint32_t class, bool stops)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);
    uint32_t before = port->stopped, bit = 1U << class;

    wf_touch(v->at.ctx, port, sizeof(*port));
    port->stopped = stops ? before | bit : before & ~bit;
    if (before == 0 && port->stopped != 0) {
        port->since = v->at.key.time;
    }
    port->pauses += stops ? 1 : 0;
    if (before != 0 && port->stopped == 0) {
        port->paused_ps += (uint64_t)(v->at.key.time - port->since);
    }
}

void wf_transport_stopped(const struct wf_transport_view *v,
                          const struct wf_transport_stop *stop)
{
    wf_transport_set_stopped(v, stop->port, stop->class, stop->stops != 0);
    if (stop->stops == 0) {
        wf_transport_serve(v, stop->port);
    }
}
