/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Compares what weft predicts for a machine with what was measured on the real one: each entry
 * of `published` in a machine file is measured in a simulation of its own.
 */

#include "base/points.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct wf_machine;
struct wf_machine_published;
struct wf_value;

struct wf_study_check_row {
    const struct wf_machine_published *published; /* points into the machine */
    bool ran;                                     /* else `err` tells why not */
    double predicted;                             /* in the unit of published->number */
    double off_percent;                           /* negative: the prediction is too low */
    struct wf_err err;
};

struct wf_study_check {
    struct wf_study_check_row *rows;
    size_t n;
};

/* Simulates all measurements. If some cannot be simulated, the others are; the status is that
 * of the first failure in the order of the file, WF_EINTR if interrupted. The machine must
 * outlive the result, which the caller releases in any case. */
enum wf_status wf_study_check_run(const struct wf_machine *machine,
                                  const struct wf_points_host *host, struct wf_study_check *out,
                                  struct wf_err *err);
void wf_study_check_release(struct wf_study_check *check);

/* As members of a document (docs/reference/machine-files.md), and as a table. */
void wf_study_check_add(const struct wf_study_check *check, struct wf_value *doc);
void wf_study_check_print(const struct wf_study_check *check, FILE *out);
