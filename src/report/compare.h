/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_COMPARE_H
#define WF_REPORT_COMPARE_H

/* What differs between two results: in what was asked and in what came out. How and where they
 * were run does not count, nor that one was recorded. */

#include "result/doc.h"

#include <stdio.h>

struct wf_compared {
    const struct wf_value *doc;
    const char *name;
};

/* Writes what differs in `other`, seen from `base`: at most `most` lines for the scenario and
 * for the result each. Returns whether anything does. */
bool wf_compare(const struct wf_compared *base, const struct wf_compared *other, size_t most,
                FILE *out);

#endif
