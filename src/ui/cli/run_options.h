/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Options of the verbs that run programs. */

#include "ui/cli/simulate.h"

#define WF_RUN_ROW_COMPUTE                                                                   \
    WF_SIMULATE_ROW(compute, TEXT, "compute", 0, "<how>",                                    \
                    .doc = "What computing costs a rank: 'measured', its processor time on " \
                           "this machine; 'scaled:<factor>', that time multiplied; "         \
                           "'counted:<rate>', its instructions at this rate; 'model', what " \
                           "the program says with WEFT_COMPUTE; 'none', nothing")

/* Sets the program and its arguments from the operands. */
enum wf_status wf_cli_run_set_program(const struct wf_operands *operands,
                                      struct wf_scenario *scenario, struct wf_err *err);

/* Applies --compute: a setting of the program and perhaps one of the processors. Null sets
 * nothing. */
enum wf_status wf_cli_run_set_compute(const char *how, struct wf_scenario *scenario,
                                      struct wf_err *err);
