/* SPDX-License-Identifier: Apache-2.0 */
#include "net/latency.h"

#include "base/mem.h"
#include "net/topology.h"
#include "topo/nested.h"

enum { LATENCY_HEAD }; /* all hops are done, the bytes follow */

struct level {
    int64_t link_latency;
    uint64_t bandwidth;
};

struct latency {
    struct wf_net net;
    const struct wf_topo *topo;
    bool plain; /* one level, and all its links are equal */
    uint32_t n_levels;
    struct level levels[]; /* outermost first */
};

/* The latency of a route, and its lowest bandwidth. */
struct path {
    int64_t latency;
    uint64_t bandwidth;
};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_net_latency_params, member_)

static const struct wf_param params_table[] = {
    {ROW("link_latency", TIMES, link_latency), .def = "100ns", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Time per hop; in a hierarchy, one value for all levels or one for each, "
            "outermost first"},
    {ROW("bandwidth", RATES, bandwidth), .def = "10GB/s", .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "Bandwidth of a link; in a hierarchy as link_latency. The lowest on its route "
            "applies to a message"},
    WF_PARAM_END,
};

static const struct latency *to_latency(const struct wf_net *net)
{
    return (const struct latency *)net;
}

static int64_t times(int64_t each, uint32_t n)
{
    return n != 0 && each > WF_TIME_MAX / n ? WF_TIME_MAX : each * n;
}

static void narrow(struct path *path, uint64_t bandwidth)
{
    if (bandwidth < path->bandwidth) {
        path->bandwidth = bandwidth;
    }
}

/* Adds a leg whose links differ, link by link. */
static void add_links(const struct level *level, const struct wf_topo_leg *leg,
                      struct path *path)
{
    const struct wf_topo *topo = leg->topo;

    for (uint32_t at = leg->from; at != leg->to;) {
        uint32_t port = topo->ops->next_port(topo, at, leg->to);
        struct wf_topo_link_props props = topo->ops->link_props(topo, at, port);

        path->latency = wf_time_add(path->latency,
                                    props.latency != 0 ? props.latency : level->link_latency);
        narrow(path, props.bandwidth != 0 ? props.bandwidth : level->bandwidth);
        at = topo->ops->neighbor(topo, at, port);
    }
}

static struct path find_path(const struct latency *model, uint32_t src, uint32_t dst)
{
    struct wf_topo_leg legs[WF_TOPO_LEGS_MAX];
    struct path path = {.latency = 0, .bandwidth = UINT64_MAX};

    if (model->plain) {
        uint32_t hops = model->topo->ops->distance(model->topo, src, dst);
        return (struct path){times(model->levels[0].link_latency, hops),
                             model->levels[0].bandwidth};
    }

    uint32_t n = wf_topo_legs(model->topo, src, dst, legs);
    for (uint32_t i = 0; i < n; i++) {
        const struct wf_topo_leg *leg = &legs[i];
        const struct level *level = &model->levels[leg->level];

        if (leg->topo->ops->link_props != NULL) {
            add_links(level, leg, &path);
        } else {
            uint32_t hops = leg->topo->ops->distance(leg->topo, leg->from, leg->to);
            path.latency = wf_time_add(path.latency, times(level->link_latency, hops));
            narrow(&path, level->bandwidth);
        }
    }
    if (n == 0) { /* within a node */
        path.bandwidth = model->levels[model->n_levels - 1].bandwidth;
    }
    return path;
}

/* The least latency of any link, and so of any message to another node. */
static int64_t least_latency(const struct latency *model)
{
    int64_t least = WF_TIME_MAX;

    for (uint32_t i = 0; i < model->n_levels; i++) {
        const struct wf_topo *topo = wf_topo_level(model->topo, i);
        int64_t here = model->levels[i].link_latency;

        for (uint32_t v = 0; topo->ops->link_props != NULL && v < topo->n_vertices; v++) {
            uint32_t n_ports = wf_topo_ports(topo, v);
            for (uint32_t port = 0; port < n_ports; port++) {
                int64_t own = topo->ops->link_props(topo, v, port).latency;
                here = own != 0 && own < here ? own : here;
            }
        }
        least = here < least ? here : least;
    }
    return least;
}

static enum wf_status latency_create(const void *params, const struct wf_net_env *env,
                                     struct wf_net **out, struct wf_err *err)
{
    const struct wf_net_latency_params *given = params;

    WF_TRY(wf_net_levels_check("latency", env, &given->link_latency, &given->bandwidth, err));

    uint32_t n_levels = wf_topo_n_levels(env->topo);
    struct latency *model = wf_xcalloc(1, sizeof(*model) + n_levels * sizeof(model->levels[0]));

    model->topo = env->topo;
    model->n_levels = n_levels;
    model->plain = n_levels == 1 && env->topo->ops->link_props == NULL;
    for (uint32_t i = 0; i < n_levels; i++) {
        model->levels[i].link_latency = (int64_t)wf_net_level_value(&given->link_latency, i);
        model->levels[i].bandwidth = wf_net_level_value(&given->bandwidth, i);
    }
    model->net = (struct wf_net){
        .ops = &wf_net_latency_ops,
        .payload_max = sizeof(struct wf_net_message),
        .promise_ps = least_latency(model),
        .ahead = WF_NET_ANY,
        .n_nodes = env->n_nodes,
        .route_topo = n_levels == 1 ? env->topo : NULL,
    };
    *out = &model->net;
    return WF_OK;
}

static int64_t latency_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                            uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    struct path path = find_path(to_latency(net), msg->src_node, dst_node);

    wf_net_schedule(net, ctx, dst_node, wf_time_add(start, path.latency), LATENCY_HEAD, msg);
    return wf_time_add(start, wf_transfer_ps(msg->bytes, path.bandwidth));
}

static void latency_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          const struct wf_event *ev)
{
    const struct latency *model = to_latency(net);
    const struct wf_net_message *msg = (const void *)ev->payload;
    uint64_t bandwidth =
        model->plain
            ? model->levels[0].bandwidth
            : find_path(model, msg->src_node, wf_self(ctx) - net->first_node).bandwidth;

    net->user.arrived(net->user.arg, ctx, node, msg,
                      wf_time_add(wf_now(ctx), wf_transfer_ps(msg->bytes, bandwidth)));
}

static struct wf_net_uncontended latency_uncontended(const struct wf_net *net,
                                                     uint32_t src_node, uint32_t dst_node,
                                                     uint64_t bytes)
{
    struct path path = find_path(to_latency(net), src_node, dst_node);

    return (struct wf_net_uncontended){path.latency, wf_transfer_ps(bytes, path.bandwidth)};
}

const struct wf_net_ops wf_net_latency_ops = {
    .name = "latency",
    .summary = "hops * link latency + bytes / bandwidth on a topology, no contention",
    .limits = "links carry any number of messages at once",
    .uses_topology = true,
    .params = params_table,
    .params_size = sizeof(struct wf_net_latency_params),
    .create = latency_create,
    .send = latency_send,
    .event = latency_event,
    .uncontended = latency_uncontended,
};
