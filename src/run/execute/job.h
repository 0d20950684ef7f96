/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A plan in a form that can be built on an engine, and that describes the result of the run.
 * There are four kinds, in job_*.c: replays of operations, replays of tasks, synthetic traffic
 * and the engine's own benchmark models.
 */

#include "engine/run.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/place.h"
#include "model/ranks/record/recorder.h"
#include "program/ops/source.h"
#include "run/document/document.h"
#include "run/plan/plan.h"

struct wf_comm;
struct wf_cpu_rules;
struct wf_engine;
struct wf_engine_config;
struct wf_mpi_params;
struct wf_net;
struct wf_node_params;
struct wf_pes;
struct wf_ranks;
struct wf_traffic;
struct wf_traffic_tally;

/* The models that are built on an engine and live as long as it. A benchmark has none. */
struct wf_setup {
    struct wf_net *net;                /* owned; set before build() */
    const struct wf_mpi_params *mpi;   /* borrowed; set before build() */
    const struct wf_node_params *node; /* likewise */
    struct wf_ranks *ranks;            /* either this or the next */
    struct wf_pes *pes;
    uint64_t expected_messages; /* estimate for a replay; 0 if unknown */
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
    struct wf_traffic *traffic;           /* for synthetic traffic */
    const struct wf_traffic_tally *tally; /* its tally, if the engine has none; else null */
    const struct wf_recording_options *recording; /* null: no recording */
    struct wf_spill_files *spill; /* spill files of the recording; may be null */
    uint64_t seed;                /* for the noise of nodes */
    int64_t *ends;                /* as in struct wf_ranks_config; may be null */
    uint32_t only; /* number + 1 of the only program that does something; 0: all do */
    struct wf_source silent[WF_TALLY_JOBS]; /* used for the others */
};

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

extern const struct wf_job_ops wf_job_replay;
extern const struct wf_job_ops wf_job_graph;
extern const struct wf_job_ops wf_job_bench;
extern const struct wf_job_ops wf_job_traffic;

/* The job of a plan, which must outlive it; and its release. */
void wf_job_init(struct wf_job *job, const struct wf_plan *plan);
void wf_job_fini(struct wf_job *job);

void wf_setup_fini(struct wf_setup *setup);

/* Runs a prepared job of MPI operations or tasks on an ideal network (ideal.c). The first process
 * keeps the tally in job->ideal, unless the run did not finish. An interrupted run is WF_OK. */
WF_NODISCARD
enum wf_status wf_job_run_ideal(struct wf_job *job, const struct wf_engine_config *config,
                                struct wf_comm *world, struct wf_err *err);

/* Another run of a job of MPI operations or tasks, beside that of its document. */
struct wf_job_again {
    const struct wf_engine_config *config;
    struct wf_comm *world;
    /* Called in the first process if all programs ended. */
    void (*ended)(void *arg, const struct wf_ranks_tally *tally, const struct wf_run *run);
    void *arg;
};

/* Runs a prepared job on the models of `setup`, which the caller releases. Programs print
 * nothing. An interrupted run is WF_OK. All processes call it. */
WF_NODISCARD
enum wf_status wf_job_run_again(const struct wf_job *job, const struct wf_job_again *again,
                                struct wf_setup *setup, struct wf_err *err);

/* For both kinds of replay: places the ranks, creates the network and the processors. */
WF_NODISCARD
enum wf_status wf_job_prepare_replay(struct wf_job *job, struct wf_err *err);
/* What the network is created for; the ranks are placed. */
struct wf_net_env wf_job_net_env(const struct wf_job *job);
/* WF_EUSAGE if the network has rules for task graphs only. `what` is this job: "synthetic
 * traffic". */
WF_NODISCARD
enum wf_status wf_job_check_rules(const struct wf_job *job, const char *what,
                                  struct wf_err *err);
/* The cycle of queues of the network that wait for each other after a run; its length is 0 if
 * there is none, or if the run was ended before. `counters` are those of the network, if it has
 * any. */
struct wf_net_deadlock wf_job_stuck(const struct wf_job *job, const void *counters,
                                    const struct wf_run *run, enum wf_status status);
/* Adds what a replay that ended with `outcome` did to the network, and the energy it took.
 * `counters` are those of the network, if it has any. */
void wf_job_describe_network(const struct wf_job *job, const struct wf_ranks_tally *tally,
                             const void *counters, const struct wf_run *run,
                             struct wf_value *result, enum wf_status outcome);
/* The number of ranks of all programs, and the bytes that their placement takes. */
uint64_t wf_job_n_ranks(const struct wf_job *job);
uint64_t wf_job_place_memory(const struct wf_job *job);
/* The programs, as the functions of run/document/document.h take them. */
struct wf_document_jobs wf_job_document_jobs(const struct wf_job *job);
/* Makes a run of synthetic traffic longer if its result has not converged and the plan allows
 * it. Returns true if it did; the job must then be run again. */
bool wf_job_lengthen(const struct wf_plan *plan, const struct wf_value *doc);
