/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Message-driven programs on any network model: the tasks of a graph (program/ops/graph.h) on
 * processing elements (PEs), by the rules of TraceR (Acun, Jain, Bhatele, Mubarak, Carothers
 * and Kale, "Preliminary evaluation of a parallel trace replay tool for HPC network
 * simulations", Euro-Par 2015 workshops, algorithms 1 and 2).
 *
 * A PE runs one task at a time, without interruption. Ready tasks run in the order in which
 * they became ready. Among tasks that became ready at the same picosecond, those that waited
 * for a task come first, then those that waited for a message, by their numbers. The order
 * therefore does not depend on how the run is divided into events.
 *
 * A PE with several streams runs one task at a time on each of them, by the same rules. Tasks
 * that end at the same time end in the order of their numbers, and those that took no time
 * after the others.
 *
 * Besides the duration of its tasks, a PE spends CPU time on each message (model/ranks/node_costs.h):
 * before a task for the messages that it needs, and within the task for the messages that it
 * sends. A message to the PE itself arrives when it is sent.
 */

#include "base/status.h"
#include "model/ranks/tally.h"
#include "program/ops/graph.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_cpu;
struct wf_engine;
struct wf_mpi_params;
struct wf_net;
struct wf_node_params;
struct wf_pes;
struct wf_place;
struct wf_recording_options;

/* How a run is divided into events. On a network with a latency all choices predict the same
 * times, with two exceptions: messages of several PEs that leave a node at the same
 * picosecond and delay each other; and chains of tasks without duration that send to their
 * own PE within a picosecond. */
enum wf_pe_granularity {
    WF_PE_SINGLE, /* an event for the end of each task that takes time */
    WF_PE_MULTI,  /* one event for all ready tasks, where nothing can come between them */
};

extern const char *const wf_pe_granularity_names[]; /* null-terminated */

/* A program and when it starts. */
struct wf_pe_job {
    const struct wf_graph *graph; /* kept, and prepared */
    int64_t start;                /* picoseconds */
};

struct wf_pe_config {
    const struct wf_pe_job *jobs; /* the PEs of all jobs are numbered together in this order */
    uint32_t n_jobs;              /* 1 or more */
    const struct wf_place *place; /* kept; places the PEs of all jobs */
    struct wf_net *net;           /* kept; created for place->n_nodes, not yet attached */
    const struct wf_mpi_params *mpi;   /* kept; for messages within a node, and collectives */
    const struct wf_node_params *node; /* kept; null: wf_node_free */
    uint64_t seed;                     /* for the noise of nodes */
    const struct wf_cpu *cpu; /* kept; only its scale matters; null: durations as recorded */
    enum wf_pe_granularity granularity;
    bool timeless; /* tasks take no time: only the order of messages matters */
    const struct wf_recording_options *recording; /* null: the run is not recorded */
    int64_t *ends;                                /* as in struct wf_ranks_config */
};

/* A PE that did not run all its tasks, and one of its blocked tasks: what the task needs and
 * what is missing. The task is a guess if no task of the PE has received anything. */
struct wf_pe_blocked {
    uint32_t pe; /* PE of the run */
    uint32_t task;
    uint32_t tasks, messages; /* numbers that it needs */
    uint32_t missing_tasks, missing_messages;
    uint32_t started, n_tasks; /* tasks of the PE */
};

/* All zero means empty. */
struct wf_pe_tally {
    /* Members in use: messages, bytes, finish, compute, overhead, latency, ends, net,
     * unfinished, timeless. wait[WF_IN_RECV] is the time in which a PE was idle before the end
     * of its last task and had no ready task. unreceived counts the messages that no task
     * needed. */
    struct wf_ranks_tally replay;
    uint64_t tasks;   /* tasks that ran */
    uint64_t surplus; /* tasks that became ready twice: the graph is invalid */
    /* How long streams of each kind were busy, if PEs have several. */
    struct wf_stat streams[WF_STREAM_KINDS];
    uint32_t n_blocked, padding;
    struct wf_pe_blocked blocked[WF_TALLY_BLOCKED]; /* by number of the PE */
};

/* Adds the nodes and their PEs to the engine, connects the network and asks for a tally of
 * struct wf_pe_tally; wf_engine_run() may follow. Fails with WF_EINVAL if a node has too
 * many PEs or the network was created for another number of nodes, with WF_EUSAGE if parameters
 * of the node contradict each other or do not apply to tasks. The caller owns *out, which must
 * live as long as the engine. */
enum wf_status wf_pes_new(struct wf_engine *engine, const struct wf_pe_config *config,
                          struct wf_pes **out, struct wf_err *err);
void wf_pes_free(struct wf_pes *pes); /* null is allowed */

/* Approximate number of messages of the run, for progress reports; 0 if unknown. */
uint64_t wf_pes_expected_messages(const struct wf_pes *pes);
