/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The record of the programs of a plan. A program is executed once. If more than its
 * own run is asked for (the ideal network, what-if, corrected compute times), its ops and their
 * outcomes are recorded in a temporary trace, and every further number is a replay of that
 * record. So all numbers are about the same execution: the same compute times, and the same
 * matches of wildcards.
 *
 * One process records; the trace lies in the directory for temporary files until
 * wf_sim_record_end(). A trace that is replayed is its own record: its compute times can be
 * corrected too (replay.robust).
 */

#include "base/host_noise.h"
#include "program/ops/robust.h"
#include "run/plan/plan.h"

struct wf_sim_host;
struct wf_trace_out;
struct wf_trace_writer;

/* Of one program. */
struct wf_sim_recorded {
    struct wf_source *recorder; /* belongs to the plan; null: not recorded */
    struct wf_trace_writer *writer;
    char *path;              /* of the temporary trace */
    struct wf_err lost;      /* why there is no record; the status is WF_OK if there is */
    bool is_trace;           /* it is a trace already */
    bool is_measured;        /* compute times are measured and are to be corrected */
    bool is_judged;          /* the next two are set */
    struct wf_places places; /* its compute spans... */
    struct wf_robust robust; /* ...and those that took unusually long */
};

struct wf_sim_record {
    bool kept; /* something is recorded */
    bool
        needed; /* for --efficiency, what-if or --runs: a failure to record is one of the run */
    char *directory;
    bool has_noise; /* compute times are measured: the noise of this host is known */
    struct wf_host_noise noise;
    struct wf_sim_recorded jobs[WF_TALLY_JOBS];
};

/* Puts recorders between the plan and its programs, if a record or the user's trace (`out`)
 * needs them. Measures the noise of this host, if compute times are measured. */
WF_NODISCARD
enum wf_status wf_sim_record_begin(struct wf_sim_record *record, struct wf_plan *plan,
                                   const struct wf_sim_host *host, struct wf_trace_out *out,
                                   struct wf_err *err);

/* After a run that completed: ends the programs and makes the plan's sources those of the
 * record, with corrected compute times. *corrected tells whether any time changed. */
WF_NODISCARD
enum wf_status wf_sim_record_play(struct wf_sim_record *record, struct wf_plan *plan,
                                  bool *corrected, struct wf_err *err);

/* After wf_sim_record_play(): the scenario of a replay of the record, to be freed by the caller;
 * null if nothing is recorded. */
struct wf_scenario *wf_sim_record_scenario(const struct wf_sim_record *record,
                                           const struct wf_scenario *scenario);

/* Adds what is known about measured compute times to the document of the prediction: the
 * section `robust` if they are corrected, and a warning if few of them decide the prediction.
 * `raw_time` is the prediction with the times as measured, in picoseconds. Reads the traces of
 * the plan. */
void wf_sim_record_describe(const struct wf_sim_record *record, const struct wf_plan *plan,
                            uint64_t raw_time, struct wf_value *root);

/* Removes the record. The plan's sources must not be used afterwards. */
void wf_sim_record_end(struct wf_sim_record *record);
