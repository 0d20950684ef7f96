/* SPDX-License-Identifier: Apache-2.0 */
/* The stages that prepare one execution of a plan. */
#include "run/execute/stages.h"

#include "base/clock.h"
#include "base/units.h"
#include "engine/hosts/comm.h"
#include "model/net/net.h"
#include "model/ranks/ranks.h"
#include "model/topo/topo.h"
#include "model/traffic/traffic.h"
#include "run/execute/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { REMEDY_MAX = 256 };

/* ---- memory ---- */

/* The memory of the smallest machine that takes part in the run. */
static uint64_t physical_memory(struct wf_comm *world)
{
    int64_t bytes = wf_world_min(world, (int64_t)wf_clock_memory());

    return bytes > 0 ? (uint64_t)bytes : UINT64_MAX;
}

/* For a program that runs: explains the memory estimate and how to reduce it. */
static const char *how_to_need_less(const struct wf_job *job, char out[REMEDY_MAX])
{
    char each[WF_UNITS_TEXT_MAX];
    uint64_t n = wf_job_n_ranks(job);

    out[0] = '\0';
    if (job->plan->n_jobs > 0 && job->plan->jobs[0].program && n > 0) {
        (void)snprintf(out, REMEDY_MAX,
                       ". A rank takes %s for stack, library and simulation, besides its "
                       "variables and messages: run fewer, or start weft with mpirun on more "
                       "machines",
                       wf_human_size(job->ops->memory(job) / n, each));
    }
    return out;
}

static enum wf_status check_memory(const struct wf_job *job, struct wf_comm *world,
                                   struct wf_err *err)
{
    char needed[WF_UNITS_TEXT_MAX], there[WF_UNITS_TEXT_MAX], each[REMEDY_MAX];
    bool shared = !wf_scheduler_is_alone(job->plan->engine.scheduler);
    uint64_t bytes = job->ops->memory(job) / (shared ? wf_comm_size(world) : 1);
    uint64_t limit = physical_memory(world);

    if (bytes <= limit) {
        return WF_OK;
    }
    return wf_err_set(err, WF_ELIMIT,
                      "%.64s would need about %s of memory%s; the machine has %s%s",
                      job->plan->core.job.source, wf_human_size(bytes, needed),
                      shared && wf_comm_size(world) > 1 ? " in each process" : "",
                      wf_human_size(limit, there), how_to_need_less(job, each));
}

/* ---- the job ---- */

static uint32_t hops(const void *arg, uint32_t from, uint32_t to)
{
    const struct wf_topo *topo = arg;

    return topo->ops->distance(topo, from, to);
}

/* Fills in the options of a recording. */
static enum wf_status recording_options(const struct wf_job *job,
                                        const struct wf_sim_recording *asked,
                                        struct wf_recording_options *options,
                                        struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;
    const struct wf_choice *choice = &asked->choice;
    uint64_t n_ranks = wf_job_n_ranks(job);

    *options =
        (struct wf_recording_options){.limits = {.spans = asked->spans,
                                                 .messages = asked->messages,
                                                 .calls = asked->has_calls ? asked->calls : 0,
                                                 .has_calls = asked->has_calls,
                                                 .path_bytes = asked->path_bytes,
                                                 .choice = *choice,
                                                 .spill = job->spill}};
    if (plan->topo != NULL && plan->net->uses_topology) {
        options->hops = hops;
        options->hops_arg = plan->topo;
    }
    if (choice->n_ranges > 0 && choice->ranges[choice->n_ranges - 1].last >= n_ranks) {
        return wf_err_set(err, WF_EUSAGE,
                          "--record-ranks: there is no rank %" PRIu32
                          "; the program has the ranks 0 to %" PRIu64,
                          choice->ranges[choice->n_ranges - 1].last, n_ranks - 1);
    }
    return WF_OK;
}

