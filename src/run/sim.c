/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sim.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/result/result.h"
#include "base/units.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/ranks.h"
#include "model/ranks/tasks/pe.h"
#include "model/traffic/traffic.h"
#include "program/ops/graph.h"
#include "program/ops/live.h"
#include "program/ops/source.h"
#include "run/alone.h"
#include "run/check.h"
#include "run/efficiency.h"
#include "run/executor.h"
#include "run/job.h"
#include "run/plan_jobs.h"
#include "run/program.h"
#include "run/record.h"
#include "run/replicas.h"
#include "run/trace_out.h"
#include "run/warnings.h"
#include "run/what_if.h"
#include "run/world.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REMEDY_MAX = 256 };

/* Translates the progress of the engine into that of the host. */
struct progress {
    const struct wf_sim_host *host;
    const struct wf_job *job;
};

void wf_job_init(struct wf_job *job, const struct wf_plan *plan)
{
    *job = (struct wf_job){
        .ops = plan->bench != NULL           ? &wf_job_bench
               : plan->pattern != NULL       ? &wf_job_traffic
               : plan->jobs[0].graph != NULL ? &wf_job_graph
                                             : &wf_job_replay,
        .plan = plan,
        .seed = plan->core.seed,
    };
}

void wf_setup_fini(struct wf_setup *setup)
{
    wf_ranks_free(setup->ranks);
    wf_pes_free(setup->pes);
    wf_net_free(setup->net);
    memset(setup, 0, sizeof(*setup));
}

void wf_job_fini(struct wf_job *job)
{
    wf_setup_fini(&job->setup);
    wf_traffic_free(job->traffic);
    wf_placement_release(&job->place);
    wf_cpu_rules_free(job->rules);
    free(job->ideal);
    wf_spill_files_free(job->spill);
    memset(job, 0, sizeof(*job));
}

/* The memory of the smallest machine that takes part in the run. */
static uint64_t physical_memory(struct wf_comm *world)
{
    int64_t bytes = (int64_t)wf_clock_memory();

    if (wf_comm_size(world) > 1) {
        wf_comm_reduce(world, WF_COMM_MIN, &bytes, 1);
    }
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

static void report_progress(void *arg, const struct wf_progress *progress)
{
    const struct progress *own = arg;
    const struct wf_traffic *traffic = own->job->traffic;
    int64_t end = traffic != NULL ? wf_traffic_end(traffic) : own->job->plan->engine.end;
    uint64_t expected = own->job->setup.expected_messages;
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
    own->host->progress(own->host->progress_arg, &told);
}

static struct wf_value *make_document(const struct wf_plan *plan)
{
    struct wf_value *root = wf_result_new(weft_version());

    wf_plan_describe(plan, root);
    return root;
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

/* Whether programs run, and not their record. */
static bool runs_programs(const struct wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (plan->jobs[i].source != NULL && plan->jobs[i].source->live != NULL) {
            return true;
        }
    }
    return false;
}

/* How often ranks of programs were continued, in all processes. All processes call it. */
static uint64_t context_switches(const struct wf_plan *plan, struct wf_comm *world)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        if (source != NULL && source->live != NULL) {
            sum += (int64_t)source->live->switches(source);
        }
    }
    if (wf_comm_size(world) > 1) {
        wf_comm_reduce(world, WF_COMM_SUM, &sum, 1);
    }
    return (uint64_t)sum;
}

/* Whether the user has interrupted a program that runs, and its last ranks have stopped before
 * the engine noticed: they are not in a deadlock. */
static bool was_left(const struct wf_job *job, const struct wf_engine *engine,
                     const struct wf_sim_host *host)
{
    const struct wf_ranks_tally *tally =
        job->setup.ranks != NULL ? wf_engine_tally_get(engine) : NULL;

    return host->stop != NULL && *host->stop != 0 && runs_programs(job->plan) &&
           wf_comm_size(host->world) == 1 && tally != NULL && tally->unfinished > 0;
}

/* Runs the engine. There is a document only if the run ended normally or was interrupted. *ran
 * is true, in all processes, if the run was neither interrupted nor failed in any of them. */
