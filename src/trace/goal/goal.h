/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A GOAL schedule in memory: for each rank its ops and which of them wait for which. Takes 56
 * bytes for an op and 16 for a dependency. It is a task graph, and has its ops as steps. */

#include "base/status.h"
#include "ops/graph.h"

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
    uint8_t kind; /* enum wf_goal_kind */
    uint8_t cpu, nic;
    uint32_t tag;                        /* or WF_GOAL_ANY */
    uint32_t peer;                       /* likewise */
    uint32_t task;                       /* its number; if it has a start, that comes before */
    uint64_t amount;                     /* bytes, or picoseconds */
    uint32_t match;                      /* of a send: the op that receives it, or WF_NO_TASK */
    uint32_t n_before;                   /* ops that it waits for */
    uint32_t edge;                       /* the first edge from it among those of the rank... */
    uint32_t n_after_start, n_after_end; /* ...of which so many come for its start, then so
                                            many for its end */
};

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
    uint64_t first, n; /* ops, among all */
    uint64_t first_edge, n_edges;
    uint64_t first_task, first_next; /* in `tasks` and `next` */
    uint32_t n_starts;               /* ops whose start another op waits for */
    bool is_there;
};

struct wf_goal {
    struct wf_graph graph; /* must be the first member; wf_goal_graph() fills it in */
    uint32_t n_ranks;
    struct wf_goal_rank *ranks;
    struct wf_goal_op *ops; /* those of a rank are adjacent */
    uint64_t n_ops, ops_capacity;
    struct wf_goal_edge *edges; /* likewise */
    uint64_t n_edges, edges_capacity;
    /* The tasks of each rank, with one more at its end for the member `next`; and the numbers of
     * the tasks that wait for each. wf_goal_graph() makes both. */
    struct wf_goal_task *tasks;
    uint32_t *next;
    bool has_starts;         /* of any rank: numbers of tasks differ from those of ops */
    uint32_t *after_in_file; /* members `after` of the edges from each op in the order of the
                                file; null: the order is the same */
    uint64_t n_streams;      /* ops on another cpu or nic than 0 */
    uint64_t n_wildcards;    /* receives from anybody, or with any tag */
};

/* The i-th edge that waits for the start or the end of an op. */
static inline const struct wf_goal_edge *wf_goal_edge_at(const struct wf_goal *goal,
                                                         const struct wf_goal_rank *rank,
                                                         const struct wf_goal_op *op,
                                                         bool of_start, uint32_t i)
{
    return &goal->edges[rank->first_edge + op->edge + (of_start ? 0 : op->n_after_start) + i];
}

/* Whether an op is a receive from anybody, or with any tag. */
static inline bool wf_goal_is_wildcard(const struct wf_goal_op *op)
{
    return op->kind == WF_GOAL_RECV && (op->peer == WF_GOAL_ANY || op->tag == WF_GOAL_ANY);
}

/* Sorts the edges of all ranks by the op before: those that wait for its start come first, then
 * by the op after. Fills in what ops say about edges, and after_in_file. */
void wf_goal_sort(struct wf_goal *goal);

/* Finds the receive for each send of a sorted schedule: the first that is posted for it if all
 * ops happen as soon as they can and take no time, as MPI matches messages. So an order exists
 * in which the program does what the graph says, also with wildcard receives. */
void wf_goal_match(struct wf_goal *goal);

/* Turns a matched schedule into a graph, which wf_graph_free() releases. An op is a task. If
 * others wait for its start, the start is a task of its own before it. */
struct wf_graph *wf_goal_graph(struct wf_goal *goal);

/* What both readers do after the file: sorts and matches the schedule, adds notes for the user,
 * and sets the graph of the trace, which takes `goal`. */
void wf_goal_finish(struct wf_goal *goal, struct wf_trace *out);

void wf_goal_free(struct wf_goal *goal); /* null is allowed */
