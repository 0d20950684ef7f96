/* SPDX-License-Identifier: Apache-2.0 */
#include "net/latency.h"

#include "base/mem.h"

#include <stdlib.h>

enum { LATENCY_HEAD }; /* the hops are over, the bytes follow */

struct latency {
    struct wf_net net;
    struct wf_latency_params params;
    const struct wf_topo *topo;
};

static const struct wf_param params_table[] = {
    {.name = "link_latency",
     .type = WF_PARAM_TIME,
     .offset = offsetof(struct wf_latency_params, link_latency),
     .def = "100ns",
     .min = "0",
     .max = "1h",
     .doc = "Time per hop"},
    {.name = "bandwidth",
     .type = WF_PARAM_RATE,
     .offset = offsetof(struct wf_latency_params, bandwidth),
     .def = "10GB/s",
     .doc = "Bytes per second"},
    WF_PARAM_END,
};

static const struct latency *to_latency(const struct wf_net *net)
{
    return (const struct latency *)net;
}

static int64_t path_ps(const struct latency *model, uint32_t hops)
{
    int64_t each = model->params.link_latency;

    return hops != 0 && each > WF_TIME_MAX / hops ? WF_TIME_MAX : each * hops;
}

static enum wf_status latency_create(const void *params, const struct wf_net_env *env,
                                     struct wf_net **out, struct wf_err *err)
{
    const struct wf_latency_params *given = params;

    if (env->topo == NULL) {
        return wf_err_set(err, WF_EUSAGE, "network model 'latency' needs a topology");
    }
    if (env->n_nodes > env->topo->n_nodes) {
        return wf_err_set(err, WF_EINVAL, "%u nodes do not fit on a %s of %u", env->n_nodes,
                          env->topo->ops->name, env->topo->n_nodes);
    }

    struct latency *model = wf_xcalloc(1, sizeof(*model));

    model->params = *given;
    model->topo = env->topo;
    model->net = (struct wf_net){
        .ops = &wf_latency_ops,
        .payload_max = sizeof(struct wf_message),
        .promise_ps = given->link_latency, /* other nodes are at least one hop away */
        .ahead = WF_NET_ANY,
        .n_nodes = env->n_nodes,
    };
    *out = &model->net;
    return WF_OK;
}

static void latency_destroy(struct wf_net *net)
{
    free(net);
}

static void latency_attach(struct wf_net *net, struct wf_engine *engine)
{
    wf_engine_promise(engine, net->promise_ps);
}

static int64_t latency_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                            uint32_t dst_node, const struct wf_message *msg, int64_t start)
{
    const struct latency *model = to_latency(net);
    uint32_t hops = model->topo->ops->distance(model->topo, msg->src_node, dst_node);

    (void)node;
    wf_net_schedule(net, ctx, dst_node, wf_time_add(start, path_ps(model, hops)), LATENCY_HEAD,
                    msg);
    return wf_time_add(start, wf_transfer_ps(msg->bytes, model->params.bandwidth));
}

static void latency_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          const struct wf_event *ev)
{
    const struct latency *model = to_latency(net);
    const struct wf_message *msg = (const void *)ev->payload;

    net->user.arrived(
        net->user.arg, ctx, node, msg,
        wf_time_add(wf_now(ctx), wf_transfer_ps(msg->bytes, model->params.bandwidth)));
}

const struct wf_net_ops wf_latency_ops = {
    .name = "latency",
    .summary = "hops * link latency + bytes / bandwidth on a topology, no contention",
    .uses_topology = true,
    .params = params_table,
    .params_size = sizeof(struct wf_latency_params),
    .create = latency_create,
    .destroy = latency_destroy,
    .attach = latency_attach,
    .send = latency_send,
    .event = latency_event,
};
