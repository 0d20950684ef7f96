/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/run.h"

#include "base/result/json.h"
#include "base/result/result.h"
#include "run/scenario/scenario.h"

#include "harness/wf_test.h"

#include <string.h>

/* Turns "key=value key=value" into a scenario; *err is set to the first error. */
static struct wf_scenario *scenario_of(const char *words, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    char copy[512], *rest = copy;

    (void)snprintf(copy, sizeof(copy), "%s", words);
    err->status = WF_OK;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        if (wf_scenario_set(scenario, word, equals + 1, NULL, err) != WF_OK) {
            break;
        }
    }
    return scenario;
}

static struct wf_value *run(const char *words, const struct wf_sim_host *host,
                            struct wf_err *err)
{
    struct wf_value *doc = NULL;
    struct wf_scenario *scenario = scenario_of(words, err);

    if (err->status == WF_OK) {
        err->status = wf_sim_run(scenario, host, &doc, err);
    }
    wf_scenario_free(scenario);
    return doc;
}

static void bad_scenarios_are_refused(void)
{
    static const struct {
        const char *words;
        enum wf_status status;
        const char *text;
    } cases[] = {
        {"suorce=gen:stencil3d", WF_EUSAGE, "did you mean 'source'?"},
        {"source=gen:stencil3d ent.L=1us", WF_EUSAGE, "did you mean 'net'?"},
        {"ranks=8", WF_EUSAGE, "expected gen:"},
        {"source=gen:stencil3d", WF_EUSAGE, "the number of ranks is missing"},
        {"source=gen:stencil3d ranks=8 phold.lps=1", WF_EUSAGE, "does not apply"},
        {"source=gen:stencil3d ranks=8 net.l=1us", WF_EUSAGE, "net.L"},
        {"source=gen:stencil3d ranks=8 network=latency", WF_EUSAGE, "needs a topology"},
        {"source=gen:stencil3d ranks=8 topology=torus:7", WF_EINVAL, "has only 7"},
        {"source=gen:stencil3d ranks=4000000000", WF_ELIMIT, "memory"},
        {"source=gen:ring ranks=8 job.1.sorce=gen:ring", WF_EUSAGE, "did you mean 'source'?"},
        {"source=gen:ring ranks=8 job.1.source=gen:ring", WF_EUSAGE,
         "ranks is missing: job.1.ranks"},
        {"source=gen:ring ranks=8 job.1.gen.bytes=8", WF_EUSAGE, "job.1.source is missing"},
        {"source=gen:ring ranks=8 job.x.ranks=8", WF_EUSAGE, "expected job.<number>.<name>"},
        {"source=gen:ring ranks=8 placement=file:/nowhere", WF_EIO, "cannot read '/nowhere'"},
        {"source=gen:ring ranks=3000000000 job.1.source=gen:ring job.1.ranks=3000000000",
         WF_ELIMIT, "more than 4000000000 ranks"},
        {"source=/nowhere/trace", WF_EIO, "cannot read '/nowhere/trace'"},
        {"source=bench:fold", WF_EUSAGE, "did you mean 'phold'?"},
        {"source=bench:phold phold.lps=1073741824", WF_ELIMIT, "memory"},
    };
    const struct wf_sim_host host = {.world = NULL};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_err err;
        CHECK(run(cases[i].words, &host, &err) == NULL);
        if (err.status != cases[i].status || strstr(err.text, cases[i].text) == NULL) {
            printf("# %s: %s\n", cases[i].words, err.text);
        }
        CHECK(err.status == cases[i].status);
        CHECK(strstr(err.text, cases[i].text) != NULL);
    }
}

