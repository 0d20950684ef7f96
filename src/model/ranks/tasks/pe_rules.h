/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The rules by which the tasks of one PE run, for model/ranks/tasks/pe.c.
 *
 * Nothing overtakes a ready task: it starts when the last ready task before it ends. So a PE
 * has no queue of ready tasks, only the time at which all known ready tasks will have run.
 * The only work left for later is to tell other tasks when the task that they wait for has
 * ended.
 *
 * PEs that share a core likewise have only the time at which the core will have run all known
 * ready tasks. So tasks must become ready in the order of the engine's time: each end of a task
 * has an event, and a task that messages made ready does not wait until its PE is free.
 *
 * The same holds for PEs with several streams, each of which has the time at which it will have
 * run all its known ready tasks. From the engine's time until the last of these times at least
 * one stream is busy without a gap.
 */

#include "engine/cellmap.h"
#include "model/ranks/cpu/contention.h"
#include "model/ranks/local.h"
#include "model/ranks/nic.h"
#include "model/ranks/noise.h"
#include "model/ranks/polling.h"
#include "model/ranks/rails.h"
#include "model/ranks/record/recorder.h"
#include "model/ranks/tasks/pe.h"
#include "model/ranks/tasks/streams.h"
#include "model/ranks/timeshare.h"
#include "program/ops/graph.h"

struct wf_pes {
    const struct wf_net *net;
    const struct wf_place *place;
    struct wf_rails rails;
    size_t slots_at;    /* offset of the PEs in the state of a node */
    uint32_t n_nics;    /* interfaces that PEs name */
    uint32_t n_streams; /* most streams of a PE of any job... */
    size_t streams_at;  /* ...and their offset in the state of a node, if that is more than 1 */
    const struct wf_mpi_params *mpi;
    const struct wf_node_params *node;
    struct wf_local local; /* messages within a node */
    struct wf_node_costs costs;
    struct wf_node_nics nics;
    struct wf_cpu_contention contention;
    struct wf_noise noise;
    struct wf_node_polling polling;
    struct wf_timeshare *timeshare; /* of PEs that share cores; null: none do */
    const struct wf_cpu *cpu;
    enum wf_pe_granularity granularity;
    bool timeless;
    struct wf_process_ops ops;
    struct wf_recorder recorder;
    uint32_t n_jobs;
    struct wf_pe_job *jobs;     /* [n_jobs] */
    uint32_t *first;            /* [n_jobs + 1], the first PE of each */
    struct wf_loggops *loggops; /* these rules instead of ours; null: none */
};

/* Whether an event other than the end of a task will wake a PE. */
enum wf_pe_waking {
    WF_PE_SLEEPS,
    WF_PE_WAKES,
    WF_PE_WAKES_LATE, /* when its fresh task, which sends nothing, would end */
};

/* All zero at the start. */
struct wf_pe {
    int64_t free_at; /* when all tasks that were started until now have ended */
    int64_t idle_ps; /* time in which no stream was busy, if there are several */
    int64_t compute_ps, overhead_ps;
    int64_t core_wait_ps; /* time in which ready tasks waited for the core */
    uint64_t sent_messages, sent_bytes;
    int64_t fresh_at;        /* when the fresh tasks became ready */
    struct wf_cellmap fresh; /* tasks that messages made ready; ordered when no more can come */
    struct wf_cellmap waiting; /* tasks that have received a part of what they need */
    struct wf_cellmap several; /* cells of those of them that need several messages */
    struct wf_cellmap copies;  /* cells with the CPU time of bytes that tasks have received */
    uint32_t fresh_task;       /* a single fresh task is kept here and not in the map */
    uint32_t n_fresh;
    struct wf_pe_open_list
        open;           /* tasks that others wait for; with several streams, those have lists */
    uint32_t started;   /* number of tasks started */
    uint32_t next_root; /* WF_NO_TASK: none; earlier ones have been started */
    uint32_t unneeded;  /* messages that no task needed */
    uint32_t waking;    /* enum wf_pe_waking */
    uint32_t surplus;   /* tasks that became ready after all had run */
};

/* A PE in one of its events. */
struct wf_pe_caller {
    const struct wf_pes *pes;
    struct wf_ctx *ctx;
    void *node;
    struct wf_pe *pe;
    struct wf_pe_stream *streams; /* of the PE; null: one stream */
    const struct wf_graph *graph;
    uint32_t slot;   /* slot on the node */
    uint32_t number; /* PE of the job */
    uint32_t first;  /* first PE of the job, numbered in the run */
};

enum { WF_PE_CELL_SIZE = 64 };

/* Tells tasks about the ended tasks that they wait for. Each event begins with this... */
void wf_pe_begin(const struct wf_pe_caller *who);
/* ...and ends with this: schedules the next event if one is needed. */
void wf_pe_end(const struct wf_pe_caller *who);

/* Starts the tasks that need nothing, or some of them if they are many. */
void wf_pe_kickoff(const struct wf_pe_caller *who);
/* A message of this many bytes that the task needs arrives at the time `at`, now or later. */
void wf_pe_message(const struct wf_pe_caller *who, uint32_t task, uint64_t bytes, int64_t at);
/* All messages that this task needs have arrived. */
void wf_pe_arrived(const struct wf_pe_caller *who, uint32_t task);
/* An event by which the PE wakes itself. */
enum wf_pe_why {
    WF_PE_AT_END,    /* the end of a task, if ends have events */
    WF_PE_WHEN_FREE, /* to run tasks that became ready in the meantime */
    WF_PE_AT_ONCE,   /* after the other events of the same time */
};
void wf_pe_wake(const struct wf_pe_caller *who, uint32_t why);

/* Finds a blocked task of a PE that did not run all its tasks. Returns false if there is
 * none. */
bool wf_pe_find_blocked(const struct wf_pe_caller *who, struct wf_pe_blocked *out);

/* ---- implemented in model/ranks/tasks/pe.c ---- */

enum wf_pe_event {
    WF_PE_KICKOFF = WF_NET_KINDS, /* the PE starts, or continues to start tasks */
    WF_PE_ARRIVED,                /* all messages of a task have arrived */
    WF_PE_WAKE,
    WF_PE_DEPART, /* hands a message to the network interface */
    WF_PE_LOCAL,  /* a message within the node */
    WF_PE_SELF,   /* a message within the PE, or a signal */
    WF_PE_INJECT, /* hands a message to the network */
};

/* Schedules an event for the PE at the time `at`. */
void wf_pe_schedule(const struct wf_pe_caller *who, enum wf_pe_event kind, uint32_t argument,
                    int64_t at);
/* Sends a message that departs at the time `at`. */
void wf_pe_send(const struct wf_pe_caller *who, const struct wf_task_send *send, int64_t at);

/* In finish: names a blocked PE in the tally. */
void wf_pe_add_blocked(struct wf_pe_tally *tally, const struct wf_pe_blocked *blocked);
