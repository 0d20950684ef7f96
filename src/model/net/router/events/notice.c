/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue-length notices: what a router knows of the queues of its neighbours, for policies with
 * asks_far. When a queue differs by net.info_step from the last notice about it, all routers
 * with a link to this one get a new notice, as late as the head of a packet would come.
 */
#include "model/net/notices.h"
#include "model/net/router/events/model.h"

_Static_assert(WF_NET_NOTICES_CELL <= sizeof(struct wf_router_cell), "fits into a cell");

static struct wf_router_port_notice *notice_of(const struct wf_router_view *view, uint32_t port)
{
    return (struct wf_router_port_notice *)(void *)((unsigned char *)view->head +
                                                    view->layout->notices) +
           port;
}

/* Whether packets may go on from a vertex by more than one port. Others need no notices. */
static bool has_choice(const struct wf_topo *topo, uint32_t vertex)
{
    return vertex != WF_TOPO_NO_VERTEX && wf_topo_ports(topo, vertex) > 1;
}

static uint32_t n_in_ports(const struct wf_router_net *model, uint32_t vertex)
{
    const uint32_t *first = model->inward.first;

    return first != NULL ? first[vertex + 1] - first[vertex]
                         : wf_topo_ports(model->topo, vertex);
}

static bool is_announced(const struct wf_router_view *view, uint32_t port)
{
    const struct wf_topo *topo = view->model->topo;

    return has_choice(topo, view->vertex) &&
           has_choice(topo, topo->ops->neighbor(topo, view->vertex, port));
}

void wf_router_notice_send(const struct wf_router_view *view, uint32_t port)
{
    const struct wf_router_net *model = view->model;
    struct wf_router_port_notice *notice = notice_of(view, port);
    uint64_t here = wf_router_queue_bytes(view, port), told = notice->told;

    if ((here > told ? here - told : told - here) < model->notice_step ||
        !is_announced(view, port)) {
        return;
    }
    wf_touch(view->ctx, notice, sizeof(*notice));
    notice->told = here;
    uint32_t n = n_in_ports(model, view->vertex),
             to = model->topo->ops->neighbor(model->topo, view->vertex, port);
    for (uint32_t in_port = 0; in_port < n; in_port++) {
        const struct wf_router_end before = wf_router_before(model, view->vertex, in_port);
        const struct wf_router_notice payload = {
            .by = before.port, .port = port, .bytes = here};
        if (before.vertex != to && has_choice(model->topo, before.vertex)) {
            const struct wf_router_link_kind *kind =
                wf_router_kind(model, before.vertex, before.port);
            wf_router_schedule(view, before.vertex,
                               kind->pipeline + kind->link_delay +
                                   (model->set.switching == WF_ROUTER_WORMHOLE ? 1 : 0),
                               WF_ROUTER_NOTICE, &payload, sizeof(payload));
        }
    }
}

void wf_router_notice_send_all(const struct wf_router_view *view)
{
    uint32_t n = wf_topo_ports(view->model->topo, view->vertex);

    for (uint32_t port = 0; port < n; port++) {
        wf_router_notice_send(view, port);
    }
}

void wf_router_notice_received(const struct wf_router_view *view,
                               const struct wf_router_notice *notice)
{
    const struct wf_net_notice told = {.value = (int64_t)notice->bytes, .port = notice->port};

    wf_net_notices_put(view->ctx, &notice_of(view, notice->by)->known, &told, 0);
}

static uint32_t port_to(const struct wf_router_view *view, uint32_t vertex)
{
    const struct wf_topo *topo = view->model->topo;
    uint32_t n_ports = wf_topo_ports(topo, view->vertex), port = 0;

    while (port < n_ports && topo->ops->neighbor(topo, view->vertex, port) != vertex) {
        port++;
    }
    return port < n_ports ? port : WF_TOPO_NO_PORT;
}

uint64_t wf_router_notice_queue(const struct wf_router_view *view, uint32_t vertex,
                                uint32_t port)
{
    uint32_t by = port_to(view, vertex);

    if (by == WF_TOPO_NO_PORT) {
        return 0;
    }
    const struct wf_net_notice *told =
        wf_net_notices_get(view->ctx, notice_of(view, by)->known, port);
    return told == NULL ? 0 : (uint64_t)told->value;
}
