/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic/stats.h"

#include <math.h>
#include <string.h>

enum { BATCHES = WF_TRAFFIC_BATCHES, BATCHES_LEAST = 8, LEVELS = 3 };

/* Quantiles of Student's distribution for two-sided intervals of 90, 95 and 99 percent, with 1
 * to 31 degrees of freedom. */
static const double student[LEVELS][BATCHES - 1] = {
    {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796,
     1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717,
     1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697, 1.696},
    {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
     2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074,
     2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042, 2.040},
    {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106,
     3.055,  3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819,
     2.807,  2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750, 2.744},
};

/* The largest latency of a class. */
static uint64_t class_top(uint32_t at)
{
    if (at < 16) {
        return at;
    }
    uint32_t power = at / 16 + 3;
    return ((UINT64_C(16) + at % 16 + 1) << (power - 4)) - 1;
}

void wf_traffic_merge_all(void *into, const void *from)
{
    wf_traffic_merge(into, from);
    wf_net_counters_merge((void *)((struct wf_traffic_tally *)into + 1),
                          (const void *)((const struct wf_traffic_tally *)from + 1));
}

void wf_traffic_latency(struct wf_traffic_batch *batch, int64_t latency, uint64_t bytes)
{
    uint64_t value = latency > 0 ? (uint64_t)latency : 0;

    batch->arrived++;
    batch->arrived_bytes += bytes;
    batch->latency_sum += value;
    batch->latency_max = value > batch->latency_max ? value : batch->latency_max;
    batch->classes[wf_traffic_class(value)]++;
}

void wf_traffic_batch_add(struct wf_traffic_batch *into, const struct wf_traffic_batch *from)
{
    into->offered += from->offered;
    into->dropped += from->dropped;
    into->offered_bytes += from->offered_bytes;
    into->dropped_bytes += from->dropped_bytes;
    into->arrived += from->arrived;
    into->arrived_bytes += from->arrived_bytes;
    into->latency_sum += from->latency_sum;
    if (from->latency_max > into->latency_max) {
        into->latency_max = from->latency_max;
    }
    for (uint32_t i = 0; i < WF_TRAFFIC_CLASSES; i++) {
        into->classes[i] += from->classes[i];
    }
}

void wf_traffic_merge(void *into, const void *from)
{
    struct wf_traffic_tally *a = into;
    const struct wf_traffic_tally *b = from;

    for (uint32_t i = 0; i < BATCHES; i++) {
        wf_traffic_batch_add(&a->batches[i], &b->batches[i]);
    }
    wf_net_usage_merge(&a->usage, &b->usage);
    wf_net_totals_merge(&a->totals, &b->totals);
    a->rounds_left += b->rounds_left;
    a->last = b->last > a->last ? b->last : a->last;
}

/* ---- evaluation ---- */

/* One value for each batch. */
struct series {
    double at[BATCHES];
    uint32_t n;
};

static double mean_of(const double *at, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += at[i];
    }
    return n > 0 ? sum / n : 0;
}

static double squares_of(const double *at, uint32_t n, double mean)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += (at[i] - mean) * (at[i] - mean);
    }
    return sum;
}

/* Where the warm-up ends: at the batch after which the rest has the smallest standard error
 * of its mean (White, "An effective truncation heuristic for bias reduction in simulation
 * output", Simulation 69, 1997). At most half of the run. */
static uint32_t warm_up(const struct series *series)
{
    uint32_t best = 0;
    double least = HUGE_VAL;

    for (uint32_t d = 0; d <= BATCHES / 2; d++) {
        uint32_t n = series->n - d;
        double error =
            squares_of(series->at + d, n, mean_of(series->at + d, n)) / ((double)n * n);
        if (error < least) {
            least = error;
            best = d;
        }
    }
    return best;
}

/* The correlation of each value with the next one. */
static double correlation(const struct series *series, double mean)
{
    double all = squares_of(series->at, series->n, mean), sum = 0;

    for (uint32_t i = 0; i + 1 < series->n; i++) {
        sum += (series->at[i] - mean) * (series->at[i + 1] - mean);
    }
    return all > 0 ? sum / all : 0;
}

