/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A study: one scenario at many points, from a YAML file (docs/reference/studies.md):
 *
 *   title: ...                    title of the plot
 *   settings: {key: value, ...}   for all points: keys of run/scenario/scenario.h, and `machine`
 *   grid: {key: [value, ...]}     every combination, the last key changing fastest, or
 *   list: [{key: value, ...}]     individual points
 *   plot: {x: key, y: name}       axes of the plot; both may be left out; y: [name, name] draws
 *                                 panels side by side
 *
 * Points that differ only by their seed (seed, gen.seed) are drawn as one, with an error bar. Commands make
 * studies too: grids of their options, and results of earlier runs.
 */

#include "base/points.h"
#include "base/result/doc.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

struct wf_comm;
struct wf_scenario;

enum {
    WF_STUDY_KEYS_MAX = 32,
    WF_STUDY_POINTS_MAX = 10000,
    WF_STUDY_NAME_MAX = 32,
    WF_STUDY_PLOTS_MAX = 4,
};

struct wf_study_value {
    char *key, *text;
    char *place; /* "study.yaml:3:5" */
};

struct wf_study_point {
    const struct wf_study_value *values[WF_STUDY_KEYS_MAX]; /* by key; null: not given */
    char name[WF_STUDY_NAME_MAX]; /* file name: equal if and only if all settings are equal; "":
                                     no file */
    struct wf_value *doc;         /* result; null if there is none yet */
    struct wf_err err;            /* why there is no result, if the point was run */
};

struct wf_study {
    char *title, *plot_x;             /* null if not given */
    char *plot_y[WF_STUDY_PLOTS_MAX]; /* null after the last one */
    const struct wf_scenario *base;   /* settings that those of the study override; or null */
    struct wf_study_value *all;       /* every value of the file */
    size_t n_all, n_settings;         /* the settings come first */
    const char *keys[WF_STUDY_KEYS_MAX]; /* keys that differ between points, in order */
    size_t n_keys;
    struct wf_study_point *points;
    size_t n_points;
};

/* Reads a study; the caller frees *out. Mistakes are WF_EINVAL; the message names their
 * place. */
enum wf_status wf_study_read(const char *path, struct wf_study **out, struct wf_err *err);
void wf_study_free(struct wf_study *study); /* null is allowed */

/* Values of a setting. */
struct wf_study_axis {
    const char *key;
    char **texts;
    size_t n;
};

/* Adds an axis from "net.routing=minimal,valiant", or with ';' between values that contain commas. Call
 * wf_study_axes_free() at the end. */
struct wf_study_axes {
    struct wf_study_axis *list;
    size_t n;
};
enum wf_status wf_study_axes_add(struct wf_study_axes *axes, const char *text,
                                 struct wf_err *err);
void wf_study_axes_push(struct wf_study_axes *axes,
                        struct wf_study_axis axis); /* takes its texts */
void wf_study_axes_free(struct wf_study_axes *axes);

/* A study of every combination of the values, the last axis changing fastest, of a scenario that must
 * live as long (ui/study/gather.c). */
enum wf_status wf_study_grid(const struct wf_scenario *base, const struct wf_study_axes *axes,
                             struct wf_study **out, struct wf_err *err);

/* Gives a setting a value where another one, of an axis, has `value`; false if nowhere. At most once for each
 * value of that axis. */
bool wf_study_follow(struct wf_study *study, const char *key, const char *text,
                     const char *leader, const char *value);

/* A study of the result documents that are there: a file, or all in a folder and the folders in it.
 * Settings that differ vary. Documents of other kinds are left out; `n_other` counts them. */
enum wf_status wf_study_results(const char *const *paths, size_t n, struct wf_study **out,
                                size_t *n_other, struct wf_err *err);

/* The scenario of a point, for the caller to free; null on failure. */
struct wf_scenario *wf_study_scenario(const struct wf_study *study, size_t point,
                                      struct wf_err *err);
/* The value of a key at a point, or its value for all points; null if there is neither. */
const char *wf_study_text(const struct wf_study *study, size_t point, const char *key);

/* Gives the points every combination of the values of the keys, which are the last ones of `all`, ordered
 * by key; the last key changes fastest. */
void wf_study_combine(struct wf_study *study, const size_t *lengths);

struct wf_study_run {
    const char *directory; /* where results are stored and looked for; null: nowhere */
    bool again;            /* results that are there do not count */
    const char *what;      /* with no directory: what the points are, for the user */
    uint64_t memory;       /* budget in bytes for all points that run in parallel */
    const char *exec;      /* value of engine.exec for all points; null: that of the study */
    struct wf_points_host host;
    /* The processes that share the points, all of which make the call; or null. They get the same status,
     * and the first one has all results. */
    struct wf_comm *world;
};

/* Runs all points that have no result in the directory. Points that fail keep their error; the
 * status is that of the first of them. WF_EINTR if interrupted: finished points are kept. */
enum wf_status wf_study_run(struct wf_study *study, const struct wf_study_run *how,
                            struct wf_err *err);

/* One row for each point (ui/study/table.c). */
void wf_study_csv(const struct wf_study *study, FILE *out);
void wf_study_json(const struct wf_study *study, FILE *out);
void wf_study_html(const struct wf_study *study, FILE *out); /* a page for a browser */

/* Orders the points by a result, its short name in the table or a setting; the least comes first, or
 * the greatest after '-' ("-MFU"). Points without it are last. Then as a table for people
 * (ui/study/ranking.c). */
enum wf_status wf_study_sort(struct wf_study *study, const char *by, struct wf_err *err);
void wf_study_ranking(const struct wf_study *study, FILE *out);

struct wf_draw_plot_format;
/* Draws a curve for each combination of the keys other than x and the seed, a panel for each y. A y
 * that no point has is WF_EINVAL (ui/study/plot.c). */
enum wf_status wf_study_plot(const struct wf_study *study,
                             const struct wf_draw_plot_format *format, FILE *out,
                             struct wf_err *err);
/* The same to a file, in the format of its name; a failure leaves no file. */
enum wf_status wf_study_plot_file(const struct wf_study *study, const char *path, bool force,
                                  struct wf_err *err);
