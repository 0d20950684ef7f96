/* SPDX-License-Identifier: Apache-2.0 */
/* The stages that execute a prepared job and make its document. */
#include "run/execute/stages.h"

#include "base/array.h"
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

#include <inttypes.h>
#include <stdio.h>
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
    struct wf_live_spent sum = {0};

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        if (source != NULL && source->live != NULL) {
            const struct wf_live_spent own = source->live->spent(source);
            sum.switches += own.switches;
            sum.polls += own.polls;
            sum.seconds += own.seconds;
            sum.switch_seconds += own.switch_seconds;
        }
    }
    sum.switches = (uint64_t)wf_world_sum(world, (int64_t)sum.switches);
    sum.polls = (uint64_t)wf_world_sum(world, (int64_t)sum.polls);
    sum.seconds = (double)wf_world_sum(world, (int64_t)(sum.seconds / nano)) * nano;
    sum.switch_seconds =
        (double)wf_world_sum(world, (int64_t)(sum.switch_seconds / nano)) * nano;
    return sum;
}

/* How ranks of the run ended, in any process. */
struct ends {
    int64_t left;   /* as in struct wf_live_ends, but INT64_MAX if there is none */
    int64_t failed; /* likewise... */
    int64_t code;   /* ...and what that rank returned */
    int64_t n_failed;
};

/* All processes call it. */
static struct ends find_ends(const struct wf_plan *plan, struct wf_comm *world)
{
    int64_t first = 0;
    struct ends found = {.left = INT64_MAX, .failed = INT64_MAX, .code = INT64_MAX};

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        if (source != NULL && source->live != NULL) {
            const struct wf_live_ends own = source->live->ends(source);
            if (own.left < plan->jobs[i].n_ranks && found.left == INT64_MAX) {
                found.left = first + own.left;
            }
            if (own.n_failed > 0 && found.n_failed == 0) {
                found.failed = first + own.failed;
                found.code = own.code;
            }
            found.n_failed += own.n_failed;
        }
        first += plan->jobs[i].n_ranks;
    }
    int64_t failed = wf_world_min(world, found.failed);
    found.code = wf_world_min(world, failed == found.failed ? found.code : INT64_MAX);
    return (struct ends){.left = wf_world_min(world, found.left),
                         .failed = failed,
                         .code = found.code,
                         .n_failed = wf_world_sum(world, found.n_failed)};
}

/* The result is complete: nobody waited for these ranks. */
static void describe_failed(const struct wf_job *job, const struct ends *ends,
                            struct wf_value *root, struct wf_value *result)
{
    char name[WF_DOCUMENT_NAME_MAX], words[2 * WF_DOCUMENT_NAME_MAX], others[48] = "";

    if (ends->n_failed == 0) {
        return;
    }
    const struct wf_document_jobs jobs = wf_document_jobs_of(job);
    struct wf_value *failed = wf_doc_section(result, "failed");
    if (ends->n_failed > 1) {
        (void)snprintf(others, sizeof(others), ", and so did %" PRId64 " other rank%s",
                       ends->n_failed - 1, ends->n_failed == 2 ? "" : "s");
    }
    (void)snprintf(words, sizeof(words), "%s ended with code %" PRId64 " after MPI_Finalize%s",
                   wf_document_rank_name(&jobs, (uint32_t)ends->failed, name), ends->code,
                   others);
    wf_doc_count(failed, "rank", (uint64_t)ends->failed);
    wf_doc_count(failed, "code", (uint64_t)ends->code);
    wf_doc_count(failed, "ranks", (uint64_t)ends->n_failed);
    wf_doc_text(failed, "words", words);
    wf_sim_warn(root, "%s", words);
}

/* Tells the user of a run that he stopped what it spent its time on, so that he knows what to change. */
static void explain_time(const struct wf_live_spent *spent, const struct wf_value *run,
                         struct wf_value *root)
{
    double all = wf_doc_get_real(run, "wall_seconds", 0);
    double rest =
        all - spent->seconds - spent->switch_seconds; /* less if threads share the work */

    if (spent->seconds >= rest && spent->seconds >= spent->switch_seconds) {
        wf_sim_warn(
            root,
            "in %.1f s, the program itself took %.1f s on this host: a smaller problem, "
            "fewer iterations or --kernels make the run shorter, another network does not",
            all, spent->seconds);
    } else if (spent->switch_seconds >= rest) {
        wf_sim_warn(
            root,
            "in %.1f s, weft took %.1f s to put variables of ranks into place, at %" PRIu64
            " switches, %" PRIu64 " of them after polls that found nothing: fewer polls, or "
            "a program with fewer global variables make the run shorter",
            all, spent->switch_seconds, spent->switches, spent->polls);
    } else {
        wf_sim_warn(
            root,
            "in %.1f s, weft took %.1f s to simulate messages%s: fewer ranks or messages, or "
            "a simpler --net make the run shorter",
            all, rest, spent->polls > spent->switches / 2 ? " and polls" : "");
    }
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

/* A run with a schedule has one program. */
static void collect_decisions(struct wf_execution *x)
{
    const struct wf_source *source = x->plan.n_jobs > 0 ? x->plan.jobs[0].source : NULL;

    if (source != NULL && source->live != NULL && source->live->decisions != NULL) {
        const struct wf_decisions *all = source->live->decisions(source);
        for (size_t i = x->decisions.n; i < all->n; i++) {
            WF_PUSH(x->decisions.items, x->decisions.n, x->decisions.capacity, all->items[i]);
        }
    }
}

/* What all processes know together. */
struct everywhere {
    struct wf_findings findings;
    struct wf_live_spent spent;
    struct ends ends;
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
        mention_left(job, all->ends.left, x->err);
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
    wf_sim_check_describe_orders(x, root);
    wf_sim_warn_unused(&x->plan, root);
    wf_sim_warn_assumed(&x->plan, root);
    if (replay) {
        wf_sim_warnings(job, wf_engine_tally_get(own->engine), root);
    }
    struct wf_value *run = wf_document_run(root, &x->plan, &own->run, job->ops->memory(job));
    if (wf_plan_runs_programs(&x->plan)) {
        wf_doc_count(run, "context_switches", all->spent.switches);
        wf_doc_count(run, "idle_polls", all->spent.polls);
        wf_doc_measured(run, "program_seconds", all->spent.seconds, PROGRAM_DECIMALS);
        wf_doc_measured(run, "switch_seconds", all->spent.switch_seconds, PROGRAM_DECIMALS);
        describe_failed(job, &all->ends, root, result);
        if (own->status == WF_EINTR) {
            explain_time(&all->spent, run, root);
        }
    }
    return status;
}

enum wf_status wf_stage_describe(struct wf_execution *x)
{
    const struct wf_executor_job *own = &x->outcome;
    struct everywhere all = {.ends = {.left = INT64_MAX}};
    struct wf_document_kernels kernels;
    enum wf_status status = own->status;

    x->ran = status == WF_OK;
    if (status == WF_OK || status == WF_EINTR) {
        wf_sim_check_collect(&x->plan, x->host->world, &all.findings);
    }
    collect_decisions(x);
    if (status != WF_OK && status != WF_EINTR) {
        *x->err = own->err;
        return status;
    }
    wf_document_kernels_collect(&x->plan, x->host->world, &kernels);
    if (wf_plan_runs_programs(&x->plan)) {
        all.spent = spent(&x->plan, x->host->world);
        all.ends = find_ends(&x->plan, x->host->world);
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
