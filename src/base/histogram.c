/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include "base/int128.h"

uint64_t wf_histogram_quantile(const uint64_t counts[WF_HISTOGRAM_BUCKETS], uint32_t permille)
{
    wf_u128 total = 0, sum = 0;

    for (uint32_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        total += counts[i];
    }
    for (uint32_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        sum += counts[i];
        if (sum * 1000 >= total * permille && sum > 0) {
            return wf_histogram_least(i);
        }
    }
    return 0;
}
