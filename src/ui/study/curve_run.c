/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a load curve, simulated in parallel. */

#include "base/mem.h"
#include "base/result/doc.h"
#include "run/scenario/scenario.h"
#include "ui/study/curve.h"
#include "ui/study/together.h"

#include <math.h>
#include <stdlib.h>

struct work {
    const struct wf_scenario *scenario;
    struct wf_curve *curve;
    struct wf_err *errs; /* one for each point */
};

/* ---- loads ---- */

static enum wf_status wrong_loads(const char *text, struct wf_err *err)
{
    return wf_err_set(err, WF_EUSAGE,
                      "--load '%.64s': expected a load, loads between commas, or "
                      "first:last:step, as in 0.05:0.9:0.05",
                      text);
}

static enum wf_status add_load(double load, double *loads, size_t *n, struct wf_err *err)
{
    if (!(load >= 0 && load <= 1)) {
        return wf_err_set(err, WF_EINVAL,
                          "--load: a load of %g is not between 0 and 1 phit per node and cycle",
                          load);
    }
    if (*n == WF_CURVE_LOADS_MAX) {
        return wf_err_set(err, WF_EINVAL, "--load: more than %d loads", WF_CURVE_LOADS_MAX);
    }
    loads[(*n)++] = load;
    return WF_OK;
}

/* Adds the loads of first:last:step. Each load is computed by itself and rounded to millionths,
 * so that rounding errors do not add up. */
static enum wf_status add_range(const double *range, double *loads, size_t *n,
                                struct wf_err *err)
{
    enum wf_status status = WF_OK;
    double first = range[0], last = range[1], step = range[2];

    if (!(step > 0) || last < first) {
        return wf_err_set(err, WF_EINVAL, "--load: %g:%g:%g has no loads", first, last, step);
    }
    for (size_t i = 0; status == WF_OK && first + (double)i * step <= last + step * 1e-6; i++) {
        status = add_load(round((first + (double)i * step) * 1e6) / 1e6, loads, n, err);
    }
    return status;
}

enum wf_status wf_curve_loads(const char *text, double *loads, size_t *n, struct wf_err *err)
{
    double range[3];
    size_t in_range = 0;
    char separator = '\0';

    *n = 0;
    for (const char *p = text;; p++) {
        char *end;
        double value = strtod(p, &end);
        if (end == p || !isfinite(value) || (*end != '\0' && *end != ':' && *end != ',') ||
            (separator != '\0' && *end != '\0' && *end != separator)) {
            return wrong_loads(text, err);
        }
        if (*end != '\0') {
            separator = *end;
        }
        if (separator == ':') {
            if (in_range == 3) {
                return wrong_loads(text, err);
            }
            range[in_range++] = value;
        } else {
            WF_TRY(add_load(value, loads, n, err));
        }
        p = end;
        if (*end == '\0') {
            break;
        }
    }
    if (separator != ':') {
        return WF_OK;
    }
    return in_range == 3 ? add_range(range, loads, n, err) : wrong_loads(text, err);
}

/* ---- runs ---- */

static struct wf_scenario *scenario_of(void *arg, size_t i, struct wf_err *err)
{
    const struct work *work = arg;
    struct wf_scenario *scenario = wf_scenario_new();
    char load[32];

    (void)snprintf(load, sizeof(load), "%.6f", work->curve->points[i].load);
    wf_scenario_append(scenario, work->scenario);
    err->status = wf_scenario_set(scenario, "traffic.load", load, "--load", err);
    if (err->status != WF_OK) {
        wf_scenario_free(scenario);
        return NULL;
    }
    return scenario;
}

static void ended(void *arg, size_t i, struct wf_value *doc, const struct wf_err *err)
{
    const struct work *work = arg;

    work->errs[i] = *err;
    if (doc != NULL && err->status == WF_OK) {
        wf_curve_point_read(&work->curve->points[i], doc);
    }
    wf_doc_free(doc);
}

/* Keeps the points that are done, and reports their number. */
static enum wf_status interrupted(struct wf_curve *curve, struct wf_err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < curve->n; i++) {
        if (curve->points[i].done) {
            curve->points[n++] = curve->points[i];
        }
    }
    enum wf_status status =
        wf_err_set(err, WF_EINTR, "interrupted; %zu of %zu loads are done", n, curve->n);
    curve->n = n;
    return status;
}

enum wf_status wf_curve_run(const struct wf_scenario *scenario, struct wf_curve *curve,
                            const struct wf_points_host *host, struct wf_err *err)
{
    struct work work = {
        .scenario = scenario,
        .curve = curve,
        .errs = wf_xcalloc(curve->n, sizeof(struct wf_err)),
    };
    enum wf_status status = WF_OK;

    const struct wf_study_batch batch = {.n = curve->n,
                                         .host = host,
                                         .like = scenario,
                                         .scenario = scenario_of,
                                         .ended = ended,
                                         .arg = &work};
    bool complete = wf_study_batch_run(&batch);
    for (size_t i = 0; i < curve->n && status == WF_OK; i++) {
        if (work.errs[i].status != WF_OK && work.errs[i].status != WF_EINTR) {
            status = work.errs[i].status;
            *err = work.errs[i];
        }
    }
    if (status == WF_OK && !complete) {
        status = interrupted(curve, err);
    }
    free(work.errs);
    return status;
}
