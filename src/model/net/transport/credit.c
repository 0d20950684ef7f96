/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credits: a port knows how many bytes of a class fit at the end of its link. Packets that leave
 * take them, and the next vertex gives them back when it passes a packet on. Without space for a
 * full packet the port stops the class. Nothing is lost, and no more space is needed than the
 * credits say. Nodes take every packet for them.
 */
#include "model/net/transport/model.h"

static bool has_space(const struct wf_transport_view *v, uint64_t inside)
{
    return inside + v->net->packet.links.full_bytes <= v->net->queue_bytes;
}

void wf_transport_credit_take(const struct wf_transport_view *v, uint32_t number,
                              uint32_t class, uint64_t bytes)
{
    struct wf_transport_port *port = wf_transport_port_at(v, number);
    uint64_t *inside = wf_transport_inside(v, number, class);

    wf_touch(v->at.ctx, inside, sizeof(*inside));
    *inside += bytes;
    wf_touch(v->at.ctx, port, sizeof(*port));
    port->most_inside = *inside > port->most_inside ? *inside : port->most_inside;
    if (!has_space(v, *inside) && (port->stopped >> class & 1) == 0) {
        wf_transport_set_stopped(v, number, class, true);
    }
}

void wf_transport_credit_give(const struct wf_transport_view *v, uint32_t port,
                              const struct wf_transport_packet *packet, int64_t wait)
{
    const struct wf_packet_links *links = &v->net->packet.links;
    uint32_t link = wf_packet_links_number(links, v->at.vertex, port);
    const struct wf_packet_link_kind *kind = &links->kinds[wf_packet_links_kind(links, link)];
    const struct wf_transport_credit credit = {.port = links->in_port[link],
                                               .class = packet->class,
                                               .bytes =
                                                   wf_transport_packet_bytes(v->net, packet)};

    wf_packet_schedule(&v->at, links->to[link],
                       wf_time_add(wait, wf_time_add(kind->latency, kind->delay)),
                       WF_TRANSPORT_CREDIT, &credit, sizeof(credit));
}

void wf_transport_credited(const struct wf_transport_view *v,
                           const struct wf_transport_credit *credit)
{
    uint64_t *inside = wf_transport_inside(v, credit->port, credit->class);

    wf_touch(v->at.ctx, inside, sizeof(*inside));
    *inside -= credit->bytes;
    if (has_space(v, *inside) &&
        (wf_transport_port_at(v, credit->port)->stopped >> credit->class & 1) != 0) {
        wf_transport_set_stopped(v, credit->port, credit->class, false);
        wf_transport_serve(v, credit->port);
    }
}
