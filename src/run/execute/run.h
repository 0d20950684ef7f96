/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * From a scenario to a result document. Several scenarios may run in one process, each in a
 * thread of its own.
 */

#include "base/choice.h"
#include "base/status.h"
#include "program/trace/kit/losses.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_comm;
struct wf_scenario;
struct wf_setting;
struct wf_trace_writer_ops;
struct wf_value;

struct wf_sim_progress {
    double fraction; /* fraction completed, 0 to 1; negative if unknown */
    int64_t time_ps;
    uint64_t events;
    uint64_t rolled_back;
    size_t runs_done, runs; /* instead, repeated runs (replicas.c); 0: the run itself */
};

/* Options of a recording (docs/reference/result-document.md, `recording`). Individual spans
 * and messages of the chosen ranks and times are kept up to these numbers; beyond them, only
 * sums. */
struct wf_sim_recording {
    uint64_t spans, messages, calls;
    bool has_calls;
    struct wf_choice choice;
    uint64_t path_bytes; /* memory for the critical path; 0: do not find it */
};

/* Records a program that runs as a trace, in the format that its name ends in. */
struct wf_sim_trace {
    const char *path;
    bool force;              /* replace an existing file */
    uint32_t parts;          /* as in struct wf_trace_writer_options */
    uint64_t n_ops;          /* set after WF_OK, as the next two: ops in the trace... */
    uint64_t n_open;         /* ...receives whose matching message is not in the trace... */
    struct wf_losses losses; /* ...and items that the format cannot hold */
};

/* The format of a trace with this name: .weft if the name has no known extension. */
enum wf_status wf_sim_trace_out_format(const char *path, const struct wf_trace_writer_ops **out,
                                       struct wf_err *err);

/* Values of `stop` below. A run that stops soon has executed all events up to the time that it
 * reached, but that may take a while. */
enum { WF_SIM_STOP_SOON = 1, WF_SIM_STOP_NOW = 2 };

/* How a run communicates with its caller. Zeroed: one process, no progress, no recording. */
struct wf_sim_host {
    struct wf_comm *world; /* run/execute/world.h; null means this process alone */
    /* The run ends early when this becomes nonzero; polled. May be null. */
    const volatile sig_atomic_t *stop;
    /* Called by one thread of a run when it begins to execute events and when it ends to; in
     * between, `stop` is polled. May be null. */
    void (*running)(void *arg, bool running);
    void *running_arg;
    /* Called from time to time from one thread. May be null. */
    void (*progress)(void *arg, const struct wf_sim_progress *progress);
    void *progress_arg;
    /* Counts messages beforehand: `progress` has a fraction, and long runs are noted. */
    bool expects;
    bool forecast; /* what the run would take on several threads */
    /* Called before the run for each setting from a file that was skipped. May be null. */
    void (*skipped)(void *arg, const struct wf_setting *setting);
    void *skipped_arg;
    /* Called before the run for each note of the scenario. May be null. */
    void (*noted)(void *arg, const char *note);
    void *noted_arg;
    const struct wf_sim_recording *recording; /* null: no recording */
    /* A replay with at most this many events is run again with changes (`what_if`); 0:
     * never. */
    uint64_t what_if_events;
    struct wf_sim_trace *trace; /* null: no trace is written */
    size_t run_threads;         /* for repeated runs and lock step; 0: as many as cores */
};

/*
 * Runs the scenario. In process 0, *doc is a result document, which the caller frees with
 * wf_doc_free(), if the status is
 *   WF_OK     completed
 *   WF_EINTR  interrupted: a partial result, marked as such
 *   WF_ESIM   the simulated program failed: result and `err` describe why
 * With any other status, and in other processes, *doc is null.
 */
enum wf_status wf_sim_run(const struct wf_scenario *scenario, const struct wf_sim_host *host,
                          struct wf_value **doc, struct wf_err *err);

/* Checks everything that can be checked without running. *doc then has the complete scenario
 * and an estimate of the memory and the messages; it is null if the status is not WF_OK. */
enum wf_status wf_sim_explain(const struct wf_scenario *scenario,
                              const struct wf_sim_host *host, struct wf_value **doc,
                              struct wf_err *err);

/* What is known of a scenario without a run. */
struct wf_sim_facts {
    bool lacks_memory; /* a program needs more memory than a device of the machine has */
    int64_t least_ps;  /* of the run: as long as its busiest rank computes; 0: not known */
};

/* Checks a scenario. */
enum wf_status wf_sim_check(const struct wf_scenario *scenario, struct wf_sim_facts *facts,
                            struct wf_err *err);

struct wf_plan;
/* The time that the program of a plan takes at least; 0 if it is not known. */
int64_t wf_sim_bound(const struct wf_plan *plan);

/* ---- scenarios that are executed together ---- */

/* The points of a curve or of a study on a GPU, which is fast only if it has much to do at once.
 * The result of each is the same as if it ran alone. */

/* A scenario and its outcome, as wf_sim_run() has it. The caller frees the document. */
struct wf_sim_item {
    const struct wf_scenario *scenario;
    struct wf_value *doc;
    struct wf_err err; /* err.status is the outcome */
};

/* Whether `n` scenarios like this one should be executed together. */
bool wf_sim_batch_suits(const struct wf_scenario *scenario, size_t n);

/* Executes all scenarios. `host->progress` reports the fraction of all of them. */
void wf_sim_batch_run(struct wf_sim_item *items, size_t n, const struct wf_sim_host *host);
