/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_PATH_TEXT_H
#define WF_REPORT_PATH_TEXT_H

/* The critical path and what changes would save, in words: lines that decline by returning
 * false. */

#include "report/phrase.h"

/* For a report: "93.3 % compute, 5.9 % queueing; 3 hops". */
bool wf_text_line_path(const struct wf_value *doc, struct wf_phrase *out);
bool wf_text_line_what_if(const struct wf_value *doc, struct wf_phrase *out);
bool wf_text_line_recorded(const struct wf_value *doc, struct wf_phrase *out);

/* For an explanation, in sentences. */
bool wf_explain_path(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_path_places(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_what_if(const struct wf_value *doc, struct wf_phrase *out);

/* What most of a difference between two runs in time is on their critical paths: adds to a
 * sentence, unless one of them has none. */
bool wf_explain_path_change(const struct wf_value *before, const struct wf_value *after,
                            struct wf_phrase *out);

#endif
