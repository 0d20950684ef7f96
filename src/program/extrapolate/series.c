/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/series.h"

#include "base/mem.h"

#include <stdlib.h>

enum { PERIOD_MAX = 256, LIST_MAX = 256 };

int64_t wf_ext_series_at(const struct wf_ext_series *series, uint32_t turn)
{
    if (series->n == 0 || !wf_ext_series_has(series, turn)) {
        return 0;
    }
    uint64_t shifts = turn / series->n;

    return (int64_t)((uint64_t)series->values[turn % series->n] +
                     shifts * (uint64_t)series->shift);
}

static bool repeats(const int64_t *values, uint32_t n, uint32_t period)
{
    for (uint32_t i = period; i < n; i++) {
        if (values[i] - values[i - period] != values[period] - values[0]) {
            return false;
        }
    }
    return true;
}

bool wf_ext_series_fit(const int64_t *values, uint32_t n, struct wf_ext_series *out)
{
    uint32_t period = 1;

    while (period <= n / 2 && period <= PERIOD_MAX && !repeats(values, n, period)) {
        period++;
    }
    *out = (struct wf_ext_series){.n = n};
    if (period <= n / 2 && period <= PERIOD_MAX) {
        *out = (struct wf_ext_series){
            .n = period, .shift = values[period] - values[0], .repeats = true};
    }
    if (out->n == 0 || out->n > LIST_MAX) {
        out->n = 0;
        return false;
    }
    out->values = wf_xmalloc(out->n * sizeof(*out->values));
    for (uint32_t i = 0; i < out->n; i++) {
        out->values[i] = values[i] - values[0];
    }
    return true;
}

void wf_ext_series_fini(struct wf_ext_series *series)
{
    free(series->values);
    *series = (struct wf_ext_series){.n = 0};
}
