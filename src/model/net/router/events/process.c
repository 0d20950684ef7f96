/* SPDX-License-Identifier: Apache-2.0 */
/* Routers as processes of the engine. */
#include "base/mem.h"
#include "model/net/router/events/flit.h"
#include "model/net/router/events/stats.h"

/* The view without the cycle. */
static struct wf_router_view place(const struct wf_router_net *model, struct wf_ctx *ctx,
                                   void *state, uint32_t nic)
{
    const struct wf_net *net = &model->net;
    uint32_t self = wf_self(ctx);
    bool is_node = self - net->first_node < net->ends.n_nodes;
    const struct wf_router_layout *layout = is_node ? &model->node : &model->other;
    unsigned char *bytes = state;

    return (struct wf_router_view){
        .model = model,
        .layout = layout,
        .ctx = ctx,
        .head = state,
        .channels = (void *)(bytes + layout->channels),
        .links = (void *)(bytes + layout->links),
        .inputs = (void *)(bytes + layout->inputs),
        .words = (void *)(bytes + layout->words),
        .vertex = is_node ? wf_net_here(net, ctx, nic)
                          : wf_net_other_vertex(&net->ends, self - net->first_other),
        .nic = nic,
    };
}

struct wf_router_view wf_router_view_at(const struct wf_router_net *model, struct wf_ctx *ctx,
                                        void *state, uint32_t nic)
{
    struct wf_router_view view = place(model, ctx, state, nic);

    view.now = wf_now(ctx) / model->set.cycle;
    return view;
}

/* After the run the state is only read. */
static struct wf_router_view place_after(const struct wf_router_net *model, struct wf_ctx *ctx,
                                         const void *state, uint32_t nic)
{
    return place(model, ctx, wf_unconst(state), nic);
}

static void slot_free(const struct wf_router_view *view, uint64_t number)
{
    struct wf_router_channel *channel = &view->channels[number];

    wf_touch(view->ctx, channel, sizeof(*channel));
    channel->used--;
    if (channel->wanted != 0) {
        channel->wanted = 0;
        wf_router_wake(view, view->now);
    }
    if (view->model->notice_step > 0) {
        wf_router_notice_send(view, (uint32_t)number / view->model->rules.vcs);
    }
}

static void gate(const struct wf_router_view *view, bool shut)
{
    wf_touch(view->ctx, view->head, sizeof(*view->head));
    view->head->shut = shut;
    if (!shut) {
        wf_router_wake(view, view->now);
    }
}

/* Stops the traffic of a node. Node 0 remembers the deadlock. */
static void halt(const struct wf_router_view *view, void *node,
                 const struct wf_net_deadlock *deadlock)
{
    const struct wf_net_user *user = &view->model->net.user;

    if (view->vertex == 0) {
        uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct wf_router_deadlock));
        struct wf_router_deadlock *kept = wf_cell_edit(view->ctx, cell);
        *kept = (struct wf_router_deadlock){.queues = *deadlock, .at = wf_now(view->ctx)};
        wf_touch(view->ctx, view->head, sizeof(*view->head));
        view->head->deadlock = cell;
    }
    if (user->halted != NULL) {
        user->halted(user->arg, view->ctx, node);
    }
}

void wf_router_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev)
{
    struct wf_router_view view =
        wf_router_view_at(wf_router_of(net), ctx, node, wf_net_nic(ev));
    const struct wf_router_packet *packet = (const void *)ev->payload;

    if (view.model->set.switching == WF_ROUTER_WORMHOLE && wf_router_flit_event(&view, ev)) {
        return;
    }
    switch (wf_net_kind(ev)) {
    case WF_ROUTER_HEAD:
        wf_router_enqueue(&view, packet->input, packet);
        break;
    case WF_ROUTER_SLOT:
        slot_free(&view, ev->payload[0]);
        break;
    case WF_ROUTER_DECIDE:
        wf_router_decide(&view);
        break;
    case WF_ROUTER_WATCH:
        wf_router_look(&view);
        break;
    case WF_ROUTER_REPORT:
        wf_router_report(&view);
        break;
    case WF_ROUTER_GATE:
        gate(&view, ev->payload[0] != 0);
        break;
    case WF_ROUTER_HALT:
        halt(&view, node, (const void *)ev->payload);
        break;
    case WF_ROUTER_NOTICE:
        wf_router_notice_received(&view, (const void *)ev->payload);
        break;
    case WF_ROUTER_RESEND:
        wf_router_fault_resend(&view, packet);
        break;
    case WF_ROUTER_LOST:
        wf_router_fault_lost(&view, (const void *)ev->payload);
        break;
    case WF_ROUTER_SENT:
        net->user.sent(net->user.arg, ctx, node, &packet->msg);
        break;
    default:
        net->user.arrived(net->user.arg, ctx, node, &packet->msg, wf_now(ctx));
        break;
    }
}

