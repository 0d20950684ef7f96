/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/noise.h"

#include "base/arith.h"
#include "base/int128.h"
#include "base/rng.h"
#include "base/units.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"

/* After this many interruptions of one computation, all have the mean duration: a computation
 * of months must not take hours to simulate. */
enum { DRAWN_MAX = 1 << 20 };

/* Separates these random numbers from all others of the run. */
#define STREAMS UINT64_C(0x6e6f697365)

enum wf_status wf_noise_check(const struct wf_node_params *params, struct wf_err *err)
{
    char duration[WF_UNITS_TEXT_MAX], period[WF_UNITS_TEXT_MAX];
    bool uniform = params->noise == WF_NODE_NOISE_UNIFORM;
    int64_t most = uniform ? params->noise_period / 2 : params->noise_period - 1;

    if (params->noise == WF_NODE_NOISE_NONE || params->noise_duration <= most) {
        return WF_OK;
    }
    return wf_err_set(
        err, WF_EUSAGE,
        "node.noise_duration: interruptions of %s do not fit into a period of %s; %s",
        wf_format_time(params->noise_duration, duration),
        wf_format_time(params->noise_period, period),
        uniform ? "uniform ones last up to twice the mean, which must be within the period"
                : "set node.noise_duration to less than node.noise_period");
}

struct wf_noise wf_noise_init(const struct wf_node_params *params, uint64_t seed)
{
    return (struct wf_noise){.kind = params->noise_duration > 0 ? params->noise
                                                                : WF_NODE_NOISE_NONE,
                             .period = params->noise_period,
                             .duration = params->noise_duration,
                             .seed = wf_rng_mix(seed ^ STREAMS)};
}

static uint64_t draw_random(const struct wf_noise *noise, struct wf_noise_core core, uint64_t i)
{
    return wf_rng_draw(noise->seed, (uint64_t)core.node << 32 | core.core, i);
}

/* The duration of an interruption that has this random number. */
static int64_t duration_of(const struct wf_noise *noise, uint64_t random)
{
    if (noise->kind == WF_NODE_NOISE_UNIFORM) {
        return (int64_t)wf_rng_below(random, 2 * (uint64_t)noise->duration + 1);
    }
    if (noise->kind == WF_NODE_NOISE_EXPONENTIAL) {
        double factor = wf_rng_exponential(random) * (double)WF_CPU_SCALE_ONE;

        return wf_min_i64(wf_cpu_time((uint64_t)factor, noise->duration), noise->period);
    }
    return noise->duration;
}

/* Interruptions of equal length also begin at the same time in each period. */
struct wf_noise_span wf_noise_span(const struct wf_noise *noise, struct wf_noise_core core,
                                   uint64_t period)
{
    uint64_t i = noise->kind == WF_NODE_NOISE_FIXED ? 0 : 2 * period;
    int64_t duration = duration_of(noise, draw_random(noise, core, i));
    int64_t offset = (int64_t)wf_rng_below(draw_random(noise, core, i + 1),
                                           (uint64_t)(noise->period - duration) + 1);
    wf_u128 start = (wf_u128)period * (uint64_t)noise->period + (uint64_t)offset;
    int64_t begin = start > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)start;

    return (struct wf_noise_span){begin, wf_time_add(begin, duration)};
}

/* The end of a computation if all interruptions have the mean duration and begin `offset` after
 * the begin of a period. A cycle is an interruption and the free time until the next one. No
 * interruption of a period before the run reaches into it. */
static int64_t end_of_equal(const struct wf_noise *noise, int64_t offset, int64_t from,
                            int64_t work)
{
    uint64_t period = (uint64_t)noise->period, duration = (uint64_t)noise->duration;
    uint64_t at = ((uint64_t)from + period - (uint64_t)offset) % period;
    uint64_t interrupted = at < duration ? duration - at : 0;
    uint64_t left = period - wf_max_u64(at, duration); /* free time of the first cycle */
    uint64_t beyond = (uint64_t)work > left ? (uint64_t)work - left : 0;
    uint64_t cycles = (beyond + (period - duration) - 1) / (period - duration);
    wf_u128 end = (wf_u128)cycles * duration + interrupted + (uint64_t)from + (uint64_t)work;

    return end > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)end;
}

int64_t wf_noise_end(const struct wf_noise *noise, struct wf_noise_core core, int64_t from,
                     int64_t work)
{
    uint64_t period = (uint64_t)(from / noise->period);

    if (work == 0) {
        return from;
    }
    for (uint64_t n = 0; n < DRAWN_MAX && noise->kind != WF_NODE_NOISE_FIXED; n++, period++) {
        struct wf_noise_span span = wf_noise_span(noise, core, period);

        if (from >= span.end) {
            continue;
        }
        if (from < span.begin) {
            if (work <= span.begin - from) {
                return from + work;
            }
            work -= span.begin - from;
        }
        from = span.end;
    }
    const struct wf_noise equal = {.kind = WF_NODE_NOISE_FIXED,
                                   .period = noise->period,
                                   .duration = noise->duration,
                                   .seed = noise->seed};

    return end_of_equal(noise, wf_noise_span(&equal, core, 0).begin, from, work);
}