static enum wf_status run_engine(const struct wf_job *job, struct wf_engine *engine,
                                 const struct wf_sim_host *host, struct wf_value **doc,
                                 bool *ran, struct wf_err *err)
{
    struct wf_comm *world = host->world;
    struct wf_run run = {.threads = 0};
    enum wf_status status = wf_engine_run(engine, &run, err);

    if (status == WF_OK && was_left(job, engine, host)) {
        status = WF_EINTR;
    }
    if (status == WF_OK && run.events_dropped > 0 && job->plan->core.until > 0) {
        run.time = job->plan->core.until;
    }

    if (status == WF_OK || status == WF_EINTR) {
        enum wf_status readable = check_sources(job->plan, world, err);
        if (readable == WF_ESIM) { /* in all processes */
            wf_sim_check_mention(job->plan, world, err);
        }
        status = readable != WF_OK ? readable : status;
    }
    *ran = status == WF_OK;
    if (status != WF_OK && status != WF_EINTR) {
        return status;
    }
    struct wf_findings findings = {.items = NULL};
    wf_sim_check_collect(job->plan, world, &findings);
    uint64_t switches = runs_programs(job->plan) ? context_switches(job->plan, world) : 0;
    if (wf_comm_rank(world) != 0) {
        wf_findings_fini(&findings);
        return status;
    }
    if (status == WF_EINTR) {
        char time[WF_UNITS_TEXT_MAX];
        (void)wf_err_set(err, WF_EINTR,
                         "interrupted at simulated time %s; the result is partial",
                         wf_human_time(run.time, time));
    }

    struct wf_value *root = make_document(job->plan);
    struct wf_value *result = wf_doc_section(root, "result");
    status = job->ops->describe(job, engine, &run, result, status, err);
    wf_document_links(job, result);
    if (status == WF_ELIMIT) {
        wf_findings_fini(&findings);
        wf_doc_free(root);
        return status;
    }
    if (job->recording != NULL && (job->setup.ranks != NULL || job->setup.pes != NULL)) {
        if (job->setup.ranks != NULL) {
            wf_document_path(root, job, engine);
        }
        wf_document_recording(root, job, engine, &run);
    }
    status = wf_sim_check_describe(job->plan, &findings, root, status, err);
    wf_findings_fini(&findings);
    wf_sim_warn_unused(job->plan, root);
    if (job->setup.ranks != NULL || job->setup.pes != NULL) {
        wf_sim_warnings(job, wf_engine_tally_get(engine), root);
    }
    wf_document_run(root, job->plan, &run, job->ops->memory(job));
    if (runs_programs(job->plan)) {
        struct wf_value *section = wf_unconst(wf_doc_find(root, "run")); /* part of `root` */
        wf_doc_count(section, "context_switches", switches);
    }
    *doc = root;
    return status;
}

/* Runs the job again with changes, if it was short enough and completed. */
static enum wf_status ask_what_if(struct wf_job *job, const struct wf_engine_config *config,
                                  const struct wf_sim_host *host, struct wf_value **doc,
                                  struct wf_err *err)
{
    bool ended = *doc != NULL && wf_doc_find(*doc, "result.predicted_time_ps") != NULL;
    uint64_t events = ended ? wf_doc_get_count(*doc, "run.events_committed", 0) : 0;
    /* A program is run only once: it may write files or ask its user. Its record is played. */
    int64_t again = ended && host->what_if_events > 0 && events <= host->what_if_events &&
                    !runs_programs(job->plan);

    if (job->setup.ranks == NULL) {
        return WF_OK;
    }
    if (host->what_if_events > 0 && wf_comm_size(host->world) > 1) {
        wf_comm_reduce(host->world, WF_COMM_MAX, &again, 1); /* only the first process knows */
    }
    enum wf_status status =
        wf_what_if(job, config, host->world, again > 0, ended ? *doc : NULL, err);
    if (status != WF_OK) {
        wf_doc_free(*doc);
        *doc = NULL;
    }
    return status;
}

