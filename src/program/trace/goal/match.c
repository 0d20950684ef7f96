/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/goal.h"

#include "base/mem.h"
#include "program/ops/matching.h"
#include "program/trace/goal/channels.h"

#include <stdlib.h>

/* The state of an op during the matching. */
struct state {
    uint32_t rank, n_missing; /* n_missing: ops that it still waits for */
};

/* Messages and receives are matched by the numbers of their ops among all. */
struct matcher {
    struct wf_goal *goal;
    struct state *states;
    uint64_t *ready; /* ops in the order in which they start */
    uint64_t n_ready;
    struct wf_matching *matching;
};

/* ---- start and end of ops ---- */

static struct wf_goal_op *op_at(const struct matcher *m, uint64_t op)
{
    const struct wf_goal_rank *rank = &m->goal->ranks[m->states[op].rank];

    return &rank->ops[op - rank->first];
}

static void satisfy(struct matcher *m, uint64_t op, bool of_start)
{
    const struct wf_goal_rank *rank = &m->goal->ranks[m->states[op].rank];
    const struct wf_goal_link *before = &rank->links[op - rank->first];
    uint32_t n = of_start ? before->n_after_start : before->n_after_end;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t after = rank->first + wf_goal_edge_at(rank, before, of_start, i)->after;
        if (--m->states[after].n_missing == 0) {
            m->ready[m->n_ready++] = after;
        }
    }
}

static void meet(struct matcher *m, uint64_t send, uint64_t recv)
{
    struct wf_goal_op *op = op_at(m, send);

    op->match = (uint32_t)(recv - m->goal->ranks[op->peer].first);
    satisfy(m, recv, false);
}

static void on_send(struct matcher *m, uint64_t send)
{
    const struct wf_goal_op *op = op_at(m, send);
    uint64_t recv = wf_matching_message(
        m->matching, &(struct wf_matching_header){op->peer, m->states[send].rank, op->tag},
        send);

    if (recv != WF_MATCHING_NONE) {
        meet(m, send, recv);
    }
    satisfy(m, send, false);
}

static void on_recv(struct matcher *m, uint64_t recv)
{
    const struct wf_goal_op *op = op_at(m, recv);
    uint64_t send = wf_matching_receive(
        m->matching, &(struct wf_matching_header){m->states[recv].rank, op->peer, op->tag},
        recv);

    if (send != WF_MATCHING_NONE) {
        meet(m, send, recv);
    }
}

/* ---- all ops ---- */

static void start(struct matcher *m, uint64_t op)
{
    satisfy(m, op, true);
    switch ((enum wf_goal_kind)op_at(m, op)->kind) {
    case WF_GOAL_SEND:
        on_send(m, op);
        break;
    case WF_GOAL_RECV:
        on_recv(m, op);
        break;
    case WF_GOAL_CALC:
    case WF_GOAL_KINDS:
        satisfy(m, op, false);
        break;
    }
}

static void prepare(struct matcher *m)
{
    const struct wf_goal *goal = m->goal;

    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        const struct wf_goal_rank *rank = &goal->ranks[r];
        for (uint64_t i = 0; i < rank->n; i++) {
            m->states[rank->first + i] = (struct state){r, rank->links[i].n_before};
            if (rank->links[i].n_before == 0) {
                m->ready[m->n_ready++] = rank->first + i;
            }
        }
    }
}

void wf_goal_match_in_order(struct wf_goal *goal)
{
    struct matcher m = {.goal = goal, .matching = wf_matching_new(goal->n_ranks)};

    m.states = wf_xcalloc(goal->n_ops + 1, sizeof(*m.states));
    m.ready = wf_xcalloc(goal->n_ops + 1, sizeof(*m.ready));
    prepare(&m);
    for (uint64_t i = 0; i < m.n_ready; i++) {
        start(&m, m.ready[i]);
    }
    free(m.states);
    free(m.ready);
    wf_matching_free(m.matching);
}

void wf_goal_match(struct wf_goal *goal)
{
    if (!wf_goal_match_channels(goal)) {
        wf_goal_match_in_order(goal);
    }
}
