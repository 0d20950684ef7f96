/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_HISTOGRAM_H
#define WF_BASE_HISTOGRAM_H

/*
 * Counts of values of any size in a fixed number of buckets, each at most a sixteenth of its
 * values wide: below 32 one for each value, then sixteen for each power of two. (The idea is of
 * HdrHistogram, G. Tene.) Integers, so that sums of histograms do not depend on their order.
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

/* The least value of the bucket in which the value is that `permille` thousandths of all are
 * not above; 0 if there are none. */
uint64_t wf_histogram_quantile(const uint64_t counts[WF_HISTOGRAM_BUCKETS], uint32_t permille);

#endif