static void the_last_value_counts_and_all_values_are_told(void)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_err err;
    struct wf_value *doc = run("source=gen:stencil3d ranks=4 ranks=8 gen.bytes=1KiB net.L=2us "
                               "gen.iterations=1 gen.compute=0 seed=7",
                               &host, &err);

    CHECK(doc != NULL);
    CHECK_U64(wf_doc_get_count(doc, "scenario.ranks", 0), 8);
    CHECK_U64(wf_doc_get_count(doc, "scenario.seed", 0), 7);
    CHECK(strcmp(wf_doc_get_text(doc, "scenario.parameters.net.L", ""), "2us") == 0);
    CHECK(strcmp(wf_doc_get_text(doc, "scenario.parameters.gen.bytes", ""), "1KiB") == 0);
    CHECK_U64(wf_doc_get_count(doc, "result.messages", 0), 48);
    CHECK_U64(wf_doc_get_count(doc, "result.bytes", 0), UINT64_C(48) * 1024);
    wf_doc_free(doc);
}

/* The sections that no schedule may change, as text. */
static char *answer(const char *words)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_err err;
    struct wf_value *doc = run(words, &host, &err);

    if (doc == NULL) {
        printf("# %s: %s\n", words, err.text);
        abort();
    }
    char *text = wf_doc_to_json(doc);
    *strstr(text, "\"run\"") = '\0';
    wf_doc_free(doc);
    return text;
}

static void no_schedule_changes_scenario_or_result(void)
{
    static const char *const sources[] = {
        "source=gen:stencil3d ranks=60 gen.allreduce=true",
        ("source=gen:stencil3d ranks=27 placement=random efficiency=yes job.1.source=gen:ring "
         "job.1.ranks=8 job.1.start=1ms"),
        "source=bench:phold phold.lps=300",
    };
    static const char *const schedules[] = {
        "engine.sched=conservative engine.threads=2",
        "engine.sched=optimistic engine.threads=2 engine.batch=7",
        "engine.sched=perturb engine.threads=2",
        "engine.sched=check-undo",
    };

    for (size_t s = 0; s < sizeof(sources) / sizeof(sources[0]); s++) {
        char *expected = answer(sources[s]);
        for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
            char words[512];
            (void)snprintf(words, sizeof(words), "%s %s", sources[s], schedules[i]);
            char *got = answer(words);
            CHECK(strcmp(got, expected) == 0);
            free(got);
        }
        free(expected);
    }
}

/* The value at a path of the result of a scenario. */
static uint64_t result_of(const char *words, const char *path)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_err err;
    struct wf_value *doc = run(words, &host, &err);
    uint64_t value = doc != NULL ? wf_doc_get_count(doc, path, UINT64_MAX) : UINT64_MAX;

    if (doc == NULL) {
        printf("# %s: %s\n", words, err.text);
    }
    wf_doc_free(doc);
    return value;
}

static void placement_decides_how_far_messages_go(void)
{
    /* A ring of 8 ranks on a line of 8 nodes: in order, all messages but those of the last rank
     * pass one link; dealt over two nodes of 4 ranks, all go to the other node. */
    static const char line[] =
        "source=gen:ring ranks=8 gen.bytes=1 network=latency "
        "topology=mesh:8 net.link_latency=1us net.bandwidth=1TB/s mpi.local="
        "no ";
    char words[256];

    (void)snprintf(words, sizeof(words), "%s placement=linear", line);
    CHECK_U64(result_of(words, "result.message_latency_ps.min"), 1000001);
    CHECK_U64(result_of(words, "result.message_latency_ps.max"), 7000001);
    (void)snprintf(words, sizeof(words), "%s placement=roundrobin ranks_per_node=4", line);
    CHECK_U64(result_of(words, "result.message_latency_ps.min"), 1000001);
    CHECK_U64(result_of(words, "result.message_latency_ps.max"), 1000001);
}

static void jobs_are_played_together(void)
{
    static const char both[] = "source=gen:ring ranks=5 job.1.source=gen:ring job.1.ranks=3 "
                               "job.1.start=1s job.1.repeat=4";
    uint64_t first = result_of("source=gen:ring ranks=5", "result.messages");
    uint64_t second = result_of("source=gen:ring ranks=3", "result.messages");
    uint64_t time = result_of("source=gen:ring ranks=3", "result.predicted_time_ps");

    CHECK_U64(result_of(both, "result.messages"), first + 4 * second);
    CHECK_U64(result_of(both, "result.predicted_time_ps"), UINT64_C(1000000000000) + 4 * time);
    CHECK_U64(result_of(both, "scenario.ranks"), 5);
}

