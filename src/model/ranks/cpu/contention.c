/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/cpu/contention.h"

#include "model/ranks/node_params.h"

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

/* Ranks for each core that all nodes share; 1 if every rank has a core. */
static uint64_t crowd_of(const struct wf_node_params *params, uint32_t n_ranks)
{
    uint64_t cores = params->host_cores;

    return cores == WF_PARAM_WORD || n_ranks <= cores
               ? WF_CPU_SCALE_ONE
               : (WF_CPU_SCALE_ONE * n_ranks + cores / 2) / cores;
}

struct wf_cpu_contention wf_cpu_contention_init(const struct wf_node_params *params,
                                                const struct wf_cpu *cpu, uint32_t n_ranks)
{
    bool limited =
        params->core_bandwidth != WF_PARAM_WORD && params->memory_bandwidth != WF_PARAM_WORD;
    bool memory =
        limited && (params->memory_bound > 0 || (cpu != NULL && wf_cpu_has_memory_bound(cpu)));
    uint64_t crowd = crowd_of(params, n_ranks);

    return (struct wf_cpu_contention){
        .on = memory || crowd > WF_CPU_SCALE_ONE,
        .memory = memory,
        .crowd = crowd,
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
    uint64_t more = contention->memory ? slowdown(contention, n_cores) - WF_CPU_SCALE_ONE : 0;
    wf_u128 part = ((wf_u128)more * memory_bound + WF_CPU_SCALE_ONE / 2) >> 32;
    int64_t alone = wf_cpu_time(WF_CPU_SCALE_ONE + (uint64_t)part, duration);

    return wf_cpu_time(contention->crowd, alone);
}
