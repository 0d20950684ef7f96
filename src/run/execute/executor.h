/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What executes a job. The engine's events execute everything. Synthetic traffic on routers can
 * also be executed in lock step: all routers advance cycle by cycle, on cores or on a GPU. The
 * result is the same.
 *
 * An executor is a file run/execute/exec_*.c and a line in run/execute/executors.def.
 */

#include "engine/run.h"
#include "run/execute/job.h"
#include "run/execute/run.h"

struct wf_traffic_tally;

/* One of the jobs that are executed together, and its outcome. */
struct wf_executor_job {
    struct wf_job *job;                    /* prepared */
    const struct wf_engine_config *config; /* of the engine, if events execute the job */
    enum wf_status status;          /* WF_OK, WF_EINTR: a partial result, or a failure... */
    struct wf_err err;              /* ...and why */
    struct wf_run run;              /* set if the status is WF_OK or WF_EINTR */
    struct wf_engine *engine;       /* that has the tally; the caller frees it; or null... */
    struct wf_traffic_tally *tally; /* ...and this; owned by the caller, zeroed at first */
    bool needs_events; /* it failed because only events can tell what happens: packets do not
                        * move any more */
};

struct wf_executor {
    const char *name;
    /* Jobs that run at once have more than one network; else they run one after the other. */
    bool many;
    /* WF_EUSAGE, naming the setting, if the executor cannot execute the job, or WF_EINVAL if it is
     * not available. The job is prepared. */
    enum wf_status (*accepts)(const struct wf_job *job, struct wf_err *err);
    /* Executes jobs and sets their outcomes. */
    void (*run)(struct wf_executor_job *const *jobs, size_t n, const struct wf_sim_host *host);
};

#define WF_EXECUTOR(name) extern const struct wf_executor wf_executor_##name;
#include "run/execute/executors.def"
#undef WF_EXECUTOR

/* The executor of a prepared job: the one that the setting engine.exec names, or for `auto` the
 * fastest. `n` is the number of similar jobs that could be executed together. */
enum wf_status wf_executor_choose(const struct wf_job *job, size_t n,
                                  const struct wf_executor **out, struct wf_err *err);

/* Tells the host that events begin to be executed, or cease to be. */
void wf_executor_running(const struct wf_sim_host *host, bool running);

/* Makes the entry of a prepared job for wf_executor.run. `config` is for the engine. The caller
 * frees its tally and engine. */
void wf_executor_job_init(struct wf_executor_job *own, const struct wf_executor *executor,
                          struct wf_job *job, const struct wf_engine_config *config);
