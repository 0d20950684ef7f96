/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sends a list of messages through the router model, without ranks, and records the cycles in
 * which they arrived. */

#include "harness/replay_harness.h"
#include "model/net/router/router.h"

enum { KIND_SEND = WF_NET_KINDS, CYCLE_PS = 1000 };

struct router_send {
    int64_t cycle;
    uint32_t src, dst;
    uint64_t bytes;
};

struct router_world {
    const struct wf_net *net;
    const struct router_send *sends;
    uint32_t n;
    int64_t *arrival; /* cycle of each message's tail, -1: none; null: not recorded */
    int64_t *left;    /* likewise, when it had left; may be null */
};

static inline void router_arrived(void *arg, struct wf_ctx *ctx, void *node,
                                  const struct wf_net_message *msg, int64_t at)
{
    const struct router_world *world = arg;

    if (world->arrival != NULL) {
        world->arrival[msg->header[0]] = at / CYCLE_PS;
    }
}

static inline void router_sent(void *arg, struct wf_ctx *ctx, void *node,
                               const struct wf_net_message *msg)
{
    const struct router_world *world = arg;

    if (world->left != NULL) {
        world->left[msg->header[0]] = wf_now(ctx) / CYCLE_PS;
    }
}

static inline void router_init(void *state, struct wf_ctx *ctx)
{
    const struct router_world *world = wf_model(ctx);

    for (uint64_t i = 0; i < world->n; i++) {
        if (world->sends[i].src == wf_self(ctx)) {
            wf_schedule(ctx, wf_self(ctx), world->sends[i].cycle * CYCLE_PS, KIND_SEND, &i,
                        sizeof(i));
        }
    }
}

static inline void router_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct router_world *world = wf_model(ctx);

    if (ev->kind < WF_NET_KINDS) {
        world->net->ops->event(world->net, ctx, state, ev);
        return;
    }
    const struct router_send *send = &world->sends[ev->payload[0]];
    struct wf_net_message msg = {.bytes = send->bytes, .src_node = send->src};
    msg.header[0] = (uint32_t)ev->payload[0];
    (void)world->net->ops->send(world->net, ctx, state, send->dst, &msg, wf_now(ctx));
}

/* The defaults; texts are literals, so that nobody has to release them. */
static inline struct wf_router_params router_defaults(void)
{
    struct wf_router_params params;
    struct wf_err err = {.status = WF_OK};

    memset(&params, 0, sizeof(params));
    must(wf_param_defaults(wf_net_router_ops.params, &params, &err), &err);
    wf_param_release(wf_net_router_ops.params, &params);
    params.fail = params.routing_file = wf_unconst("");
    return params;
}

static inline void router_finish(const void *state, struct wf_ctx *ctx)
{
    const struct router_world *world = wf_model(ctx);

    world->net->ops->finish(world->net, ctx, state, 0, wf_tally(ctx));
}

static inline void router_merge(void *into, const void *from)
{
    wf_net_totals_merge(into, from);
}

/* Messages to send, and where to tell when they arrived and, if `left` is not null, when they
 * had left. */
struct router_traffic {
    const struct router_send *sends;
    uint32_t n;
    int64_t *arrival, *left;
};

struct router_result {
    uint64_t digest;
    struct wf_net_totals totals;
};

/* Sends messages over any model with these parameters under a scheduler. Only a sequential run
 * tells when they arrived and left. */
static inline struct router_result
router_run_model(const struct wf_net_ops *ops, const struct wf_topo *topo, const void *params,
                 const struct setup *setup, const struct router_traffic *traffic)
{
    bool records = setup->scheduler == WF_SEQUENTIAL;
    const struct wf_engine_config config = engine_config(setup);
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};
    struct wf_net *net = make_net(ops, params, &env);
    struct router_world world = {.net = net,
                                 .sends = traffic->sends,
                                 .n = traffic->n,
                                 .arrival = records ? traffic->arrival : NULL,
                                 .left = records ? traffic->left : NULL};
    const struct wf_process_ops process = {.name = "node",
                                           .payload_max = net->payload_max,
                                           .announces_changes = true,
                                           .init = router_init,
                                           .event = router_event,
                                           .finish = router_finish};
    const struct wf_net_user user = {
        .arg = &world, .arrived = router_arrived, .sent = router_sent};
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    struct wf_err err = {.status = WF_OK};
    struct router_result result;
    struct wf_run run;

    for (uint32_t i = 0; records && i < traffic->n; i++) {
        traffic->arrival[i] = -1;
    }
    uint32_t first = wf_engine_add(engine, &process, topo->n_nodes, net->node_size, &world);
    wf_engine_tally(engine, sizeof(result.totals), router_merge);
    wf_net_attach(net, engine, first, &user);
    must(wf_engine_run(engine, &run, &err), &err);
    result.digest = run.digest;
    memcpy(&result.totals, wf_engine_tally_get(engine), sizeof(result.totals));
    wf_engine_free(engine);
    wf_net_free(net);
    return result;
}

static inline struct router_result router_run(const struct wf_topo *topo,
                                              const struct wf_router_params *params,
                                              const struct setup *setup,
                                              const struct router_traffic *traffic)
{
    return router_run_model(&wf_net_router_ops, topo, params, setup, traffic);
}

/* Sends what `sends` says and tells when it arrived. */
static inline void router_simulate(const struct wf_topo *topo,
                                   const struct wf_router_params *params,
                                   const struct router_send *sends, uint32_t n,
                                   int64_t *arrival, int64_t *left)
{
    (void)router_run(topo, params, &(struct setup){.scheduler = WF_SEQUENTIAL},
                     &(struct router_traffic){sends, n, arrival, left});
}

static inline struct wf_topo *router_topo(const char *spec)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    must(wf_topo_create(spec, &topo, &err), &err);
    return topo;
}
