/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/alphabeta.h"

#include "base/mem.h"

enum { ALPHABETA_HEAD }; /* alpha has passed, the bytes follow */

struct alphabeta {
    struct wf_net net;
    struct wf_net_alphabeta_params params;
};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_net_alphabeta_params, member_)

static const struct wf_param params_table[] = {
    {ROW("alpha", TIME, alpha), .def = "2us", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY, .doc = "Start-up time of a message"},
    {ROW("bandwidth", RATE, bandwidth), .def = "10GB/s", .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "1/beta: bytes per second"},
    WF_PARAM_END,
};

static int64_t transfer_ps(const struct wf_net *net, uint64_t bytes)
{
    return wf_transfer_ps(bytes, ((const struct alphabeta *)net)->params.bandwidth);
}

static enum wf_status alphabeta_create(const void *params, const struct wf_net_env *env,
                                       struct wf_net **out, struct wf_err *err)
{
    const struct wf_net_alphabeta_params *given = params;
    struct alphabeta *model = wf_xcalloc(1, sizeof(*model));

    model->params = *given;
    model->net = (struct wf_net){
        .ops = &wf_net_alphabeta_ops,
        .payload_max = sizeof(struct wf_net_message),
        .promise_ps = given->alpha,
        .ahead = WF_NET_ANY,
        .ends = wf_net_ends_of(env),
    };
    *out = &model->net;
    return WF_OK;
}

static int64_t alphabeta_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                              uint32_t dst_node, const struct wf_net_message *msg,
                              int64_t start)
{
    wf_net_schedule(net, ctx, dst_node, wf_time_add(start, net->promise_ps), ALPHABETA_HEAD,
                    msg);
    return wf_time_add(start, transfer_ps(net, msg->bytes));
}

static void alphabeta_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                            const struct wf_event *ev)
{
    const struct wf_net_message *msg = (const void *)ev->payload;

    net->user.arrived(net->user.arg, ctx, node, msg,
                      wf_time_add(wf_now(ctx), transfer_ps(net, msg->bytes)));
}

static struct wf_net_uncontended alphabeta_uncontended(const struct wf_net *net,
                                                       uint32_t src_node, uint32_t dst_node,
                                                       uint64_t bytes)
{
    return (struct wf_net_uncontended){net->promise_ps, transfer_ps(net, bytes)};
}

const struct wf_net_ops wf_net_alphabeta_ops = {
    .name = "alphabeta",
    .summary = "alpha + bytes / bandwidth, no contention",
    .contention = WF_NET_NO_CONTENTION,
    .limits = "messages do not disturb each other",
    .params = params_table,
    .params_size = sizeof(struct wf_net_alphabeta_params),
    .create = alphabeta_create,
    .send = alphabeta_send,
    .event = alphabeta_event,
    .uncontended = alphabeta_uncontended,
};
