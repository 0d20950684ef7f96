/* SPDX-License-Identifier: Apache-2.0 */
/* Routers as processes of the engine. */
#include "net/router_net.h"

/* Everything but the time. */
static struct wf_router_spot place(const struct wf_router_net *model, struct wf_ctx *ctx,
                                   void *state)
{
    uint32_t self = wf_self(ctx), node = self - model->net.first_node;
    bool is_node = node < model->net.n_nodes;
    const struct wf_router_layout *layout = is_node ? &model->node : &model->other;
    unsigned char *bytes = state;

    return (struct wf_router_spot){
        .model = model,
        .layout = layout,
        .ctx = ctx,
        .head = state,
        .channels = (void *)(bytes + layout->channels),
        .links = (void *)(bytes + layout->links),
        .inputs = (void *)(bytes + layout->inputs),
        .words = (void *)(bytes + layout->words),
        .vertex = is_node ? node : self - model->first_other + model->net.n_nodes,
    };
}

struct wf_router_spot wf_router_here(const struct wf_router_net *model, struct wf_ctx *ctx,
                                     void *state)
{
    struct wf_router_spot spot = place(model, ctx, state);

    spot.now = wf_now(ctx) / model->set.cycle;
    return spot;
}

/* After the run nothing changes any more, whatever the type says. */
static struct wf_router_spot place_after(const struct wf_router_net *model, struct wf_ctx *ctx,
                                         const void *state)
{
    union {
        const void *kept;
        void *given;
    } pointer = {.kept = state};

    return place(model, ctx, pointer.given);
}

static void slot_free(const struct wf_router_spot *spot, uint64_t number)
{
    struct wf_router_channel *channel = &spot->channels[number];

    wf_touch(spot->ctx, channel, sizeof(*channel));
    channel->used--;
    if (channel->wanted != 0) {
        channel->wanted = 0;
        wf_router_wake(spot, spot->now);
    }
}

static void head_arrives(const struct wf_router_spot *spot,
                         const struct wf_router_packet *packet)
{
    wf_router_enqueue(spot, packet->input, packet);
}

void wf_router_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev)
{
    struct wf_router_spot spot = wf_router_here(wf_to_router(net), ctx, node);
    const struct wf_router_packet *packet = (const void *)ev->payload;

    switch (ev->kind) {
    case WF_ROUTER_HEAD:
        head_arrives(&spot, packet);
        break;
    case WF_ROUTER_SLOT:
        slot_free(&spot, ev->payload[0]);
        break;
    case WF_ROUTER_DECIDE:
        wf_router_decide(&spot);
        break;
    case WF_ROUTER_SENT:
        net->user.sent(net->user.arg, ctx, node, &packet->msg);
        break;
    default:
        net->user.arrived(net->user.arg, ctx, node, &packet->msg, wf_now(ctx));
        break;
    }
}

static void add_use(const struct wf_router_net *model, struct wf_ctx *ctx, const void *state,
                    struct wf_net_use *use)
{
    const struct wf_router_spot spot = place_after(model, ctx, state);
    const struct wf_router_layout *layout = spot.layout;
    const unsigned char *bytes = state;
    const struct wf_router_head *head = state;
    const struct wf_router_channel *channels = (const void *)(bytes + layout->channels);
    const struct wf_router_input *inputs = (const void *)(bytes + layout->inputs);

    use->packets += head->consumed;
    use->hops += head->hops;
    use->injected += head->injected;
    use->waited += head->waited * (uint64_t)model->set.cycle;
    for (uint32_t port = 0; port < layout->n_ports; port++) {
        uint64_t sum = 0;
        for (uint32_t vc = 0; vc < model->vcs; vc++) {
            sum += channels[port * model->vcs + vc].packets;
            use->vcs[vc] += channels[port * model->vcs + vc].packets;
        }
        use->carried += sum;
        use->busiest = sum > use->busiest ? sum : use->busiest;
    }
    for (uint32_t i = 0; i < layout->n_inputs; i++) {
        use->stuck += inputs[i].n;
        wf_router_watch(&spot, i, &use->waits);
    }
    use->links = model->topo->n_links * 2;
}

void wf_router_use(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                   struct wf_net_use *use)
{
    add_use(wf_to_router(net), ctx, node, use);
}

static void other_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_router_net *model = wf_model(ctx);

    if (model->net.user.use != NULL) {
        add_use(model, ctx, state, model->net.user.use(model->net.user.arg, ctx));
    }
}

static void other_init(void *state, struct wf_ctx *ctx)
{
    (void)state;
    (void)ctx;
}

static void other_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    wf_router_event(wf_model(ctx), ctx, state, ev);
}

void wf_router_attach(struct wf_net *net, struct wf_engine *engine)
{
    struct wf_router_net *model = (struct wf_router_net *)net;
    uint32_t n_others = model->topo->n_vertices - net->n_nodes;

    wf_engine_promise(engine, net->promise_ps);
    wf_engine_cells(engine, sizeof(struct wf_router_cell));
    model->other_ops = (struct wf_process_ops){
        .name = "router",
        .payload_max = sizeof(struct wf_router_packet),
        .announces_changes = true,
        .init = other_init,
        .event = other_event,
        .finish = other_finish,
    };
    if (n_others > 0) {
        model->first_other =
            wf_engine_add(engine, &model->other_ops, n_others, model->other.size, model);
    }
}
