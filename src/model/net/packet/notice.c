/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue-length notices: what a router knows of the queues of its neighbours, for policies with
 * asks_far. A process cannot look into another one, so routers notify each other. When a queue
 * differs by more than net.info_step from the last notice about it, all neighbours get a new
 * one, after a router's delay and the link's latency. A notice gives the time at which the port
 * will be free, so that the queue shrinks at the receiver as it does here. Only packets that
 * lengthen the queue or wait for credits need new notices.
 */
#include "model/net/notices.h"
#include "model/net/packet/hop.h"

_Static_assert(WF_NET_NOTICES_CELL <= sizeof(struct wf_packet_train), "fits into a cell");

static struct wf_packet_port_notice *notice_of(const struct wf_packet_view *view, uint32_t port)
{
    const struct wf_packet_net *model = view->model;
    size_t n_ports = view->n_ports;
    unsigned char *at = (unsigned char *)(view->channels + n_ports * model->n_channels);

    if (view->stats != NULL) {
        at += n_ports * sizeof(struct wf_packet_port_stats);
    }
    return (struct wf_packet_port_notice *)(void *)at + port;
}

/* The length of a queue in packets. */
static uint64_t length(int64_t free, uint32_t waiting, int64_t now, int64_t full_ps)
{
    return (free > now ? (uint64_t)((free - now) / full_ps) : 0) + waiting;
}

/* Sends a notice about `port` to the neighbour at port `by`. */
static void send(const struct wf_packet_view *view, uint32_t by, uint32_t port,
                 const struct wf_packet_port_notice *notice)
{
    const struct wf_packet_links *links = &view->model->links;
    uint32_t link = wf_packet_links_number(links, view->vertex, by), to = links->to[link];

    if (by == port || to == WF_TOPO_NO_VERTEX || links->in_port[link] == WF_PACKET_NO_PORT ||
        !wf_packet_links_is_router(links, to)) {
        return; /* packets never turn back, or the neighbour is not a router */
    }
    const struct wf_packet_notice_event payload = {.by = links->in_port[link],
                                                   .port = port,
                                                   .free = notice->free,
                                                   .waiting = notice->waiting};
    const struct wf_packet_link_kind *kind = &links->kinds[wf_packet_links_kind(links, link)];

    wf_packet_schedule(view, to, kind->latency + kind->delay, WF_PACKET_NOTICE, &payload,
                       sizeof(payload));
}

void wf_packet_notice_send(const struct wf_packet_view *view, uint32_t port)
{
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_links *links = &model->links;
    uint32_t link = wf_packet_links_number(links, view->vertex, port);
    uint32_t waiting = wf_packet_waiting(view, port);
    int64_t now = view->key.time,
            full_ps = links->kinds[wf_packet_links_kind(links, link)].full_ps;
    struct wf_packet_port_notice *notice = notice_of(view, port);

    if (!wf_packet_links_is_router(links, links->to[link]) ||
        !wf_packet_links_is_router(links, view->vertex)) {
        return; /* links of end nodes leave no choice */
    }
    uint64_t here = length(view->ports[port].free, waiting, now, full_ps);
    uint64_t told = length(notice->free, notice->waiting, now, full_ps);
    if ((here > told ? here - told : told - here) < model->notice_step) {
        return;
    }
    wf_touch(view->ctx, notice, sizeof(*notice));
    notice->free = view->ports[port].free;
    notice->waiting = waiting;
    uint32_t n_ports = wf_topo_ports(model->topo, view->vertex);
    for (uint32_t by = 0; by < n_ports; by++) {
        send(view, by, port, notice);
    }
}

void wf_packet_notice_received(const struct wf_packet_view *view,
                               const struct wf_packet_notice_event *notice)
{
    const struct wf_net_notice told = {
        .value = notice->free, .port = notice->port, .more = notice->waiting};

    wf_net_notices_put(view->ctx, &notice_of(view, notice->by)->known, &told, view->key.time);
}

static uint32_t port_to(const struct wf_packet_view *view, uint32_t vertex)
{
    const struct wf_packet_links *links = &view->model->links;
    uint32_t n_ports = wf_topo_ports(view->model->topo, view->vertex), port = 0;
    const uint32_t *to = &links->to[wf_packet_links_number(links, view->vertex, 0)];

    while (port < n_ports && to[port] != vertex) {
        port++;
    }
    return port < n_ports ? port : WF_TOPO_NO_PORT;
}

uint64_t wf_packet_notice_queue(const struct wf_packet_view *view, uint32_t vertex,
                                uint32_t port)
{
    const struct wf_packet_links *links = &view->model->links;
    uint32_t kind = wf_packet_links_kind(links, wf_packet_links_number(links, vertex, port));
    int64_t full_ps = links->kinds[kind].full_ps;
    uint32_t by = port_to(view, vertex);

    if (by == WF_TOPO_NO_PORT) {
        return 0;
    }
    const struct wf_net_notice *told =
        wf_net_notices_get(view->ctx, notice_of(view, by)->known, port);
    return told == NULL ? 0 : length(told->value, told->more, view->key.time, full_ps);
}
