/* SPDX-License-Identifier: Apache-2.0 */
/* Everything can be executed by the events of the engine. */
#include "run/execute/executor.h"

#include "base/param.h"
#include "base/units.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/ranks/ranks.h"
#include "program/ops/graph.h"
#include "program/ops/source.h"
#include "run/execute/stages.h"
#include "run/execute/world.h"

#include <stdio.h>

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

/* Seconds that a message and a packet take; networks and loads differ by ten times. */
#define MESSAGE_SECONDS 0.2e-6
#define PACKET_SECONDS  1e-6
#define LONG_MINUTES    5

/* The size of the packets of the network model; 0: it has none. */
static uint64_t packet_bytes(const struct wf_plan *plan)
{
    const struct wf_param *row = wf_param_find(plan->net->params, "packet");

    return row == NULL || row->type != WF_PARAM_SIZE
               ? 0
               : *(const uint64_t *)((const char *)wf_plan_values(plan, "net") + row->offset);
}

/* Before a run that will take minutes: what it will send, and how long that may take. */
static void note_long(const struct wf_job *job, const struct wf_sim_host *host)
{
    const struct wf_expected *expected = &job->setup.expected;
    uint64_t packet = job->plan->net != NULL ? packet_bytes(job->plan) : 0;
    uint64_t packets = packet > 0 ? expected->bytes / packet : 0;
    double minutes =
        (MESSAGE_SECONDS * (double)expected->messages + PACKET_SECONDS * (double)packets) / 60;
    char note[320], messages[WF_UNITS_TEXT_MAX], bytes[WF_UNITS_TEXT_MAX],
        memory[WF_UNITS_TEXT_MAX];

    if (host->noted == NULL || minutes < LONG_MINUTES || job->plan->core.until > 0) {
        return;
    }
    (void)snprintf(
        note, sizeof(note),
        "a long run: %s messages, %s; by a rough estimate %.2g %s, and %s of memory "
        "at least%s",
        wf_human_count((double)expected->messages, messages),
        wf_human_size(expected->bytes, bytes), minutes < 60 ? minutes : minutes / 60,
        minutes < 60 ? "minutes" : "hours", wf_human_size(job->ops->memory(job), memory),
        packets > expected->messages ? "; --net loggp, without packets, takes less" : "");
    host->noted(host->noted_arg, note);
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
            note_long(job, host);
            run_engine(own, host);
        }
    }
}

const struct wf_executor wf_executor_events = {
    .name = "events", .accepts = events_accept, .run = events_run};
