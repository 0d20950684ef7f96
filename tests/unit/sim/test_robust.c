/* SPDX-License-Identifier: Apache-2.0 */
/* Compute times that were disturbed while they were recorded, in replays of a trace. */
#include "base/mem.h"
#include "base/result/doc.h"
#include "base/temp.h"
#include "program/ops/disturbance.h"
#include "program/trace/writer.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"

#include "harness/wf_test.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, TIMES = 20 };

#define MS INT64_C(1000000000)

/* A span that takes longer than 1 ms, and what the system did meanwhile. */
struct unusual {
    uint32_t rank, iteration;
    int64_t duration;
    struct wf_disturbance disturbance;
};

static const struct unusual stolen = {2, 7, 50 * MS, {0, 0, 250}};
static const struct unusual faulting = {5, 11, 2 * MS, {0, 200, 0}};
static const struct unusual working = {3, 15, 30 * MS, {9, 0, 0}};

/* Every rank computes for 1 ms before each barrier, except for the unusual spans. */
static char *write_trace(const char *directory, const struct unusual *const *list, uint32_t n)
{
    const struct wf_trace_writer_options options = {.n_ranks = RANKS, .force = true};
    size_t size = strlen(directory) + 16;
    char *path = wf_xmalloc(size);
    struct wf_trace_writer *writer = NULL;
    struct wf_err err;

    (void)snprintf(path, size, "%s/t.weft", directory);
    wf_test_failed |= wf_native_writer_ops.create(path, &options, &writer, &err) != WF_OK;
    for (uint32_t i = 0; i < RANKS * TIMES && writer != NULL; i++) {
        const struct wf_op barrier = {.kind = WF_OP_BARRIER};
        struct wf_op span = {.kind = WF_OP_COMPUTE, .duration = MS + i % 7 * 1000000};
        for (uint32_t k = 0; k < n; k++) {
            if (list[k]->rank == i / TIMES && list[k]->iteration == i % TIMES) {
                span.duration = list[k]->duration;
                span.disturbances = wf_disturbance_pack(&list[k]->disturbance);
            }
        }
        wf_test_failed |= writer->ops->add(writer, i / TIMES, &span, &err) != WF_OK;
        wf_test_failed |= writer->ops->add(writer, i / TIMES, &barrier, &err) != WF_OK;
    }
    wf_test_failed |= writer == NULL || writer->ops->finish(writer, &err) != WF_OK;
    return path;
}

static struct wf_value *replay(const char *path, const char *robust, const char *scheduler)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_value *doc = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_scenario_set(scenario, "source", path, NULL, &err) != WF_OK ||
        wf_scenario_set(scenario, "replay.robust", robust, NULL, &err) != WF_OK ||
        wf_scenario_set(scenario, "efficiency", "yes", NULL, &err) != WF_OK ||
        wf_scenario_set(scenario, "engine.sched", scheduler, NULL, &err) != WF_OK ||
        wf_sim_run(scenario, &host, &doc, &err) != WF_OK) {
        printf("# %s\n", err.text);
        wf_test_failed = 1;
    }
    wf_scenario_free(scenario);
    return doc;
}

/* The document of a replay of a trace with these spans. */
static struct wf_value *replayed(const struct unusual *const *list, uint32_t n,
                                 const char *robust, const char *scheduler)
{
    char *directory = wf_temp_directory();
    char *path = write_trace(directory, list, n);
    struct wf_value *doc = replay(path, robust, scheduler);

    wf_temp_remove(directory);
    free(directory);
    free(path);
    return doc;
}

static uint64_t time_of(const struct wf_value *doc)
{
    return wf_doc_get_count(doc, "result.predicted_time_ps", 0);
}

static bool warns(const struct wf_value *doc, const char *words)
{
    const struct wf_value *list = wf_doc_find(doc, "warnings");

    for (const struct wf_value *item = list != NULL ? list->first : NULL; item != NULL;
         item = item->next) {
        if (strstr(item->text, "few compute spans") != NULL &&
            strstr(item->text, words) != NULL) {
            return true;
        }
    }
    return false;
}

static void disturbed_times_are_corrected(void)
{
    static const struct unusual *const list[] = {&stolen, &faulting};
    struct wf_value *usual = replayed(NULL, 0, "no", "sequential");
    struct wf_value *raw = replayed(list, 2, "no", "sequential");
    struct wf_value *corrected = replayed(list, 2, "yes", "sequential");

    CHECK(!warns(usual, ""));
    CHECK(warns(raw, "rank 2: 50"));
    CHECK(!warns(corrected, ""));
    CHECK(wf_doc_find(raw, "robust") == NULL);
    CHECK(time_of(raw) > time_of(usual) + 49 * MS);
    CHECK(time_of(corrected) <= time_of(usual) + MS / 50);
    CHECK_U64(wf_doc_get_count(corrected, "robust.spans", 0), RANKS * TIMES);
    CHECK_U64(wf_doc_get_count(corrected, "robust.corrected_spans", 0), 2);
    CHECK_U64(wf_doc_get_count(corrected, "robust.raw_time_ps", 0), time_of(raw));
    CHECK(wf_doc_get_real(corrected, "robust.change_percent", 0) < -50);
    CHECK(wf_doc_get_real(corrected, "result.efficiency.transfer_percent", 101) <= 100);
    wf_doc_free(usual);
    wf_doc_free(raw);
    wf_doc_free(corrected);
}

static void the_same_trace_gives_the_same_result(void)
{
    static const struct unusual *const list[] = {&stolen, &faulting, &working};
    static const char *const schedulers[] = {"sequential", "conservative", "optimistic"};
    struct wf_value *first = replayed(list, 3, "yes", schedulers[0]);

    for (int i = 1; i < 3; i++) {
        struct wf_value *other = replayed(list, 3, "yes", schedulers[i]);
        CHECK_STR(wf_doc_get_text(other, "result.digest", "no"),
                  wf_doc_get_text(first, "result.digest", "none"));
        CHECK_U64(time_of(other), time_of(first));
        wf_doc_free(other);
    }
    wf_doc_free(first);
}

/* Real work stays, with a warning. */
static void times_without_a_reason_stay(void)
{
    static const struct unusual *const list[] = {&working};
    struct wf_value *raw = replayed(list, 1, "no", "sequential");
    struct wf_value *judged = replayed(list, 1, "yes", "sequential");

    CHECK_U64(time_of(judged), time_of(raw));
    CHECK_U64(wf_doc_get_count(judged, "robust.outliers", 0), 1);
    CHECK_U64(wf_doc_get_count(judged, "robust.corrected_spans", 1), 0);
    CHECK(warns(raw, "rank 3: 30"));
    CHECK(warns(judged, "rank 3: 30"));
    wf_doc_free(raw);
    wf_doc_free(judged);
}

int main(void)
{
    RUN(disturbed_times_are_corrected);
    RUN(the_same_trace_gives_the_same_result);
    RUN(times_without_a_reason_stay);
    return wf_test_done();
}
