/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The programs of a plan; for plan.c only. */

#include "run/plan/plan.h"

/* Finds the programs, their settings, and their generators or trace formats. */
enum wf_status wf_plan_jobs_find(struct wf_plan *plan, struct wf_err *err);
/* Creates the sources of the programs, once all parameters are known. */
enum wf_status wf_plan_jobs_open(struct wf_plan *plan, struct wf_err *err);
/* Restarts programs that have run. */
enum wf_status wf_plan_jobs_again(struct wf_plan *plan, struct wf_err *err);
void wf_plan_jobs_fini(struct wf_plan *plan);

/* Whether this is a setting of a job other than the first, but not a parameter of its
 * source. */
bool wf_plan_job_setting(const struct wf_setting *setting);
/* For a parameter of a generator or trace: its block, and its name there. Null if it is not
 * such a parameter or the program has none. */
const struct wf_plan_block *wf_plan_job_block(const struct wf_plan *plan,
                                              const struct wf_setting *setting,
                                              const char **name);

/* Adds the description of one program, or of all programs, to a section. */
void wf_plan_job_describe(const struct wf_plan_job *job, struct wf_value *section);
void wf_plan_jobs_describe(const struct wf_plan *plan, struct wf_value *section);

/* Shared by plan.c and jobs.c. */
struct wf_value *wf_plan_describe_values(const struct wf_plan_block *block,
                                         struct wf_value *parent, const char *name);
