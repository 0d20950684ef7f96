/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/record.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "base/temp.h"
#include "engine/hosts/comm.h"
#include "model/ranks/ranks.h"
#include "mpi/vrank/program_source.h"
#include "mpi/vrank/recorder.h"
#include "program/ops/retimed.h"
#include "program/trace/reader.h"
#include "program/trace/weft/native.h"
#include "program/trace/writer.h"
#include "run/document/document.h"
#include "run/execute/stages.h"
#include "run/program/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which of a recorder's records is the temporary one. */
enum { TEMPORARY = 0 };

enum { NOISE_DECIMALS = 1 };

static bool is_measured(const struct wf_plan_job *job)
{
    const struct wf_program_params *params = job->block.values;

    return params->compute == WF_VRANK_COMPUTE_MEASURED;
}

static bool is_corrected(const struct wf_plan_job *job)
{
    const struct wf_program_params *params = job->block.values;

    return params->robust && is_measured(job);
}

/* Whether the source has recorded compute times. */
static bool is_trace(const struct wf_plan *plan, const struct wf_plan_job *job)
{
    const struct wf_replay_params *replay = wf_plan_values(plan, "replay");

    return job->reader != NULL && job->source != NULL && !job->source->follows_matches &&
           replay->policy == WF_POLICY_TIMED;
}

static enum wf_status begin_trace(struct wf_sim_record *record, uint32_t number,
                                  uint32_t n_ranks, struct wf_err *err)
{
    struct wf_sim_recorded *job = &record->jobs[number];
    const struct wf_trace_writer_options options = {.n_ranks = n_ranks, .temporary = true};

    if (record->directory == NULL) {
        record->directory = wf_temp_directory();
    }
    if (record->directory == NULL) {
        return wf_err_set(err, WF_EIO, "cannot make a directory in '%.200s': %s",
                          wf_temp_parent(), strerror(errno));
    }
    size_t size = strlen(record->directory) + 32;
    job->path = wf_xmalloc(size);
    (void)snprintf(job->path, size, "%s/job-%u.weft", record->directory, number);
    return wf_native_writer_ops.create(job->path, &options, &job->writer, err);
}

/* Puts a recorder before the program, for the record and for the trace of the user. */
static void insert_recorder(struct wf_sim_record *record, struct wf_plan *plan, uint32_t number,
                            struct wf_trace_out *out)
{
    struct wf_sim_recorded *job = &record->jobs[number];
    struct wf_vrank_recorder_config config = {.program = plan->jobs[number].source};

    if (job->writer != NULL) {
        config.records[config.n_records++] =
            (struct wf_vrank_record){.writer = job->writer, .optional = !record->needed};
    }
    if (out->writer != NULL) {
        config.records[config.n_records++] = (struct wf_vrank_record){
            .writer = out->writer, .duration = wf_sim_trace_out_duration, .arg = out};
    }
    if (config.n_records == 0) {
        return;
    }
    struct wf_source *recorder = wf_vrank_recorder_new(&config);

    plan->jobs[number].source = recorder;
    if (out->writer != NULL) {
        out->recorder = recorder;
    }
    if (job->writer != NULL) {
        job->recorder = recorder;
    }
}

static void begin_replay(struct wf_sim_record *record, const struct wf_plan *plan,
                         uint32_t number)
{
    const struct wf_replay_params *replay = wf_plan_values(plan, "replay");
    struct wf_sim_recorded *job = &record->jobs[number];

    job->is_trace = is_trace(plan, &plan->jobs[number]);
    job->is_measured = job->is_trace && replay->robust;
    record->kept = record->kept || job->is_measured;
}

/* Several processes do not record: each has some of the ranks. */
static enum wf_status check_processes(struct wf_sim_recorded *job, const struct wf_plan *plan,
                                      const struct wf_plan_job *planned, struct wf_err *err)
{
    const struct wf_program_params *params = planned->block.values;
    bool repeats = params->compute != WF_VRANK_COMPUTE_MEASURED &&
                   params->compute != WF_VRANK_COMPUTE_COUNTED;

    if (plan->core.runs > 0 || (plan->core.efficiency && !repeats)) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s of a program that runs works in one process only; start weft "
                          "without mpirun, and with --threads to use more cores",
                          plan->core.runs > 0 ? "--runs" : "--efficiency with measured times");
    }
    if (job->is_measured) {
        (void)wf_err_set(&job->lost, WF_EUSAGE, "the ranks run in several processes");
    }
    return WF_OK;
}

static enum wf_status begin_program(struct wf_sim_record *record, struct wf_plan *plan,
                                    uint32_t number, struct wf_trace_out *out,
                                    struct wf_err *err)
{
    struct wf_sim_recorded *job = &record->jobs[number];

