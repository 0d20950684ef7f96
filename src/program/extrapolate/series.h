/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A series of integers that no straight line describes: what a statement has in the first,
 * second, ... time that a rank executes it. Either it repeats, each time shifted by the same
 * number (microbatches that a pipeline takes in groups), or it is a list.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_ext_series {
    int64_t *values; /* owned; the first is 0 */
    uint32_t n;      /* 0: no series */
    int64_t shift;   /* from one repetition to the next */
    bool repeats;
};

/* Whether the series has an element with this number, from 0 on. */
static inline bool wf_ext_series_has(const struct wf_ext_series *series, uint32_t turn)
{
    return series->repeats || turn < series->n;
}

/* That element; 0 if there is none. */
int64_t wf_ext_series_at(const struct wf_ext_series *series, uint32_t turn);

/* The shortest series that begins with these values: one that repeats, and is at least twice in
 * them, or a list if they are not many. False if there is none. The caller releases it. */
bool wf_ext_series_fit(const int64_t *values, uint32_t n, struct wf_ext_series *out);
void wf_ext_series_fini(struct wf_ext_series *series);
