/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Replays a task graph in one call and returns the result. */

#include "harness/engine_harness.h"
#include "harness/pe_drawing.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/place.h"
#include "model/ranks/ranks.h"
#include "model/ranks/tasks/pe.h"

struct pe_setup {
    const struct wf_graph *graph;
    const struct wf_net_ops *net_ops;
    const void *net_params; /* null: the defaults */
    const char *topology;   /* or null */
    struct wf_mpi_params mpi;
    const struct wf_node_params *node; /* null: the defaults */
    uint64_t seed;                     /* for the noise of nodes */
    enum wf_pe_granularity granularity;
    uint32_t pes_per_node; /* 0 is 1 */
    bool in_step;          /* messages may not be sent before the engine reaches their time */
    int64_t start;
    const struct wf_cpu *cpu;

    /* Set by the run. */
    struct wf_place place;
    struct wf_net *net;
    struct wf_topo *topo;
    struct wf_pes *pes;
};

static inline void must(enum wf_status status, const struct wf_err *err)
{
    if (status != WF_OK) {
        printf("# %s\n", err->text);
        abort();
    }
}

/* A network that accepts each message only at its start time, and otherwise ends the test. */
static const struct wf_net_ops *strict_inner;

static inline int64_t strict_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                                  uint32_t dst_node, const struct wf_net_message *msg,
                                  int64_t start)
{
    if (start != wf_now(ctx)) {
        abort();
    }
    return strict_inner->send(net, ctx, node, dst_node, msg, start);
}

static inline void make_strict(struct wf_net *net)
{
    static struct wf_net_ops strict;

    strict_inner = net->ops;
    strict = *net->ops;
    strict.send = strict_send;
    net->ops = &strict;
    net->ahead = WF_NET_NOW;
}

static inline void make_net(struct pe_setup *setup)
{
    struct wf_err err = {.status = WF_OK};
    void *defaults = wf_xcalloc(1, setup->net_ops->params_size + 1);

    if (setup->topology != NULL) {
        must(wf_topo_create(setup->topology, &setup->topo, &err), &err);
    }
    const struct wf_node_params *node = setup->node != NULL ? setup->node : &wf_node_free;
    const struct wf_net_env env = {.topo = setup->topo,
                                   .n_nodes = setup->place.n_nodes,
                                   .nics = (uint32_t)node->nics,
                                   .nic_group = (uint32_t)node->nic_group};
    must(wf_param_defaults(setup->net_ops->params, defaults, &err), &err);
    must(setup->net_ops->create(setup->net_params != NULL ? setup->net_params : defaults, &env,
                                &setup->net, &err),
         &err);
    wf_param_release(setup->net_ops->params, defaults);
    free(defaults);
    if (setup->in_step) {
        make_strict(setup->net);
    }
}

static inline void build_pes(struct wf_engine *engine, void *arg)
{
    struct pe_setup *setup = arg;
    struct wf_err err = {.status = WF_OK};
    const struct wf_pe_job job = {.graph = setup->graph, .start = setup->start};

    setup->place =
        wf_place_linear(setup->graph->n_pes, setup->pes_per_node > 0 ? setup->pes_per_node : 1);
    make_net(setup);
    const struct wf_pe_config config = {
        .jobs = &job,
        .n_jobs = 1,
        .place = &setup->place,
        .net = setup->net,
        .mpi = &setup->mpi,
        .node = setup->node,
        .seed = setup->seed,
        .cpu = setup->cpu,
        .granularity = setup->granularity,
    };
    must(wf_pes_new(engine, &config, &setup->pes, &err), &err);
}

static inline struct outcome
run_pes(struct pe_setup setup, const struct wf_engine_config *config, struct wf_pe_tally *tally)
{
    struct outcome out = run_model(config, build_pes, &setup, tally, sizeof(*tally));

    wf_pes_free(setup.pes);
    wf_net_free(setup.net);
    wf_topo_free(setup.topo);
    return out;
}

/* Sequential, on one thread. */
static inline struct outcome run_in_order(const struct pe_setup *setup,
                                          struct wf_pe_tally *tally)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);

    return run_pes(*setup, &config, tally);
}

/* Runs under every scheduler, with these settings of scope node (name, value, ..., null). False
 * if a run does not complete or differs from the first one, whose result is in *tally. */
static inline bool run_every_way(struct pe_setup setup, const char *const *settings,
                                 struct wf_pe_tally *tally)
{
    struct wf_node_params node = {.sockets = 0};
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct wf_err err = {.status = WF_OK};
    struct outcome expected = {.status = WF_OK};
    bool same = true;

    must(wf_param_defaults(wf_node_params, &node, &err), &err);
    for (; settings != NULL && *settings != NULL; settings += 2) {
        must(wf_param_set(wf_node_params, &node, "", settings[0], settings[1], &err), &err);
    }
    setup.node = &node;
    for (size_t i = 0; same && way_to_run(i, &config); i++) {
        struct wf_pe_tally other;
        struct outcome out = run_pes(setup, &config, &other);

        if (i == 0) {
            expected = out;
            *tally = other;
        }
        same = out.status == WF_OK && other.replay.unfinished == 0 &&
               other.replay.all.finish.max == tally->replay.all.finish.max &&
               same_outcome(&config, &expected, &out);
    }
    wf_param_release(wf_node_params, &node);
    return same;
}
