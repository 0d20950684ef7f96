/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The programs of a plan: for plan.c alone. */

#include "sim/plan.h"

/* Finds out which programs there are, with their settings and their generators or
 * formats. */
WF_NODISCARD enum wf_status wf_plan_jobs_find(struct wf_plan *plan, struct wf_err *err);
/* Makes their sources, once all parameters are known. */
WF_NODISCARD enum wf_status wf_plan_jobs_open(struct wf_plan *plan, struct wf_err *err);
/* Starts programs that have run from the beginning. */
WF_NODISCARD enum wf_status wf_plan_jobs_again(struct wf_plan *plan, struct wf_err *err);
void wf_plan_jobs_fini(struct wf_plan *plan);

/* Whether this is a setting of a job other than the first, and no parameter of its source. */
bool wf_plan_job_setting(const struct wf_setting *setting);
/* The block of a parameter of a generator or trace and its name there; null if it is none or
 * the program has no such parameters. */
const struct wf_plan_block *wf_plan_job_block(const struct wf_plan *plan,
                                              const struct wf_setting *setting,
                                              const char **name);

/* Adds the description of one program, and of all programs, to a section. */
void wf_plan_job_describe(const struct wf_plan_job *job, struct wf_value *section);
void wf_plan_jobs_describe(const struct wf_plan *plan, struct wf_value *section);

/* Shared by the two files of a plan. */
struct wf_value *wf_plan_describe_values(const struct wf_plan_block *block,
                                         struct wf_value *parent, const char *name);
