/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/uncertain.h"
#include "run/scenario/uncertainty.h"

#include "run/plan/plan.h"

#include "harness/wf_test.h"

#include <math.h>

enum { DRAWS = 4000, KEYS_MAX = 8 };

/* A scenario of "key=value" words, which ends with a null. */
static struct wf_scenario *scenario_of(const char *const *words)
{
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_err err;

    for (; *words != NULL; words++) {
        char key[128];
        size_t length = strcspn(*words, "=");
        (void)snprintf(key, sizeof(key), "%.*s", (int)length, *words);
        if (wf_scenario_set(scenario, key, *words + length + 1, NULL, &err) != WF_OK) {
            printf("# %s: %s\n", *words, err.text);
            abort();
        }
    }
    return scenario;
}

/* The values of net.L and net.o, both times, in one replica. */
static void draw(const struct wf_scenario *scenario, uint64_t replica, double out[2])
{
    static const char *const names[2] = {"L", "o"};
    struct wf_plan plan, drawn;
    struct wf_err err;

    if (wf_plan_init(&plan, scenario, &err) != WF_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    if (wf_plan_init(&drawn, scenario, &err) != WF_OK) {
        abort();
    }
    wf_sim_uncertainty_draw(&drawn, &plan, replica + 1);
    wf_sim_uncertainty_draw(&drawn, &plan, replica); /* nothing is left of the first draw */
    for (int i = 0; i < 2; i++) {
        const struct wf_plan_block *block = NULL;
        for (size_t b = 0; b < drawn.n_blocks; b++) {
            block = strcmp(drawn.blocks[b].scope, "net") == 0 ? &drawn.blocks[b] : block;
        }
        if (block == NULL) {
            abort();
        }
        const struct wf_param *row = wf_param_find(block->table, names[i]);
        int64_t value;
        memcpy(&value, (const char *)block->values + row->offset, sizeof(value));
        out[i] = (double)value;
    }
    wf_plan_fini(&drawn);
    wf_plan_fini(&plan);
}

/* The standard deviation over the mean is the percentage; the median is the setting; two
 * settings are drawn independently. */
static void draws_have_the_distribution_that_was_asked_for(void)
{
    static const char *const words[] = {
        "source=gen:ring",      "ranks=2", "net.L=1ms", "net.o=1ms", "uncertainty.net.L=30%",
        "uncertainty.net.o=5%", NULL};
    struct wf_scenario *scenario = scenario_of(words);
    double sum[2] = {0}, squares[2] = {0}, both = 0;
    int below[2] = {0};

    for (uint64_t i = 1; i <= DRAWS; i++) {
        double values[2];
        draw(scenario, i, values);
        both += values[0] * values[1];
        for (int k = 0; k < 2; k++) {
            CHECK(values[k] > 0);
            sum[k] += values[k];
            squares[k] += values[k] * values[k];
            below[k] += values[k] < 1e9;
        }
    }
    wf_scenario_free(scenario);

    double mean[2], sd[2];
    for (int k = 0; k < 2; k++) {
        mean[k] = sum[k] / DRAWS;
        sd[k] = sqrt(squares[k] / DRAWS - mean[k] * mean[k]);
        /* The standard error of the share below the median is 0.8 %. */
        CHECK(below[k] > DRAWS * 47 / 100 && below[k] < DRAWS * 53 / 100);
    }
    CHECK(fabs(sd[0] / mean[0] - 0.30) < 0.015);
    CHECK(fabs(sd[1] / mean[1] - 0.05) < 0.0025);
    CHECK(fabs((both / DRAWS - mean[0] * mean[1]) / (sd[0] * sd[1])) < 0.05);
}

static void draws_depend_on_seed_replica_and_name_alone(void)
{
    static const char *const one[] = {"source=gen:ring", "ranks=2", "net.L=1ms",
                                      "uncertainty.net.L=10%", NULL};
    static const char *const more[] = {"uncertainty.net.o=10%",
                                       "source=gen:ring",
                                       "ranks=2",
                                       "net.L=1ms",
                                       "uncertainty.net.L=10%",
                                       NULL};
    static const char *const other[] = {
        "source=gen:ring", "ranks=2", "net.L=1ms", "seed=2", "uncertainty.net.L=10%", NULL};
    struct wf_scenario *scenarios[] = {scenario_of(one), scenario_of(more), scenario_of(other)};
    double values[4][2];

    draw(scenarios[0], 7, values[0]);
    draw(scenarios[1], 7, values[1]);
    draw(scenarios[2], 7, values[2]);
    draw(scenarios[0], 8, values[3]);
    CHECK(values[0][0] == values[1][0]);
    CHECK(values[0][0] != values[2][0]);
    CHECK(values[0][0] != values[3][0]);
    CHECK(values[1][0] != values[1][1]);
    for (int i = 0; i < 3; i++) {
        wf_scenario_free(scenarios[i]);
    }
}

/* What a machine file says about another network model is skipped. */
static void files_may_know_more_than_the_model(void)
{
    static const char *const words[] = {"source=gen:ring",          "ranks=2",
                                        "uncertainty.net.L=10%",    "uncertainty.net.L=0%",
                                        "uncertainty.cpu.scale=1%", NULL};
    struct wf_scenario *scenario = scenario_of(words);
    struct wf_plan plan;
    struct wf_err err;
    struct wf_setting setting = {.key = strdup(WF_SIM_UNCERTAINTY "net.link_latency"),
                                 .value = strdup("5%"),
                                 .origin = strdup("x"),
                                 .place = strdup("m.yaml:1:1"),
                                 .model = strdup("packet")};

    CHECK(wf_scenario_add(scenario, setting, &err) == WF_OK);
    CHECK(wf_plan_init(&plan, scenario, &err) == WF_OK);
    /* L is uncertain by 0 %, the last that was said; packet's latency does not exist. */
    CHECK_U64(wf_sim_uncertainty_count(&plan), 1);
    CHECK(wf_plan_skips(&plan, &scenario->settings[scenario->n - 1]));
    wf_plan_fini(&plan);
    wf_scenario_free(scenario);
}

int main(void)
{
    RUN(draws_have_the_distribution_that_was_asked_for);
    RUN(draws_depend_on_seed_replica_and_name_alone);
    RUN(files_may_know_more_than_the_model);
    return wf_test_done();
}
