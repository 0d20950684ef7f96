/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers of the model's events. A model that needs few features gets lean handlers, which
 * pass the events that they cannot serve to the general one.
 */
#include "model/net/packet/hop.h"

#include <string.h>

static void arrive(const struct wf_packet_view *view, const struct wf_event *ev, uint32_t kind)
{
    const void *payload = ev->payload;
    struct wf_packet_run run = {.count = 1, .from = wf_packet_source_of(&ev->key)};

    memcpy(&run.head, payload, sizeof(run.head));
    if (kind == WF_PACKET_BODY) {
        run.first = ((const struct wf_packet_body_event *)payload)->first;
    } else if (kind == WF_PACKET_TRAIN) {
        const struct wf_packet_train_event *train = payload;
        run.first = train->first;
        run.count = train->count;
        run.spacing = train->spacing;
    } else {
        run.msg = &((const struct wf_packet_last_event *)payload)->msg;
        run.first = wf_packet_count(view->model, run.msg->bytes) - 1;
    }
    (void)wf_packet_hop_arrive(view, &run, WF_PACKET_ALL);
}

/* WF_PACKET_RESEND, WF_PACKET_RESEND_LAST. */
static void resend(const struct wf_packet_view *view, const void *payload, bool is_last)
{
    const struct wf_packet_body_event *body = payload;
    const struct wf_packet_last_event *last = payload;

    if (is_last) {
        wf_packet_fault_resend(view, &last->head,
                               wf_packet_count(view->model, last->msg.bytes) - 1, &last->msg);
    } else {
        wf_packet_fault_resend(view, &body->head, body->first, NULL);
    }
}

static void cut(const struct wf_packet_view *view, const void *payload)
{
    const struct wf_packet_train_event *train = payload;
    struct wf_packet_run rest = {
        .head = train->head, .first = train->first, .count = train->count};

    wf_packet_cut(view, &rest);
}

static void dispatch(const struct wf_packet_view *view, const struct wf_event *ev)
{
    uint32_t kind = wf_net_kind(ev);
    const void *payload = ev->payload;

    switch (kind) {
    case WF_PACKET_BODY:
    case WF_PACKET_TRAIN:
    case WF_PACKET_LAST:
        arrive(view, ev, kind);
        break;
    case WF_PACKET_CUT:
        cut(view, payload);
        break;
    case WF_PACKET_SERVICE:
        wf_packet_train_service(view, (uint32_t)ev->payload[0]);
        break;
    case WF_PACKET_INJECT:
        (void)wf_packet_inject(view, payload, WF_PACKET_ALL);
        break;
    case WF_PACKET_CREDIT:
        (void)wf_packet_hop_credit(view, payload, WF_PACKET_ALL);
        break;
    case WF_PACKET_READY:
        wf_packet_order_ready(view, (uint32_t)ev->payload[0]);
        break;
    case WF_PACKET_NOTICE:
        wf_packet_notice_received(view, payload);
        break;
    case WF_PACKET_TURN:
        wf_packet_turn(view);
        break;
    case WF_PACKET_RESEND:
    case WF_PACKET_RESEND_LAST:
        resend(view, payload, kind == WF_PACKET_RESEND_LAST);
        break;
    case WF_PACKET_LOST:
        wf_packet_fault_lost(view, payload);
        break;
    default:
        wf_packet_credit_change(view, (uint32_t)ev->payload[0]);
    }
}

/* Not inlined into the lean handlers, which need much less of the stack. */
static __attribute__((noinline)) void node_event(const struct wf_net *net, struct wf_ctx *ctx,
                                                 void *node, const struct wf_event *ev)
{
    struct wf_packet_view view;

    wf_packet_view_at_node(&view, wf_packet_of(net), ctx, node, wf_net_nic(ev));
    dispatch(&view, ev);
}

static __attribute__((noinline)) void other_event(void *state, const struct wf_event *ev,
                                                  struct wf_ctx *ctx)
{
    struct wf_packet_view view;

