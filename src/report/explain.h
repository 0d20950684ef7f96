/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_EXPLAIN_H
#define WF_REPORT_EXPLAIN_H

/* What bounds a run and what would help, in a few lines of words, each with its numbers. */

#include "result/doc.h"

#include <stdio.h>

/* Writes at most ten lines on a result document; what it does not say, they do not say. */
void wf_explain(const struct wf_value *doc, FILE *out);

#endif
