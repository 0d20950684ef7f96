/* SPDX-License-Identifier: Apache-2.0 */

/* No network: every message arrives at once and costs nothing. To measure the simulator itself,
 * and the time of a program with free communication. */

#include "model/net/net.h"

#include "base/mem.h"

enum { NONE_ARRIVAL };

static const struct wf_param params_table[] = {WF_PARAM_END};

static enum wf_status none_create(const void *params, const struct wf_net_env *env,
                                  struct wf_net **out, struct wf_err *err)
{
    struct wf_net *net = wf_xmalloc(sizeof(*net));

    *net = (struct wf_net){
        .ops = &wf_net_none_ops,
        .payload_max = sizeof(struct wf_net_message),
        .ahead = WF_NET_ANY,
        .ends = wf_net_ends_of(env),
    };
    *out = net;
    return WF_OK;
}

static int64_t none_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                         uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    wf_net_schedule(net, ctx, dst_node, start, NONE_ARRIVAL, msg);
    return start;
}

static void none_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev)
{
    net->user.arrived(net->user.arg, ctx, node, (const void *)ev->payload, wf_now(ctx));
}

const struct wf_net_ops wf_net_none_ops = {
    .name = "none",
    .summary = "no cost at all: to measure the simulator, and programs without their network",
    .contention = WF_NET_FREE,
    .limits = "messages cost nothing: this is a bound, not a prediction",
    .params = params_table,
    .params_size = 0,
    .create = none_create,
    .send = none_send,
    .event = none_event,
};
