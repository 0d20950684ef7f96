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
    bool kept;   /* something is recorded */
    bool needed; /* for --efficiency, what-if or --runs: without a record, the run fails */
    char *directory;
    bool has_noise; /* compute times are measured: the noise of this host is known */
    struct wf_host_noise noise;
    struct wf_sim_recorded *jobs; /* [n_jobs]; null before wf_stage_record() */
    uint32_t n_jobs;
};

/* After wf_stage_play(): the scenario of a replay of the record, to be freed by the caller;
 * null if nothing is recorded. */
struct wf_scenario *wf_sim_record_scenario(const struct wf_sim_record *record,
                                           const struct wf_scenario *scenario);

/* Removes the record. The plan's sources must not be used afterwards. */
void wf_sim_record_end(struct wf_sim_record *record);
