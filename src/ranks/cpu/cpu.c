/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/cpu/cpu.h"

#include "ranks/cpu/cpu_rules.h"

#define ROW(member, row_type, default_value)                     \
    .name = #member, .type = (row_type), .def = (default_value), \
    .offset = offsetof(struct wf_cpu_params, member)

const struct wf_param wf_cpu_params[] = {
    {ROW(name, WF_PARAM_TEXT, ""), .doc = "What it is called; only describes"},
    {ROW(cores, WF_PARAM_COUNT, "0"), .max = "1000000",
     .doc = "Cores of a node, 0 if unknown; only describes: ranks_per_node places ranks"},
    {ROW(clock_ghz, WF_PARAM_REAL, "0"), .min = "0", .max = "1000",
     .doc = "Clock rate in GHz, 0 if unknown; only describes"},
    {ROW(gflops, WF_PARAM_REAL, "0"), .min = "0", .max = "1000000000",
     .doc = "Peak of a node in 10^9 floating-point operations per second, 0 if unknown; only "
            "describes"},
    {ROW(scale, WF_PARAM_REAL, "1"), .min = "0.000001", .max = "1000000",
     .doc = "Factor on all compute times: 2 is a processor of half the speed"},
    WF_PARAM_END,
};

uint64_t wf_cpu_scale(double factor)
{
    return (uint64_t)(factor * (double)WF_CPU_SCALE_ONE + 0.5);
}

int64_t wf_cpu_duration(const struct wf_cpu *cpu, const struct wf_cpu_work *work)
{
    int64_t time = cpu->scale == WF_CPU_SCALE_ONE ? work->duration
                                                  : wf_cpu_time(cpu->scale, work->duration);

    return cpu->rules == NULL ? time : wf_cpu_by_rules(cpu->rules, work, time);
}