/* Runs each of several jobs alone, if all together completed. */
static enum wf_status ask_alone(struct wf_job *job, const struct wf_engine_config *config,
                                const struct wf_sim_host *host, struct wf_value **doc,
                                struct wf_err *err)
{
    int64_t ended = *doc != NULL && wf_doc_find(*doc, "result.predicted_time_ps") != NULL;

    if (!job->plan->core.alone) {
        return WF_OK;
    }
    if (wf_comm_size(host->world) > 1) {
        wf_comm_reduce(host->world, WF_COMM_MAX, &ended, 1); /* only the first process knows */
    }
    enum wf_status status =
        ended != 0 ? wf_job_run_alone(job, config, host->world, *doc, err) : WF_OK;
    if (status != WF_OK) {
        wf_doc_free(*doc);
        *doc = NULL;
    }
    return status;
}

static enum wf_status check_alone(const struct wf_job *job, struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;

    if (plan->core.alone && (plan->n_jobs < 2 || job->ops != &wf_job_replay)) {
        return wf_err_set(err, WF_EUSAGE,
                          "alone: needs several jobs of MPI operations; add one with --job");
    }
    if (plan->core.alone && runs_programs(plan)) {
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

static enum wf_status run_job(struct wf_job *job, struct wf_plan *plan,
                              const struct wf_sim_host *host, struct wf_value **doc,
                              struct wf_err *err)
{
    struct wf_engine_config config = job->plan->engine;
    struct progress own = {.host = host, .job = job};

    WF_TRY(check_alone(job, err));
    const struct wf_executor *executor = NULL;
    WF_TRY(wf_executor_choose(job, 1, &executor, err));
    WF_TRY(check_processes(plan, host->world, err));
    if (executor->run != NULL && wf_comm_size(host->world) == 1) {
        bool needs_events = false;
        enum wf_status done = wf_executor_run(executor, job, host, doc, &needs_events, err);
        if (!needs_events) {
            return done;
        }
    }

    if (job->traffic != NULL) {
        config.end = wf_traffic_end(job->traffic);
    }
    config.stop = host->stop;
    config.running = host->running;
    config.running_arg = host->running_arg;
    if (host->progress != NULL) {
        config.progress = report_progress;
        config.progress_arg = &own;
    }

    bool again = runs_programs(plan) && wf_comm_size(host->world) > 1; /* without a record */
    if (plan->core.efficiency && plan->n_jobs > 0 && (again || !runs_programs(plan))) {
        WF_TRY(wf_efficiency_rehearse(job, &config, host->world, err));
        if (again) {
            WF_TRY(wf_plan_jobs_again(plan, err));
        }
    }

    struct wf_engine *engine = wf_engine_new(&config, host->world);
    bool ran = false;
    enum wf_status status = job->ops->build(job, engine, &job->setup, err);
    if (status == WF_OK) {
        status = run_engine(job, engine, host, doc, &ran, err);
    }
    wf_engine_free(engine);
    if (ran) {
        enum wf_status asked = ask_what_if(job, &config, host, doc, err);
        asked = asked == WF_OK ? ask_alone(job, &config, host, doc, err) : asked;
        status = asked != WF_OK ? asked : status;
    }
    return status;
}

/* The number of messages of all programs; 0 if it is unknown for any of them. */
static uint64_t count_messages(const struct wf_plan *plan)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_plan_job *job = &plan->jobs[i];
        uint64_t messages =
            job->graph != NULL ? job->graph->messages_expected : job->source->messages_expected;
        if (messages == 0) {
            return 0;
        }
        sum = wf_count_add(sum, messages * job->settings->repeat);
    }
    return sum;
}

static enum wf_status explain_job(const struct wf_job *job, struct wf_comm *world,
                                  struct wf_value **doc)
{
    if (wf_comm_rank(world) == 0) {
        struct wf_value *root = make_document(job->plan);
        struct wf_value *estimate = wf_doc_section(root, "estimate");
        uint64_t messages = count_messages(job->plan);

        wf_doc_count(estimate, "memory_bytes", job->ops->memory(job));
        if (messages > 0) {
            wf_doc_count(estimate, "messages", messages);
        }
        *doc = root;
    }
    return WF_OK;
}

