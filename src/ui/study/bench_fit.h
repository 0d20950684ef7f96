/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A machine file from what benchmarks printed (ui/study/bench_log.h): `weft calibrate --from`. */

#include "ui/study/bench_log.h"

#include <stdio.h>

struct wf_value;

enum { WF_MEASURED_SETTINGS_MAX = 24, WF_MEASURED_TEXT_MAX = 1024 };

struct wf_measured_setting {
    const char *key; /* "net.bandwidth" */
    char value[WF_MEASURED_TEXT_MAX];
    char from[256]; /* the provenance: "measured: osu_bw of OSU, bw.log line 3" */
};

/* What was fitted, and what could not be: the parameter and the measurement that would tell it. */
struct wf_measured_fit {
    struct wf_measured_setting settings[WF_MEASURED_SETTINGS_MAX];
    size_t n;
    struct {
        const char *key, *need;
    } missing[WF_MEASURED_SETTINGS_MAX];
    size_t n_missing;
};

/* WF_EINVAL if nothing in the log determines a parameter. */
enum wf_status wf_measured_fit(const struct wf_measured_log *log, struct wf_measured_fit *out,
                               struct wf_err *err);

/* The machine file; the caller checks `out` for errors. A summary for people, and for programs. */
void wf_measured_fit_write(const struct wf_measured_fit *fit, FILE *out);
void wf_measured_fit_print(const struct wf_measured_fit *fit, FILE *out);
void wf_measured_fit_add(const struct wf_measured_fit *fit, struct wf_value *doc);
