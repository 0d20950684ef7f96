/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/result/doc.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"

#include "harness/wf_test.h"

/* Runs "key=value" words; ends with a null. */
static struct wf_value *run(const char *const *words, const struct wf_sim_host *host,
                            struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_value *doc = NULL;

    err->status = WF_OK;
    for (; *words != NULL && err->status == WF_OK; words++) {
        char key[128];
        size_t length = strcspn(*words, "=");
        (void)snprintf(key, sizeof(key), "%.*s", (int)length, *words);
        err->status = wf_scenario_set(scenario, key, *words + length + 1, NULL, err);
    }
    if (err->status == WF_OK) {
        err->status = wf_sim_run(scenario, host, &doc, err);
    }
    wf_scenario_free(scenario);
    return doc;
}

static uint64_t time_of(const struct wf_value *doc, size_t replica)
{
    const struct wf_value *list = wf_doc_find(doc, "result.uncertainty.times_ps");
    const struct wf_value *value = list != NULL ? list->first : NULL;

    for (size_t i = 0; i < replica && value != NULL; i++) {
        value = value->next;
    }
    return value != NULL ? value->count : 0;
}

/* Several simulations in one process, each with its own network and sources. */
static void threads_do_not_change_replicas(void)
{
    enum { RUNS = 8 };
    static const char *const words[] = {"source=gen:stencil3d",
                                        "ranks=8",
                                        "gen.iterations=1",
                                        "network=packet",
                                        "topology=torus:2x2x2",
                                        "efficiency=yes",
                                        "runs=8",
                                        "uncertainty.net.bandwidth=10%",
                                        "uncertainty.net.link_latency=20%",
                                        NULL};
    struct wf_value *docs[2];
    struct wf_err err;

    for (size_t i = 0; i < 2; i++) {
        const struct wf_sim_host host = {.run_threads = i == 0 ? 1 : 3};
        docs[i] = run(words, &host, &err);
        CHECK(docs[i] != NULL && err.status == WF_OK);
    }
    for (size_t k = 0; k < RUNS; k++) {
        CHECK(time_of(docs[0], k) > 0);
        CHECK_U64(time_of(docs[1], k), time_of(docs[0], k));
    }
    CHECK(time_of(docs[0], 0) != time_of(docs[0], 1));
    CHECK_U64(wf_doc_get_count(docs[0], "result.predicted_time_p50_ps", 0),
              wf_doc_get_count(docs[1], "result.predicted_time_p50_ps", 1));
    wf_doc_free(docs[0]);
    wf_doc_free(docs[1]);
}

/* The error of the models applies to messages, not to computing. */
static void models_err_about_messages(void)
{
    static const char *const words[] = {
        "source=gen:pattern",    "ranks=2",   "runs=99", "gen.bytes=1MB", "network=alphabeta",
        "uncertainty.model=10%", "gen.lag=0", NULL};
    static const char *const computing[] = {
        "source=gen:pattern",    "ranks=1", "runs=3", "gen.lag=1ms", "network=alphabeta",
        "uncertainty.model=10%", NULL};
    const struct wf_sim_host host = {.run_threads = 1};
    struct wf_err err;
    struct wf_value *doc = run(words, &host, &err);
    double time = (double)wf_doc_get_count(doc, "result.predicted_time_ps", 0);

    CHECK(doc != NULL && err.status == WF_OK && time > 0);
    double low = (double)wf_doc_get_count(doc, "result.predicted_time_p05_ps", 0) / time;
    double high = (double)wf_doc_get_count(doc, "result.predicted_time_p95_ps", 0) / time;
    CHECK(low > 0.80 && low < 0.90 && high > 1.11 && high < 1.25);
    CHECK_U64(wf_doc_get_count(doc, "result.uncertainty.settings", 0), 1);
    wf_doc_free(doc);
    doc = run(computing, &host, &err);
    CHECK(doc != NULL && err.status == WF_OK);
    CHECK_U64(wf_doc_get_count(doc, "result.predicted_time_p05_ps", 7), 7);
    wf_doc_free(doc);
}

/* A flag that is set from the start stops the replay itself; nothing is repeated then. */
static void an_interrupted_run_is_not_repeated(void)
{
    static const char *const words[] = {"source=gen:stencil3d", "ranks=64", "runs=50",
                                        "uncertainty.net.L=10%", NULL};
    const volatile sig_atomic_t stop = 1;
    const struct wf_sim_host host = {.stop = &stop};
    struct wf_err err;
    struct wf_value *doc = run(words, &host, &err);

    CHECK(err.status == WF_EINTR);
    CHECK(doc != NULL && wf_doc_find(doc, "result.uncertainty") == NULL);
    wf_doc_free(doc);
}

struct brake {
    volatile sig_atomic_t stop;
    size_t runs;
};

static void stop_after_some(void *arg, const struct wf_sim_progress *progress)
{
    struct brake *brake = arg;

    if (progress->runs > 0 && progress->runs_done >= 5) {
        brake->stop = 1;
        brake->runs = progress->runs_done;
    }
}

/* Between runs: those that are finished count. */
static void finished_runs_count_after_an_interruption(void)
{
    static const char *const words[] = {"source=gen:ring", "ranks=4", "runs=1000",
                                        "uncertainty.net.L=10%", NULL};
    struct brake brake = {.stop = 0};
    const struct wf_sim_host host = {.stop = &brake.stop,
                                     .run_threads = 1,
                                     .progress = stop_after_some,
                                     .progress_arg = &brake};
    struct wf_err err;
    struct wf_value *doc = run(words, &host, &err);

    CHECK(err.status == WF_EINTR);
    CHECK(strstr(err.text, "interrupted after 5 of 1000 repeated runs") != NULL);
    CHECK(doc != NULL);
    CHECK_U64(wf_doc_get_count(doc, "result.uncertainty.completed", 0), 5);
    CHECK(wf_doc_find(doc, "result.predicted_time_p05_ps") != NULL);
    wf_doc_free(doc);
}

int main(void)
{
    RUN(threads_do_not_change_replicas);
    RUN(models_err_about_messages);
    RUN(an_interrupted_run_is_not_repeated);
    RUN(finished_runs_count_after_an_interruption);
    return wf_test_done();
}
