/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/document.h"

#include "base/result/doc.h"
#include "base/result/result.h"
#include "engine/config.h"
#include "model/net/net.h"
#include "model/net/stats/link_report.h"
#include "run/plan/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Decimal places of measured values. */
enum {
    SECONDS_DECIMALS = 6,
    PERCENT_DECIMALS = 3,
    RATE_DECIMALS = 0,
    WINDOW_DECIMALS = 3,
    MEETING_DECIMALS = 9
};

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static const char *const fit_reasons[] = {
    [WF_RUN_TOO_SMALL] = "the model is too small for more threads",
    [WF_RUN_TOO_SPARSE] = "more threads would wait for each other too often",
    [WF_RUN_CORES_TOO_FEW] = "there are no cores for more threads",
};

/* What the run would take on several threads, if that was counted. */
static void describe_forecasts(struct wf_value *section, const struct wf_run *run)
{
    if (run->forecasts[0].threads == 0) {
        return;
    }
    wf_doc_measured(section, "meeting_seconds", run->meeting_seconds, MEETING_DECIMALS);
    struct wf_value *list = wf_doc_list(section, "forecasts");
    for (size_t i = 0; i < WF_RUN_FORECASTS; i++) {
        const struct wf_run_forecast *one = &run->forecasts[i];
        struct wf_value *entry = wf_doc_section(list, NULL);
        wf_doc_count(entry, "threads", one->threads);
        wf_doc_text(entry, "partition", wf_engine_partition_names[one->partition]);
        wf_doc_count(entry, "critical_events", one->critical_events);
        wf_doc_count(entry, "remote_events", one->remote_events);
        wf_doc_measured(entry, "seconds", one->seconds, SECONDS_DECIMALS);
    }
}

struct wf_value *wf_document_run(struct wf_value *root, const struct wf_plan *plan,
                                 const struct wf_run *run, uint64_t memory_estimate)
{
    struct wf_value *section = wf_doc_section(root, "run");
    double committed = (double)run->events_committed;

    wf_doc_text(section, "exec", wf_exec_names[run->exec > 0 ? run->exec : WF_EXEC_EVENTS]);
    if (run->device[0] != '\0') {
        wf_doc_text(section, "device", run->device);
    }
    wf_doc_text(section, "scheduler", wf_scheduler_names[plan->engine.scheduler]);
    wf_doc_count(section, "threads", run->threads);
    if (run->fit != WF_RUN_AS_ASKED) {
        wf_doc_text(section, "threads_reason", fit_reasons[run->fit]);
    }
    if (run->threads > 1) {
        wf_doc_text(section, "partition", wf_engine_partition_names[run->partition]);
    }
    wf_doc_count(section, "processes", run->processes);
    wf_doc_measured(section, "wall_seconds", run->wall_seconds, SECONDS_DECIMALS);
    wf_doc_measured(section, "cpu_seconds", run->cpu_seconds, SECONDS_DECIMALS);
    wf_doc_count(section, "events_committed", run->events_committed);
    wf_doc_count(section, "events_rolled_back", run->events_rolled_back);
    wf_doc_measured(section, "efficiency_percent", wf_engine_efficiency_percent(run),
                    PERCENT_DECIMALS);
    wf_doc_measured(section, "events_per_cpu_second", ratio(committed, run->cpu_seconds),
                    RATE_DECIMALS);
    wf_doc_measured(section, "events_per_wall_second", ratio(committed, run->wall_seconds),
                    RATE_DECIMALS);
    wf_doc_count(section, "rollbacks", run->rollbacks);
    wf_doc_count(section, "anti_messages", run->anti_messages);
    wf_doc_count(section, "gvt_rounds", run->gvt_rounds);
    wf_doc_measured(section, "gvt_seconds", run->gvt_seconds, SECONDS_DECIMALS);
    wf_doc_count(section, "windows", run->windows);
    wf_doc_measured(section, "events_per_window", ratio(committed, (double)run->windows),
                    WINDOW_DECIMALS);
    if (run->windows_alone > 0) {
        wf_doc_count(section, "windows_alone", run->windows_alone);
    }
    wf_doc_count(section, "remote_events", run->remote_events);
    wf_doc_count(section, "memory_throttles", run->memory_throttles);
    wf_doc_count(section, "memory_estimate_bytes", memory_estimate);
    wf_doc_count(section, "peak_rss_bytes", run->peak_rss_bytes);
    wf_doc_count(section, "thread_events_min", run->thread_events_min);
    wf_doc_count(section, "thread_events_max", run->thread_events_max);
    describe_forecasts(section, run);
    wf_plan_describe_block(plan, "engine", section, "parameters");
    return section;
}

/* Counts the links and switches that have failed for the whole run (net.fail without times). */
static void describe_failed(const struct wf_plan *plan, struct wf_value *result)
{
    const struct wf_param *row =
        plan->net != NULL ? wf_param_find(plan->net->params, "fail") : NULL;
    char text[WF_PARAM_TEXT_MAX];

    if (row != NULL && plan->topo != NULL) {
        wf_net_report_failed(result, plan->topo,
                             wf_param_format(row, wf_plan_values(plan, "net"), text));
    }
}

void wf_document_links(const struct wf_job *job, struct wf_value *result)
{
    describe_failed(job->plan, result);

    const struct wf_net *net = job->setup.net;

    if (net != NULL && net->link_classes != NULL &&
        wf_doc_find(result, "network.link_classes") == NULL) {
        wf_net_report_classes(wf_net_report_section(result), job->plan->topo,
                              net->link_classes);
    }
}

uint32_t wf_document_nodes_used(const struct wf_job *job)
{
    const struct wf_place *place = &job->place;
    uint32_t used = place->first == NULL ? (place->n_ranks - 1) / place->slots_max + 1 : 0;

    for (uint32_t i = 0; place->first != NULL && i < place->n_nodes; i++) {
        used += place->first[i + 1] > place->first[i];
    }
    return used * wf_job_copies(job);
}

void wf_document_nodes(const struct wf_job *job, struct wf_value *result)
{
    const struct wf_place *place = &job->place;

    wf_doc_count(result, "nodes_used", wf_document_nodes_used(job));
    wf_doc_count(result, "ranks_on_node_max",
                 place->slots_max < place->n_ranks ? place->slots_max : place->n_ranks);
}

struct wf_document_jobs wf_document_jobs_of(const struct wf_job *job)
{
    struct wf_document_jobs jobs = {.n = job->plan->n_jobs,
                                    .of = job->described,
                                    .ideal = job->ideal,
                                    .free_network = job->free_network,
                                    .faults = job->setup.net->faults};
    const struct wf_cpu_params *cpu = wf_plan_values(job->plan, "cpu");
    const double tera = 1e12;
    uint32_t first = 0;

    jobs.memory = cpu->memory;
    jobs.peak16 = cpu->tflops16 * tera;
    jobs.peak8 = cpu->tflops8 > 0 ? cpu->tflops8 * tera : jobs.peak16;
    for (uint32_t i = 0; i < jobs.n; i++) {
        const struct wf_plan_job *program = &job->plan->jobs[i];

        job->described[i] = (struct wf_document_job){first, program->settings->start,
                                                     program->source, program->fold};
        first += job->plan->jobs[i].n_ranks;
    }
    return jobs;
}

void wf_document_digest(struct wf_value *result, uint64_t digest)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, digest);
    wf_doc_text(result, "digest", text);
    if (strcmp(wf_doc_get_text(result, "status", ""), WF_RESULT_INTERRUPTED) == 0) {
        wf_doc_bool(result, "digest_partial", true);
    }
}
