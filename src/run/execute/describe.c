/* SPDX-License-Identifier: Apache-2.0 */
/* The stages that execute a prepared job and make its document. */
#include "run/execute/stages.h"

#include "base/result/result.h"
#include "base/units.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "program/ops/graph.h"
#include "program/ops/live.h"
#include "program/ops/source.h"
#include "run/document/document.h"
#include "run/document/kernels.h"
#include "run/execute/world.h"

#include <weft/weft.h>

#include <stdlib.h>

enum wf_status wf_stage_execute(struct wf_execution *x)
{
    /* Several processes need events. */
    const struct wf_executor *executor =
        wf_comm_size(x->host->world) == 1 ? x->executor : &wf_executor_events;
    struct wf_executor_job *own = &x->outcome;

    wf_executor_job_init(own, executor, &x->job, &x->config);
    executor->run(&own, 1, x->host);
    if (own->needs_events) {
        free(own->tally);
        wf_executor_job_init(own, &wf_executor_events, &x->job, &x->config);
        wf_executor_events.run(&own, 1, x->host);
    }
    return WF_OK;
}

static struct wf_value *make_document(const struct wf_plan *plan)
{
    struct wf_value *root = wf_result_new(weft_version());

    wf_plan_describe(plan, root);
    return root;
}

enum { PROGRAM_DECIMALS = 6 };

/* What programs cost in all processes. All processes call it. */
static struct wf_live_spent spent(const struct wf_plan *plan, struct wf_comm *world)
{
    const double nano = 1e-9;
    int64_t switches = 0, ns = 0;

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        if (source != NULL && source->live != NULL) {
            const struct wf_live_spent own = source->live->spent(source);
            switches += (int64_t)own.switches;
            ns += (int64_t)(own.seconds / nano);
        }
    }
    switches = wf_world_sum(world, switches);
    return (struct wf_live_spent){(uint64_t)switches, (double)wf_world_sum(world, ns) * nano};
}

/* The first rank of the run that has ended between MPI_Init() and MPI_Finalize(), in any process; INT64_MAX
 * if none has. All processes call it. */
static int64_t left_early(const struct wf_plan *plan, struct wf_comm *world)
{
    int64_t first = 0, found = INT64_MAX;

    for (uint32_t i = 0; i < plan->n_jobs && found == INT64_MAX; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        uint32_t rank = source != NULL && source->live != NULL ? source->live->left(source)
                                                               : plan->jobs[i].n_ranks;
        found = rank < plan->jobs[i].n_ranks ? first + rank : found;
        first += plan->jobs[i].n_ranks;
    }
    return wf_world_min(world, found);
}

/* Others may wait for it. */
static void mention_left(const struct wf_job *job, int64_t rank, struct wf_err *err)
{
    char name[WF_DOCUMENT_NAME_MAX];

    if (rank != INT64_MAX) {
        const struct wf_document_jobs jobs = wf_document_jobs_of(job);
        wf_err_prefix(err, "%s ended without MPI_Finalize: ",
                      wf_document_rank_name(&jobs, (uint32_t)rank, name));
    }
}

/* What all processes know together. */
struct everywhere {
    struct wf_findings findings;
    struct wf_live_spent spent;
    int64_t left;
};

/* Fills the document in the first process. */
static enum wf_status fill_document(struct wf_execution *x, struct everywhere *all,
                                    struct wf_value *root)
{
    struct wf_job *job = &x->job;
    const struct wf_executor_job *own = &x->outcome;
    bool replay = job->setup.ranks != NULL || job->setup.pes != NULL;
    struct wf_value *result = wf_doc_section(root, "result");

    if (own->status == WF_EINTR) {
        char time[WF_UNITS_TEXT_MAX];
        (void)wf_err_set(x->err, WF_EINTR,
                         "interrupted at simulated time %s; the result is partial",
                         wf_human_time(own->run.time, time));
    }
    job->tally = own->tally;
    enum wf_status status =
        job->ops->describe(job, own->engine, &own->run, result, own->status, x->err);
    if (status == WF_ELIMIT) {
        return status;
    }
    if (status == WF_ESIM) {
        mention_left(job, all->left, x->err);
    }
    wf_document_links(job, result);
    if (replay) {
        wf_document_nodes(job, result);
    }
    if (job->recording != NULL && job->setup.ranks != NULL) {
        wf_document_path(root, job, own->engine);
    }
    if (job->recording != NULL && replay) {
        wf_document_recording(root, job, own->engine, &own->run);
    }
    status = wf_sim_check_describe(&x->plan, &all->findings, root, status, x->err);
    wf_sim_warn_unused(&x->plan, root);
    wf_sim_warn_assumed(&x->plan, root);
    if (replay) {
        wf_sim_warnings(job, wf_engine_tally_get(own->engine), root);
    }
    struct wf_value *run = wf_document_run(root, &x->plan, &own->run, job->ops->memory(job));
    if (wf_plan_runs_programs(&x->plan)) {
        wf_doc_count(run, "context_switches", all->spent.switches);
        wf_doc_measured(run, "program_seconds", all->spent.seconds, PROGRAM_DECIMALS);
    }
    return status;
}

enum wf_status wf_stage_describe(struct wf_execution *x)
{
    const struct wf_executor_job *own = &x->outcome;
    struct everywhere all = {.left = INT64_MAX};
    struct wf_document_kernels kernels;
    enum wf_status status = own->status;

    x->ran = status == WF_OK;
    if (status != WF_OK && status != WF_EINTR) {
        *x->err = own->err;
        return status;
    }
    wf_sim_check_collect(&x->plan, x->host->world, &all.findings);
    wf_document_kernels_collect(&x->plan, x->host->world, &kernels);
    if (wf_plan_runs_programs(&x->plan)) {
        all.spent = spent(&x->plan, x->host->world);
        all.left = left_early(&x->plan, x->host->world);
    }
    if (wf_comm_rank(x->host->world) == 0) {
        x->doc = make_document(&x->plan);
        status = fill_document(x, &all, x->doc);
        if (status != WF_ELIMIT) {
            wf_document_kernels(&kernels, x->doc);
        }
    }
    free(kernels.items);
    if (status == WF_ELIMIT) {
        wf_doc_free(x->doc);
        x->doc = NULL;
    }
    wf_findings_fini(&all.findings);
    /* Further runs of the job need the memory. */
    wf_engine_free(x->outcome.engine);
    x->outcome.engine = NULL;
    return status;
}

/* ---- without an execution ---- */

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

enum wf_status wf_stage_estimate(struct wf_execution *x)
{
    if (wf_comm_rank(x->host->world) == 0) {
        uint64_t messages = count_messages(&x->plan);

        x->doc = make_document(&x->plan);
        struct wf_value *estimate = wf_doc_section(x->doc, "estimate");
        wf_doc_count(estimate, "memory_bytes", x->job.ops->memory(&x->job));
        if (messages > 0) {
            wf_doc_count(estimate, "messages", messages);
        }
    }
    return WF_OK;
}
