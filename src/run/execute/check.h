/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Errors in the use of MPI that programs made: what weft run --check reports, and the warnings
 * of runs without it. */

#include "program/ops/finding.h"
#include "run/plan/plan.h"

struct wf_comm;
struct wf_value;

/* The findings of all programs and processes, in the first process. All processes call it. */
void wf_sim_check_collect(const struct wf_plan *plan, struct wf_comm *world,
                          struct wf_findings *out);

/* Adds the section `check` to the document if a program is checked, else a warning for each
 * finding. Returns WF_ESIM, with the first error, if a program is checked and did anything
 * wrong; else `status`. */
enum wf_status wf_sim_check_describe(const struct wf_plan *plan, struct wf_findings *findings,
                                     struct wf_value *root, enum wf_status status,
                                     struct wf_err *err);

/* A program has ended the run, so that there is no document: adds the first error that it made
 * before, if it is checked, to the text of `err`. All processes call it. */
void wf_sim_check_mention(const struct wf_plan *plan, struct wf_comm *world,
                          struct wf_err *err);
