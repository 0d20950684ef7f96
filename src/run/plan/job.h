/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A plan in a form that can be built on an engine, and that describes the result of the run. The
 * kinds of jobs are in run/execute/job_*.c: replays of operations, replays of tasks, synthetic traffic
 * and the engine's own benchmark models.
 */

#include "model/ranks/cpu/cpu.h"
#include "model/ranks/place.h"
#include "model/ranks/ranks.h"
#include "model/ranks/record/recorder.h"
#include "program/ops/source.h"
#include "run/plan/plan.h"

struct wf_cpu_rules;
struct wf_document_job;
struct wf_engine;
struct wf_mpi_params;
struct wf_net;
struct wf_node_params;
struct wf_pes;
struct wf_ranks;
struct wf_run;
struct wf_traffic;
struct wf_traffic_tally;
struct wf_value;

/* The models that are built on an engine and live as long as it. A benchmark has none. */
struct wf_setup {
    struct wf_net *net;                /* owned; set before build() */
    const struct wf_mpi_params *mpi;   /* borrowed; set before build() */
    const struct wf_node_params *node; /* likewise */
    struct wf_ranks *ranks;            /* either this or the next */
    struct wf_pes *pes;
    struct wf_expected expected; /* of a replay, if the job expects */
};

struct wf_job {
    const struct wf_job_ops *ops;
    const struct wf_plan *plan;
    struct wf_setup setup;
    /* For a replay: */
    struct wf_place place;
    struct wf_cpu cpu;
    struct wf_cpu_rules *rules;
    struct wf_ranks_tally *ideal;         /* of a run on an ideal network; null if none */
    struct wf_ranks_tally *free_network;  /* of one on a free network; null if none */
    struct wf_traffic *traffic;           /* for synthetic traffic */
    const struct wf_traffic_tally *tally; /* its tally, if the engine has none; else null */
    const struct wf_recording_options *recording; /* null: no recording */
    struct wf_spill_files *spill; /* spill files of the recording; may be null */
    bool expects;                 /* somebody watches how far the run has come */
    uint64_t seed;                /* for the noise of nodes */
    int64_t *ends;                /* as in struct wf_ranks_config; may be null */
    uint32_t only; /* number + 1 of the only program that does something; 0: all do */
    struct wf_source *silent;          /* [n_jobs], used for the others */
    struct wf_document_job *described; /* [n_jobs], of wf_document_jobs_of() */
};

/* How many ranks each one stands for (run/execute/fold.c). */
static inline uint32_t wf_job_copies(const struct wf_job *job)
{
    return job->plan->n_jobs == 1 ? job->plan->jobs[0].fold.copies : 1;
}

/* All members are required. */
struct wf_job_ops {
    /* Estimates the bytes that all processes of a run need together. Needs no preparation. */
    uint64_t (*memory)(const struct wf_job *job);
    /* Checks and prepares everything that needs no engine. */
    enum wf_status (*prepare)(struct wf_job *job, struct wf_err *err);
    /* Completes the setup: the job's own, or one for another network. */
    enum wf_status (*build)(const struct wf_job *job, struct wf_engine *engine,
                            struct wf_setup *setup, struct wf_err *err);

    /* Called in the first process, after a run that ended with `status`: fills the section
     * `result` of a document. Returns `status`, or WF_ESIM if the simulated program failed. */
    enum wf_status (*describe)(const struct wf_job *job, const struct wf_engine *engine,
                               const struct wf_run *run, struct wf_value *result,
                               enum wf_status status, struct wf_err *err);
};