static void a_stopped_run_gives_a_partial_result(void)
{
    static const volatile sig_atomic_t stop = 1;
    const struct wf_sim_host host = {.stop = &stop};
    struct wf_err err;
    struct wf_value *doc = run("source=gen:stencil3d ranks=1000", &host, &err);

    CHECK(err.status == WF_EINTR);
    CHECK(doc != NULL);
    CHECK(strcmp(wf_doc_get_text(doc, "result.status", ""), WF_RESULT_INTERRUPTED) == 0);
    CHECK(wf_doc_find(doc, "result.predicted_time_ps") == NULL);
    CHECK(wf_doc_find(doc, "run.wall_seconds") != NULL);
    wf_doc_free(doc);
}

static void an_explanation_estimates_and_does_not_run(void)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_err err;
    struct wf_value *doc = NULL;
    struct wf_scenario *scenario = scenario_of("source=gen:stencil3d ranks=1000000", &err);

    CHECK(wf_sim_explain(scenario, &host, &doc, &err) == WF_OK);
    CHECK(wf_doc_get_count(doc, "estimate.memory_bytes", 0) > 100000000);
    CHECK_U64(wf_doc_get_count(doc, "estimate.messages", 0), 18000000);
    CHECK(wf_doc_find(doc, "result") == NULL);
    wf_doc_free(doc);
    wf_scenario_free(scenario);
}

enum { TOLD_MAX = 1000 };

/* What the line would have said, and when. */
struct told {
    size_t n;
    struct wf_sim_progress at[TOLD_MAX];
};

static void keep_told(void *arg, const struct wf_sim_progress *progress)
{
    struct told *told = arg;

    if (told->n < TOLD_MAX) {
        told->at[told->n++] = *progress;
    }
}

/* The fraction that is told is about that of the work which is done, which shows at the end:
 * whether packets are simulated one by one, in trains, or in trains that are disturbed. */
static void progress_is_about_right(void)
{
    static const char *const runs[] = {
        ("source=gen:stencil3d ranks=216 network=packet topology=torus:6x6x6 net.trains=off "
         "gen.iterations=20"),
        ("source=gen:stencil3d ranks=512 network=packet topology=torus:8x8x8 "
         "gen.iterations=200"),
        ("source=gen:random ranks=216 network=packet topology=torus:6x6x6 gen.bytes=32KiB "
         "gen.messages=60"),
        ("source=gen:leanmd ranks=64 network=packet topology=torus:4x4x4 gen.cells=8x8x8 "
         "gen.steps=30"),
        "source=gen:stencil3d ranks=1000 network=loggp gen.iterations=150",
    };
    static struct told told;
    size_t n_compared = 0;

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        const struct wf_sim_host host = {
            .progress = keep_told, .progress_arg = &told, .expects = true};
        struct wf_err err;
        told.n = 0;
        struct wf_value *doc = run(runs[i], &host, &err);
        CHECK(doc != NULL);
        double all = (double)wf_doc_get_count(doc, "run.events_committed", 0);
        wf_doc_free(doc);
        for (size_t k = 0; k < told.n; k++) {
            double done = (double)told.at[k].events / all, shown = told.at[k].fraction;
            bool right = shown <= 1.5 * done + 0.02 && shown >= done / 1.5 - 0.02;
            if (!right) {
                printf("# %s: %g shown at %g\n", runs[i], shown, done);
            }
            CHECK(right);
            n_compared += done > 0.1 && done < 0.9 ? 1 : 0;
        }
    }
    printf("# %zu compared in the middle\n", n_compared);
    CHECK(n_compared > 0);
}

int main(void)
{
    if (WF_TEST_ONE_IN == 1) {
        RUN(progress_is_about_right);
    }
    RUN(bad_scenarios_are_refused);
    RUN(the_last_value_counts_and_all_values_are_told);
    RUN(no_schedule_changes_scenario_or_result);
    RUN(placement_decides_how_far_messages_go);
    RUN(jobs_are_played_together);
    RUN(a_stopped_run_gives_a_partial_result);
    RUN(an_explanation_estimates_and_does_not_run);
    return wf_test_done();
}
