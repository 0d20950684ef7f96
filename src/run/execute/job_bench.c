/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/models/bench.h"

#include "base/result/result.h"
#include "run/document/document.h"
#include "run/execute/job.h"

#include <string.h>

/* Measured. */
enum { BYTES_PER_PROCESS = 32, BYTES_PER_EVENT = 32 };

static enum wf_status bench_prepare(struct wf_job *job, struct wf_err *err)
{
    return WF_OK;
}

static uint64_t count_of(const struct wf_job *job, const char *const *names)
{
    const struct wf_bench_ops *ops = job->plan->bench;
    const char *params = wf_plan_values(job->plan, ops->name);

    for (; *names != NULL; names++) {
        const struct wf_param *row = wf_param_find(ops->params, *names);
        uint64_t count = 0;
        if (row != NULL && row->type == WF_PARAM_COUNT) {
            memcpy(&count, params + row->offset, sizeof(count));
            return count;
        }
    }
    return 0;
}

/* The models have different names for their processes and initial events. */
static uint64_t bench_memory(const struct wf_job *job)
{
    static const char *const processes[] = {"lps", "stations", NULL};
    static const char *const events[] = {"start_events", "customers", NULL};

    return count_of(job, processes) *
           (BYTES_PER_PROCESS + BYTES_PER_EVENT * count_of(job, events));
}

static enum wf_status bench_build(const struct wf_job *job, struct wf_engine *engine,
                                  struct wf_setup *setup, struct wf_err *err)
{
    const struct wf_bench_ops *ops = job->plan->bench;

    return ops->build(engine, wf_plan_values(job->plan, ops->name), err);
}

static enum wf_status bench_describe(const struct wf_job *job, const struct wf_engine *engine,
                                     const struct wf_run *run, struct wf_value *result,
                                     enum wf_status status, struct wf_err *err)
{
    bool interrupted = status == WF_EINTR;

    wf_doc_text(result, "status", interrupted ? WF_RESULT_INTERRUPTED : WF_RESULT_COMPLETED);
    wf_doc_count(result, interrupted ? "time_reached_ps" : "simulated_time_ps",
                 (uint64_t)run->time);
    wf_doc_count(result, "events", run->events_committed);
    wf_document_digest(result, run->digest);
    return status;
}

const struct wf_job_ops wf_job_bench = {
    .prepare = bench_prepare,
    .memory = bench_memory,
    .build = bench_build,
    .describe = bench_describe,
};
