/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_REPLAY_HARNESS_H
#define WF_TESTS_REPLAY_HARNESS_H

/* One call that replays a program and gives back what came out of it. */

#include "base/mem.h"
#include "engine/engine.h"
#include "engine/run.h"
#include "net/net.h"
#include "replay/replay.h"
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct setup {
    const struct wf_source *source;
    const struct wf_net_ops *net;
    const void *net_params;  /* null: the defaults */
    const char *topo;        /* or null */
    uint32_t ranks_per_node; /* 0 is 1 */
    bool in_step;            /* ranks may not run ahead of the engine's time */
    enum wf_scheduler scheduler;
    uint64_t threads;                                       /* 0 is 1 */
    uint64_t batch, gvt_interval, lps_per_kp, perturb_seed; /* 0 is the default */
};

struct outcome {
    enum wf_status status;
    struct wf_replay_tally tally;
    struct wf_run run;
    struct wf_err err;
};

/* For what cannot fail in a test that is right. */
static inline void must(enum wf_status status, const struct wf_err *err)
{
    if (status != WF_OK) {
        printf("# %s\n", err != NULL ? err->text : "failed");
        abort();
    }
}

static inline struct wf_engine_config engine_config(const struct setup *setup)
{
    struct wf_engine_config config;
    struct wf_err err = {.status = WF_OK};

    memset(&config, 0, sizeof(config));
    must(wf_param_defaults(wf_engine_params, &config, &err), &err);
    config.scheduler = (int)setup->scheduler;
    config.threads = setup->threads > 0 ? setup->threads : 1;
    config.batch = setup->batch > 0 ? setup->batch : config.batch;
    config.gvt_interval = setup->gvt_interval > 0 ? setup->gvt_interval : config.gvt_interval;
    config.lps_per_kp = setup->lps_per_kp > 0 ? setup->lps_per_kp : config.lps_per_kp;
    config.perturb_seed = setup->perturb_seed > 0 ? setup->perturb_seed : config.perturb_seed;
    return config;
}

static inline struct wf_net *make_net(const struct wf_net_ops *ops, const void *params,
                                      const struct wf_net_env *env)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_net *net = NULL;
    void *defaults = wf_xcalloc(1, ops->params_size);

    must(wf_param_defaults(ops->params, defaults, &err), &err);
    must(ops->create(params != NULL ? params : defaults, env, &net, &err), &err);
    wf_param_release(ops->params, defaults);
    free(defaults);
    return net;
}

static inline struct outcome replay(const struct setup *setup)
{
    struct outcome out = {.status = WF_OK};
    const struct wf_engine_config config = engine_config(setup);
    struct wf_topo *topo = NULL;
    uint32_t ranks_per_node = setup->ranks_per_node > 0 ? setup->ranks_per_node : 1;
    uint32_t n_nodes = wf_replay_n_nodes(setup->source->n_ranks, ranks_per_node);

    if (setup->topo != NULL) {
        must(wf_topo_create(setup->topo, &topo, &out.err), &out.err);
    }

    const struct wf_net_env env = {.topo = topo, .n_nodes = n_nodes};
    struct wf_net *net = make_net(setup->net, setup->net_params, &env);
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    if (setup->in_step) {
        net->ahead = WF_NET_NOW;
    }
    struct wf_replay *model = NULL;
    const struct wf_replay_config replay_config = {
        .source = setup->source, .net = net, .ranks_per_node = ranks_per_node};

    must(wf_replay_new(engine, &replay_config, &model, &out.err), &out.err);
    out.status = wf_engine_run(engine, &out.run, &out.err);
    memcpy(&out.tally, wf_engine_tally_get(engine), sizeof(out.tally));
    wf_engine_free(engine);
    wf_replay_free(model);
    wf_net_free(net);
    wf_topo_free(topo);
    return out;
}

/* The same, of ops written down: ranks is an array of arrays. */
static inline struct outcome replay_script(struct setup setup, const struct wf_op *const *ranks,
                                           uint32_t n_ranks)
{
    struct script script = make_script(ranks, n_ranks);

    setup.source = &script.source;
    return replay(&setup);
}

#endif
