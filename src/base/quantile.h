/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Quantiles of a sample. The quantile p of n values is the value at place p (n + 1) of the
 * sorted sample, counted from 1, interpolated between its neighbours (Hyndman and Fan, "Sample
 * quantiles in statistical packages", 1996, type 6). A further value of the same distribution
 * lies between the quantiles 5 % and 95 % with probability 90 %, whatever the distribution, if
 * n + 1 is a multiple of 20. With fewer than 19 values they are the smallest and the largest.
 */

#include <stddef.h>
#include <stdint.h>

/* Sorts values in ascending order. */
void wf_quantile_sort(int64_t *values, size_t n);

/* The quantile, from 0 to 100 percent, of n > 0 sorted values, rounded down. */
int64_t wf_quantile(const int64_t *sorted, size_t n, unsigned percent);
