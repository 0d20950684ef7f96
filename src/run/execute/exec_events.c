/* SPDX-License-Identifier: Apache-2.0 */
/* Everything can be executed by the events of the engine. */
#include "run/execute/executor.h"

#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/ranks/ranks.h"
#include "program/ops/graph.h"
#include "program/ops/source.h"
#include "run/execute/stages.h"
#include "run/execute/world.h"

static enum wf_status events_accept(const struct wf_job *job, struct wf_err *err)
{
    return WF_OK;
}

/* A program that could not be read to its end has no result. An error in one process is
 * reported to all processes. */
static enum wf_status check_sources(const struct wf_plan *plan, struct wf_comm *world,
                                    struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i < plan->n_jobs && status == WF_OK; i++) {
        const struct wf_plan_job *job = &plan->jobs[i];
        if (job->source != NULL) {
            status = wf_source_check(job->source, err);
        } else if (job->graph != NULL) {
            status = wf_graph_check(job->graph, err);
        }
    }

    return wf_world_first_error(world, status, err);
}

/* Whether the user has interrupted a program that runs, and its last ranks have stopped before
 * the engine noticed: they are not in a deadlock. */
static bool was_left(const struct wf_job *job, const struct wf_engine *engine,
                     const struct wf_sim_host *host)
{
    const struct wf_ranks_tally *tally =
        job->setup.ranks != NULL ? wf_engine_tally_get(engine) : NULL;

    return host->stop != NULL && *host->stop != 0 && wf_plan_runs_programs(job->plan) &&
           wf_comm_size(host->world) == 1 && tally != NULL && tally->unfinished > 0;
}

/* An error of a source counts before an interruption, which leaves a partial result. */
static void run_engine(struct wf_executor_job *own, const struct wf_sim_host *host)
{
    const struct wf_plan *plan = own->job->plan;
    struct wf_run *run = &own->run;

    own->status = wf_engine_run(own->engine, run, &own->err);
    if (own->status == WF_OK && was_left(own->job, own->engine, host)) {
        own->status = WF_EINTR;
    }
    if (own->status == WF_OK && run->events_dropped > 0 && plan->core.until > 0) {
        run->time = plan->core.until;
    }
    if (own->status == WF_OK || own->status == WF_EINTR) {
        enum wf_status readable = check_sources(plan, host->world, &own->err);
        if (readable == WF_ESIM) { /* in all processes */
            wf_sim_check_mention(plan, host->world, &own->err);
        }
        own->status = readable != WF_OK ? readable : own->status;
    }
}

static void events_run(struct wf_executor_job *const *jobs, size_t n,
                       const struct wf_sim_host *host)
{
    for (size_t i = 0; i < n; i++) {
        struct wf_executor_job *own = jobs[i];
        struct wf_job *job = own->job;

        own->engine = wf_engine_new(own->config, host->world);
        own->status = job->ops->build(job, own->engine, &job->setup, &own->err);
        if (own->status == WF_OK) {
            run_engine(own, host);
        }
    }
}

const struct wf_executor wf_executor_events = {
    .name = "events", .accepts = events_accept, .run = events_run};
