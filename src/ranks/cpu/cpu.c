/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/cpu/cpu.h"

#include "ranks/cpu/cpu_rules.h"

const struct wf_param wf_cpu_params[] = {
    {.name = "name",
     .type = WF_PARAM_TEXT,
     .offset = offsetof(struct wf_cpu_params, name),
     .def = "",
     .doc = "What it is called; only describes"},
    {.name = "cores",
     .type = WF_PARAM_COUNT,
     .offset = offsetof(struct wf_cpu_params, cores),
     .def = "0",
     .max = "1000000",
     .doc = "Cores of a node, 0 if unknown; only describes: ranks_per_node places ranks"},
    {.name = "clock_ghz",
     .type = WF_PARAM_REAL,
     .offset = offsetof(struct wf_cpu_params, clock_ghz),
     .def = "0",
     .min = "0",
     .max = "1000",
     .doc = "Clock rate in GHz, 0 if unknown; only describes"},
    {.name = "gflops",
     .type = WF_PARAM_REAL,
     .offset = offsetof(struct wf_cpu_params, gflops),
     .def = "0",
     .min = "0",
     .max = "1000000000",
     .doc = "Peak of a node in 10^9 floating-point operations per second, 0 if unknown; only "
            "describes"},
    {.name = "scale",
     .type = WF_PARAM_REAL,
     .offset = offsetof(struct wf_cpu_params, scale),
     .def = "1",
     .min = "0.000001",
     .max = "1000000",
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
