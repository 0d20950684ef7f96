/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a result document says about measured compute spans that took unusually long
 * (program/ops/robust.h). */

#include "program/ops/robust.h"

struct wf_value;

/* Adds the section `robust` to the document of a prediction in which disturbed spans are
 * corrected, and a warning if spans decide it that took unusually long for no reason that was
 * counted. `raw_time` is the prediction without corrections, in picoseconds. */
void wf_sim_spans_describe(const struct wf_robust *const *programs, uint32_t n,
                           uint64_t raw_time, struct wf_value *root);

/* Adds a warning to the document of a replay if few spans of a program decide the prediction
 * and their witnesses took far less. */
void wf_sim_spans_warn(const struct wf_robust *robust, enum wf_robust_which which,
                       struct wf_value *root);