    wf_packet_view_at_other(&view, wf_model(ctx), ctx, state);
    dispatch(&view, ev);
}

/* ---- lean handlers ---- */

static inline __attribute__((always_inline)) bool lean_event(const struct wf_packet_view *view,
                                                             const struct wf_event *ev,
                                                             enum wf_packet_features features)
{
    const void *payload = ev->payload;
    const struct wf_packet_body_event *body = payload;

    if (ev->kind == WF_PACKET_BODY) {
        struct wf_packet_run run = {.head = body->head, .first = body->first, .count = 1};
        return wf_packet_hop_arrive(view, &run, features);
    }
    if (features == WF_PACKET_LEAN_CREDITS) {
        return ev->kind == WF_PACKET_CREDIT && wf_packet_hop_credit(view, payload, features);
    }
    return ev->kind == WF_PACKET_INJECT && wf_packet_inject(view, payload, features);
}

/* Defines the lean handlers for a set of features. */
#define LEAN(name, features)                                                                   \
    static void name##_node_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,    \
                                  const struct wf_event *ev)                                   \
    {                                                                                          \
        struct wf_packet_view view;                                                            \
                                                                                               \
        wf_packet_view_at_node(&view, wf_packet_of(net), ctx, node, 0);                        \
        if (!lean_event(&view, ev, features)) {                                                \
            node_event(net, ctx, node, ev);                                                    \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    static void name##_other_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx) \
    {                                                                                          \
        struct wf_packet_view view;                                                            \
                                                                                               \
        wf_packet_view_at_other(&view, wf_model(ctx), ctx, state);                             \
        if (!lean_event(&view, ev, features)) {                                                \
            other_event(state, ev, ctx);                                                       \
        }                                                                                      \
    }

LEAN(lean, WF_PACKET_LEAN)
LEAN(policy, WF_PACKET_LEAN_POLICY)
LEAN(credits, WF_PACKET_LEAN_CREDITS)

/* What the model needs, if that is as little as a lean handler provides. */
static enum wf_packet_features features_of(const struct wf_packet_net *model)
{
    bool overtake = model->order == WF_PACKET_PACKETS_OVERTAKE;
    bool is_lean = model->links.burst == 0 && model->notice_step == 0 &&
                   model->faults == NULL && model->stats == WF_NET_STATS_OFF &&
                   model->timing == WF_PACKET_CUT_THROUGH;

    if (is_lean && overtake && model->next_ports == WF_PACKET_BY_POLICY &&
        model->n_channels == 0) {
        return WF_PACKET_LEAN_POLICY;
    }
    is_lean = is_lean && !overtake;
    if (is_lean && model->next_ports == WF_PACKET_BY_CHANNELS) {
        return WF_PACKET_LEAN_CREDITS;
    }
    return is_lean && model->next_ports == WF_PACKET_BY_TOPOLOGY && !wf_packet_has_queue(model)
               ? WF_PACKET_LEAN
               : WF_PACKET_ALL;
}

void wf_packet_choose_handlers(struct wf_packet_net *model)
{
    static const struct {
        void (*node)(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                     const struct wf_event *ev);
        void (*other)(void *state, const struct wf_event *ev, struct wf_ctx *ctx);
    } handlers[] = {
        [WF_PACKET_ALL] = {node_event, other_event},
        [WF_PACKET_LEAN] = {lean_node_event, lean_other_event},
        [WF_PACKET_LEAN_POLICY] = {policy_node_event, policy_other_event},
        [WF_PACKET_LEAN_CREDITS] = {credits_node_event, credits_other_event},
    };
    enum wf_packet_features features = features_of(model);

    model->ops = wf_net_packet_ops;
    /* A lean handler of a node takes the kind of an event for that, without the interface. */
    model->ops.event = handlers[model->net.ends.nics == 1 ? features : WF_PACKET_ALL].node;
    model->other_ops.event = handlers[features].other;
}
