/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A load curve: latency and accepted load against offered load. */

#include "base/points.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

struct wf_scenario;
struct wf_value;

enum { WF_CURVE_LOADS_MAX = 1000 };

struct wf_curve_point {
    double load;                                    /* requested */
    double offered, accepted;                       /* phits per node and cycle */
    double latency, half_width, p50, p95, p99, max; /* cycles; latency is the mean */
    double hops;                                    /* mean */
    uint64_t cycles;
    bool converged, saturated;
    bool done; /* false: the run was interrupted first */
    char digest[24];
};

/* A curve. The caller owns the arrays and texts. */
struct wf_curve {
    const char *title;
    struct wf_curve_point *points;
    size_t n;
};

/* Parses "0.05:0.9:0.05", "0.1,0.2" or "0.3" into `loads` of WF_CURVE_LOADS_MAX entries. Any
 * other text is WF_EUSAGE, a load outside of 0 to 1 WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_curve_loads(const char *text, double *loads, size_t *n, struct wf_err *err);

/* Simulates all points of the curve, whose loads are set. If points fail, reports the first of
 * them in the order of the points. An interrupted run is WF_EINTR; the curve then holds the
 * points that are done. */
WF_NODISCARD
enum wf_status wf_curve_run(const struct wf_scenario *scenario, struct wf_curve *curve,
                            const struct wf_points_host *host, struct wf_err *err);

/* Fills a point from a result document. */
void wf_curve_point_read(struct wf_curve_point *point, const struct wf_value *doc);

/* A file format, chosen by the extension of the file name. */
struct wf_curve_format {
    const char *extension; /* with the dot */
    bool only_curves;      /* the format does not exist for single results */
    /* The caller checks `out` for errors (ferror). */
    void (*write)(const struct wf_curve *curve, FILE *out);
};

/* The extensions of all formats (base/extension.h). */
const char *wf_curve_extension(size_t i);

/* Finds the format of a file name. WF_EUSAGE if there is none, or, if `plot` is set, if the
 * format is not a picture. */
WF_NODISCARD
enum wf_status wf_curve_for_path(const char *path, bool plot,
                                 const struct wf_curve_format **out, struct wf_err *err);

void wf_curve_text(const struct wf_curve *curve, FILE *out);
void wf_curve_csv(const struct wf_curve *curve, FILE *out);
void wf_curve_json(const struct wf_curve *curve, FILE *out);
