/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_EXPLAIN_H
#define WF_REPORT_EXPLAIN_H

/* What bounds a run and what would help, in a few lines of words, each with its numbers. */

#include "result/doc.h"

#include <stdio.h>

/* Explains a result document in at most ten lines. `limits` is what a user of the document's
 * network model should mind, or null; it is the last line. */
void wf_explain(const struct wf_value *doc, const char *limits, FILE *out);

#endif
