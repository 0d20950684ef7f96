/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A study: one scenario at many points, from a YAML file (docs/reference/studies.md):
 *
 *   title: ...                    title of the plot
 *   settings: {key: value, ...}   for all points: keys of run/scenario/scenario.h, and `machine`
 *   grid: {key: [value, ...]}     every combination, the last key changing fastest, or
 *   list: [{key: value, ...}]     individual points
 *   plot: {x: key, y: name}       axes of the plot; both may be left out
 *
 * Points that differ only by their seed (seed, gen.seed) are drawn as one, with an error bar.
 */

#include "base/points.h"
#include "base/result/doc.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

struct wf_comm;
struct wf_scenario;

enum { WF_STUDY_KEYS_MAX = 32, WF_STUDY_POINTS_MAX = 10000, WF_STUDY_NAME_MAX = 32 };

struct wf_study_value {
    char *key, *text;
    char *place; /* "study.yaml:3:5" */
};

struct wf_study_point {
    const struct wf_study_value *values[WF_STUDY_KEYS_MAX]; /* by key; null: not given */
    char name[WF_STUDY_NAME_MAX]; /* file name: equal if and only if all settings are equal */
    struct wf_value *doc;         /* result; null if there is none yet */
    struct wf_err err;            /* why there is no result, if the point was run */
};

struct wf_study {
    char *title, *plot_x, *plot_y;       /* null if not given */
    struct wf_study_value *all;          /* every value of the file */
    size_t n_all, n_settings;            /* the settings come first */
    const char *keys[WF_STUDY_KEYS_MAX]; /* keys that differ between points, in order */
    size_t n_keys;
    struct wf_study_point *points;
    size_t n_points;
};

/* Reads a study; the caller frees *out. Mistakes are WF_EINVAL; the message names their
 * place. */
WF_NODISCARD
enum wf_status wf_study_read(const char *path, struct wf_study **out, struct wf_err *err);
void wf_study_free(struct wf_study *study); /* null is allowed */

/* The scenario of a point, for the caller to free; null on failure. */
struct wf_scenario *wf_study_scenario(const struct wf_study *study, size_t point,
                                      struct wf_err *err);
/* The value of a key at a point, or its value for all points; null if there is neither. */
const char *wf_study_text(const struct wf_study *study, size_t point, const char *key);

struct wf_study_run {
    const char *directory; /* where results are stored and looked for */
    uint64_t memory;       /* budget in bytes for all points that run in parallel */
    const char *exec;      /* value of engine.exec for all points; null: that of the study */
    struct wf_points_host host;
    /* The processes that share the points, all of which make the call; or null. They get the same status,
     * and the first one has all results. */
    struct wf_comm *world;
};

/* Runs all points that have no result in the directory. Points that fail keep their error; the
 * status is that of the first of them. WF_EINTR if interrupted: finished points are kept. */
WF_NODISCARD
enum wf_status wf_study_run(struct wf_study *study, const struct wf_study_run *how,
                            struct wf_err *err);

/* One row for each point (ui/study/table.c). */
void wf_study_csv(const struct wf_study *study, FILE *out);
void wf_study_json(const struct wf_study *study, FILE *out);
void wf_study_html(const struct wf_study *study, FILE *out); /* a page for a browser */

struct wf_draw_plot_format;
/* Draws a curve for each combination of the keys other than x and the seed; false if there is
 * nothing to draw (ui/study/plot.c). */
bool wf_study_plot(const struct wf_study *study, const struct wf_draw_plot_format *format,
                   FILE *out);

/* Why there is nothing to draw: "no point has the result 'predicted_tim_ps'; did you mean ...". */
char *wf_study_plot_lacks(const struct wf_study *study, char *buf, size_t size);
