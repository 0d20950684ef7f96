/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What to keep of a trace, from the words of the user. Failures are WF_EUSAGE and name the
 * option. */

#include "program/trace/cut/cut.h"

/* "1ms:2ms", "1ms:" or ":2ms" */
enum wf_status wf_cut_parse_time(const char *text, struct wf_cut_options *options,
                                 struct wf_err *err);
/* "3:5" */
enum wf_status wf_cut_parse_iterations(const char *text, struct wf_cut_options *options,
                                       struct wf_err *err);
/* Marks the ranks of a list such as "0-15,20" in `kept`, which has `n_ranks` items. */
enum wf_status wf_cut_parse_ranks(const char *text, uint32_t n_ranks, bool *kept,
                                  struct wf_err *err);
