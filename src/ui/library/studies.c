/* SPDX-License-Identifier: Apache-2.0 */
/* Many points: studies and load curves. */
#include "base/clock.h"
#include "base/guard.h"
#include "base/mem.h"
#include "ui/library/library.h"
#include "ui/library/objects.h"
#include "ui/study/curve.h"
#include "ui/study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct weft_study {
    struct wf_study *study;
};

static struct wf_points_host points_host(const struct weft_host *host)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t all = cores > 0 ? (size_t)cores : 1;

    return (struct wf_points_host){.jobs = host->jobs > 0 ? host->jobs : all,
                                   .stop = host->stop,
                                   .progress = host->progress,
                                   .progress_arg = host->progress_arg};
}

static enum wf_status read_study(const char *path, struct weft_study **study,
                                 struct wf_err *err)
{
    struct wf_study *read = NULL;

    WF_TRY(wf_study_read(path, &read, err));
    *study = wf_xcalloc(1, sizeof(**study));
    (*study)->study = read;
    return WF_OK;
}

enum weft_code weft_study_read(const char *path, struct weft_study **study,
                               struct weft_error *error)
{
    *study = NULL;
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, read_study(path, study, &err), error);
}

static enum wf_status run_study(struct weft_study *study, const char *directory,
                                const struct weft_host *host, struct wf_err *err)
{
    struct weft_host own;

    WF_TRY(wf_library_options(&own, sizeof(own), host, "weft_host", err));
    const struct wf_study_run how = {
        .directory = directory,
        .memory = own.memory > 0 ? own.memory : wf_clock_memory() / 4 * 3,
        .host = points_host(&own),
    };
    return wf_study_run(study->study, &how, err);
}

enum weft_code weft_study_run(struct weft_study *study, const char *directory,
                              const struct weft_host *host, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, run_study(study, directory, host, &err), error);
}

static enum wf_status write_text(const struct weft_study *study,
                                 void (*write)(const struct wf_study *study, FILE *out),
                                 char **text, struct wf_err *err)
{
    size_t size = 0;
    FILE *out = wf_library_stream(text, &size);

    write(study->study, out);
    return wf_fclose(out) == 0 ? WF_OK : wf_err_set(err, WF_ELIMIT, "out of memory");
}

static enum weft_code try_text(const struct weft_study *study,
                               void (*write)(const struct wf_study *study, FILE *out),
                               char **text)
{
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, write_text(study, write, text, &err), NULL);
}

static char *text_of(const struct weft_study *study,
                     void (*write)(const struct wf_study *study, FILE *out))
{
    char *text = NULL;

    return try_text(study, write, &text) == WEFT_OK ? text : NULL;
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
        .done = true,
    };
}

static enum wf_status run_curve(const struct weft_scenario *scenario,
                                struct weft_curve_point *points, size_t n,
                                const struct weft_host *given, struct wf_err *err)
{
    struct wf_study_axes axes = {.n = 0};
    struct weft_host host;
    struct wf_curve curve;

    WF_TRY(wf_library_options(&host, sizeof(host), given, "weft_host", err));
    const struct wf_points_host own = points_host(&host);
    double *loads = wf_xcalloc(n + 1, sizeof(*loads));

    for (size_t i = 0; i < n; i++) {
        loads[i] = points[i].load;
        points[i] = (struct weft_curve_point){.load = points[i].load};
    }
    enum wf_status status = wf_curve_run(scenario->scenario, &axes,
                                         (struct wf_curve_loads){loads, n}, &own, &curve, err);
    for (size_t i = 0; i < curve.n; i++) {
        copy_point(&curve.points[i], &points[curve.points[i].number]);
    }
    wf_curve_fini(&curve);
    wf_study_axes_free(&axes);
    free(loads);
    return status;
}

enum weft_code weft_curve_run(const struct weft_scenario *scenario,
                              struct weft_curve_point *points, size_t n,
                              const struct weft_host *host, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, run_curve(scenario, points, n, host, &err), error);
}
