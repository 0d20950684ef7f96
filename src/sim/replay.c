/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "engine/engine.h"
#include "net/net.h"
#include "replay/cpu.h"
#include "sim/job.h"
#include "sim/record.h"
#include "topo/nested.h"
#include "trace/source.h"

/* Measured: what a rank takes besides its messages, and what a message under way takes. A
 * rank of a typical program has a handful of them. */
enum { BYTES_PER_RANK = 256, BYTES_PER_MESSAGE = 96, MESSAGES_PER_RANK = 6 };

/* Whether the ranks find their nodes. */
static enum wf_status check_placement(const struct wf_plan *plan, uint32_t n_nodes,
                                      struct wf_err *err)
{
    uint32_t there = plan->topo->n_nodes;
    bool whole = wf_topo_n_levels(plan->topo) > 1 && plan->core.placement == WF_PLACEMENT_AUTO;

    if (there < n_nodes) {
        return wf_err_set(err, WF_EINVAL,
                          "%u ranks, %u on a node, need %u nodes, but %.64s has only %u",
                          (uint32_t)plan->core.ranks, (uint32_t)plan->core.ranks_per_node,
                          n_nodes, plan->core.topology, there);
    }
    if (whole && there != n_nodes) {
        return wf_err_set(err, WF_EINVAL,
                          "%u ranks, %u on a node, need %u nodes, but the hierarchy %.64s has "
                          "%u; --placement linear puts them on its first nodes",
                          (uint32_t)plan->core.ranks, (uint32_t)plan->core.ranks_per_node,
                          n_nodes, plan->core.topology, there);
    }
    return WF_OK;
}

static enum wf_status replay_prepare(struct wf_job *job, struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;
    uint32_t n_ranks = (uint32_t)plan->core.ranks;
    struct wf_net_env env = {
        .topo = plan->topo,
        .n_nodes = wf_replay_n_nodes(n_ranks, (uint32_t)plan->core.ranks_per_node),
    };
    enum wf_status status = WF_OK;

    if (plan->topo != NULL) {
        status = wf_plan_blame(plan, "topology", check_placement(plan, env.n_nodes, err), err);
    }
    if (status == WF_OK) {
        status = plan->gen->create(wf_plan_values(plan, "gen"), n_ranks, &job->source, err);
    }
    if (status == WF_OK) {
        status = wf_plan_blame(
            plan, "network",
            plan->net->create(wf_plan_values(plan, "net"), &env, &job->net, err), err);
    }
    return status;
}

static uint64_t replay_memory(const struct wf_job *job)
{
    return job->plan->core.ranks *
           (BYTES_PER_RANK + (uint64_t)MESSAGES_PER_RANK * BYTES_PER_MESSAGE);
}

static enum wf_status replay_build(struct wf_job *job, struct wf_engine *engine,
                                   struct wf_err *err)
{
    const struct wf_cpu_params *cpu = wf_plan_values(job->plan, "cpu");
    const struct wf_replay_config config = {
        .source = job->source,
        .net = job->net,
        .ranks_per_node = (uint32_t)job->plan->core.ranks_per_node,
        .cpu_scale = wf_cpu_scale(cpu->scale),
    };

    enum wf_status status = wf_replay_new(engine, &config, &job->replay, err);
    if (status == WF_OK) {
        job->expected_events = wf_replay_expected_events(job->replay);
    }
    return status;
}

static enum wf_status replay_describe(const struct wf_job *job, const struct wf_engine *engine,
                                      const struct wf_run *run, struct wf_value *result,
                                      enum wf_status status, struct wf_err *err)
{
    bool interrupted = status == WF_EINTR;
    const struct wf_replay_tally *tally = wf_engine_tally_get(engine);
    enum wf_status outcome = wf_record_replay(result, run, tally, interrupted, err);

    if (job->net->n_sums > 0 && (outcome == WF_OK || outcome == WF_ESIM)) {
        bool ended = tally->unfinished == 0;
        job->net->ops->describe(job->net, (const void *)(tally + 1),
                                ended ? tally->finish.max : run->time, result);
    }
    return interrupted ? status : outcome;
}

const struct wf_job_ops wf_job_replay = {
    .prepare = replay_prepare,
    .memory = replay_memory,
    .build = replay_build,
    .describe = replay_describe,
};
