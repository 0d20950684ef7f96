/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_RUN_OPTIONS_H
#define WF_CLI_RUN_OPTIONS_H

/* What the verbs that run programs have in common. */

#include "cli/simulate.h"

extern const struct wf_opt wf_run_compute_row; /* --compute */

/* The program and its arguments, the words behind the options. `verb` is for the words. */
WF_NODISCARD
enum wf_status wf_run_set_program(const char *verb, const struct wf_operands *operands,
                                  struct wf_scenario *scenario, struct wf_err *err);

/* --compute, which is a setting of the program and perhaps one of the processors; null sets
 * nothing. */
WF_NODISCARD
enum wf_status wf_run_set_compute(const char *how, struct wf_scenario *scenario,
                                  struct wf_err *err);

#endif
