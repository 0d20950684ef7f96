/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A GOAL schedule in memory: for each rank its ops and which of them wait for which. Takes 56
 * bytes for an op and 16 for a dependency. It is a task graph, and has its ops as steps. */

#include "base/mem.h"
#include "base/status.h"
#include "program/ops/graph.h"
#include "program/trace/kit/workers.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

struct wf_trace;

/* Parameters of both readers. */
struct wf_goal_params {
    int64_t calc_unit;
};
extern const struct wf_param wf_goal_params_table[];

enum wf_goal_kind { WF_GOAL_CALC, WF_GOAL_SEND, WF_GOAL_RECV, WF_GOAL_KINDS };

#define WF_GOAL_ANY UINT32_MAX /* any sender, any tag */

struct wf_goal_op {
    uint64_t amount; /* bytes, or picoseconds */
    uint32_t peer;   /* or WF_GOAL_ANY */
    uint32_t tag;    /* likewise */
    uint32_t match;  /* of a send: the op that receives it, or WF_NO_TASK */
    uint8_t kind;    /* enum wf_goal_kind */
    uint8_t cpu, nic;
};

/* What else belongs to an op. A run asks seldom for it, so that ops are small without it. */
struct wf_goal_link {
    uint32_t task;                       /* its number; if it has a start, that comes before */
    uint32_t n_before;                   /* ops that it waits for */
    uint32_t edge;                       /* the first edge from it among those of the rank... */
    uint32_t n_after_start, n_after_end; /* ...of which so many come for its start, then so
                                            many for its end */
};

_Static_assert(sizeof(struct wf_goal_op) == 24, "small");

/* One op waits for another of the same rank. */
struct wf_goal_edge {
    uint32_t before, after;
    uint32_t for_end : 1; /* until `before` is over, not until it has started */
    uint32_t place : 31;  /* among the edges of the rank in the file */
};

#define WF_GOAL_EDGES_MAX (UINT32_C(1) << 29) /* of a rank */

/* What a run asks most often about a task. An op fills most of a cache line, and a run comes to
 * each task in several events, between which the caches have forgotten the rank: eight tasks of
 * this form share a line. */
struct wf_goal_task {
    uint32_t tasks : 29; /* tasks that it waits for... */
    uint32_t messages : 1;
    uint32_t has_op : 1; /* it takes time or sends something: its op has more */
    uint32_t spare : 1;
    uint32_t next; /* ...and the first that waits for it, among those of the rank */
};

_Static_assert(sizeof(struct wf_goal_task) == 8, "small");

struct wf_goal_rank {
    struct wf_goal_op *ops; /* wf_goal_finish() sets both... */
    struct wf_goal_edge *edges;
    struct wf_goal_link *links; /* ...and wf_goal_sort() these, one for each op */
    uint64_t first,
        n; /* ops: among those of the block until wf_goal_finish(), then among all */
    uint64_t first_edge, n_edges; /* likewise */
    uint32_t block;               /* that has the rank */
    uint32_t n_starts;            /* ops whose start another op waits for */
    bool is_there;
};

/* Where a run finds the tasks of a rank: half a cache line, since a run comes to the ranks in any
 * order. */
struct wf_goal_pe {
    struct wf_goal_task *tasks; /* with one more at the end, for its member `next` */
    uint32_t *next;             /* the numbers of the tasks that wait for each */
    struct wf_goal_op *ops;
    uint32_t n_tasks, n_next;
};

_Static_assert(sizeof(struct wf_goal_pe) <= 32, "small");

/* The ops and edges of some ranks: those that one worker has read. They stay where it has put
 * them, which a copy of all of them would undo. */
struct wf_goal_block {
    alignas(WF_CACHE_LINE) struct wf_goal_op *ops; /* those of a rank are adjacent */
    uint64_t n_ops, ops_capacity;
    struct wf_goal_edge *edges; /* likewise */
    uint64_t n_edges, edges_capacity;
    uint64_t n_streams;   /* ops on another cpu or nic than 0 */
    uint64_t n_wildcards; /* receives from anybody, or with any tag */
};

struct wf_goal {
    struct wf_graph graph; /* must be the first member; wf_goal_graph() fills it in */
    uint32_t n_ranks;
    struct wf_goal_rank *ranks;
    struct wf_goal_block blocks[WF_TRACE_WORKERS_MAX];
    uint64_t n_ops, n_edges; /* of all blocks, as what follows; wf_goal_finish() sets them */
    uint64_t n_streams, n_wildcards;
    struct wf_goal_link *links;
    /* Those of all ranks; wf_goal_graph() makes them. */
    struct wf_goal_pe *pes;
    struct wf_goal_task *tasks;
    uint32_t *next;
    bool has_starts;         /* of any rank: numbers of tasks differ from those of ops */
    uint32_t *after_in_file; /* members `after` of the edges from each op in the order of the
                                file; null: the order is the same */
};

/* An empty schedule, which wf_goal_free() releases. */
struct wf_goal *wf_goal_new(void);

/* The i-th edge that waits for the start or the end of an op. */
static inline const struct wf_goal_edge *wf_goal_edge_at(const struct wf_goal_rank *rank,
                                                         const struct wf_goal_link *link,
                                                         bool of_start, uint32_t i)
{
    return &rank->edges[link->edge + (of_start ? 0 : link->n_after_start) + i];
}

/* Whether an op is a receive from anybody, or with any tag. */
static inline bool wf_goal_is_wildcard(const struct wf_goal_op *op)
{
    return op->kind == WF_GOAL_RECV && (op->peer == WF_GOAL_ANY || op->tag == WF_GOAL_ANY);
}

/* Sorts the edges of all ranks by the op before: those that wait for its start come first, then
 * by the op after. Makes links and after_in_file. */
void wf_goal_sort(struct wf_goal *goal);

/* Finds the receive for each send of a sorted schedule: the first that is posted for it if all
 * ops happen as soon as they can and take no time, as MPI matches messages. So an order exists
 * in which the program does what the graph says, also with wildcard receives. */
void wf_goal_match(struct wf_goal *goal);
/* Likewise, op by op in that order, on one thread. wf_goal_match() avoids it where it can, with the
 * same result (channels.h). */
void wf_goal_match_in_order(struct wf_goal *goal);

/* Turns a matched schedule into a graph, which wf_graph_free() releases. An op is a task. If
 * others wait for its start, the start is a task of its own before it. */
struct wf_graph *wf_goal_graph(struct wf_goal *goal);

/* What both readers do after the file: joins the blocks, sorts and matches the schedule, adds notes for the user,
 * and sets the graph of the trace, which takes `goal`. */
void wf_goal_finish(struct wf_goal *goal, struct wf_trace *out);

void wf_goal_free(struct wf_goal *goal); /* null is allowed */
