/* SPDX-License-Identifier: Apache-2.0 */
/* The installed interface, weft/weft.h, on top of sim/ and study/. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "base/result/json.h"
#include "run/execute/run.h"
#include "run/machine/machine.h"
#include "run/scenario/scenario.h"
#include "ui/report/writer.h"
#include "ui/study/curve.h"
#include "ui/study/fit_file.h"
#include "ui/study/page.h"
#include "ui/study/study.h"
#include "ui/study/trace_io.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct weft_scenario {
    struct wf_scenario *scenario;
};

struct weft_result {
    struct wf_value *doc;
    int64_t predicted_time_ps;
    char *json;
};

/* As the options of the program have by default. */
enum { RECORD_LIMIT = 100000, PATH_BYTES = 64 << 20 };

_Static_assert((int)WEFT_ERROR_TEXT_MAX == (int)WF_ERR_TEXT_MAX, "a sentence fits in either");

static enum weft_code report(enum wf_status status, const struct wf_err *err,
                             struct weft_error *error)
{
    enum weft_code code = (enum weft_code)wf_status_exit_code(status);

    if (status != WF_OK && error != NULL) {
        error->code = code;
        (void)snprintf(error->text, sizeof(error->text), "%s", err->text);
    }
    return code;
}

struct weft_scenario *weft_scenario_new(void)
{
    struct weft_scenario *scenario = wf_xcalloc(1, sizeof(*scenario));

    scenario->scenario = wf_scenario_new();
    return scenario;
}

void weft_scenario_free(struct weft_scenario *scenario)
{
    if (scenario != NULL) {
        wf_scenario_free(scenario->scenario);
        free(scenario);
    }
}

enum weft_code weft_scenario_set(struct weft_scenario *scenario, const char *key,
                                 const char *value, struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};

    return report(wf_scenario_set(scenario->scenario, key, value, NULL, &err), &err, error);
}

enum weft_code weft_scenario_machine(struct weft_scenario *scenario, const char *which,
                                     struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};

    return report(wf_machine_apply(which, scenario->scenario, &err), &err, error);
}

/* Takes the document over. */
static struct weft_result *result_of(struct wf_value *doc)
{
    struct weft_result *result = wf_xcalloc(1, sizeof(*result));
    const struct wf_value *time = wf_doc_find(doc, "result.predicted_time_ps");

    result->predicted_time_ps = time != NULL ? (int64_t)time->count : -1;
    result->json = wf_doc_to_json(doc);
    result->doc = doc;
    return result;
}

enum weft_code weft_run_with(const struct weft_scenario *scenario,
                             const struct weft_run_options *options,
                             struct weft_result **result, struct weft_error *error)
{
    static const struct weft_run_options plain = {.record = false};
    const struct weft_run_options *own = options != NULL ? options : &plain;
    uint64_t limit = own->record_limit > 0 ? own->record_limit : RECORD_LIMIT;
    const struct wf_sim_recording recording = {.spans = limit,
                                               .messages = limit,
                                               .calls = limit,
                                               .has_calls = true,
                                               .path_bytes = PATH_BYTES};
    const struct wf_sim_host host = {.stop = own->stop,
                                     .recording = own->record ? &recording : NULL,
                                     .what_if_events = own->what_if ? UINT64_MAX : 0};
    struct wf_err err = {.status = WF_OK};
    struct wf_value *doc = NULL;
    enum wf_status status = wf_sim_run(scenario->scenario, &host, &doc, &err);

    *result = doc != NULL ? result_of(doc) : NULL;
    return report(status, &err, error);
}

enum weft_code weft_run(const struct weft_scenario *scenario, struct weft_result **result,
                        struct weft_error *error)
{
    return weft_run_with(scenario, NULL, result, error);
}

int64_t weft_result_predicted_time_ps(const struct weft_result *result)
{
    return result->predicted_time_ps;
}

const char *weft_result_json(const struct weft_result *result)
{
    return result->json;
}