static void report_skipped(const struct wf_sim_host *host, const struct wf_plan *plan)
{
    for (size_t i = 0; host->skipped != NULL && i < plan->scenario->n; i++) {
        const struct wf_setting *setting = &plan->scenario->settings[i];
        if (wf_plan_skips(plan, setting)) {
            host->skipped(host->skipped_arg, setting);
        }
    }
}

/* Waiting for a core costs more than it brings. */
static void note_cores(const struct wf_sim_host *host, const struct wf_plan *plan)
{
    uint64_t threads = plan->engine.threads;
    uint64_t processes = wf_comm_local_size(host->world);
    /* A launcher may have given each process cores of its own. */
    size_t cores = processes > 1 ? wf_clock_all_cores() : wf_clock_cores();
    char note[128];

    if (host->noted == NULL || threads * processes <= cores ||
        wf_scheduler_is_alone(plan->engine.scheduler)) {
        return;
    }
    if (processes == 1 && plan->engine.fit) {
        (void)snprintf(note, sizeof(note),
                       "of %" PRIu64 " threads at most %zu are used, one for each core; "
                       "-p engine.fit=no uses all",
                       threads, cores);
    } else {
        (void)snprintf(note, sizeof(note),
                       "%" PRIu64 " process%s of %" PRIu64 " thread%s share%s %zu core%s: "
                       "fewer are faster",
                       processes, processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
                       processes == 1 ? "s" : "", cores, cores == 1 ? "" : "s");
    }
    host->noted(host->noted_arg, note);
}

static void report_notes(const struct wf_sim_host *host, const struct wf_plan *plan)
{
    for (size_t i = 0; host->noted != NULL && i < plan->scenario->n_notes; i++) {
        host->noted(host->noted_arg, plan->scenario->notes[i]);
    }
    note_cores(host, plan);
}

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

static enum wf_status run_once(struct wf_plan *plan, const struct wf_sim_host *host,
                               bool explain, struct wf_value **doc, struct wf_err *err)
{
    struct wf_recording_options options;
    struct wf_job job;

    wf_job_init(&job, plan);
    enum wf_status status = check_memory(&job, host->world, err);
    if (status == WF_OK && host->recording != NULL && plan->n_jobs > 0) {
        /* Several processes cannot read each other's spill files. */
        job.spill = wf_comm_size(host->world) == 1 && !explain ? wf_spill_files_new() : NULL;
        status = recording_options(&job, host->recording, &options, err);
        job.recording = &options;
    }
    if (status == WF_OK) {
        status = job.ops->prepare(&job, err);
    }
    if (status == WF_OK) {
        status =
            explain ? explain_job(&job, host->world, doc) : run_job(&job, plan, host, doc, err);
    }
    wf_job_fini(&job);
    return status;
}

/* With several processes, data that is not delivered would be missing. */
static enum wf_status check_payload(const struct wf_plan *plan, struct wf_comm *world,
                                    struct wf_err *err)
{
    for (uint32_t i = 0; i < plan->n_jobs && wf_comm_size(world) > 1; i++) {
        const struct wf_program_params *params = plan->jobs[i].block.values;
        if (plan->jobs[i].program && params->no_payload) {
            return wf_err_set(
                err, WF_EUSAGE,
                "--no-payload works in one process only; start weft without mpirun");
        }
    }
    return WF_OK;
}

/* Only the first process knows whether the simulated program failed. */
static bool is_ok_everywhere(const struct wf_sim_host *host, enum wf_status status)
{
    int64_t ok = status == WF_OK;

    if (wf_comm_size(host->world) > 1) {
        wf_comm_reduce(host->world, WF_COMM_MIN, &ok, 1);
    }
    return ok != 0;
}

/* Adds error bars to the prediction, unless the run did not complete. */
static enum wf_status repeat_runs(const struct wf_plan *plan,
                                  const struct wf_scenario *scenario,
                                  const struct wf_sim_host *host, enum wf_status status,
                                  struct wf_value **doc, struct wf_err *err)
{
    if (!is_ok_everywhere(host, status)) {
        return status;
    }
    status = wf_sim_replicas(plan, scenario, host, *doc, err);
    if (status != WF_OK && status != WF_EINTR) {
        wf_doc_free(*doc);
        *doc = NULL;
    }
    return status;
}

