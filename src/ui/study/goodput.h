/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How much of the time of a long job is useful on a machine that fails: repeated simulations at
 * one or several intervals of checkpoints, beside the formulas of Young and Daly. */

#include "model/failure/goodput.h"

#include <stdio.h>

/* As the user wrote it; null or 0: not given. */
struct wf_study_goodput_options {
    const char *const *fail; /* of wf_failure_parse() */
    size_t n_fail;
    const char *time, *work, *step, *interval, *cost, *write, *detect, *restart;
    uint64_t steps, size, rate, spares, runs, seed;
};

enum {
    WF_STUDY_GOODPUT_POINTS = 13,
    WF_STUDY_GOODPUT_SHARES = 5,
    WF_STUDY_GOODPUT_RUNS = 10000
};

/* One interval: means of all runs. */
struct wf_study_goodput_point {
    int64_t interval;
    double share[WF_STUDY_GOODPUT_SHARES]; /* of the wall time: useful, lost, checkpoints, down,
                                              waiting */
    double low, high;                      /* quantiles 5 % and 95 % of the useful share */
    double failures, wall;
    double expected; /* useful share by Daly's model */
};

struct wf_study_goodput {
    const struct wf_study_goodput_options *options;
    struct wf_goodput_config config;
    struct wf_failure_class *classes;
    double step, tokens; /* microseconds of a step and tokens per second of it; 0: unknown */
    double mtbf;         /* mean time between failures of any part, in microseconds */
    double young, daly;
    struct wf_study_goodput_point chosen; /* the interval that was asked for, or the best one */
    struct wf_study_goodput_point points[WF_STUDY_GOODPUT_POINTS];
    size_t n_points, best;
};

/* Reads the options and runs everything. The caller releases *out, on success only. */
enum wf_status wf_study_goodput_run(const struct wf_study_goodput_options *options,
                                    struct wf_study_goodput *out, struct wf_err *err);
void wf_study_goodput_fini(struct wf_study_goodput *study);

void wf_study_goodput_print(const struct wf_study_goodput *study, FILE *out);
/* The time that is not useful, by interval, with Daly's model beside it; then a page with both. */
struct wf_draw_plot_format;
void wf_study_goodput_plot(const struct wf_study_goodput *study,
                           const struct wf_draw_plot_format *format, FILE *out);
void wf_study_goodput_page(const struct wf_study_goodput *study, FILE *out);
struct wf_value;
/* For the caller to free. */
struct wf_value *wf_study_goodput_document(const struct wf_study_goodput *study);
