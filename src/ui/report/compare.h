/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Lists the differences between two results: in their scenarios and in their outcomes. Ignores
 * the section `run` and recordings. */

#include "base/result/doc.h"

#include <stdio.h>

struct wf_compared {
    const struct wf_value *doc;
    const char *name;
};

/* Writes the differences of `other` from `base`: at most `most` lines each for the scenario and
 * for the result. Returns whether there are any differences. */
bool wf_compare(const struct wf_compared *base, const struct wf_compared *other, size_t most,
                FILE *out);

#define WF_COMPARE_SCHEMA "weft-compare-1"

/* Writes a page of `n` results for a browser: their times, settings, timelines on one scale, and
 * what differs. */
void wf_compare_page(const struct wf_compared *results, size_t n, const char *version,
                     FILE *out);
