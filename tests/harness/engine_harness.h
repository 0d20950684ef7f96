/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs small models on real engines, in every configuration of the schedulers. */

#include "base/mem.h"
#include "base/rng.h"
#include "engine/model.h"
#include "engine/run.h"
#include "harness/wf_test.h"

/* The result of a run. */
struct outcome {
    enum wf_status status;
    struct wf_run run;
    struct wf_err err;
};

/* Adds the processes of a model to an engine. */
typedef void build_fn(struct wf_engine *engine, void *model);

/* The default settings, but without pinning, because tests share the machine, and with all
 * threads, however small the model is. */
static inline struct wf_engine_config engine_defaults(enum wf_scheduler scheduler,
                                                      uint64_t threads)
{
    struct wf_engine_config config;
    struct wf_err err = {.status = WF_OK};

    memset(&config, 0, sizeof(config));
    if (wf_param_defaults(wf_engine_params, &config, &err) != WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    config.fit = false;
    config.scheduler = (int)scheduler;
    config.threads = threads;
    config.pin = false;
    return config;
}

/* Runs a model; a tally of at most `size` bytes is copied to `tally`, which may be null. */
static inline struct outcome run_model(const struct wf_engine_config *config, build_fn *build,
                                       void *model, void *tally, size_t size)
{
    struct wf_engine *engine = wf_engine_new(config, NULL);
    struct outcome out = {.err = {.status = WF_OK}};

    build(engine, model);
    out.status = wf_engine_run(engine, &out.run, &out.err);
    if (tally != NULL) {
        memcpy(tally, wf_engine_tally_get(engine), size);
    }
    wf_engine_free(engine);
    return out;
}

/* Configuration number `i` of the scheduler; false if there are fewer. The first is sequential.
 */
static inline bool way_to_run(size_t i, struct wf_engine_config *config)
{
    static const struct {
        enum wf_scheduler scheduler;
        uint64_t threads, batch, gvt_interval, lps_per_kp;
        bool safe;
    } ways[] = {
        {WF_SEQUENTIAL, 1, 64, 64, 1, true},   {WF_CHECK_UNDO, 1, 64, 64, 1, true},
        {WF_CONSERVATIVE, 1, 64, 64, 1, true}, {WF_CONSERVATIVE, 2, 64, 64, 1, true},
        {WF_CONSERVATIVE, 4, 64, 64, 1, true}, {WF_OPTIMISTIC, 1, 8, 4, 1, true},
        {WF_OPTIMISTIC, 2, 8, 4, 1, true},     {WF_OPTIMISTIC, 2, 64, 64, 16, true},
        {WF_OPTIMISTIC, 4, 1, 16, 2, true},    {WF_OPTIMISTIC, 1, 8, 4, 1, false},
        {WF_OPTIMISTIC, 2, 8, 4, 1, false},    {WF_OPTIMISTIC, 4, 1, 16, 2, false},
        {WF_PERTURB, 1, 8, 4, 1, true},        {WF_PERTURB, 2, 16, 8, 2, true},
        {WF_PERTURB, 4, 4, 4, 1, true},        {WF_PERTURB, 1, 8, 4, 1, false},
        {WF_PERTURB, 2, 16, 8, 2, false},      {WF_PERTURB, 4, 4, 4, 1, false},
    };

    if (i >= sizeof(ways) / sizeof(ways[0])) {
        return false;
    }
    config->scheduler = (int)ways[i].scheduler;
    config->threads = ways[i].threads;
    config->batch = ways[i].batch;
    config->gvt_interval = ways[i].gvt_interval;
    config->lps_per_kp = ways[i].lps_per_kp;
    config->safe = ways[i].safe;
    config->perturb_seed = 100 + i;
    config->partition = i % 2 == 0 ? WF_PARTITION_BLOCK : WF_PARTITION_CYCLIC;
    return true;
}

/* Describes a configuration, for messages. */
static inline void print_way(const struct wf_engine_config *config)
{
    printf(
        "# %s, %u threads, batch %u, gvt_interval %u, lps_per_kp %u, leash %lld, safe %d, %s, "
        "perturb_seed %u\n",
        wf_scheduler_names[config->scheduler], (unsigned)config->threads,
        (unsigned)config->batch, (unsigned)config->gvt_interval, (unsigned)config->lps_per_kp,
        (long long)config->leash, (int)config->safe,
        config->partition == WF_PARTITION_BLOCK ? "block" : "cyclic",
        (unsigned)config->perturb_seed);
}

/* Whether a run gave the expected result; prints the difference if not. */
static inline bool same_outcome(const struct wf_engine_config *config,
                                const struct outcome *expected, const struct outcome *out)
{
    if (out->status == expected->status && out->run.digest == expected->run.digest &&
        out->run.events_committed == expected->run.events_committed &&
        out->run.time == expected->run.time) {
        return true;
    }
    print_way(config);
    printf("# status %d, digest %016llx, %llu events, expected %d, %016llx, %llu: %s\n",
           (int)out->status, (unsigned long long)out->run.digest,
           (unsigned long long)out->run.events_committed, (int)expected->status,
           (unsigned long long)expected->run.digest,
           (unsigned long long)expected->run.events_committed, out->err.text);
    return false;
}
