/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The range of an axis and its ticks, which are round numbers. */

#include <stdbool.h>
#include <stddef.h>

enum { WF_DRAW_SCALE_TICKS_MAX = 16 };

struct wf_draw_scale {
    bool log;
    double low, high; /* both are ticks */
    double ticks[WF_DRAW_SCALE_TICKS_MAX];
    size_t n;
};

/* Fits all values from `low` to `high`, which are above 0 if `log`. */
void wf_draw_scale_fit(struct wf_draw_scale *scale, bool log, double low, double high);

/* The same with powers of two, for sizes; a linear one in steps of a power of two. */
void wf_draw_scale_fit_bytes(struct wf_draw_scale *scale, bool log, double low, double high);

/* The position of a value on the axis: 0 at the low end, 1 at the high end. */
double wf_draw_scale_place(const struct wf_draw_scale *scale, double value);
