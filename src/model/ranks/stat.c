/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/stat.h"

#include "base/int128.h"

static void add_sum(struct wf_stat *stat, uint64_t low, uint64_t high)
{
    stat->sum_low += low;
    stat->sum_high += high + (stat->sum_low < low);
}

void wf_stat_add(struct wf_stat *stat, int64_t value)
{
    if (stat->n == 0 || value < stat->min) {
        stat->min = value;
    }
    if (stat->n == 0 || value > stat->max) {
        stat->max = value;
    }
    stat->n++;
    add_sum(stat, (uint64_t)value, 0);
}

int64_t wf_stat_mean(const struct wf_stat *stat)
{
    wf_u128 sum = (wf_u128)stat->sum_high << 64 | stat->sum_low;

    return stat->n == 0 ? 0 : (int64_t)(sum / stat->n);
}

void wf_stat_merge(struct wf_stat *into, const struct wf_stat *from)
{
    if (from->n == 0) {
        return;
    }
    if (into->n == 0) {
        *into = *from;
        return;
    }
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->n += from->n;
    add_sum(into, from->sum_low, from->sum_high);
}

void wf_stat_multiply(struct wf_stat *stat, uint64_t times)
{
    wf_u128 sum = ((wf_u128)stat->sum_high << 64 | stat->sum_low) * times;

    stat->n *= times;
    stat->sum_low = (uint64_t)sum;
    stat->sum_high = (uint64_t)(sum >> 64);
}
