/* SPDX-License-Identifier: Apache-2.0 */
/* The library as an external program sees it: includes no other header of weft. */
#include <weft/weft.h>

#include "harness/wf_test.h"

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    CHECK(weft_scenario_set(scenario, "net.LL", "1us", &error) == WEFT_USAGE);
    CHECK(strstr(error.text, "'net.LL'; did you mean 'net.L'?") != NULL);
    CHECK(weft_scenario_set(scenario, "job.1.gen.byts", "8", &error) == WEFT_USAGE);
    CHECK(strstr(error.text, "did you mean 'job.1.gen.bytes'?") != NULL);
    CHECK(weft_scenario_set(scenario, "nett.L", "1us", &error) == WEFT_USAGE);
    CHECK(strstr(error.text, "'net'") != NULL);
    struct weft_scenario *other = weft_scenario_new();
    set(other, "cpu.region.solve", "2"); /* a name of the program */
    set(other, "net.links.global.latency", "1us");
    set(other, "uncertainty.net.L", "1%");
    weft_scenario_free(other);
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

/* ---- studies, curves, calibration, traces ---- */

static void count_points(void *arg, size_t done, size_t total)
{
    size_t *last = arg;

    CHECK(done <= total);
    *last = done;
}

static void a_study_makes_a_table_and_keeps_its_results(void)
{
    static const char text[] = "settings: {source: gen:ring, ranks: 4}\n"
                               "grid: {net.L: [1us, 5us]}\n";
    struct weft_study *study = NULL;
    struct weft_error error;
    size_t done = 0;
    const struct weft_host host = {
        .size = sizeof(host), .jobs = 2, .progress = count_points, .progress_arg = &done};
    FILE *file = fopen("study.yaml", "w");

    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(weft_study_read("study.yaml", &study, &error) == WEFT_OK);
    CHECK(weft_study_run(study, "study.results", &host, &error) == WEFT_OK);
    CHECK(done == 2);
    char *csv = weft_study_csv(study), *json = weft_study_json(study);
    CHECK(strncmp(csv, "net.L,status,predicted_time_ps", 30) == 0);
    CHECK(strstr(csv, "\n5us,completed,") != NULL);
    CHECK(strstr(json, "\"points\"") != NULL);
    weft_free(csv);
    weft_free(json);
    weft_study_free(study);

    CHECK(weft_study_read("nothing.yaml", &study, &error) == WEFT_INPUT && study == NULL);
    weft_study_free(NULL);
}

static void a_load_curve_saturates(void)
{
    struct weft_scenario *scenario = weft_scenario_new();
    struct weft_curve_point points[] = {{.load = 0.1}, {.load = 0.9}};
    struct weft_error error;

    set(scenario, "source", "traffic:uniform");
    set(scenario, "network", "router");
    set(scenario, "topology", "torus:4x4");
    CHECK(weft_curve_run(scenario, points, 2, NULL, &error) == WEFT_OK);
    CHECK(points[0].done && points[0].converged && !points[0].saturated);
    CHECK(points[0].accepted > 0.09 && points[0].latency > 0 && points[0].hops > 1);
    CHECK(points[1].done && points[1].latency > points[0].latency);
    weft_scenario_free(scenario);
}

static void a_fit_makes_a_machine(void)
{
    struct weft_sample samples[12];
    struct weft_measurements measured = {.size = sizeof(measured),
                                         .samples = samples,
                                         .n = 12,
                                         .send_ns = 100,
                                         .receive_ns = 100,
                                         .stream_ns = 50};
    struct weft_error error;
    struct weft_fit fit = {.size = sizeof(fit)};

    for (int i = 0; i < 12; i++) {
        uint64_t bytes = UINT64_C(1) << (2 * i);
        samples[i] = (struct weft_sample){bytes, 1000 + 0.1 * (double)(bytes - 1), 0};
    }
    CHECK(weft_fit(&measured, "mine", "mpich", &fit, &error) == WEFT_OK);
    CHECK(fit.latency_ns > 799 && fit.latency_ns < 801 && fit.max_error < 0.01);
    CHECK(strstr(fit.machine, "name: mine\n") != NULL);
    weft_free(fit.machine);
    measured.n = 2;
    CHECK(weft_fit(&measured, "mine", "mpich", &fit, &error) == WEFT_INPUT);
}

static void collectives_become_messages(void)
{
    static const char *const params[] = {"mpi.bcast=binomial", NULL};
    struct weft_error error;
    struct weft_convert how = {.size = sizeof(how),
                               .ranks = 4,
                               .expand_collectives = true,
                               .params = params,
                               .force = true};

    CHECK(weft_trace_convert("gen:coll", "expanded.csv", &how, &error) == WEFT_OK);
    how.params = (const char *const[]){"mpi.bcast", NULL};
    CHECK(weft_trace_convert("gen:ring", "ring.weft", &how, &error) == WEFT_USAGE);
    CHECK(weft_trace_convert("nothing.weft", "x.csv", NULL, &error) == WEFT_INPUT);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

int main(void)
{
    char directory[] = "/tmp/weft-test-XXXXXX";

    if (mkdtemp(directory) == NULL || chdir(directory) != 0) {
        return 1;
    }
    RUN(a_prediction);
    RUN(a_scenario_can_be_changed_and_run_again);
    RUN(errors_have_a_code_and_words);
    RUN(a_benchmark_predicts_nothing);
    RUN(two_simulations_at_once_do_not_disturb_each_other);
    RUN(a_study_makes_a_table_and_keeps_its_results);
    RUN(a_load_curve_saturates);
    RUN(a_fit_makes_a_machine);
    RUN(collectives_become_messages);
    (void)nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return wf_test_done();
}