    if (record->needed || job->is_measured) {
        enum wf_status status = begin_trace(record, number, plan->jobs[number].n_ranks, err);
        if (status != WF_OK && record->needed) {
            return status;
        }
        if (status != WF_OK) {
            job->lost = *err;
        }
        record->kept = record->kept || status == WF_OK;
    }
    insert_recorder(record, plan, number, out);
    return WF_OK;
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

enum wf_status wf_stage_record(struct wf_execution *x)
{
    struct wf_sim_record *record = &x->record;
    struct wf_plan *plan = &x->plan;
    bool single = wf_comm_size(x->host->world) == 1;

    WF_TRY(check_payload(plan, x->host->world, x->err));
    record->n_jobs = plan->n_jobs;
    record->jobs = wf_xcalloc(plan->n_jobs, sizeof(*record->jobs));
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_plan_job *job = &plan->jobs[i];
        if (!job->program) {
            begin_replay(record, plan, i);
            continue;
        }
        record->jobs[i].is_measured = is_corrected(job);
        if (is_measured(job) && !record->has_noise) {
            record->has_noise = true;
            record->noise = wf_host_noise_measure();
        }
        if (!single) {
            WF_TRY(check_processes(&record->jobs[i], plan, job, x->err));
            continue;
        }
        if (plan->core.until > 0) {
            continue; /* a part of a program cannot be played: its ranks wait for each other */
        }
        record->needed =
            plan->core.efficiency || x->host->what_if_events > 0 || plan->core.runs > 0;
        WF_TRY(begin_program(record, plan, i, &x->trace, x->err));
    }
    x->is_recorded_only = record->kept && record->needed;
    return WF_OK;
}

/* ---- after the run ---- */

/* Completes the trace, ends the program and opens the trace instead; or sets job->lost. */
static enum wf_status replace_source(struct wf_sim_recorded *job, struct wf_plan_job *planned,
                                     struct wf_err *err)
{
    struct wf_trace_writer *writer = job->writer;

    WF_TRY(wf_vrank_recorder_finish(job->recorder, err));
    job->writer = NULL;
    if (!wf_vrank_recorder_keeps(job->recorder, TEMPORARY, &job->lost)) {
        writer->ops->discard(writer);
        return WF_OK;
    }
    if (writer->ops->finish(writer, &job->lost) != WF_OK) {
        return WF_OK;
    }
    wf_source_free(planned->source);
    planned->source = NULL;
    job->recorder = NULL;
    return wf_native_open_own(job->path, wf_native_reader_ops.name, &planned->source, err);
}

static enum wf_status judge(struct wf_sim_recorded *job, struct wf_plan_job *planned,
                            struct wf_err *err)
{
    const struct wf_retimed_config config = {.duration = wf_robust_duration,
                                             .arg = &job->robust};

    WF_TRY(wf_places_init(&job->places, planned->source, err));
    wf_robust_init(&job->robust, &job->places);
    job->is_judged = true;
    if (job->robust.n_disturbed > 0) {
        planned->source = wf_retimed_new(planned->source, true, &config);
    }
    return WF_OK;
}

enum wf_status wf_stage_play(struct wf_execution *x, bool *again)
{
    struct wf_sim_record *record = &x->record;

    x->is_recorded_only = false;
    *again = record->needed;
    for (uint32_t i = 0; i < x->plan.n_jobs && record->kept; i++) {
        struct wf_sim_recorded *job = &record->jobs[i];
        struct wf_plan_job *planned = &x->plan.jobs[i];
        if (job->recorder != NULL) {
            WF_TRY(replace_source(job, planned, x->err));
        }
        if (job->lost.status != WF_OK && record->needed) {
            *x->err = job->lost;
            return job->lost.status;
        }
        if (job->is_measured && job->lost.status == WF_OK && planned->source->live == NULL) {
            WF_TRY(judge(job, planned, x->err));
            *again = *again || job->robust.n_disturbed > 0;
        }
    }
    return WF_OK;
}

/* Whether a setting is about a program that runs, which the record replaces. */
static bool is_kept(const void *arg, const char *key)
{
    const struct wf_sim_record *record = arg;
    uint32_t number = 0;
    const char *name = key;

    (void)wf_scenario_job_key(key, &number, &name);
    return number >= record->n_jobs || record->jobs[number].path == NULL ||
           (strncmp(name, "run.", 4) != 0 && strcmp(name, "source") != 0);
}

