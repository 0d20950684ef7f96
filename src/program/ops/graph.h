/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A task graph: the tasks of a message-driven program on each processing element (PE). BigSim
 * logs, GOAL schedules and generators are task graphs.
 *
 * The tasks of a PE are numbered from 0. A task can run when all tasks of the PE that it waits
 * for are over and all messages that it needs have arrived. It runs for its duration, without
 * interruption, and sends messages at given times after its start. A message satisfies one need
 * of one task of the receiving PE. The receiver finds that task from the sender and from the id
 * of the message.
 *
 * A PE has one or more streams: processors, GPU queues, copy engines, communication channels.
 * Streams run beside each other. A stream runs one task at a time, in the order in which its
 * tasks become ready. A program that issues tasks to a stream in a fixed order says so by
 * dependencies between them.
 *
 * No caller can see a graph change: the caller asks by number, in any order, and again after a
 * rollback. Several threads may ask for different PEs at once, but only one thread asks for a
 * PE at a time. So a generator stores no tasks, and a reader only as many as it wants.
 *
 * To add a generator: one .c file that defines a const struct wf_graph_ops and one line in
 * program/gen/graphs.def. The conformance test then covers it.
 */

#include "base/param.h"

#include <stdbool.h>
#include <stdlib.h>

#define WF_NO_TASK UINT32_C(0xffffffff) /* also the limit for the number of tasks of a PE */

enum { WF_STREAMS_MAX = 256 }; /* of a PE */

/* What a stream is. The processor model (scale, noise, contention, shared cores) applies to
 * CPU streams only. */
enum wf_stream_kind {
    WF_STREAM_CPU,
    WF_STREAM_GPU,  /* computations of a device */
    WF_STREAM_COPY, /* a copy engine */
    WF_STREAM_COMM, /* communication that a device or an interface drives */
    WF_STREAM_KINDS
};

extern const char *const wf_graph_stream_kinds[]; /* null-terminated */

/* How many tasks and messages a task waits for. */
struct wf_task_needs {
    uint32_t tasks;
    uint32_t messages;
};

/* A task that runs. */
struct wf_task {
    uint32_t pe, number;
    int64_t duration;   /* picoseconds, not negative */
    uint32_t n_sends;   /* messages that it sends */
    uint32_t n_next;    /* tasks of this PE that wait for it */
    uint32_t stream;    /* of the PE, on which it runs; 0 if the graph has one stream */
    uint64_t own[2];    /* for the graph itself, which sees them again in send() and next() */
    uint32_t n_signals; /* among the messages that it needs */
};

/* A message that a task sends. */
struct wf_task_send {
    int64_t offset; /* from the start of the task, 0 to its duration; in ascending order */
    uint64_t bytes;
    uint32_t pe; /* the receiver, which may be the sender */
    uint32_t id; /* for wf_graph_target() */
    /* Network interfaces of the sender and of the receiver, counted from the one that the PE
     * has of its node; if the node has fewer, they are counted round. */
    uint8_t nic, peer_nic;
    /* A signal costs nothing and does not use the network: it arrives so many picoseconds after
     * it was sent, or after the least delay of the network if that is more. 0: a message. */
    int64_t delay;
};

/* What a graph may know about the machine that it runs on. */
struct wf_graph_machine {
    const struct wf_coll_nccl *nccl; /* for the times of collectives by the table of NCCL... */
    uint32_t
        by_table;     /* ...which these take: bits 1 << enum wf_coll_kind (model/coll/coll.h) */
    bool has_traffic; /* and they last at least as long as their traffic */
    int64_t least_delay;   /* of a signal to another PE */
    const uint32_t *nodes; /* of each PE; valid during the call */
};

struct wf_coll_nccl;
struct wf_graph;
struct wf_steps_ops; /* program/ops/steps.h */

/* Members marked `may be null` have a default; all others are required. Callers pass only
 * numbers of PEs, tasks and messages that exist. */
struct wf_graph_ops {
    const char *name;    /* as written on the command line, without the "gen:" */
    const char *summary; /* one line, for --help */
    const struct wf_param *params;
    size_t params_size;

    /* Builds the graph of a program of `n_pes` >= 1 PEs. `params` is borrowed. On success the
     * caller owns *out and releases it with wf_graph_free(); on failure *out is left alone. */
    enum wf_status (*create)(const void *params, uint32_t n_pes, struct wf_graph **out,
                             struct wf_err *err);
    void (*destroy)(struct wf_graph *graph); /* may be null: free() */

