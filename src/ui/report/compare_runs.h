/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Whether the predicted times of two results differ by more than their uncertainty, from the
 * times of their repeated runs (--runs). The difference is larger than the uncertainty if the
 * interval from the 5 % to the 95 % quantile of the differences does not contain 0.
 *
 * Runs are paired if both results drew the same numbers: same program, seed, number of runs and
 * uncertain settings. What both have in common then cancels. Otherwise each run of one is
 * compared with each run of the other, as if they were independent.
 */

#include "base/result/doc.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes a line; nothing if neither result has repeated runs. */
void wf_compare_runs(const struct wf_value *base, const struct wf_value *other, FILE *out);
