/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_STUDY_CURVE_H
#define WF_STUDY_CURVE_H

/* Latency and accepted load against offered load, for people, spreadsheets and papers. */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wf_value;

struct wf_curve_point {
    double load;                                    /* as asked for */
    double offered, accepted;                       /* phits per node and cycle */
    double latency, half_width, p50, p95, p99, max; /* cycles */
    double hops;
    uint64_t cycles;
    bool converged, saturated;
    bool done; /* else the sweep was interrupted before */
    char digest[24];
};

struct wf_curve {
    char *title;
    struct wf_curve_point *points;
    size_t n;
};

/* Fills a point from a result document. */
void wf_curve_point_read(struct wf_curve_point *point, const struct wf_value *doc);

/* What a file of a curve can be, by the end of its name. */
struct wf_curve_format {
    const char *extension; /* with the dot */
    bool only_curves;      /* single results have no such format */
    bool is_plot;
    /* Errors of `out` itself are found by the caller (ferror). */
    void (*write)(const struct wf_curve *curve, FILE *out);
};

/* WF_EUSAGE if there is none, or, if `plot`, none that is a picture. */
WF_NODISCARD
enum wf_status wf_curve_for_path(const char *path, bool plot,
                                 const struct wf_curve_format **out, struct wf_err *err);

void wf_curve_table(const struct wf_curve *curve, FILE *out);
void wf_curve_csv(const struct wf_curve *curve, FILE *out);
/* One document with all points. */
void wf_curve_json(const struct wf_curve *curve, FILE *out);
void wf_curve_svg(const struct wf_curve *curve, FILE *out);
void wf_curve_png(const struct wf_curve *curve, FILE *out);
/* A page for a browser: the picture and the table. */
void wf_curve_html(const struct wf_curve *curve, FILE *out);

#endif
