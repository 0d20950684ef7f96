/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The parts of a replay, for replay_harness.h. */

#include "base/mem.h"
#include "engine/core/worker.h"
#include "engine/model.h"
#include "engine/run.h"
#include "harness/script.h"
#include "model/net/net.h"
#include "model/ranks/node_costs.h"
#include "model/ranks/place.h"
#include "model/ranks/ranks.h"
#include "model/storage/storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct setup {
    const struct wf_source *source;
    const struct wf_ranks_job *jobs; /* several jobs instead of `source` */
    uint32_t n_jobs;
    const struct wf_net_ops *net;
    const void *net_params;     /* null: the defaults */
    const char *topo;           /* or null */
    uint32_t ranks_per_node;    /* 0 is 1 */
    int policy, wildcards;      /* members of struct wf_replay_params */
    const struct wf_cpu *cpu;   /* null: times as recorded */
    const char *const *mpi;     /* settings of scope mpi: name, value, ..., null; or null */
    const char *const *node;    /* settings of scope node, likewise */
    const char *const *costs;   /* more of them */
    const char *const *storage; /* of scope storage, likewise */
    uint64_t seed;              /* for the noise of nodes */
    bool in_step;               /* ranks may not run ahead of the engine's time */
    bool count_cells;           /* sequential scheduler only */
    const struct wf_recording_options *recording; /* null: no recording */
    /* Called with the recording. */
    void (*look)(void *arg, struct wf_ranks_tally *tally, const struct wf_node_costs *costs);
    void *look_arg;
    enum wf_scheduler scheduler;
    uint64_t threads;                                       /* 0 is 1 */
    uint64_t batch, gvt_interval, lps_per_kp, perturb_seed; /* 0 is the default */
};

struct outcome {
    enum wf_status status;
    struct wf_ranks_tally tally;
    struct wf_job_tally jobs[3]; /* the first ones */
    struct wf_run run;
    uint64_t cells; /* if `count_cells`: cells that were not freed */
    struct wf_err err;
};

/* For calls that cannot fail in a correct test. */
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
    config.fit = false;
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

/* Fills a struct of `size` bytes with the defaults of a table; the caller releases and frees
 * it. */
static inline void *make_params(const struct wf_param *table, size_t size)
{
    struct wf_err err = {.status = WF_OK};
    void *params = wf_xcalloc(1, size);

    must(wf_param_defaults(table, params, &err), &err);
    return params;
}

/* Sets parameters: name, value, ..., null. */
static inline void set_params(const struct wf_param *table, void *params,
                              const char *const *pairs)
{
    struct wf_err err = {.status = WF_OK};

    for (; pairs != NULL && *pairs != NULL; pairs += 2) {
        must(wf_param_set(table, params, "", pairs[0], pairs[1], &err), &err);
    }
}

static inline void free_params(const struct wf_param *table, void *params)
{
    wf_param_release(table, params);
    free(params);
}

/* Why a node with these settings is refused; "" if it is not. */
static inline const char *node_refusal(const char *const *pairs)
{
    static struct wf_err err;
    struct wf_node_params *node = make_params(wf_node_params, sizeof(*node));

    set_params(wf_node_params, node, pairs);
    err.text[0] = '\0';
    enum wf_status status = wf_node_params_check(node, &err);
    free_params(wf_node_params, node);
    return status == WF_EUSAGE ? err.text : "";
}

/* A process that counts the cells in use after everything else has ended. */
static inline void cell_probe_init(void *state, struct wf_ctx *ctx)
{
    wf_schedule(ctx, wf_self(ctx), WF_TIME_MAX - 1, 0, NULL, 0);
}

static inline void cell_probe_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint64_t *cells = wf_model(ctx);

    *cells = ctx->worker->cells.in_use;
}