    uint32_t (*n_tasks)(const struct wf_graph *graph, uint32_t pe);
    /* The first task that needs nothing and whose number is `from` or more; WF_NO_TASK if there
     * is none. These tasks run first, in the order of their numbers. */
    uint32_t (*root)(const struct wf_graph *graph, uint32_t pe, uint32_t from);
    struct wf_task_needs (*needs)(const struct wf_graph *graph, uint32_t pe, uint32_t task);
    void (*task)(const struct wf_graph *graph, uint32_t pe, uint32_t task, struct wf_task *out);
    /* Likewise, for a task that has run: only pe, number, n_next and `own` for next() need be
     * set. May be null: task(). */
    void (*over)(const struct wf_graph *graph, uint32_t pe, uint32_t task, struct wf_task *out);
    /* Fetches what the functions above read of a task that may run soon into the cache. `task`
     * is at most n_tasks(). May be null. */
    void (*fetch)(const struct wf_graph *graph, uint32_t pe, uint32_t task);
    /* The i-th message of a task as task() gave it. Sets all members of *out. */
    void (*send)(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                 struct wf_task_send *out);
    /* The i-th task that waits for this one. May be null if there are none. */
    uint32_t (*next)(const struct wf_graph *graph, const struct wf_task *task, uint32_t i);
    /* The task of `pe` that needs the message `id` from `src`; WF_NO_TASK if none does. May be
     * null: `id` is the number of the task. */
    uint32_t (*target)(const struct wf_graph *graph, uint32_t pe, uint32_t src, uint32_t id);
    /* WF_OK, or where and why a task could not be read. Such a task takes no time and sends
     * nothing. May be null. */
    enum wf_status (*check)(const struct wf_graph *graph, struct wf_err *err);
    /* Called before a run, and the only function that may change the tasks. May be null. */
    void (*prepare)(struct wf_graph *graph, const struct wf_graph_machine *machine);
};

/* The common head of every graph; the concrete struct has it as its first member. */
struct wf_graph {
    const struct wf_graph_ops *ops;
    uint32_t n_pes;
    /* Approximate numbers in all, for the progress display; 0: unknown. */
    uint64_t tasks_expected, messages_expected;
    const struct wf_steps_ops *steps; /* the program as steps; null: it has tasks only */
    uint32_t n_streams;               /* of a PE, at most WF_STREAMS_MAX; 0 is 1 */
    uint32_t n_nics; /* network interfaces that a PE names, at most 256; 0 is 1 */
    /* The kind of each stream, enum wf_stream_kind; null: all are CPUs. */
    const uint8_t *streams;
    char *assumed; /* what was assumed to make it, as a sentence; null: nothing */
};

/* Whether PEs have more than one stream or one interface. */
static inline bool wf_graph_has_streams(const struct wf_graph *graph)
{
    return graph->n_streams > 1 || graph->n_nics > 1;
}

static inline uint32_t wf_graph_n_streams(const struct wf_graph *graph)
{
    return graph->n_streams > 1 ? graph->n_streams : 1;
}

static inline uint32_t wf_graph_n_nics(const struct wf_graph *graph)
{
    return graph->n_nics > 1 ? graph->n_nics : 1;
}

/* The kind of a stream. */
static inline enum wf_stream_kind wf_graph_stream(const struct wf_graph *graph, uint32_t stream)
{
    return graph->streams != NULL ? (enum wf_stream_kind)graph->streams[stream] : WF_STREAM_CPU;
}

/* For root(): the first task from `from` to before `end` that needs nothing. */
static inline uint32_t wf_graph_root(const struct wf_graph *graph,
                                     struct wf_task_needs (*needs)(const struct wf_graph *graph,
                                                                   uint32_t pe, uint32_t task),
                                     uint32_t pe, uint32_t from, uint32_t end)
{
    for (; from < end; from++) {
        const struct wf_task_needs of = needs(graph, pe, from);
        if (of.tasks == 0 && of.messages == 0) {
            return from;
        }
    }
    return WF_NO_TASK;
}

static inline uint32_t wf_graph_target(const struct wf_graph *graph, uint32_t pe, uint32_t src,
                                       uint32_t id)
{
    return graph->ops->target != NULL ? graph->ops->target(graph, pe, src, id) : id;
}

static inline enum wf_status wf_graph_check(const struct wf_graph *graph, struct wf_err *err)
{
    return graph->ops->check != NULL ? graph->ops->check(graph, err) : WF_OK;
}

static inline void wf_graph_free(struct wf_graph *graph) /* null is allowed */
{
    if (graph != NULL && graph->ops->destroy != NULL) {
        graph->ops->destroy(graph);
    } else {
        free(graph);
    }
}
