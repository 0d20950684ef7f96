/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What limits a run, what removing each limit would save, and which command tells more: sentences of an
 * explanation. Functions return false to leave their sentence out. */

#include "ui/report/phrase.h"

bool wf_explain_training(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_limit(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_savings(const struct wf_value *doc, struct wf_phrase *out);
bool wf_explain_next(const struct wf_value *doc, struct wf_phrase *out);
