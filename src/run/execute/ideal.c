/* SPDX-License-Identifier: Apache-2.0 */
/* The run on an ideal network, for the efficiencies (run/document/efficiency.h). */
#include "engine/hosts/comm.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "run/execute/stages.h"
#include "run/plan/jobs.h"

static void keep_tally(void *arg, const struct wf_ranks_tally *tally, const struct wf_run *run)
{
    struct wf_job *job = arg;

    job->ideal = wf_tally_copy(tally);
}

enum wf_status wf_job_run_ideal(struct wf_job *job, const struct wf_engine_config *config,
                                struct wf_comm *world, struct wf_err *err)
{
    const struct wf_job_again again = {
        .config = config, .world = world, .ended = keep_tally, .arg = job};
    struct wf_mpi_params mpi = *job->setup.mpi;
    const struct wf_node_params node = wf_node_compute_only(job->setup.node);
    struct wf_setup setup = {.mpi = &mpi, .node = &node};
    const struct wf_net_env env = {.n_nodes = job->place.n_nodes};
    const struct wf_net_ops *none;
    char ideal[] = "ideal";

    mpi.local = false; /* messages within a node cost nothing either */
    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
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
    if (status == WF_OK) {
        status = none->create(NULL, &env, &setup.net, err);
    }
    if (status == WF_OK) {
        status = wf_job_run_again(job, &again, &setup, err);
    }
    wf_setup_fini(&setup);
    return status;
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
    WF_TRY(wf_job_run_ideal(&x->job, &x->config, x->host->world, x->err));
    return runs_twice(x) ? wf_plan_jobs_again(&x->plan, x->err) : WF_OK;
}