struct wf_scenario *wf_sim_record_scenario(const struct wf_sim_record *record,
                                           const struct wf_scenario *scenario)
{
    struct wf_scenario *own = record->kept ? wf_scenario_new() : NULL;

    if (own == NULL) {
        return NULL;
    }
    wf_scenario_append_if(own, scenario, is_kept, record);
    for (uint32_t i = 0; i < record->n_jobs; i++) {
        if (record->jobs[i].path != NULL) {
            char key[32] = "source";
            struct wf_err err;

            if (i > 0) {
                (void)snprintf(key, sizeof(key), "job.%u.source", i);
            }
            if (wf_scenario_set(own, key, record->jobs[i].path, NULL, &err) != WF_OK) {
                wf_panic("%s", err.text); /* the key exists */
            }
        }
    }
    return own;
}

/* Beyond so many events a replay is not read again for a warning. */
static const uint64_t EVENTS_MAX = 20000000;

/* Spans that decide the prediction make a rank compute longer than the others. Otherwise the
 * trace need not be read again. */
static bool is_unbalanced(const struct wf_value *root)
{
    uint64_t longest = wf_doc_get_count(root, "result.ranks.compute_ps.max", 0);
    uint64_t mean = wf_doc_get_count(root, "result.ranks.compute_ps.mean", 0);

    return longest - mean >= wf_doc_get_count(root, "result.predicted_time_ps", 0) / 20;
}

/* Warns if few compute times of a trace decide the prediction. */
static void warn_about(const struct wf_plan_job *job, struct wf_value *root)
{
    struct wf_places places;
    struct wf_robust robust;
    struct wf_err err;

    if (wf_doc_get_count(root, "run.events_committed", 0) > EVENTS_MAX ||
        !is_unbalanced(root) || wf_places_init(&places, job->source, &err) != WF_OK) {
        return;
    }
    wf_robust_init(&robust, &places);
    wf_sim_spans_warn(&robust, WF_ROBUST_ALL, root);
    wf_robust_fini(&robust);
    wf_places_fini(&places);
}

static void warn_about_loss(const struct wf_err *lost, struct wf_value *root)
{
    wf_sim_warn(root,
                "measured compute times are not corrected, since they could not be recorded: "
                "%s",
                lost->text);
}

static void describe_noise(const struct wf_host_noise *noise, struct wf_value *root)
{
    /* part of `root`, which the caller may change */
    struct wf_value *run = wf_unconst(wf_doc_find(root, "run"));
    struct wf_value *section = wf_doc_section(run, "host_noise");
    char text[WF_HOST_NOISE_TEXT_MAX];

    wf_doc_count(section, "piece_ns", (uint64_t)noise->median_ns);
    wf_doc_measured(section, "p90_percent", noise->cpu.percent, NOISE_DECIMALS);
    wf_doc_measured(section, "worst_percent", noise->cpu.worst, NOISE_DECIMALS);
    wf_doc_measured(section, "waited_percent", noise->waited, NOISE_DECIMALS);
    if (wf_host_noise_warning(noise, true, text)) {
        wf_sim_warn(root, "%s; use a quiet host, or --compute counted:<rate> or model", text);
    }
}

void wf_stage_describe_record(struct wf_execution *x, uint64_t raw_ps)
{
    const struct wf_sim_record *record = &x->record;
    const struct wf_plan *plan = &x->plan;
    struct wf_value *root = x->doc;
    uint32_t n = 0;

    if (root == NULL || plan->n_jobs == 0 || plan->core.until > 0) {
        return;
    }
    if (record->has_noise) {
        describe_noise(&record->noise, root);
    }
    const struct wf_robust **judged =
        wf_xcalloc(plan->n_jobs, sizeof(const struct wf_robust *));
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (record->jobs[i].is_judged) {
            judged[n++] = &record->jobs[i].robust;
        }
    }
    if (n > 0) {
        wf_sim_spans_describe(judged, n, raw_ps, root);
    }
    free(judged);
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (record->jobs[i].is_trace && !record->jobs[i].is_judged) {
            warn_about(&plan->jobs[i], root);
        }
        if (record->jobs[i].lost.status != WF_OK) {
            warn_about_loss(&record->jobs[i].lost, root);
        }
    }
}

void wf_sim_record_end(struct wf_sim_record *record)
{
    for (uint32_t i = 0; i < record->n_jobs; i++) {
        struct wf_sim_recorded *job = &record->jobs[i];
        if (job->writer != NULL) {
            job->writer->ops->discard(job->writer);
        }
        if (job->is_judged) {
            wf_robust_fini(&job->robust);
            wf_places_fini(&job->places);
        }
        free(job->path);
    }
    free(record->jobs);
    wf_temp_remove(record->directory);
    free(record->directory);
    *record = (struct wf_sim_record){.kept = false};
}