enum weft_code weft_result_write(const struct weft_result *result, const char *path, bool force,
                                 struct weft_error *error)
{
    const struct wf_writer_ops *writer = NULL;
    struct wf_err err = {.status = WF_OK};
    enum wf_status status = wf_writer_for_path(path, &writer, &err);

    if (status == WF_OK) {
        status = wf_writer_check(writer, path, force, &err);
    }
    if (status == WF_OK) {
        struct wf_value *extra = writer->records ? wf_study_page(result->doc) : NULL;
        const struct wf_write_options options = {.verbose = true, .extra = extra};
        if (writer == &wf_writer_html) {
            status = wf_study_page_live(result->doc, WF_STUDY_LIVE_AUTO, extra, &err);
        }
        if (status == WF_OK) {
            status = wf_writer_save(writer, result->doc, &options, path, force, &err);
        }
        wf_doc_free(extra);
    }
    return report(status, &err, error);
}

void weft_result_free(struct weft_result *result)
{
    if (result != NULL) {
        wf_doc_free(result->doc);
        free(result->json);
        free(result);
    }
}

/* ---- studies ---- */

struct weft_study {
    struct wf_study *study;
};

static struct wf_points_host points_host(const struct weft_host *host)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t all = cores > 0 ? (size_t)cores : 1;

    if (host == NULL) {
        return (struct wf_points_host){.jobs = all};
    }
    return (struct wf_points_host){.jobs = host->jobs > 0 ? host->jobs : all,
                                   .stop = host->stop,
                                   .progress = host->progress,
                                   .progress_arg = host->progress_arg};
}

enum weft_code weft_study_read(const char *path, struct weft_study **study,
                               struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_study *read = NULL;
    enum wf_status status = wf_study_read(path, &read, &err);

    *study = NULL;
    if (status == WF_OK) {
        *study = wf_xcalloc(1, sizeof(**study));
        (*study)->study = read;
    }
    return report(status, &err, error);
}

enum weft_code weft_study_run(struct weft_study *study, const char *directory,
                              const struct weft_host *host, struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};
    const struct wf_study_run how = {
        .directory = directory,
        .memory = host != NULL && host->memory > 0 ? host->memory : wf_clock_memory() / 4 * 3,
        .host = points_host(host),
    };

    return report(wf_study_run(study->study, &how, &err), &err, error);
}

/* A stream that writes to memory; the caller frees *text after closing it. */
static FILE *memory_stream(char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);

    if (out == NULL) {
        wf_panic("no memory for a text");
    }
    return out;
}

static char *text_of(const struct weft_study *study,
                     void (*write)(const struct wf_study *study, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream(&text, &size);

    write(study->study, out);
    (void)fclose(out);
    return text;
}

char *weft_study_csv(const struct weft_study *study)
{
    return text_of(study, wf_study_csv);
}

char *weft_study_json(const struct weft_study *study)
{
    return text_of(study, wf_study_json);
}

void weft_study_free(struct weft_study *study)
{
    if (study != NULL) {
        wf_study_free(study->study);
        free(study);
    }
}

/* ---- load curves ---- */

static void copy_point(const struct wf_curve_point *from, struct weft_curve_point *to)
{
    *to = (struct weft_curve_point){
        .load = from->load,
        .offered = from->offered,
        .accepted = from->accepted,
        .latency = from->latency,
        .latency_half_width = from->half_width,
        .p50 = from->p50,
        .p95 = from->p95,
        .p99 = from->p99,
        .max = from->max,
        .hops = from->hops,
        .converged = from->converged,
        .saturated = from->saturated,
        .done = from->done,
    };
}

/* After an interrupted run, the completed points are copied, in order. */
static void copy_points(const struct wf_curve *curve, struct weft_curve_point *points, size_t n)
{
    size_t next = 0;

    for (size_t i = 0; i < n; i++) {
        struct wf_curve_point none = {.load = points[i].load};
        bool has = next < curve->n && curve->points[next].load == points[i].load;
        copy_point(has ? &curve->points[next] : &none, &points[i]);
        next += has ? 1 : 0;
    }
}

enum weft_code weft_curve_run(const struct weft_scenario *scenario,
                              struct weft_curve_point *points, size_t n,
                              const struct weft_host *host, struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};
    const struct wf_points_host own = points_host(host);
    struct wf_curve curve = {
        .title = "", .points = wf_xcalloc(n + 1, sizeof(*curve.points)), .n = n};

    for (size_t i = 0; i < n; i++) {
        curve.points[i].load = points[i].load;
    }
    enum wf_status status = wf_curve_run(scenario->scenario, &curve, &own, &err);
    copy_points(&curve, points, n);
    free(curve.points);
    return report(status, &err, error);
}

