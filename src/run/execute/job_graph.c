/* SPDX-License-Identifier: Apache-2.0 */
/* Replays of task graphs. They differ from replays of MPI programs in the model that runs and
 * in the description of waiting PEs. */
#include "base/mem.h"
#include "base/result/doc.h"
#include "base/units.h"
#include "engine/model.h"
#include "model/net/fault/fault.h"
#include "model/ranks/ranks.h"
#include "model/ranks/tasks/pe.h"
#include "program/ops/graph.h"
#include "run/document/document.h"
#include "run/execute/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Measured: memory of a PE besides its messages; memory of a message in transit together with
 * the task that waits for it. */
enum { BYTES_PER_PE = 256, BYTES_PER_MESSAGE = 64, MESSAGES_PER_PE = 64 };

static enum wf_status graph_prepare(struct wf_job *job, struct wf_err *err)
{
    const struct wf_replay_params *params = wf_plan_values(job->plan, "replay");

    if (params->policy == WF_POLICY_ASAP) {
        return wf_plan_blame(job->plan, "replay.policy",
                             wf_err_set(err, WF_EUSAGE,
                                        "replay.policy: asap does not apply to source '%.64s', "
                                        "whose tasks wait for messages; choose timed or causal",
                                        job->plan->core.job.source),
                             err);
    }
    return wf_job_prepare_replay(job, err);
}

static uint64_t graph_memory(const struct wf_job *job)
{
    uint64_t pes = wf_job_n_ranks(job), messages = 0;

    for (uint32_t i = 0; i < job->plan->n_jobs; i++) {
        const struct wf_plan_job *program = &job->plan->jobs[i];
        uint64_t most = (uint64_t)program->n_ranks * MESSAGES_PER_PE;
        uint64_t expected = program->graph->messages_expected;

        messages += expected != 0 && expected < most ? expected : most;
    }
    return pes * BYTES_PER_PE + messages * BYTES_PER_MESSAGE + wf_job_place_memory(job);
}

static enum wf_status graph_build(const struct wf_job *job, struct wf_engine *engine,
                                  struct wf_setup *setup, struct wf_err *err)
{
    const struct wf_replay_params *params = wf_plan_values(job->plan, "replay");
    struct wf_pe_job *programs = wf_xcalloc(job->plan->n_jobs, sizeof(*programs));

    for (uint32_t i = 0; i < job->plan->n_jobs; i++) {
        programs[i] = (struct wf_pe_job){.graph = job->plan->jobs[i].graph,
                                         .start = job->plan->jobs[i].settings->start};
    }
    const struct wf_pe_config config = {
        .jobs = programs,
        .n_jobs = job->plan->n_jobs,
        .place = &job->place,
        .net = setup->net,
        .mpi = setup->mpi,
        .node = setup->node,
        .seed = job->seed,
        .cpu = &job->cpu,
        .granularity = (enum wf_pe_granularity)params->granularity,
        .timeless = params->policy == WF_POLICY_CAUSAL,
        /* The run on an ideal network is not recorded. */
        .recording = setup == &job->setup ? job->recording : NULL,
        .ends = setup == &job->setup ? job->ends : NULL,
    };

    enum wf_status status = wf_pes_new(engine, &config, &setup->pes, err);
    free(programs);
    WF_TRY(status);
    setup->expected.messages = wf_pes_expected_messages(setup->pes);
    return WF_OK;
}

enum { WORDS_MAX = 192 };

static const char *word_blocked(const struct wf_pe_blocked *blocked, char *buf)
{
    char tasks[64] = "";

    if (blocked->missing_tasks > 0) {
        (void)snprintf(tasks, sizeof(tasks), "%" PRIu32 " of %" PRIu32 " tasks%s",
                       blocked->missing_tasks, blocked->tasks,
                       blocked->missing_messages > 0 ? " and " : "");
    }
    if (blocked->missing_messages > 0 || blocked->missing_tasks == 0) {
        (void)snprintf(buf, WORDS_MAX,
                       "task %" PRIu32 " waits for %s%" PRIu32 " of %" PRIu32 " messages",
                       blocked->task, tasks, blocked->missing_messages, blocked->messages);
    } else {
        (void)snprintf(buf, WORDS_MAX, "task %" PRIu32 " waits for %s", blocked->task, tasks);
    }
    return buf;
}

