/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"

#include "base/array.h"
#include "base/int128.h"

static int order(const void *a, const void *b)
{
    return WF_ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

void wf_quantile_sort(int64_t *values, size_t n)
{
    WF_SORT(values, n, order);
}

int64_t wf_quantile(const int64_t *sorted, size_t n, unsigned percent)
{
    uint64_t at = (uint64_t)percent * (n + 1); /* in hundredths of a place */
    uint64_t place = at / 100, part = at % 100;

    if (place < 1) {
        return sorted[0];
    }
    if (place >= n) {
        return sorted[n - 1];
    }
    uint64_t gap = (uint64_t)sorted[place] - (uint64_t)sorted[place - 1];
    uint64_t step = (uint64_t)((wf_u128)gap * part / 100);
    return (int64_t)((uint64_t)sorted[place - 1] + step);
}