static void add_usage(const struct wf_router_net *model, struct wf_ctx *ctx, const void *state,
                      struct wf_net_usage *usage)
{
    const struct wf_router_view view = place_after(model, ctx, state, 0);
    const struct wf_router_layout *layout = view.layout;
    const struct wf_router_head *head = view.head;
    const struct wf_router_channel *channels = view.channels;

    usage->packets += head->consumed;
    usage->hops += head->hops;
    usage->digest += head->digest;
    usage->injected += head->injected;
    usage->waited += head->waited * (uint64_t)model->set.cycle;
    for (uint32_t port = 0; port < layout->n_ports; port++) {
        uint64_t sum = 0;
        for (uint32_t vc = 0; vc < model->rules.vcs; vc++) {
            sum += channels[port * model->rules.vcs + vc].packets;
            usage->vcs[vc] += channels[port * model->rules.vcs + vc].packets;
        }
        if (sum > 0) { /* else there may be no such link */
            uint64_t busy = sum * wf_router_kind(model, view.vertex, port)->pace;
            usage->carried += sum;
            usage->busy += busy;
            wf_net_usage_link(usage, (struct wf_net_link_usage){busy, view.vertex, port});
        }
    }
    for (uint32_t i = 0; i < layout->n_inputs; i++) {
        struct wf_net_wait wait;
        if (wf_router_is_blocked(&view, i, &wait)) {
            wf_net_waits_add(&usage->waits, &wait);
        }
    }
    usage->links = model->topo->n_links * (model->topo->oneway ? 1 : 2);
}

void wf_router_usage(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                     struct wf_net_usage *usage)
{
    add_usage(wf_router_of(net), ctx, node, usage);
}

void wf_router_finish(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                      uint32_t nic, struct wf_net_totals *totals)
{
    const struct wf_router_head *head = node;
    const struct wf_router_view view = place_after(wf_router_of(net), ctx, node, nic);

    wf_router_stats_finish(&view);
    if (view.model->faults != NULL) {
        const struct wf_net_totals lost = {.losses = *wf_router_fault_losses(&view)};
        wf_net_totals_merge(totals, &lost);
    }
    if (head->deadlock != 0) {
        const struct wf_router_deadlock *deadlock = wf_cell_read(ctx, head->deadlock);
        totals->deadlock = deadlock->queues;
        totals->deadlock_ps = deadlock->at;
    }
}

static void other_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_router_net *model = wf_model(ctx);
    const struct wf_router_view view = place_after(model, ctx, state, 0);

    wf_router_stats_finish(&view);
    if (model->net.user.usage != NULL) {
        add_usage(model, ctx, state, model->net.user.usage(model->net.user.arg, ctx));
    }
}

static void other_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    wf_router_event(wf_model(ctx), ctx, state, ev);
}

void wf_router_attach(struct wf_net *net, struct wf_engine *engine)
{
    struct wf_router_net *model = (struct wf_router_net *)net;

    wf_router_add_detector(model, engine);
    wf_engine_cells(engine, sizeof(struct wf_router_cell));
    wf_engine_cells(engine, sizeof(struct wf_router_peer));
    wf_engine_cells(engine, WF_CELLMAP_CELL_SIZE);
    model->other_ops = (struct wf_process_ops){
        .name = "router",
        .payload_max = sizeof(struct wf_router_packet),
        .announces_changes = true,
        .event = other_event,
        .finish = other_finish,
    };
    wf_net_add_others(net, engine, model->topo->n_vertices, &model->other_ops,
                      model->other.size);
}
