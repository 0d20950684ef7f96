/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Warnings about a prediction: what the machine of a scenario leaves out, although the user did
 * not ask for that. Each is one line that names its remedy.
 */

#include "base/status.h"

struct wf_job;
struct wf_plan;
struct wf_ranks_tally;
struct wf_value;

/* Adds to the list `warnings` of a document the parameters that are given but have no effect
 * because of the others. */
void wf_sim_warn_unused(const struct wf_plan *plan, struct wf_value *root);

/* Adds the list `warnings` to the document of a replay, unless it is empty. */
void wf_sim_warnings(const struct wf_job *job, const struct wf_ranks_tally *tally,
                     struct wf_value *root);

/* Adds one line to that list. */
WF_PRINTF(2, 3)
void wf_sim_warn(struct wf_value *root, const char *fmt, ...);
