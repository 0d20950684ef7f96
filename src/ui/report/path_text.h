/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The critical path and the what-if changes as text. Functions return false if the document
 * lacks the section that they describe. */

#include "ui/report/phrase.h"

/* For a report: "93.3 % compute, 5.9 % queueing; 3 hops". */
bool wf_writer_text_path(const struct wf_value *doc, struct wf_phrase *out);
bool wf_writer_text_what_if(const struct wf_value *doc, struct wf_phrase *out);
bool wf_writer_text_recorded(const struct wf_value *doc, struct wf_phrase *out);

/* For an explanation, in sentences. */
bool wf_explain_path(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_path_places(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_what_if(const struct wf_value *doc, struct wf_phrase *out);

/* Adds the main cause of a difference in time, from the critical paths of both runs; false if
 * one of the documents has no path. */
bool wf_explain_path_change(const struct wf_value *before, const struct wf_value *after,
                            struct wf_phrase *out);
