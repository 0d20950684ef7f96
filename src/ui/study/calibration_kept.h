/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The measurements of a calibration as lines of text, which a machine file keeps, and the pairs of
 * nodes that are measured. */

#include "base/buf.h"
#include "ui/study/calibration.h"

#include <stdio.h>

enum { WF_CALIBRATION_PAIRS_TEXT = 96, WF_CALIBRATION_MEASURES_MIN = 8 };

/* Reads a line of the measuring program, and appends it to `lines` if it is one of ours. */
void wf_calibration_take(struct wf_calibration *measured, struct wf_buf *lines,
                         const char *line, double *progress);

/* Reads what a machine file keeps; *mpi becomes one of the null-terminated `mpis`. WF_EINVAL if
 * it keeps nothing. */
enum wf_status wf_calibration_kept_read(const char *path, const char *const *mpis,
                                        struct wf_calibration *measured, struct wf_buf *lines,
                                        const char **mpi, struct wf_err *err);
void wf_calibration_kept_write(const struct wf_buf *lines, const char *mpi, FILE *out);

/* Node 0 with the first node at each distance from it, nearest first: "0-1,0-4". `topology` may
 * be null; `text` has WF_CALIBRATION_PAIRS_TEXT bytes. */
enum wf_status wf_calibration_pairs(const char *topology, char *text, struct wf_err *err);

/* Prints a warning if other programs disturbed the measurement. */
void wf_calibration_warn(const struct wf_calibration *measured, FILE *out);
