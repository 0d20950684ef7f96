/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a program of somebody else's sees it: no other header of weft. */
#include <weft/weft.h>

#include "harness/wf_test.h"

#include <pthread.h>
#include <string.h>

static void set(struct weft_scenario *scenario, const char *key, const char *value)
{
    if (weft_scenario_set(scenario, key, value, NULL) != WEFT_OK) {
        abort();
    }
}

static struct weft_scenario *stencil(const char *ranks, const char *latency)
{
    struct weft_scenario *scenario = weft_scenario_new();

    set(scenario, "source", "gen:stencil3d");
    set(scenario, "ranks", ranks);
    set(scenario, "net.L", latency);
    return scenario;
}

static int64_t predict(const char *ranks, const char *latency)
{
    struct weft_scenario *scenario = stencil(ranks, latency);
    struct weft_result *result = NULL;

    if (weft_run(scenario, &result, NULL) != WEFT_OK) {
        abort();
    }
    int64_t time = weft_result_predicted_time_ps(result);
    weft_result_free(result);
    weft_scenario_free(scenario);
    return time;
}

static void a_prediction(void)
{
    struct weft_scenario *scenario = stencil("64", "1us");
    struct weft_result *result = NULL;
    struct weft_error error;

    CHECK(weft_run(scenario, &result, &error) == WEFT_OK);
    CHECK(weft_result_predicted_time_ps(result) > 3000000000);
    CHECK(strstr(weft_result_json(result), "\"predicted_time_ps\"") != NULL);
    CHECK(strstr(weft_result_json(result), weft_version()) != NULL);
    weft_result_free(result);
    weft_scenario_free(scenario);
}

static void a_scenario_can_be_changed_and_run_again(void)
{
    struct weft_scenario *scenario = stencil("8", "1us");
    struct weft_result *fast = NULL, *slow = NULL;

    CHECK(weft_run(scenario, &fast, NULL) == WEFT_OK);
    set(scenario, "net.L", "1ms");
    CHECK(weft_run(scenario, &slow, NULL) == WEFT_OK);
    CHECK(weft_result_predicted_time_ps(fast) < weft_result_predicted_time_ps(slow));
    weft_result_free(fast);
    weft_result_free(slow);
    weft_scenario_free(scenario);
}

static void errors_have_a_code_and_words(void)
{
    struct weft_scenario *scenario = stencil("8", "1us");
    struct weft_result *result = NULL;
    struct weft_error error;

    CHECK(weft_scenario_set(scenario, "rnaks", "8", &error) == WEFT_USAGE);
    CHECK(error.code == WEFT_USAGE && strstr(error.text, "'ranks'") != NULL);
    set(scenario, "net.L", "1parsec");
    CHECK(weft_run(scenario, &result, &error) == WEFT_USAGE);
    CHECK(strstr(error.text, "net.L") != NULL);
    CHECK(result == NULL);
    weft_scenario_free(scenario);
    weft_scenario_free(NULL);
    weft_result_free(NULL);
}

static void a_benchmark_predicts_nothing(void)
{
    struct weft_scenario *scenario = weft_scenario_new();
    struct weft_result *result = NULL;

    set(scenario, "source", "bench:phold");
    set(scenario, "phold.lps", "10");
    CHECK(weft_run(scenario, &result, NULL) == WEFT_OK);
    CHECK(weft_result_predicted_time_ps(result) == -1);
    weft_result_free(result);
    weft_scenario_free(scenario);
}

struct task {
    const char *ranks, *latency;
    int64_t time;
};

static void *run_task(void *arg)
{
    struct task *task = arg;

    task->time = predict(task->ranks, task->latency);
    return NULL;
}

static void two_simulations_at_once_do_not_disturb_each_other(void)
{
    struct task tasks[] = {{"1000", "1us", 0}, {"729", "7us", 0}};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_task, &tasks[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(tasks[i].time == predict(tasks[i].ranks, tasks[i].latency));
    }
}

int main(void)
{
    RUN(a_prediction);
    RUN(a_scenario_can_be_changed_and_run_again);
    RUN(errors_have_a_code_and_words);
    RUN(a_benchmark_predicts_nothing);
    RUN(two_simulations_at_once_do_not_disturb_each_other);
    return wf_test_done();
}
