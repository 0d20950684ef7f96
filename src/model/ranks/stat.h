/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Number, minimum, maximum and sum of many values. All zero means empty. */

#include <stdint.h>

struct wf_stat {
    uint64_t n; /* values */
    int64_t min, max;
    uint64_t sum_low, sum_high; /* sum of non-negative values, 128 bits */
};

void wf_stat_add(struct wf_stat *stat, int64_t value);
void wf_stat_merge(struct wf_stat *into, const struct wf_stat *from);
void wf_stat_multiply(struct wf_stat *stat, uint64_t times); /* each value that many times */
int64_t wf_stat_mean(const struct wf_stat *stat); /* rounded down; 0 if there are no values */
