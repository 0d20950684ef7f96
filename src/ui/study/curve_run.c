/* SPDX-License-Identifier: Apache-2.0 */
/* The points of load curves, simulated in parallel. */

#include "base/mem.h"
#include "ui/study/curve.h"

#include <math.h>
#include <stdlib.h>

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

static void add_loads(struct wf_study_axes *axes, struct wf_curve_loads loads)
{
    enum { TEXT = 32 };
    struct wf_study_axis axis = {.key = wf_xstrdup("traffic.load"),
                                 .texts = wf_xcalloc(loads.n, sizeof(*axis.texts)),
                                 .n = loads.n};

    for (size_t i = 0; i < loads.n; i++) {
        axis.texts[i] = wf_xmalloc(TEXT);
        (void)snprintf(axis.texts[i], TEXT, "%.6g", loads.values[i]);
    }
    wf_study_axes_push(axes, axis);
}

enum wf_status wf_curve_run(const struct wf_scenario *scenario, struct wf_study_axes *axes,
                            struct wf_curve_loads loads, const struct wf_points_host *host,
                            struct wf_curve *out, struct wf_err *err)
{
    *out = (struct wf_curve){.n = 0};
    add_loads(axes, loads);
    WF_TRY(wf_study_grid(scenario, axes, &out->study, err));
    /* Before the points are simulated: after them nothing is allocated that could fail and lose their documents. */
    out->points = wf_xcalloc(out->study->n_points, sizeof(*out->points));
    const struct wf_study_run how = {.what = "loads", .host = *host};
    enum wf_status status = wf_study_run(out->study, &how, err);
    for (size_t i = 0; i < out->study->n_points; i++) {
        const struct wf_value *doc = out->study->points[i].doc;
        if (doc != NULL) {
            struct wf_curve_point *point = &out->points[out->n++];
            wf_curve_point_read(point, doc);
            point->load = loads.values[i % loads.n];
            point->number = i;
        }
    }
    return status;
}

void wf_curve_fini(struct wf_curve *curve)
{
    wf_study_free(curve->study);
    free(curve->points);
}
