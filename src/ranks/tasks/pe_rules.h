/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_TASKS_PE_RULES_H
#define WF_RANKS_TASKS_PE_RULES_H

/*
 * When the tasks of one PE run; what ranks/tasks/pe.c needs to know of it.
 *
 * Nothing overtakes a task that is ready, so that its start is known as soon as the ready ones
 * before it are: it is when the last of them ends. There is no queue of ready tasks therefore,
 * but the time at which all that are known to be ready will have run. What remains to be done
 * later is to tell the tasks that wait for a task when it is over.
 */

#include "net/net.h"
#include "ops/graph.h"
#include "ranks/cellmap.h"
#include "ranks/place.h"
#include "ranks/record/recorder.h"
#include "ranks/tasks/pe.h"

struct wf_pes {
    const struct wf_net *net;
    const struct wf_place *place;
    const struct wf_mpi_params *mpi;
    const struct wf_cpu *cpu;
    enum wf_pe_granularity granularity;
    bool timeless;
    bool runs_ahead; /* messages may be sent later than now */
    struct wf_process_ops ops;
    struct wf_recorder recorder;
    uint32_t n_jobs;
    struct wf_pe_job jobs[WF_TALLY_JOBS];
    uint32_t first[WF_TALLY_JOBS + 1]; /* the first PE of each */
};

/* Zeroed at the start. */
struct wf_pe {
    int64_t free_at; /* when all tasks that were started until now are over */
    int64_t compute_ps, overhead_ps;
    uint64_t sent_messages, sent_bytes;
    int64_t fresh_at;          /* when the fresh tasks became ready */
    struct wf_cellmap fresh;   /* by messages; their order is known when no more can come */
    struct wf_cellmap waiting; /* tasks that have some of what they need: their cells */
    uint32_t fresh_task;       /* if there is only one, it is here and not in the map */
    uint32_t n_fresh;
    uint32_t open_first, open_last; /* cells: tasks others wait for, by their ends; 0: none */
    uint16_t open_taken, open_used; /* entries of the first and of the last */
    uint32_t started;               /* tasks */
    uint32_t next_root;             /* or WF_NO_TASK; the ones before have been started */
    uint32_t unneeded;              /* messages that no task needed */
    uint32_t waking;                /* whether it will wake itself, but for ends of tasks */
    uint32_t surplus;               /* tasks that were ready when all had run */
};

/* A PE in one of its events. */
struct wf_pe_turn {
    const struct wf_pes *pes;
    struct wf_ctx *ctx;
    void *node;
    struct wf_pe *pe;
    const struct wf_graph *graph;
    uint32_t slot;   /* on the node */
    uint32_t number; /* in its job */
    uint32_t first;  /* PE of the job, in the run */
};

enum { WF_PE_CELL_SIZE = 64 };

/* What is over by now is told to the tasks that wait for it. Each event begins with this... */
void wf_pe_begin(const struct wf_pe_turn *turn);
/* ...and ends with this: makes sure that there is a next event if there must be one. */
void wf_pe_end(const struct wf_pe_turn *turn);

/* Starts the tasks that need nothing, or some of them if they are many. */
void wf_pe_kickoff(const struct wf_pe_turn *turn);
/* A message that this task needs will be here at the time `at`, now or later. */
void wf_pe_message(const struct wf_pe_turn *turn, uint32_t task, int64_t at);
/* All messages that this task needs are here. */
void wf_pe_arrived(const struct wf_pe_turn *turn, uint32_t task);
/* An event by which the PE wakes itself. */
enum wf_pe_why {
    WF_PE_AT_END,    /* of a task, if each has an event */
    WF_PE_WHEN_FREE, /* to go on with what became ready in the meantime */
    WF_PE_AT_ONCE,   /* behind the other events of the time at which it was scheduled */
};
void wf_pe_wake(const struct wf_pe_turn *turn, uint32_t why);

/* Finds a task that waits, of a PE that did not run all. Returns false if there is none. */
bool wf_pe_find_blocked(const struct wf_pe_turn *turn, struct wf_pe_blocked *out);

/* ---- of ranks/tasks/pe.c ---- */

enum wf_pe_event {
    WF_PE_KICKOFF = WF_NET_KINDS, /* the PE starts, or goes on starting tasks */
    WF_PE_ARRIVED,                /* all messages of a task are here */
    WF_PE_WAKE,
    WF_PE_DEPART, /* sends a message whose time has come */
    WF_PE_LOCAL,  /* a message within the node */
    WF_PE_SELF,   /* a message within the PE */
};

/* Schedules an event for the PE at the time `at`. */
void wf_pe_schedule(const struct wf_pe_turn *turn, enum wf_pe_event kind, uint32_t argument,
                    int64_t at);
/* Sends a message that departs at the time `at`. */
void wf_pe_send(const struct wf_pe_turn *turn, const struct wf_task_send *send, int64_t at);

#endif
