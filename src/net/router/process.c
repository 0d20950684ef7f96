/* SPDX-License-Identifier: Apache-2.0 */
/* Routers as processes of the engine. */
#include "net/router/flit.h"
#include "net/router/stats.h"
#include "net/router/watch.h"

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

static void gate(const struct wf_router_spot *spot, bool shut)
{
    wf_touch(spot->ctx, spot->head, sizeof(*spot->head));
    spot->head->shut = shut;
    if (!shut) {
        wf_router_wake(spot, spot->now);
    }
}

/* Node 0 remembers why. */
static void halt(const struct wf_router_spot *spot, void *node, const struct wf_circle *circle)
{
    const struct wf_net_user *user = &spot->model->net.user;

    if (spot->vertex == 0) {
        uint32_t cell = wf_cell_new(spot->ctx);
        struct wf_router_deadlock *kept = wf_cell_edit(spot->ctx, cell);
        *kept = (struct wf_router_deadlock){.circle = *circle, .at = wf_now(spot->ctx)};
        wf_touch(spot->ctx, spot->head, sizeof(*spot->head));
        spot->head->circle = cell;
    }
    if (user->halted != NULL) {
        user->halted(user->arg, spot->ctx, node);
    }
}

void wf_router_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev)
{
    struct wf_router_spot spot = wf_router_here(wf_to_router(net), ctx, node);
    const struct wf_router_packet *packet = (const void *)ev->payload;

    if (spot.model->set.switching == WF_ROUTER_WORMHOLE && wf_flit_event(&spot, ev)) {
        return;
    }
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
    case WF_ROUTER_WATCH:
        wf_router_look(&spot);
        break;
    case WF_ROUTER_REPORT:
        wf_router_report(&spot);
        break;
    case WF_ROUTER_GATE:
        gate(&spot, ev->payload[0] != 0);
        break;
    case WF_ROUTER_HALT:
        halt(&spot, node, (const void *)ev->payload);
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
        wf_net_use_link(use, (struct wf_net_link_use){sum, spot.vertex, port});
    }
    for (uint32_t i = 0; i < layout->n_inputs; i++) {
        struct wf_wait wait;
        use->stuck += inputs[i].n;
        if (wf_router_is_stuck(&spot, i, &wait)) {
            wf_waits_add(&use->waits, &wait);
        }
    }
    use->links = model->topo->n_links * 2;
}

void wf_router_use(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                   struct wf_net_use *use)
{
    add_use(wf_to_router(net), ctx, node, use);
}

void wf_router_finish(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                      struct wf_net_facts *facts)
{
    const struct wf_router_head *head = node;
    const struct wf_router_spot spot = place_after(wf_to_router(net), ctx, node);

    wf_router_stats_finish(&spot);
    if (head->circle != 0) {
        const struct wf_router_deadlock *deadlock = wf_cell_read(ctx, head->circle);
        facts->circle = deadlock->circle;
        facts->deadlock_ps = deadlock->at;
    }
}

static void other_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_router_net *model = wf_model(ctx);
    const struct wf_router_spot spot = place_after(model, ctx, state);

    wf_router_stats_finish(&spot);
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
    if (wf_router_is_overseen(model)) {
        wf_router_add_overseer(model, engine);
    }
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
