/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A scenario on its way to its document: what the stages of a run share. run.c has their order
 * and their conditions. A stage takes an execution and returns a status; after a failure,
 * *x->err says why.
 */

#include "program/ops/finding.h"
#include "run/execute/executor.h"
#include "run/execute/job.h"
#include "run/execute/orders.h"
#include "run/execute/record.h"
#include "run/execute/run.h"

/* The trace of a program that runs, as the host asks for it. */
struct wf_trace_out {
    struct wf_trace_writer *writer; /* null: no trace is written */
    struct wf_source *recorder;     /* that writes; belongs to the plan */
    uint64_t scale;                 /* factor on compute times */
};

struct wf_execution {
    const struct wf_scenario *scenario;
    const struct wf_sim_host *host;
    struct wf_err *err;
    enum wf_status status; /* of the stages so far */
    bool explains;         /* nothing is executed */
    bool ran;              /* the program ran to its end, in all processes */
    struct wf_value *doc;  /* null until it is described, and in processes but the first */

    const struct wf_orders *orders; /* of a search for errors in all orders; or null */
    struct wf_decisions decisions; /* of a program with a schedule, once it has been executed */
    struct wf_plan plan;
    bool planned, prepared; /* what there is to release */
    struct wf_trace_out trace;
    struct wf_sim_record record;

    struct wf_job job;
    struct wf_recording_options recording;
    bool is_recorded_only; /* the run is recorded and then replayed: it needs no timeline */
    struct wf_engine_config config; /* of all runs of the job */
    const struct wf_executor *executor;
    struct wf_executor_job outcome;
};

/* ---- before ---- */

/* Makes the plan. */
enum wf_status wf_stage_plan(struct wf_execution *x);
/* Passes on to the host what the user should know before the run. */
enum wf_status wf_stage_notes(struct wf_execution *x);
/* If host->trace is set, begins the trace, which wf_stage_record() connects to the program. */
enum wf_status wf_stage_trace(struct wf_execution *x);
/* Puts recorders between the plan and its programs, if the user's trace or a later replay needs
 * them. Measures the noise of this host, if compute times are measured. */
enum wf_status wf_stage_record(struct wf_execution *x);

/* ---- one execution of the plan ---- */

/* Folds the program, if its copies do the same. */
enum wf_status wf_stage_fold(struct wf_execution *x);
/* Makes the job of the plan and prepares it: memory, placement, network, recording. */
enum wf_status wf_stage_job(struct wf_execution *x);
/* Chooses what executes the job. */
enum wf_status wf_stage_executor(struct wf_execution *x);
/* Runs the job on a network without cost (ideal.c). */
bool wf_stage_wants_ideal(const struct wf_execution *x);
enum wf_status wf_stage_ideal(struct wf_execution *x);
/* Executes the job; the outcome tells whether that succeeded. */
enum wf_status wf_stage_execute(struct wf_execution *x);
/* Makes the document; returns the status of the outcome, or WF_ESIM if the program failed. */
enum wf_status wf_stage_describe(struct wf_execution *x);
/* Instead of the last two: makes a document with the memory and messages that are expected. */
enum wf_status wf_stage_estimate(struct wf_execution *x);
/* Adds the time with half the latency, twice the bandwidth or half the compute time (what_if.c). */
bool wf_stage_wants_what_if(const struct wf_execution *x);
enum wf_status wf_stage_what_if(struct wf_execution *x);
/* Adds how much jobs disturb each other (alone.c). */
bool wf_stage_wants_alone(const struct wf_execution *x);
enum wf_status wf_stage_alone(struct wf_execution *x);

/* Releases the job, so that the plan can be executed again; and then everything but the
 * document. */
void wf_execution_end_job(struct wf_execution *x);
void wf_execution_fini(struct wf_execution *x);

/* ---- after ---- */

/* Completes the trace of the user, or removes it after a failure. */
enum wf_status wf_stage_end_trace(struct wf_execution *x);
/* Makes the plan's sources those of the record, with corrected compute times. *again: the plan
 * must be executed again, because times changed or more than its own run was asked for. */
enum wf_status wf_stage_play(struct wf_execution *x, bool *again);
/* Adds to the document what is known about measured compute times. `raw_ps` is the prediction
 * with the times as measured. */
void wf_stage_describe_record(struct wf_execution *x, uint64_t raw_ps);
/* Repeats the replay with varied inputs and adds quantiles (replicas.c). */
bool wf_stage_wants_replicas(const struct wf_execution *x);
enum wf_status wf_stage_replicas(struct wf_execution *x);

/* ---- parts of stages ---- */

/* The time of a computation in the user's trace; `out` is a struct wf_trace_out. */
int64_t wf_sim_trace_out_duration(const void *out, int64_t ps);

/* Errors in the use of MPI that programs made: what weft run --check reports, and the warnings of
 * runs without it. Collects the findings of all programs and processes in the first process. All
 * processes call it. */
void wf_sim_check_collect(const struct wf_plan *plan, struct wf_comm *world,
                          struct wf_findings *out);

/* Adds the section `check` to the document if a program is checked, else a warning for each
 * finding. Returns WF_ESIM, with the first error, if a program is checked and did anything
 * wrong; else `status`. */
enum wf_status wf_sim_check_describe(const struct wf_plan *plan, struct wf_findings *findings,
                                     struct wf_value *root, enum wf_status status,
                                     struct wf_err *err);

/* Adds to that section what is known of other orders, and the decisions of this one. */
void wf_sim_check_describe_orders(const struct wf_execution *x, struct wf_value *root);

/* A program has ended the run, so that there is no document: adds the first error that it made
 * before, if it is checked, to the text of `err`. All processes call it. */
void wf_sim_check_mention(const struct wf_plan *plan, struct wf_comm *world,
                          struct wf_err *err);
