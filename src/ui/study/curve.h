/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Load curves: latency and accepted load against offered load. Several if other settings vary. */

#include "base/points.h"
#include "base/status.h"
#include "ui/study/study.h"

#include <stdint.h>
#include <stdio.h>

enum { WF_CURVE_LOADS_MAX = 1000 };

struct wf_curve_loads {
    const double *values;
    size_t n;
};

struct wf_curve_point {
    double load;                                    /* requested */
    double offered, accepted;                       /* phits per node and cycle */
    double latency, half_width, p50, p95, p99, max; /* cycles; latency is the mean */
    double hops;                                    /* mean */
    uint64_t cycles;
    bool converged, saturated;
    size_t number; /* in the study */
    char digest[24];
};

struct wf_curve {
    struct wf_study *study; /* all points, those that were not done too */
    struct wf_curve_point *points;
    size_t n;
};

/* Parses "0.05:0.9:0.05", "0.1,0.2" or "0.3" into `loads` of WF_CURVE_LOADS_MAX entries. Any
 * other text is WF_EUSAGE, a load outside of 0 to 1 WF_EINVAL. */
enum wf_status wf_curve_loads(const char *text, double *loads, size_t *n, struct wf_err *err);

/* Simulates a curve of the loads for each combination of the values in `axes`, which gets the loads
 * too. If points fail, reports the first of them in the order of the points. An interrupted run is
 * WF_EINTR; the curve then holds the points that are done. The caller releases *out with
 * wf_curve_fini(), also after an error. */
enum wf_status wf_curve_run(const struct wf_scenario *scenario, struct wf_study_axes *axes,
                            struct wf_curve_loads loads, const struct wf_points_host *host,
                            struct wf_curve *out, struct wf_err *err);
void wf_curve_fini(struct wf_curve *curve);

/* Fills a point from a result document. */
void wf_curve_point_read(struct wf_curve_point *point, const struct wf_value *doc);

/* Writes the curve to a file in the format of files called `format`, one of wf_curve_extension(). */
enum wf_status wf_curve_save(const struct wf_curve *curve, const char *path, const char *format,
                             bool force, struct wf_err *err);

/* The extensions of all formats (base/extension.h). */
const char *wf_curve_extension(size_t i);

/* Whether files of that name hold curves only, never single results: tables and pictures. */
bool wf_curve_is_only(const char *path);

void wf_curve_text(const struct wf_curve *curve, FILE *out);
void wf_curve_json(const struct wf_curve *curve, FILE *out);
