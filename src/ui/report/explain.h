/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The bottlenecks of a run and possible improvements, in a few sentences with numbers. */

#include "base/result/doc.h"

#include <stdio.h>

/* Explains a result document in a few lines. `limits`, or null, are the limits of the
 * document's network model; they are the last line. */
void wf_explain(const struct wf_value *doc, const char *limits, FILE *out);
