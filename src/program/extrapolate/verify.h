/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How well predicted traces agree with real ones. */

#include "program/extrapolate/extrapolate.h"
#include "program/trace/reader.h"

#include <stdio.h>

/* Opens a trace by its path; the reader closes it with wf_trace_close(). */
struct wf_ext_opener {
    enum wf_status (*open)(const struct wf_ext_opener *opener, const char *path,
                           struct wf_trace *out, struct wf_err *err);
};

/* Opens a trace and adds it to the input. */
enum wf_status wf_ext_read_path(const struct wf_ext_opener *opener, const char *path,
                                struct wf_ext_input *input, struct wf_err *err);

/* Compares a trace with its prediction and prints a line about it; `out` may be null. WF_EINVAL if
 * an op, a peer or a tag differs. */
enum wf_status wf_ext_check_guess(const struct wf_ext_opener *opener, const char *path,
                                  const struct wf_source *guess, FILE *out, struct wf_err *err);

/* Predicts the largest trace from the others, and compares likewise. `all` has read all of
 * them. */
enum wf_status wf_ext_verify(const struct wf_ext_opener *opener, const struct wf_ext_model *all,
                             FILE *out, struct wf_err *err);
