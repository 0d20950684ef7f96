/* SPDX-License-Identifier: Apache-2.0 */
/* The runs on networks that cost nothing, for the efficiencies (run/document/efficiency.h). */
#include "engine/hosts/comm.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "run/document/document.h"
#include "run/execute/stages.h"
#include "run/plan/jobs.h"

static void keep_tally(void *arg, const struct wf_ranks_tally *tally, const struct wf_run *run)
{
    struct wf_ranks_tally **kept = arg;

    *kept = wf_tally_copy(tally);
}

/* The node, with network interfaces that cost nothing. */
static struct wf_node_params without_interfaces(const struct wf_node_params *params)
{
    struct wf_node_params node = *params;

    node.injection_delay = node.ejection_delay = node.gap = 0;
    return node;
}

/* Runs the job without the cost of its network. is_ideal: and without what messages cost nodes. */
static enum wf_status run_without(const struct wf_job *job, const struct wf_job_again *again,
                                  bool is_ideal, struct wf_err *err)
{
    struct wf_mpi_params mpi = *job->setup.mpi;
    const struct wf_node_params node =
        is_ideal ? wf_node_compute_only(job->setup.node) : without_interfaces(job->setup.node);
    struct wf_setup setup = {.mpi = &mpi, .node = &node};
    const struct wf_net_env env = {.n_nodes = job->place.n_nodes,
                                   .nics = (uint32_t)node.nics,
                                   .nic_group = (uint32_t)node.nic_group};
    const struct wf_net_ops *none;
    char ideal[] = "ideal";
    /* What collectives by formula cost on one node is no network's. */
    bool is_within = !is_ideal && wf_document_nodes_used(job) == 1;

    mpi.local = mpi.local && !is_ideal;
    for (int kind = 0; kind < WF_COLL_KINDS && !is_within; kind++) {
        /* Collectives in hardware and of GPUs cost nothing either. */
        enum wf_formula formula = wf_formula_find(mpi.algorithms[kind]);
        bool tuned =
            wf_coll_choose_protocol((enum wf_coll_rules)mpi.rules,
                                    &(struct wf_coll_args){.kind = (enum wf_coll_kind)kind,
                                                           .size = 1}) != WF_COLL_PLAIN;
        if (formula != WF_FORMULA_NONE || tuned) {
            mpi.algorithms[kind] = ideal;
        }
    }
    enum wf_status status = wf_net_find("none", &none, err);
    WF_THEN(status, none->create(NULL, &env, &setup.net, err));
    if (status == WF_OK) {
        setup.net->o_send_ps = is_ideal ? 0 : job->setup.net->o_send_ps;
        setup.net->o_recv_ps = is_ideal ? 0 : job->setup.net->o_recv_ps;
        status = wf_job_run_again(job, again, &setup, err);
    }
    wf_setup_fini(&setup);
    return status;
}

enum wf_status wf_job_run_ideal(struct wf_job *job, const struct wf_engine_config *config,
                                struct wf_comm *world, struct wf_err *err)
{
    const struct wf_job_again again = {
        .config = config, .world = world, .ended = keep_tally, .arg = &job->ideal};

    return run_without(job, &again, true, err);
}

/* Programs of several processes have no record to replay: they are run twice. */
static bool runs_twice(const struct wf_execution *x)
{
    return wf_plan_runs_programs(&x->plan) && wf_comm_size(x->host->world) > 1;
}

bool wf_stage_wants_ideal(const struct wf_execution *x)
{
    return x->plan.core.efficiency && x->plan.n_jobs > 0 &&
           (runs_twice(x) || !wf_plan_runs_programs(&x->plan));
}

enum wf_status wf_stage_ideal(struct wf_execution *x)
{
    const struct wf_job_again again = {.config = &x->config,
                                       .world = x->host->world,
                                       .ended = keep_tally,
                                       .arg = &x->job.free_network};

    WF_TRY(wf_job_run_ideal(&x->job, &x->config, x->host->world, x->err));
    return runs_twice(x) ? wf_plan_jobs_again(&x->plan, x->err)
                         : run_without(&x->job, &again, false, x->err);
}
