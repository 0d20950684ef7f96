/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_CPU_CPU_H
#define WF_RANKS_CPU_CPU_H

/*
 * The processors of a node. All parameters but `scale` are only echoed in results. Rules for
 * single regions and counters are in ranks/cpu/cpu_rules.h.
 */

#include "base/int128.h"
#include "base/param.h"
#include "base/units.h"

struct wf_cpu_params {
    char *name;
    uint64_t cores;
    double clock_ghz;
    double gflops;
    double scale; /* on all compute times */
};

extern const struct wf_param wf_cpu_params[]; /* over struct wf_cpu_params */

/* A factor as a fixed-point number with 32 fractional bits: times are multiplied in integers,
 * so that they are the same on all machines. */
#define WF_CPU_SCALE_ONE (UINT64_C(1) << 32)

/* Rounds to the nearest; `factor` within the limits of the parameter. */
uint64_t wf_cpu_scale(double factor);

/* duration * scale, rounded to the nearest picosecond, at most WF_TIME_MAX; `duration` is not
 * negative. */
static inline int64_t wf_cpu_time(uint64_t scale, int64_t duration)
{
    wf_u128 product = (wf_u128)(uint64_t)duration * scale + WF_CPU_SCALE_ONE / 2;
    wf_u128 time = product >> 32;

    return time > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)time;
}

/* One stretch of computing. */
struct wf_cpu_work {
    int64_t duration; /* as recorded */
    uint32_t region;  /* number of the innermost region, or WF_CPU_NO_REGION */
    uint32_t iteration;
    uint64_t value; /* of the region, as the program gave it */
    uint32_t rank, size;
    const uint64_t *counters;
    uint32_t n_counters;
    uint32_t job; /* its rules apply */
};

#define WF_CPU_NO_REGION UINT32_C(0xffffffff)

#define WF_CPU_NO_TIME INT64_C(-1)

struct wf_cpu_rules;

/* The simulated processor. */
struct wf_cpu {
    uint64_t scale;
    const struct wf_cpu_rules
        *rules; /* ranks/cpu/cpu_rules.h, with as many jobs as the run has;
                                         null: none */
};

/* The duration of work on it; WF_CPU_NO_TIME if the formula of its region divides by zero or
 * gives a negative time. */
int64_t wf_cpu_duration(const struct wf_cpu *cpu, const struct wf_cpu_work *work);

#endif