static void add_waiting_tasks(struct wf_value *result, const struct wf_document_jobs *jobs,
                              const struct wf_pe_tally *tally)
{
    struct wf_value *list = wf_doc_list(result, "waiting_tasks");

    for (uint64_t i = 0; i < tally->n_blocked; i++) {
        const struct wf_pe_blocked *blocked = &tally->blocked[i];
        struct wf_value *item = wf_doc_section(list, NULL);
        char words[WORDS_MAX];

        wf_document_add_rank(item, jobs, blocked->pe);
        wf_doc_count(item, "task", blocked->task);
        wf_doc_count(item, "missing_tasks", blocked->missing_tasks);
        wf_doc_count(item, "missing_messages", blocked->missing_messages);
        wf_doc_count(item, "tasks_run", blocked->started);
        wf_doc_count(item, "tasks", blocked->n_tasks);
        wf_doc_text(item, "waits", word_blocked(blocked, words));
    }
}

/* Describes the first waiting PE in more detail than a replay of operations can. */
static enum wf_status deadlocked(const struct wf_run *run, const struct wf_document_jobs *jobs,
                                 const struct wf_pe_tally *tally, struct wf_err *err)
{
    char time[WF_UNITS_TEXT_MAX], words[WORDS_MAX], name[WF_DOCUMENT_NAME_MAX], more[64] = "";
    char lost[WF_FAULT_TEXT_MAX];
    uint64_t others = tally->replay.unfinished - 1;

    if (others > 0) {
        (void)snprintf(more, sizeof(more), ", %" PRIu64 " more wait%s", others,
                       others == 1 ? "s" : "");
    }
    return wf_err_set(err, WF_ESIM, "the simulated program is deadlocked at %s: %s: %s%s%s",
                      wf_human_time(run->time, time),
                      wf_document_rank_name(jobs, tally->blocked[0].pe, name),
                      word_blocked(&tally->blocked[0], words), more,
                      wf_document_losses(jobs, &tally->replay.net, lost));
}

/* How long streams were busy, if PEs have several of them. */
static void add_streams(struct wf_value *result, const struct wf_pe_tally *tally)
{
    struct wf_value *section = NULL;

    for (uint32_t kind = 0; kind < WF_STREAM_KINDS; kind++) {
        const struct wf_stat *busy = &tally->streams[kind];
        if (busy->n == 0) {
            continue;
        }
        section = section != NULL ? section : wf_doc_section(result, "streams");
        struct wf_value *of = wf_doc_section(section, wf_graph_stream_kinds[kind]);
        wf_doc_count(of, "streams", busy->n);
        wf_document_spread(of, "busy_ps", busy);
    }
}

static enum wf_status graph_describe(const struct wf_job *job, const struct wf_engine *engine,
                                     const struct wf_run *run, struct wf_value *result,
                                     enum wf_status status, struct wf_err *err)
{
    struct wf_document_jobs jobs = wf_document_jobs_of(job);
    const struct wf_pe_tally *tally = wf_engine_tally_get(engine);
    bool interrupted = status == WF_EINTR;

    jobs.stuck = wf_job_stuck(job, tally + 1, run, status);
    enum wf_status outcome =
        wf_document_replay(result, run, &jobs, &tally->replay, interrupted, err);

    if (outcome != WF_ELIMIT) {
        wf_doc_count(result, "tasks", tally->tasks);
        add_streams(result, tally);
    }
    wf_job_describe_network(job, &tally->replay, tally + 1, run, result, outcome);
    if (outcome == WF_ESIM && tally->n_blocked > 0 && jobs.stuck.n == 0) {
        add_waiting_tasks(result, &jobs, tally);
        outcome = deadlocked(run, &jobs, tally, err);
    }
    if (!interrupted && tally->surplus > 0) {
        return wf_err_set(err, WF_EINVAL,
                          "source '%.64s': %" PRIu64 " tasks would run more than once: more "
                          "tasks or messages name them than they wait for",
                          job->plan->core.job.source, tally->surplus);
    }
    return interrupted ? status : outcome;
}

const struct wf_job_ops wf_job_graph = {
    .memory = graph_memory,
    .prepare = graph_prepare,
    .build = graph_build,
    .describe = graph_describe,
};
