/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_TASKS_PE_H
#define WF_RANKS_TASKS_PE_H

/*
 * Message-driven programs on any network model: the tasks of a graph (ops/graph.h) on
 * processing elements (PEs), by the rules of TraceR (Acun, Jain, Bhatele, Mubarak, Carothers
 * and Kale, "Preliminary evaluation of a parallel trace replay tool for HPC network
 * simulations", Euro-Par 2015 workshops, algorithms 1 and 2).
 *
 * A PE runs one task at a time, without interruption. Tasks that are ready wait in the order in
 * which they became it. Of those that became ready at the same picosecond, the ones that waited
 * for a task come first, then the ones that waited for a message, these by their numbers: so
 * that the order does not depend on how the run is cut into events.
 *
 * A PE spends the network's overhead for each message besides the duration of its tasks: for
 * the ones that a task needs before it, for the ones that it sends where it sends them. A
 * message to the PE itself arrives when it is sent.
 */

#include "base/status.h"
#include "ranks/tally.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_cpu;
struct wf_engine;
struct wf_graph;
struct wf_mpi_params;
struct wf_net;
struct wf_pes;
struct wf_place;
struct wf_recording_options;

/* How a run is cut into events. The predicted times are the same on a network with a latency,
 * but for two cases: messages of several PEs that leave a node at the same picosecond and get
 * in each other's way; and tasks without duration that send to their own PE, in chains that
 * happen within a picosecond. */
enum wf_pe_granularity {
    WF_PE_SINGLE, /* an event for the end of each task */
    WF_PE_MULTI,  /* one for all tasks that are ready, where nothing can come between them */
};

extern const char *const wf_pe_granularity_names[]; /* null-terminated */

/* A program and when it starts. */
struct wf_pe_job {
    const struct wf_graph *graph; /* kept */
    int64_t start;                /* picoseconds */
};

struct wf_pe_config {
    const struct wf_pe_job *jobs;    /* their PEs are numbered together in this order */
    uint32_t n_jobs;                 /* 1 to WF_TALLY_JOBS */
    const struct wf_place *place;    /* kept; of all PEs of all jobs */
    struct wf_net *net;              /* kept; created for place->n_nodes, not yet attached */
    const struct wf_mpi_params *mpi; /* kept; only how messages travel within a node counts */
    const struct wf_cpu *cpu;        /* kept; only its scale counts; null: as they are */
    enum wf_pe_granularity granularity;
    bool timeless; /* tasks take no time: only the order of messages counts */
    const struct wf_recording_options *recording; /* null: the run is not recorded */
};

/* A PE that did not run all its tasks, and one that waits: what for is missing, out of what it
 * needs. If the PE got nothing of what its tasks wait for, it is a guess which one is next. */
struct wf_pe_blocked {
    uint32_t pe; /* of the run */
    uint32_t task;
    uint32_t tasks, messages; /* needed */
    uint32_t missing_tasks, missing_messages;
    uint32_t started, n_tasks; /* of the PE */
};

/* Zeroed is empty. */
struct wf_pe_tally {
    /* Of this: messages, bytes, finish, compute, overhead; as wait[WF_IN_RECV], the time up to
     * its last task in which a PE was idle; latency; ends, net; unfinished, timeless; and as
     * unreceived, messages that no task needed. */
    struct wf_ranks_tally replay;
    uint64_t tasks;   /* that ran */
    uint64_t surplus; /* that would have run once more: the graph makes no sense */
    uint32_t n_blocked, padding;
    struct wf_pe_blocked blocked[WF_TALLY_BLOCKED]; /* by the number of the PE */
};

/* Adds the nodes and their PEs to the engine, connects the network and asks for a tally of
 * struct wf_pe_tally: all that is left to do is wf_engine_run(). Fails with WF_EINVAL if there
 * are too many PEs on a node or the network was made for another number of nodes. The caller
 * owns *out, which must live as long as the engine. */
WF_NODISCARD
enum wf_status wf_pes_new(struct wf_engine *engine, const struct wf_pe_config *config,
                          struct wf_pes **out, struct wf_err *err);
void wf_pes_free(struct wf_pes *pes); /* null is allowed */

/* Roughly the messages of the run, to tell how far it is; 0 is unknown. */
uint64_t wf_pes_expected_messages(const struct wf_pes *pes);

/* Bytes of state of a PE that has nothing to do, and of its share of the node's. */
size_t wf_pes_idle_bytes(const struct wf_pes *pes);

#endif
