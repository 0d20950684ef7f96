/* SPDX-License-Identifier: Apache-2.0 */
/* One digest for each of the engine's own models, whatever the scheduler, the threads, the
 * partition and the settings of the optimistic mode. */
#include "engine/models/bench.h"
#include "harness/engine_harness.h"

/* A small instance of a registered model. */
struct instance {
    const char *model;
    const char *settings[8][2]; /* names and values, up to a null */
};

static const struct instance instances[] = {
    {"phold", {{"lps", "48"}, {"start_events", "4"}, {"remote", "0.4"}, {"end", "6us"}}},
    {"phold", /* no lookahead */
     {{"lps", "40"},
      {"start_events", "2"},
      {"remote", "0.5"},
      {"lookahead", "0"},
      {"end", "6us"}}},
    {"queues", {{"stations", "24"}, {"customers", "3"}, {"end", "8us"}}},
    {"ties", {{"lps", "20"}, {"start_events", "3"}, {"end", "1us"}}},
    {"ties", {{"lps", "20"}, {"start_events", "3"}, {"instant", "true"}, {"end", "800ns"}}},
};

enum { INSTANCES = sizeof(instances) / sizeof(instances[0]) };

static const struct wf_bench_ops *find(const char *name)
{
    for (const struct wf_bench_ops *const *ops = wf_bench_table(); *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
    }
    return NULL;
}

/* For what cannot fail in a test that is right. */
static void must(enum wf_status status, const struct wf_err *err)
{
    if (status != WF_OK) {
        printf("# %s\n", err->text);
        abort();
    }
}

static struct outcome run_instance(const struct instance *instance,
                                   struct wf_engine_config *config)
{
    const struct wf_bench_ops *ops = find(instance->model);
    unsigned char *params = wf_xcalloc(1, ops->params_size);
    struct outcome out = {.err = {.status = WF_OK}};

    must(wf_param_defaults(ops->params, params, &out.err), &out.err);
    for (size_t i = 0; instance->settings[i][0] != NULL; i++) {
        must(wf_param_set(ops->params, params, "", instance->settings[i][0],
                          instance->settings[i][1], &out.err),
             &out.err);
    }
    memcpy(&config->end, params + ops->end_offset, sizeof(config->end));

    struct wf_engine *engine = wf_engine_new(config, NULL);
    must(ops->build(engine, params, &out.err), &out.err);
    out.status = wf_engine_run(engine, &out.run, &out.err);
    wf_engine_free(engine);
    wf_param_release(ops->params, params);
    free(params);
    return out;
}

static struct outcome run_plainly(const struct instance *instance)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);

    return run_instance(instance, &config);
}

static void every_model_has_an_instance_with_events(void)
{
    for (const struct wf_bench_ops *const *ops = wf_bench_table(); *ops != NULL; ops++) {
        bool found = false;
        for (size_t i = 0; i < INSTANCES; i++) {
            found |= strcmp(instances[i].model, (*ops)->name) == 0;
        }
        CHECK(found);
    }
    for (size_t i = 0; i < INSTANCES; i++) {
        struct outcome out = run_plainly(&instances[i]);
        CHECK(out.status == WF_OK);
        CHECK(out.run.events_committed > 300 && out.run.events_committed < 4000);
        for (size_t j = 0; j < i; j++) {
            CHECK(run_plainly(&instances[j]).run.digest != out.run.digest);
        }
    }
}

/* Runs every instance under this configuration with 1 thread, and with 2 and 4 in every partition. */
static bool compare(struct wf_engine_config config)
{
    for (size_t i = 0; i < INSTANCES; i++) {
        struct outcome expected = run_plainly(&instances[i]);
        for (unsigned way = 0; way < 1 + 2 * WF_PARTITION_AUTO; way++) {
            config.threads = way == 0 ? 1 : UINT64_C(2) << ((way - 1) / WF_PARTITION_AUTO);
            config.partition = (int)(way % WF_PARTITION_AUTO);
            struct outcome out = run_instance(&instances[i], &config);
            if (!same_outcome(&config, &expected, &out)) {
                printf("# with %s, instance %zu\n", instances[i].model, i);
                return false;
            }
        }
    }
    return true;
}

static void sequential_and_check_undo(void)
{
    CHECK(compare(engine_defaults(WF_SEQUENTIAL, 1)));
    CHECK(compare(engine_defaults(WF_CHECK_UNDO, 1)));
}

static void conservative(void)
{
    CHECK(compare(engine_defaults(WF_CONSERVATIVE, 1)));
}

/* Processes, with their cells, and events move from one thread to several. */
static void conservative_after_a_trial(void)
{
    static const uint64_t trials[] = {1, 50, 250};

    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        struct wf_engine_config config = engine_defaults(WF_CONSERVATIVE, 1);
        config.trial = trials[i];
        config.moves = true;
        CHECK(compare(config));
    }
}

static void optimistic_with_any_settings(void)
{
    static const uint64_t batches[] = {1, 16, 64}, intervals[] = {1, 16};
    static const int64_t leashes[] = {0, 300000};

    for (size_t i = 0; i < 12; i++) {
        struct wf_engine_config config = engine_defaults(WF_OPTIMISTIC, 1);
        config.batch = batches[i % 3];
        config.gvt_interval = intervals[i / 3 % 2];
        config.lps_per_kp = i % 2 == 0 ? 1 : 16;
        config.leash = leashes[i / 6];
        CHECK(compare(config));
        config.safe = false;
        CHECK(compare(config));
    }
    CHECK(compare(engine_defaults(WF_OPTIMISTIC, 1)));
}

static void perturbed_with_any_seed(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct wf_engine_config config = engine_defaults(WF_PERTURB, 1);
        config.perturb_seed = seed;
        config.batch = seed % 2 == 0 ? 64 : 4;
        config.gvt_interval = 16;
        config.lps_per_kp = seed % 3 == 0 ? 16 : 1;
        CHECK(compare(config));
        config.safe = false;
        CHECK(compare(config));
    }
}

/* The digest is not enough: perturbing must have perturbed. */
static void perturbing_rolls_back(void)
{
    for (size_t i = 0; i < 2 * (size_t)INSTANCES; i++) {
        struct wf_engine_config config = engine_defaults(WF_PERTURB, 1);
        config.batch = 8;
        config.gvt_interval = 16;
        config.safe = i >= INSTANCES;
        struct outcome out = run_instance(&instances[i % INSTANCES], &config);
        printf("# %s, safe %d: %llu events rolled back, %llu anti-messages\n",
               instances[i % INSTANCES].model, (int)config.safe,
               (unsigned long long)out.run.events_rolled_back,
               (unsigned long long)out.run.anti_messages);
        CHECK(out.run.events_rolled_back > 50);
        CHECK(out.run.anti_messages > 25);
    }
}

int main(void)
{
    RUN(every_model_has_an_instance_with_events);
    RUN(sequential_and_check_undo);
    RUN(conservative);
    RUN(conservative_after_a_trial);
    RUN(optimistic_with_any_settings);
    RUN(perturbed_with_any_seed);
    RUN(perturbing_rolls_back);
    return wf_test_done();
}
