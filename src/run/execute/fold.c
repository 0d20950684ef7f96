/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that consist of copies which do the same, as the replicas of a model in training: a few
 * ranks are simulated and stand for all (wf_source_ops.fold). Every rank of another copy would do the
 * same at the same time, if three things hold: nodes share nothing (a network without links that
 * messages meet on, no noise), all copies are placed alike, and collectives between copies treat their
 * members alike: rings, and formulas in which all wait for all. The rules of NCCL are that.
 */
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "model/topo/nested.h"
#include "run/execute/stages.h"

#include <string.h>

/* Null, or why the program cannot be folded at all. */
static const char *find_obstacle(const struct wf_execution *x)
{
    const struct wf_plan *plan = &x->plan;
    const struct wf_mpi_params *mpi = wf_plan_values(plan, "mpi");
    const struct wf_node_params *node = wf_plan_values(plan, "node");
    const struct wf_plan_job *job = &plan->jobs[0];
    bool by_nccl = mpi->rules == WF_COLL_RULES_NCCL || mpi->rules == WF_COLL_RULES_NCCL_FORMULA;

    if (plan->n_jobs != 1 || job->source == NULL || job->source->ops->fold == NULL) {
        return "needs a program whose replicas do the same: gen:llm, as a single job";
    }
    for (int kind = 0; kind < WF_COLL_KINDS && by_nccl; kind++) {
        by_nccl = strcmp(mpi->algorithms[kind], "auto") == 0;
    }
    if (!by_nccl) {
        return "needs collectives that treat all ranks alike: mpi.rules=nccl";
    }
    if (node->noise != WF_NODE_NOISE_NONE || node->host_cores != WF_PARAM_WORD) {
        return "needs nodes that do the same: no node.noise and no node.host_cores";
    }
    if (job->placement.kind > WF_PLACEMENT_LINEAR) {
        return "needs ranks that fill nodes in order";
    }
    if (x->host->recording != NULL || plan->core.runs > 0) {
        return "does not go with recordings and --runs";
    }
    return NULL;
}

/* Whether the whole program fits on the machine; placing the ranks that are left would not notice. The
 * places in a hierarchy of topologies are not looked at. */
static bool is_on_machine(const struct wf_plan *plan)
{
    const struct wf_plan_job *job = &plan->jobs[0];
    const struct wf_node_params *node = wf_plan_values(plan, "node");
    uint64_t nodes = (job->n_ranks - 1) / job->settings->ranks_per_node + 1;

    return plan->topo == NULL ||
           (wf_topo_n_levels(plan->topo) == 1 && nodes * node->nics <= plan->topo->n_nodes);
}

enum wf_status wf_stage_fold(struct wf_execution *x)
{
    struct wf_plan *plan = &x->plan;
    const struct wf_replay_params *replay = wf_plan_values(plan, "replay");

    if (replay == NULL || replay->copies == WF_COPIES_ALL || plan->n_jobs == 0) {
        return WF_OK;
    }
    const char *obstacle = find_obstacle(x);
    bool asked = replay->copies == WF_COPIES_ONE;
    if (asked && obstacle != NULL) {
        return wf_err_set(x->err, WF_EUSAGE, "replay.copies: one %s", obstacle);
    }
    bool is_exact = plan->net != NULL && !plan->net->uses_topology;
    struct wf_plan_job *job = &plan->jobs[0];
    if (obstacle == NULL && (asked || is_exact) && is_on_machine(plan) &&
        job->source->ops->fold(job->source, (uint32_t)job->settings->ranks_per_node, !asked,
                               &job->fold)) {
        job->n_ranks = job->source->n_ranks;
    }
    return WF_OK;
}
