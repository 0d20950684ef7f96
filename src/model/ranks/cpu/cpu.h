/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The processors of a node, and rules for single regions and counters of a program: the
 * settings cpu.region.<name>, cpu.counter.<name> and cpu.memory.<region>. All parameters but
 * `scale` are only echoed in results. See docs/models/cpu.md.
 */

#include "base/int128.h"
#include "base/param.h"
#include "base/status.h"
#include "base/units.h"

#include <stdbool.h>

struct wf_cpu_params {
    char *name;
    uint64_t cores;
    double clock_ghz;
    double gflops;
    double scale; /* factor for all compute times */
    /* A core or GPU, for programs that count their work (wf_cpu_counters). */
    double tflops16, tflops8; /* peaks in 10^12 operations per second; 0: unknown */
    uint64_t memory;          /* bytes; 0: unknown */
    double efficiency;        /* share of the peaks that programs reach */
    double efficiency8;       /* the same on 8-bit numbers; 0: the same share */
    uint64_t memory_bandwidth;
    int64_t dispatch; /* time that the host needs for each kernel */
    int framework;    /* of wf_cpu_framework_names: what gen:llm assumes by default */
};

extern const char *const wf_cpu_framework_names[]; /* null-terminated; those of gen.framework */
extern const struct wf_param wf_cpu_params[];      /* parameters of struct wf_cpu_params */

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

/* One computation of a rank. */
struct wf_cpu_work {
    int64_t duration; /* as recorded */
    uint32_t region;  /* number of the innermost region, or WF_CPU_NO_REGION */
    uint32_t iteration;
    uint64_t value; /* value of the region, given by the program */
    uint32_t rank, size;
    const uint64_t *counters;
    uint32_t n_counters;
    uint32_t job; /* job whose rules apply */
};

#define WF_CPU_NO_REGION UINT32_C(0xffffffff)

#define WF_CPU_NO_TIME INT64_C(-1)

/* ---- rules ---- */

struct wf_cpu_rules;
struct wf_source;

enum wf_cpu_rule_kind { WF_CPU_NO_RULE, WF_CPU_REGION, WF_CPU_COUNTER, WF_CPU_MEMORY };

struct wf_cpu_rule {
    enum wf_cpu_rule_kind kind;
    const char *name; /* name of the region or counter */
    /* Region: a factor or a formula; counter: the time of one count; memory: the share of a
     * region that waits for memory. */
    const char *text;
};

/* Parses the name of a setting within the scope cpu, for example "region.solve". Sets the kind
 * and the name, which points into `setting`; returns the kind. */
enum wf_cpu_rule_kind wf_cpu_rule_parse(const char *setting, struct wf_cpu_rule *rule);

/* Builds the rules for these sources, the jobs of a run. A rule applies to each job that has
 * a region or counter of its name. WF_EUSAGE if no job has one, WF_EINVAL if the text is
 * wrong; the message begins with the full name of the setting. On success the caller owns
 * *out, which refers neither to the rules nor to the sources; null if there are no rules. */
enum wf_status wf_cpu_build(const struct wf_cpu_rule *rules, uint32_t n_rules,
                            const struct wf_source *const *sources, uint32_t n_sources,
                            struct wf_cpu_rules **out, struct wf_err *err);
void wf_cpu_rules_free(struct wf_cpu_rules *rules); /* null is allowed */

/* ---- the simulated processor ---- */

/* The counters of a program that counts its work: operations on numbers of 16 bits and of 8 bits,
 * bytes that it moves from or to memory, and kernels that its host launches. A program may do
 * without the last, or call it "other_kernels": then the duration of an op is that of kernels which were
 * measured, and is added. */
enum wf_cpu_counter {
    WF_CPU_FLOPS16,
    WF_CPU_FLOPS8,
    WF_CPU_BYTES,
    WF_CPU_KERNELS,
    WF_CPU_COUNTERS,
};
extern const char *const wf_cpu_counter_names[]; /* null-terminated */

/* A roofline: work takes as long as its operations or its memory accesses, whichever is longer.
 * Kernels run one after another, so work of several kernels takes both, and at least as long as
 * the host needs to launch them. */
struct wf_cpu_roofline {
    uint64_t flops16, flops8; /* per second; 0: no roofline */
    uint64_t memory;          /* a rate (base/units.h) */
    int64_t dispatch;         /* picoseconds of the host for a kernel */
    /* For each job: how many counters it has of work, 0 if it does not count; more if the durations of its
     * ops are times of further kernels. Null: none counts. The caller frees it. */
    uint8_t *counted;
};

struct wf_cpu {
    uint64_t scale;
    const struct wf_cpu_rules *rules; /* for the jobs of the run; null: none */
    struct wf_cpu_roofline roofline;
};

/* The roofline of a processor for these programs. */
struct wf_cpu_roofline wf_cpu_roofline(const struct wf_cpu_params *cpu,
                                       const struct wf_source *const *sources,
                                       uint32_t n_sources);

/* The duration of work on this processor; WF_CPU_NO_TIME if the formula of its region
 * divides by zero or gives a negative time. */
int64_t wf_cpu_duration(const struct wf_cpu *cpu, const struct wf_cpu_work *work);

/* Whether a region has a rule that says how much of it waits for memory. */
bool wf_cpu_has_memory_bound(const struct wf_cpu *cpu);
/* The share of this work that waits for memory, as a factor (model/ranks/cpu/contention.h);
 * `otherwise` if its region has no rule. Reads only the region and the job. */
uint64_t wf_cpu_memory_bound(const struct wf_cpu *cpu, const struct wf_cpu_work *work,
                             uint64_t otherwise);
