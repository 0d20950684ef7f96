/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What is done with jobs (run/plan/job.h). */

#include "engine/run.h"
#include "run/plan/job.h"

struct wf_comm;
struct wf_engine_config;

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
enum wf_status wf_job_run_again(const struct wf_job *job, const struct wf_job_again *again,
                                struct wf_setup *setup, struct wf_err *err);

/* For both kinds of replay: places the ranks, creates the network and the processors. */
enum wf_status wf_job_prepare_replay(struct wf_job *job, struct wf_err *err);
/* What the network is created for; the ranks are placed. */
struct wf_net_env wf_job_net_env(const struct wf_job *job);
/* WF_EUSAGE if the network has rules for task graphs only. `what` is this job: "synthetic
 * traffic". */
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
/* Makes a run of synthetic traffic longer if its result has not converged and the plan allows
 * it. Returns true if it did; the job must then be run again. */
bool wf_job_lengthen(const struct wf_plan *plan, const struct wf_value *doc);
