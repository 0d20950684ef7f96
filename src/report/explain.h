/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The bottlenecks of a run and possible improvements, in a few sentences with numbers. */

#include "result/doc.h"

#include <stdio.h>

/* Explains a result document in at most ten lines. `limits` is what a user of the document's
 * network model should mind, or null; it is the last line. */
void wf_explain(const struct wf_value *doc, const char *limits, FILE *out);
