/* SPDX-License-Identifier: Apache-2.0 */
/* How much jobs disturb each other: each of several jobs is run once more on its nodes while the
 * others do nothing, and the difference is added to its entry in the document. */
#include "run/execute/stages.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/ranks.h"
#include "program/ops/source.h"
#include "run/execute/world.h"

#include <stdlib.h>

/* A program of which every rank ends at once. */
static bool silent_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    return false;
}

static const struct wf_source_ops silent_ops = {.name = "silent", .next = silent_next};

/* The finish of the only job that runs, and the time when it starts. */
struct finish {
    const struct wf_job *job;
    int64_t time; /* from its start; -1 if it did not complete */
};

static void keep_time(void *arg, const struct wf_ranks_tally *tally, const struct wf_run *run)
{
    struct finish *finish = arg;
    uint32_t number = finish->job->only - 1;

    finish->time = wf_tally_job(tally, number)->finish.max -
                   finish->job->plan->jobs[number].settings->start;
}

static void describe_alone(struct wf_value *item, int64_t alone)
{
    double second = 1e12, bytes = (double)wf_doc_get_count(item, "bytes", 0);
    double time = (double)wf_doc_get_count(item, "time_ps", 0);

    if (alone <= 0 || time <= 0) {
        return;
    }
    wf_doc_count(item, "alone_time_ps", (uint64_t)alone);
    wf_doc_measured(item, "slowdown", time / (double)alone, 4);
    wf_doc_measured(item, "bytes_per_second", bytes * second / time, 0);
    wf_doc_measured(item, "alone_bytes_per_second", bytes * second / (double)alone, 0);
}

static enum wf_status run_alone(struct wf_execution *x, struct wf_value *item)
{
    struct wf_job *job = &x->job;
    const struct wf_net_env env = wf_job_net_env(job);
    enum wf_status status = WF_OK;

    job->silent = wf_xcalloc(x->plan.n_jobs, sizeof(*job->silent));
    for (uint32_t i = 0; i < x->plan.n_jobs; i++) {
        job->silent[i] =
            (struct wf_source){.ops = &silent_ops, .n_ranks = x->plan.jobs[i].n_ranks};
    }
    for (uint32_t i = 0; i < x->plan.n_jobs && status == WF_OK; i++) {
        struct wf_setup setup = {.mpi = job->setup.mpi, .node = job->setup.node};
        struct finish finish = {.job = job, .time = -1};
        const struct wf_job_again again = {
            .config = &x->config, .world = x->host->world, .ended = keep_time, .arg = &finish};

        job->only = i + 1;
        status = wf_net_create(x->plan.net, wf_plan_values(&x->plan, "net"), &env, &setup.net,
                               x->err);
        WF_THEN(status, wf_job_run_again(job, &again, &setup, x->err));
        wf_setup_fini(&setup);
        if (item != NULL) {
            describe_alone(item, finish.time);
            item = item->next;
        }
    }
    job->only = 0;
    free(job->silent);
    job->silent = NULL;
    return status;
}

bool wf_stage_wants_alone(const struct wf_execution *x)
{
    return x->plan.core.alone;
}

enum wf_status wf_stage_alone(struct wf_execution *x)
{
    bool ended = x->doc != NULL && wf_doc_find(x->doc, "result.predicted_time_ps") != NULL;
    const struct wf_value *list = ended ? wf_doc_find(x->doc, "result.jobs") : NULL;

    /* Only the first process knows. */
    return wf_world_max(x->host->world, ended) != 0
               ? run_alone(x, list != NULL ? list->first : NULL)
               : WF_OK;
}
