/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios, runs, and what is written of results. */
#include "base/mem.h"
#include "base/result/doc.h"
#include "base/result/json.h"
#include "base/temp.h"
#include "run/execute/run.h"
#include "run/machine/machine.h"
#include "run/scenario/scenario.h"
#include "ui/library/library.h"
#include "ui/library/objects.h"
#include "ui/report/writer.h"
#include "ui/study/page.h"

#include <stdlib.h>

/* As the options of the program have by default. */
enum { RECORD_LIMIT = 100000, PATH_BYTES = 64 << 20 };

static enum wf_status new_scenario(struct weft_scenario **out)
{
    struct weft_scenario *scenario = wf_xcalloc(1, sizeof(*scenario));

    scenario->scenario = wf_scenario_new();
    *out = scenario;
    return WF_OK;
}

static enum weft_code try_new_scenario(struct weft_scenario **out)
{
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, new_scenario(out), NULL);
}

struct weft_scenario *weft_scenario_new(void)
{
    struct weft_scenario *scenario = NULL;

    return try_new_scenario(&scenario) == WEFT_OK ? scenario : NULL;
}

void weft_scenario_free(struct weft_scenario *scenario)
{
    if (scenario != NULL) {
        wf_scenario_free(scenario->scenario);
        wf_temp_remove(scenario->program);
        free(scenario->program);
        free(scenario);
    }
}

static enum wf_status set(struct weft_scenario *scenario, const char *key, const char *value,
                          struct wf_err *err)
{
    WF_TRY(wf_scenario_check_name(key, err));
    return wf_scenario_set(scenario->scenario, key, value, NULL, err);
}

enum weft_code weft_scenario_set(struct weft_scenario *scenario, const char *key,
                                 const char *value, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, set(scenario, key, value, &err), error);
}

enum weft_code weft_scenario_machine(struct weft_scenario *scenario, const char *which,
                                     struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, wf_machine_apply(which, scenario->scenario, &err), error);
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

/* A run that somebody watches. */
struct watched {
    struct weft_run_options options;
    volatile sig_atomic_t stop;
};

static void pass_progress(void *arg, const struct wf_sim_progress *progress)
{
    struct watched *run = arg;

    if (run->options.stop != NULL && *run->options.stop != 0) {
        run->stop = *run->options.stop;
    } else if (!run->options.progress(run->options.progress_arg, progress->fraction,
                                      progress->time_ps)) {
        run->stop = WF_SIM_STOP_SOON;
    }
}

static enum wf_status run_watched(const struct weft_scenario *scenario, struct watched *run,
                                  struct wf_value **doc, struct wf_err *err)
{
    const struct weft_run_options *own = &run->options;
    uint64_t limit = own->record_limit > 0 ? own->record_limit : RECORD_LIMIT;
    const struct wf_sim_recording recording = {.spans = limit,
                                               .messages = limit,
                                               .calls = limit,
                                               .has_calls = true,
                                               .path_bytes = PATH_BYTES};
    struct wf_sim_host host = {.stop = own->stop,
                               .recording = own->record ? &recording : NULL,
                               .what_if_events = own->what_if ? UINT64_MAX : 0};

    if (own->progress != NULL) {
        host.stop = &run->stop;
        host.progress = pass_progress;
        host.progress_arg = run;
        host.expects = true;
    }
    return wf_sim_run(scenario->scenario, &host, doc, err);
}

static enum wf_status run_with(const struct weft_scenario *scenario,
                               const struct weft_run_options *options,
                               struct weft_result **result, struct wf_err *err)
{
    struct watched run = {.stop = 0};
    struct wf_value *doc = NULL;

    WF_TRY(wf_library_options(&run.options, sizeof(run.options), options, "weft_run_options",
                              err));
    enum wf_status status = run_watched(scenario, &run, &doc, err);
    *result = doc != NULL ? result_of(doc) : NULL;
    return status;
}

enum weft_code weft_run_with(const struct weft_scenario *scenario,
                             const struct weft_run_options *options,
                             struct weft_result **result, struct weft_error *error)
{
    *result = NULL;
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, run_with(scenario, options, result, &err), error);
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

static enum wf_status write_result(const struct weft_result *result, const char *path,
                                   bool force, struct wf_err *err)
{
    const struct wf_writer_ops *writer = NULL;
    enum wf_status status = WF_OK;

    WF_TRY(wf_writer_for_path(path, &writer, err));
    WF_TRY(wf_writer_check(writer, path, force, err));
    struct wf_value *extra = writer->records ? wf_study_page(result->doc) : NULL;
    const struct wf_write_options options = {.verbose = true, .extra = extra};
    if (writer == &wf_writer_html) {
        status = wf_study_page_live(result->doc, WF_STUDY_LIVE_AUTO, extra, err);
    }
    WF_THEN(status, wf_writer_save(writer, result->doc, &options, path, force, err));
    wf_doc_free(extra);
    return status;
}

enum weft_code weft_result_write(const struct weft_result *result, const char *path, bool force,
                                 struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, write_result(result, path, force, &err), error);
}

void weft_result_free(struct weft_result *result)
{
    if (result != NULL) {
        wf_doc_free(result->doc);
        free(result->json);
        free(result);
    }
}
