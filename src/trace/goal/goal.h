/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A GOAL schedule in memory: for each rank its ops and which of them wait for which. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum wf_goal_kind { WF_GOAL_CALC, WF_GOAL_SEND, WF_GOAL_RECV, WF_GOAL_KINDS };
enum { WF_GOAL_ANY = -1 };
#define WF_GOAL_NONE UINT64_MAX

struct wf_goal_op {
    enum wf_goal_kind kind;
    bool has_start; /* another op waits for its start */
    int32_t tag;
    int64_t peer;    /* or WF_GOAL_ANY */
    uint64_t amount; /* bytes, or picoseconds */
    uint32_t task;   /* its number; if it has a start, that comes before */
    uint64_t match;  /* of a send: the place of the receive among all ops, or WF_GOAL_NONE */
    uint64_t edge;   /* the first edge from it among those of the rank, or WF_GOAL_NONE */
};

/* One op waits for another of the same rank. */
struct wf_goal_edge {
    uint32_t before, after;
    bool for_start; /* until `before` has started, not until it is over */
};

struct wf_goal_rank {
    uint64_t first, n; /* ops, among all */
    uint64_t first_edge, n_edges;
    bool is_there;
};

struct wf_goal {
    uint32_t n_ranks;
    struct wf_goal_rank *ranks;
    struct wf_goal_op *ops; /* those of a rank are adjacent */
    uint64_t n_ops, ops_capacity;
    struct wf_goal_edge *edges; /* likewise; by the op before */
    uint64_t n_edges, edges_capacity;
    uint64_t n_streams;   /* ops on another cpu or nic than 0 */
    uint64_t n_wildcards; /* receives from anybody, or with any tag */
};

/* Whether an op is a receive from anybody, or with any tag. */
static inline bool wf_goal_is_wildcard(const struct wf_goal_op *op)
{
    return op->kind == WF_GOAL_RECV && (op->peer == WF_GOAL_ANY || op->tag == WF_GOAL_ANY);
}

/* Finds the receive for each send: the first that is posted for it if all ops happen as soon as
 * they can and take no time, as MPI matches messages. So an order exists in which the program
 * does what the graph says, also with wildcard receives. */
void wf_goal_match(struct wf_goal *goal);
