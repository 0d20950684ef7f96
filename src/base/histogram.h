/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A histogram of 64-bit values in a fixed number of buckets: one for each value below 32, then
 * sixteen for each power of two, so that a bucket is at most a sixteenth of its values wide
 * (after HdrHistogram by G. Tene). Counts are integers: the sum of histograms does not depend
 * on the order.
 */

#include <stdint.h>

enum { WF_HISTOGRAM_BUCKETS = 16 + 60 * 16 };

/* The bucket of a value. */
static inline uint32_t wf_histogram_bucket(uint64_t value)
{
    if (value < 16) {
        return (uint32_t)value;
    }
    uint32_t power = 63 - (uint32_t)__builtin_clzll(value);

    return (power - 3) * 16 + (uint32_t)(value >> (power - 4) & 15);
}

/* The least value of a bucket. */
static inline uint64_t wf_histogram_least(uint32_t bucket)
{
    return bucket < 16 ? bucket : (UINT64_C(16) | bucket % 16) << (bucket / 16 - 1);
}

/* The quantile `permille` / 1000, rounded down to the least value of its bucket; 0 if the
 * histogram is empty. */
uint64_t wf_histogram_quantile(const uint64_t counts[WF_HISTOGRAM_BUCKETS], uint32_t permille);