/* Half the width of the confidence interval of the mean. Correlated batches are merged in
 * pairs while enough are left. */
static double half_width(struct series series, int level, double *deviation)
{
    double mean = mean_of(series.at, series.n);

    while (series.n >= 2 * BATCHES_LEAST && correlation(&series, mean) > 0.3) {
        for (size_t i = 0; i < series.n / 2; i++) {
            series.at[i] = (series.at[2 * i] + series.at[2 * i + 1]) / 2;
        }
        series.n /= 2;
        mean = mean_of(series.at, series.n);
    }
    if (series.n < 2) {
        *deviation = 0;
        return HUGE_VAL;
    }
    *deviation = sqrt(squares_of(series.at, series.n, mean) / (series.n - 1));
    return student[level][series.n - 2] * *deviation / sqrt(series.n);
}

static uint64_t percentile(const struct wf_traffic_batch *all, uint64_t per_mille)
{
    uint64_t wanted = (all->arrived * per_mille + 999) / 1000, seen = 0;

    for (uint32_t i = 0; i < WF_TRAFFIC_CLASSES; i++) {
        seen += all->classes[i];
        if (seen >= wanted && seen > 0) {
            return class_top(i) < all->latency_max ? class_top(i) : all->latency_max;
        }
    }
    return all->latency_max;
}

static void sum_up(const struct wf_traffic_tally *tally, struct wf_traffic_summary *summary)
{
    struct wf_traffic_batch all;

    memset(&all, 0, sizeof(all));
    for (uint32_t i = summary->warm_up; i < BATCHES; i++) {
        wf_traffic_batch_add(&all, &tally->batches[i]);
    }
    summary->batches = BATCHES - summary->warm_up;
    summary->offered = all.offered;
    summary->dropped = all.dropped;
    summary->arrived = all.arrived;
    summary->offered_bytes = all.offered_bytes;
    summary->arrived_bytes = all.arrived_bytes;
    summary->latency_sum = all.latency_sum;
    summary->max = all.latency_max;
    summary->p50 = percentile(&all, 500);
    summary->p95 = percentile(&all, 950);
    summary->p99 = percentile(&all, 990);
    summary->mean = all.arrived > 0 ? (double)all.latency_sum / (double)all.arrived : 0;
}

void wf_traffic_sum_up(const struct wf_traffic_tally *tally, struct wf_traffic_summary *summary)
{
    memset(summary, 0, sizeof(*summary));
    sum_up(tally, summary);
}

void wf_traffic_summarize(const struct wf_traffic_tally *tally, int level, double precision,
                          struct wf_traffic_summary *summary)
{
    struct series latency = {.n = BATCHES}, bytes = {.n = BATCHES};
    double ignored;

    memset(summary, 0, sizeof(*summary));
    for (uint32_t i = 0; i < BATCHES; i++) {
        const struct wf_traffic_batch *batch = &tally->batches[i];
        latency.at[i] =
            batch->arrived > 0 ? (double)batch->latency_sum / (double)batch->arrived : 0;
        bytes.at[i] = (double)batch->arrived_bytes;
    }
    summary->warm_up = warm_up(&latency);
    sum_up(tally, summary);

    uint32_t left = BATCHES - summary->warm_up;
    memmove(latency.at, latency.at + summary->warm_up, left * sizeof(double));
    memmove(bytes.at, bytes.at + summary->warm_up, left * sizeof(double));
    latency.n = bytes.n = left;
    summary->half_width = half_width(latency, level, &summary->deviation);
    double accepted = mean_of(bytes.at, left);
    double width = half_width(bytes, level, &ignored);
    summary->accepted_half_width = accepted > 0 ? width / accepted : 0;
    summary->converged =
        summary->arrived > 0 && summary->half_width <= precision * summary->mean;
    /* The load exceeded what the network accepted, beyond statistical fluctuation. */
    double offered = (double)summary->offered_bytes;
    double shortfall = offered - (double)summary->arrived_bytes;
    summary->saturated =
        shortfall > 0.01 * offered && shortfall > summary->accepted_half_width * offered;
}
