/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/cpu/contention.h"

#include "ranks/node_params.h"

enum wf_status wf_cpu_contention_check(const struct wf_node_params *params, struct wf_err *err)
{
    if (params->memory_bound > 0 && (params->core_bandwidth == WF_PARAM_WORD ||
                                     params->memory_bandwidth == WF_PARAM_WORD)) {
        return wf_err_set(err, WF_EUSAGE,
                          "node.memory_bound: node.core_bandwidth or node.memory_bandwidth is "
                          "unlimited; set both to the bandwidth of a core and of a domain");
    }
    return WF_OK;
}

struct wf_cpu_contention wf_cpu_contention_init(const struct wf_node_params *params,
                                                const struct wf_cpu *cpu)
{
    bool limited =
        params->core_bandwidth != WF_PARAM_WORD && params->memory_bandwidth != WF_PARAM_WORD;

    return (struct wf_cpu_contention){
        .on = limited &&
              (params->memory_bound > 0 || (cpu != NULL && wf_cpu_has_memory_bound(cpu))),
        .memory_bound = wf_cpu_scale(params->memory_bound),
        .core_bandwidth = params->core_bandwidth,
        .memory_bandwidth = params->memory_bandwidth,
    };
}

/* How many times longer memory takes: n b / B, at least 1, as a factor. */
static uint64_t slowdown(const struct wf_cpu_contention *contention, uint32_t n_cores)
{
    const uint64_t most = UINT64_C(1) << 62;
    wf_u128 drawn = (wf_u128)contention->core_bandwidth * n_cores;
    uint64_t b = contention->memory_bandwidth;

    if (drawn <= b) {
        return WF_CPU_SCALE_ONE;
    }
    wf_u128 factor = ((drawn << 32) + b / 2) / b;
    return factor > most ? most : (uint64_t)factor;
}

int64_t wf_cpu_contention_time(const struct wf_cpu_contention *contention,
                               uint64_t memory_bound, uint32_t n_cores, int64_t duration)
{
    uint64_t more = slowdown(contention, n_cores) - WF_CPU_SCALE_ONE;
    wf_u128 part = ((wf_u128)more * memory_bound + WF_CPU_SCALE_ONE / 2) >> 32;

    return wf_cpu_time(WF_CPU_SCALE_ONE + (uint64_t)part, duration);
}