/* ---- calibration ---- */

static char *machine_text(const struct wf_fit_machine *calibration, const char *name,
                          const char *mpi)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream(&text, &size);

    wf_fit_machine_write(calibration, name, mpi, out);
    (void)fclose(out);
    return text;
}

enum weft_code weft_fit(const struct weft_measurements *measured, const char *name,
                        const char *mpi, struct weft_fit *fit, struct weft_error *error)
{
    struct wf_err err = {.status = WF_OK};
    struct wf_fit_machine *calibration = wf_xcalloc(1, sizeof(*calibration));
    enum wf_status status = WF_OK;

    *fit = (struct weft_fit){.machine = NULL};
    calibration->input = (struct wf_fit_input){.samples = calibration->samples,
                                               .n = measured->n,
                                               .send = measured->send_ns,
                                               .take = measured->receive_ns,
                                               .stream = measured->stream_ns,
                                               .eager_max = measured->eager_max};
    if (measured->n > WF_FIT_SAMPLES_MAX) {
        status = wf_err_set(&err, WF_EUSAGE, "more than %d samples", (int)WF_FIT_SAMPLES_MAX);
    }
    for (size_t i = 0; i < measured->n && status == WF_OK; i++) {
        const struct weft_sample *sample = &measured->samples[i];
        calibration->samples[i] =
            (struct wf_fit_sample){sample->bytes, sample->ns, sample->both_ns};
    }
    if (status == WF_OK && !wf_fit_machine(calibration)) {
        status = wf_err_set(&err, WF_EINVAL,
                            "there are too few samples, or their times contradict each other");
    }
    if (status == WF_OK) {
        const struct wf_fit *found = &calibration->fit;
        *fit = (struct weft_fit){.latency_ns = found->L,
                                 .overhead_ns = found->o,
                                 .gap_ns = found->g,
                                 .ns_per_byte = found->G,
                                 .mean_error = found->mean_error,
                                 .max_error = found->max_error,
                                 .machine = machine_text(calibration, name, mpi)};
    }
    free(calibration);
    return report(status, &err, error);
}

/* ---- traces ---- */

enum weft_code weft_trace_convert(const char *from, const char *to,
                                  const struct weft_convert *how, struct weft_error *error)
{
    static const struct weft_convert plain = {.ranks = 0};
    struct wf_err err = {.status = WF_OK};
    struct wf_study_trace_written written;
    struct wf_trace trace = {.source = NULL};

    how = how != NULL ? how : &plain;
    struct wf_study_trace_options options = {.params = how->params,
                                             .ranks = how->ranks,
                                             .partial = how->partial,
                                             .expand = how->expand_collectives,
                                             .force = how->force};
    while (options.params != NULL && options.params[options.n_params] != NULL) {
        if (strchr(options.params[options.n_params++], '=') == NULL) {
            (void)wf_err_set(&err, WF_EUSAGE, "a parameter is not of the form name=value");
            return report(WF_EUSAGE, &err, error);
        }
    }
    enum wf_status status = wf_study_trace_check(to, &options, &err);
    if (status == WF_OK) {
        status = wf_study_trace_open(from, &options, &trace, &err);
    }
    if (status == WF_OK) {
        const struct wf_study_trace_part part = {
            .trace = &trace, .n_ranks = wf_study_trace_n_ranks(&trace), .creator = from};
        status = wf_study_trace_write(to, &part, &options, &written, &err);
    }
    wf_trace_close(&trace);
    return report(status, &err, error);
}
