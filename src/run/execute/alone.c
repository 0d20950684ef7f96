/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/alone.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/ranks.h"
#include "program/ops/source.h"
#include "run/execute/job.h"

/* A program of which every rank ends at once. */
static bool silent_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    return false;
}

static const struct wf_source_ops silent_ops = {.name = "silent", .next = silent_next};

/* Runs the job with the number job->only - 1; *time is -1 if it did not complete. */
static enum wf_status play(const struct wf_job *job, const struct wf_engine_config *config,
                           struct wf_comm *world, struct wf_setup *setup, int64_t *time,
                           struct wf_err *err)
{
    struct wf_engine *engine = wf_engine_new(config, world);
    struct wf_run run = {.threads = 0};
    uint32_t number = job->only - 1;

    enum wf_status status = job->ops->build(job, engine, setup, err);
    if (status == WF_OK) {
        status = wf_engine_run(engine, &run, err);
    }
    if (status == WF_OK && wf_comm_rank(world) == 0) {
        const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);
        if (tally->unfinished == 0 && tally->timeless == 0) {
            *time = tally->jobs[number].finish.max - job->plan->jobs[number].settings->start;
        }
    }
    wf_engine_free(engine);
    return status == WF_EINTR ? WF_OK : status;
}

static void describe(struct wf_value *item, int64_t alone)
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

enum wf_status wf_job_run_alone(struct wf_job *job, const struct wf_engine_config *config,
                                struct wf_comm *world, struct wf_value *doc, struct wf_err *err)
{
    const struct wf_value *list = doc != NULL ? wf_doc_find(doc, "result.jobs") : NULL;
    struct wf_value *item = list != NULL ? list->first : NULL;
    const struct wf_net_env env = wf_job_net_env(job);
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i < job->plan->n_jobs; i++) {
        job->silent[i] =
            (struct wf_source){.ops = &silent_ops, .n_ranks = job->plan->jobs[i].n_ranks};
    }
    for (uint32_t i = 0; i < job->plan->n_jobs && status == WF_OK; i++) {
        struct wf_setup setup = {.mpi = job->setup.mpi, .node = job->setup.node};
        int64_t time = -1;

        job->only = i + 1;
        status = wf_net_create(job->plan->net, wf_plan_values(job->plan, "net"), &env,
                               &setup.net, err);
        if (status == WF_OK) {
            status = play(job, config, world, &setup, &time, err);
        }
        wf_setup_fini(&setup);
        if (item != NULL) {
            describe(item, time);
            item = item->next;
        }
    }
    job->only = 0;
    return status;
}