/* Runs a plan once, or longer and longer until the result has converged. */
static enum wf_status run_plan(struct wf_plan *plan, const struct wf_sim_host *host,
                               bool explain, struct wf_value **doc, struct wf_err *err)
{
    enum wf_status status;

    do {
        wf_doc_free(*doc);
        *doc = NULL;
        status = run_once(plan, host, explain, doc, err);
    } while (status == WF_OK && !explain && wf_comm_size(host->world) == 1 &&
             wf_job_lengthen(plan, *doc));
    return status;
}

/* After a run that completed: plays the record, if further numbers or corrected compute times
 * are needed. Then the document is that of the replay. */
static enum wf_status play_record(struct wf_sim_record *record, struct wf_plan *plan,
                                  const struct wf_sim_host *host, struct wf_value **doc,
                                  struct wf_err *err)
{
    uint64_t raw = *doc != NULL ? wf_doc_get_count(*doc, "result.predicted_time_ps", 0) : 0;
    bool corrected = false;
    enum wf_status status =
        record->kept ? wf_sim_record_play(record, plan, &corrected, err) : WF_OK;

    if (status != WF_OK) {
        wf_doc_free(*doc);
        *doc = NULL;
        return status;
    }
    if (record->needed || corrected) {
        status = run_plan(plan, host, false, doc, err);
    }
    if (status == WF_OK && *doc != NULL && plan->n_jobs > 0 && plan->core.until == 0) {
        wf_sim_record_describe(record, plan, raw, *doc);
    }
    return status;
}

/* Runs the plan. Its programs are recorded in a trace for the user, and for what is to be
 * computed from the same execution. */
static enum wf_status run_recorded(struct wf_plan *plan, const struct wf_sim_host *host,
                                   struct wf_value **doc, struct wf_err *err)
{
    struct wf_trace_out trace = {.recorder = NULL};
    struct wf_sim_record record = {.kept = false};
    struct wf_sim_host live = *host;
    enum wf_status status = wf_sim_trace_out_begin(&trace, plan, host, err);

    status = status == WF_OK ? check_payload(plan, host->world, err) : status;
    if (status == WF_OK) {
        status = wf_sim_record_begin(&record, plan, host, &trace, err);
    }
    if (status == WF_OK) {
        /* A run that is only recorded needs no timeline. */
        live.recording = record.kept && record.needed ? NULL : host->recording;
        status = run_plan(plan, &live, false, doc, err);
    }
    status = wf_sim_trace_out_end(&trace, status, err);
    if (is_ok_everywhere(host, status)) {
        status = play_record(&record, plan, host, doc, err);
    }
    if (plan->core.runs > 0) {
        struct wf_scenario *replay = wf_sim_record_scenario(&record, plan->scenario);
        status =
            repeat_runs(plan, replay != NULL ? replay : plan->scenario, host, status, doc, err);
        wf_scenario_free(replay);
    }
    wf_sim_record_end(&record);
    return status;
}

static enum wf_status run_or_explain(const struct wf_scenario *scenario,
                                     const struct wf_sim_host *host, bool explain,
                                     struct wf_value **doc, struct wf_err *err)
{
    struct wf_plan plan;

    *doc = NULL;
    WF_TRY(wf_plan_init(&plan, scenario, err));
    report_skipped(host, &plan);
    report_notes(host, &plan);
    enum wf_status status =
        explain ? run_plan(&plan, host, true, doc, err) : run_recorded(&plan, host, doc, err);
    wf_plan_fini(&plan);
    return status;
}

enum wf_status wf_sim_run(const struct wf_scenario *scenario, const struct wf_sim_host *host,
                          struct wf_value **doc, struct wf_err *err)
{
    return run_or_explain(scenario, host, false, doc, err);
}

enum wf_status wf_sim_explain(const struct wf_scenario *scenario,
                              const struct wf_sim_host *host, struct wf_value **doc,
                              struct wf_err *err)
{
    return run_or_explain(scenario, host, true, doc, err);
}