/* Translates the progress of the engine into that of the host. */
static void report_progress(void *arg, const struct wf_progress *progress)
{
    const struct wf_execution *x = arg;
    int64_t end = x->config.end;
    uint64_t expected = x->job.setup.expected.messages;
    const struct wf_ranks_tally *tally = progress->tally; /* every tally begins with this */
    struct wf_sim_progress told = {
        .fraction = -1,
        .time_ps = progress->time,
        .events = progress->events,
        .rolled_back = progress->rolled_back,
    };

    if (end > 0) {
        told.fraction = (double)progress->time / (double)end;
    }
    if (expected > 0 && tally != NULL) {
        /* The number of events of a message depends on other messages, so arrivals are
         * counted. */
        uint64_t arrived = (uint64_t)tally->latency.n * progress->n_shares;
        double part = (double)arrived / (double)expected;
        told.fraction = part > told.fraction ? part : told.fraction;
    }
    x->host->progress(x->host->progress_arg, &told);
}

/* The configuration of the engine, once the job is prepared. */
static struct wf_engine_config configure(struct wf_execution *x)
{
    const struct wf_sim_host *host = x->host;
    struct wf_engine_config config = x->plan.engine;

    if (x->job.traffic != NULL) {
        config.end = wf_traffic_end(x->job.traffic);
    }
    config.forecast = host->forecast;
    config.moves = x->job.recording == NULL; /* has lists of each rank, a thread's own */
    config.stop = host->stop;
    config.running = host->running;
    config.running_arg = host->running_arg;
    if (host->progress != NULL) {
        config.progress = report_progress;
        config.progress_arg = x;
    }
    return config;
}

enum wf_status wf_stage_job(struct wf_execution *x)
{
    struct wf_job *job = &x->job;
    const struct wf_sim_recording *recording = x->is_recorded_only ? NULL : x->host->recording;

    wf_job_init(job, &x->plan);
    job->expects = x->host->expects;
    x->prepared = true;
    x->ran = false;
    WF_TRY(check_memory(job, x->host->world, x->err));
    if (recording != NULL && x->plan.n_jobs > 0) {
        /* Several processes cannot read each other's spill files. */
        bool spills = wf_comm_size(x->host->world) == 1 && !x->explains;
        job->spill = spills ? wf_spill_files_new() : NULL;
        WF_TRY(recording_options(job, recording, &x->recording, x->err));
        job->recording = &x->recording;
    }
    WF_TRY(job->ops->prepare(job, x->err));
    x->config = configure(x);
    return WF_OK;
}

void wf_execution_end_job(struct wf_execution *x)
{
    free(x->outcome.tally);
    wf_engine_free(x->outcome.engine);
    x->outcome = (struct wf_executor_job){.job = NULL};
    if (x->prepared) {
        wf_job_fini(&x->job);
    }
    x->prepared = false;
}

/* ---- the executor ---- */

static enum wf_status check_alone(const struct wf_job *job, struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;

    if (plan->core.alone && (plan->n_jobs < 2 || job->ops != &wf_job_replay)) {
        return wf_err_set(err, WF_EUSAGE,
                          "alone: needs several jobs of MPI operations; add one with --job");
    }
    if (plan->core.alone && wf_plan_runs_programs(plan)) {
        return wf_err_set(err, WF_EUSAGE, "alone: a running program is run only once");
    }
    return WF_OK;
}

/* Only events run in several processes. */
static enum wf_status check_processes(const struct wf_plan *plan, struct wf_comm *world,
                                      struct wf_err *err)
{
    if (plan->exec > WF_EXEC_EVENTS && wf_comm_size(world) > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "engine.exec: %s runs in one process; start weft without mpirun, or "
                          "use events",
                          wf_exec_names[plan->exec]);
    }
    return WF_OK;
}

enum wf_status wf_stage_executor(struct wf_execution *x)
{
    WF_TRY(check_alone(&x->job, x->err));
    WF_TRY(wf_executor_choose(&x->job, 1, &x->executor, x->err));
    return check_processes(&x->plan, x->host->world, x->err);
}
