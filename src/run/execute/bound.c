/* SPDX-License-Identifier: Apache-2.0 */
/* What a run takes at least, without simulating it. */
#include "base/arith.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/ranks.h"
#include "run/execute/run.h"
#include "run/plan/cpu_settings.h"
#include "run/plan/plan.h"

#include <stdlib.h>

/* Some ranks, and the last, which has the end of a pipeline. */
enum { RANKS_MAX = 8, OPS_MAX = 1 << 24 };

/* The time for which a rank computes. */
static int64_t compute_time(const struct wf_cpu *cpu, const struct wf_source *source,
                            uint32_t rank, uint32_t *n_ops)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    int64_t sum = 0;

    while (*n_ops < OPS_MAX && wf_source_next(source, rank, &cursor, &op)) {
        (*n_ops)++;
        if (op.kind == WF_OP_COMPUTE) {
            const struct wf_cpu_work work = {.duration = op.duration,
                                             .region = WF_CPU_NO_REGION,
                                             .rank = rank,
                                             .size = source->n_ranks,
                                             .counters = op.counters,
                                             .n_counters = op.n_counters};
            int64_t time = wf_cpu_duration(cpu, &work);
            sum = wf_time_add(sum, time > 0 ? time : 0);
        }
    }
    return sum;
}

int64_t wf_sim_bound(const struct wf_plan *plan)
{
    const struct wf_source *source = plan->n_jobs == 1 ? plan->jobs[0].source : NULL;
    const struct wf_cpu_params *params = wf_plan_values(plan, "cpu");
    const struct wf_replay_params *replay = wf_plan_values(plan, "replay");
    struct wf_cpu_rules *rules = NULL;
    struct wf_err err = {.status = WF_OK};
    uint32_t n_ops = 0;
    int64_t most = 0;

    if (source == NULL || params == NULL || replay == NULL ||
        replay->policy != WF_POLICY_TIMED || source->depends_on_time) {
        return 0;
    }
    bool knows = wf_sim_cpu_settings_build(plan->scenario, wf_plan_values(plan, "node"),
                                           &source, 1, &rules, &err) == WF_OK &&
                 rules == NULL;
    const struct wf_cpu cpu = {.scale = wf_cpu_scale(params->scale),
                               .roofline = wf_cpu_roofline(params, &source, 1)};
    for (uint32_t i = 0; knows && i <= RANKS_MAX; i++) {
        uint64_t rank = (uint64_t)(source->n_ranks - 1) * i / RANKS_MAX;
        most = wf_max_i64(most, compute_time(&cpu, source, (uint32_t)rank, &n_ops));
    }
    wf_cpu_rules_free(rules);
    free(cpu.roofline.counted);
    return most;
}
