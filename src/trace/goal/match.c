/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/goal/goal.h"

#include "base/mem.h"

#include <stdlib.h>

#define NONE UINT64_MAX

/* The state of an op during the matching. */
struct state {
    uint64_t next;            /* next op in its queue */
    uint64_t earlier, later;  /* neighbours in the list `arrived` of its receiver */
    uint64_t sequence;        /* order in which ops were posted */
    uint32_t rank, n_missing; /* n_missing: ops that it still waits for */
};

/* Unmatched messages, or unmatched receives, with the same receiver, sender and tag. */
struct queue {
    uint64_t key; /* 0: unused */
    int64_t peer;
    uint64_t first, last;
};

struct matching {
    struct wf_goal *goal;
    struct state *states;
    uint64_t *ready; /* ops in the order in which they start */
    uint64_t n_ready, sequence;
    struct queue *queues; /* a hash table */
    uint64_t n_queues;
    struct queue *wildcards; /* per rank: wildcard receives */
    struct queue *arrived;   /* per rank: messages that no receive has matched */
};

static struct queue *queue_of(struct matching *m, uint32_t to, int64_t from, int32_t tag)
{
    uint64_t key = ((uint64_t)to << 32 | (uint32_t)tag) + 1;
    uint64_t at =
        (key * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)from * UINT64_C(0xc2b2ae3d27d4eb4f));

    at ^= at >> 29;
    while (m->queues[at & (m->n_queues - 1)].key != 0) {
        struct queue *queue = &m->queues[at & (m->n_queues - 1)];
        if (queue->key == key && queue->peer == from) {
            return queue;
        }
        at++;
    }
    struct queue *queue = &m->queues[at & (m->n_queues - 1)];
    *queue = (struct queue){.key = key, .peer = from, .first = NONE, .last = NONE};
    return queue;
}

static void push(struct matching *m, struct queue *queue, uint64_t op)
{
    m->states[op].next = NONE;
    if (queue->first == NONE) {
        queue->first = op;
    } else {
        m->states[queue->last].next = op;
    }
    queue->last = op;
}

static void pop(struct matching *m, struct queue *queue)
{
    queue->first = m->states[queue->first].next;
}

/* ---- start and end of ops ---- */

static void satisfy(struct matching *m, uint64_t op, bool of_start)
{
    const struct wf_goal *goal = m->goal;
    const struct wf_goal_rank *rank = &goal->ranks[m->states[op].rank];
    const struct wf_goal_edge *edges = goal->edges + rank->first_edge;
    uint32_t own = (uint32_t)(op - rank->first);

    for (uint64_t i = goal->ops[op].edge; i < rank->n_edges && edges[i].before == own; i++) {
        uint64_t after = rank->first + edges[i].after;
        if (edges[i].for_start == of_start && --m->states[after].n_missing == 0) {
            m->ready[m->n_ready++] = after;
        }
    }
}

static void meet(struct matching *m, uint64_t send, uint64_t recv)
{
    m->goal->ops[send].match = recv;
    satisfy(m, recv, false);
}

/* ---- messages ---- */

static bool accepts(const struct wf_goal_op *recv, int64_t from, int32_t tag)
{
    return (recv->peer == WF_GOAL_ANY || recv->peer == from) &&
           (recv->tag == WF_GOAL_ANY || recv->tag == tag);
}

/* Removes an op from the middle of a queue. `before` is the op before it, or NONE. */
static void take_out(struct matching *m, struct queue *queue, uint64_t before, uint64_t op)
{
    if (before == NONE) {
        queue->first = m->states[op].next;
    } else {
        m->states[before].next = m->states[op].next;
    }
    if (queue->last == op) {
        queue->last = before;
    }
}

static void forget_arrived(struct matching *m, uint32_t rank, uint64_t send)
{
    const struct state *state = &m->states[send];
    struct queue *all = &m->arrived[rank];

    if (state->earlier == NONE) {
        all->first = state->later;
    } else {
        m->states[state->earlier].later = state->later;
    }
    if (state->later == NONE) {
        all->last = state->earlier;
    } else {
        m->states[state->later].earlier = state->earlier;
    }
}

static void on_send(struct matching *m, uint64_t send)
{
    const struct wf_goal_op *op = &m->goal->ops[send];
    uint32_t to = (uint32_t)op->peer;
    int64_t from = m->states[send].rank;
    struct queue *queue = queue_of(m, to, from, op->tag), *wildcards = &m->wildcards[to];
    uint64_t before = NONE, found = wildcards->first;
    uint64_t exact = queue->first != NONE && m->goal->ops[queue->first].kind == WF_GOAL_RECV
                         ? queue->first
                         : NONE;

    while (found != NONE && !accepts(&m->goal->ops[found], from, op->tag)) {
        before = found;
        found = m->states[found].next;
    }
    if (exact != NONE &&
        (found == NONE || m->states[exact].sequence < m->states[found].sequence)) {
        pop(m, queue);
        meet(m, send, exact);
    } else if (found != NONE) {
        take_out(m, wildcards, before, found);
        meet(m, send, found);
    } else {
        struct queue *all = &m->arrived[to];
        push(m, queue, send);
        m->states[send].earlier = all->last;
        m->states[send].later = NONE;
        if (all->last == NONE) {
            all->first = send;
        } else {
            m->states[all->last].later = send;
        }
        all->last = send;
    }
    satisfy(m, send, false);
}

static void on_recv(struct matching *m, uint64_t recv)
{
    const struct wf_goal_op *op = &m->goal->ops[recv];
    uint32_t to = m->states[recv].rank;
    uint64_t found;
    struct queue *queue;

    m->states[recv].sequence = m->sequence++;
    if (wf_goal_is_wildcard(op)) {
        found = m->arrived[to].first;
        while (found != NONE && !accepts(op, m->states[found].rank, m->goal->ops[found].tag)) {
            found = m->states[found].later;
        }
        if (found == NONE) {
            push(m, &m->wildcards[to], recv);
            return;
        }
        /* `found` arrived first with its sender and tag, so it is the first in its queue. */
        queue = queue_of(m, to, m->states[found].rank, m->goal->ops[found].tag);
    } else {
        queue = queue_of(m, to, op->peer, op->tag);
        found = queue->first;
        if (found == NONE || m->goal->ops[found].kind == WF_GOAL_RECV) {
            push(m, queue, recv);
            return;
        }
    }
    pop(m, queue);
    forget_arrived(m, to, found);
    meet(m, found, recv);
}

/* ---- all ops ---- */

static void start(struct matching *m, uint64_t op)
{
    satisfy(m, op, true);
    switch (m->goal->ops[op].kind) {
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

static void prepare(struct matching *m)
{
    const struct wf_goal *goal = m->goal;
    uint64_t n_messages = 0;

    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        const struct wf_goal_rank *rank = &goal->ranks[r];
        m->wildcards[r] = m->arrived[r] = (struct queue){.first = NONE, .last = NONE};
        for (uint64_t i = 0; i < rank->n; i++) {
            m->states[rank->first + i].rank = r;
            n_messages += goal->ops[rank->first + i].kind != WF_GOAL_CALC ? 1 : 0;
        }
        for (uint64_t i = 0; i < rank->n_edges; i++) {
            m->states[rank->first + goal->edges[rank->first_edge + i].after].n_missing++;
        }
    }
    m->n_queues = 64;
    while (m->n_queues < n_messages * 2) {
        m->n_queues *= 2;
    }
    m->queues = wf_xcalloc(m->n_queues, sizeof(*m->queues));
    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        for (uint64_t i = goal->ranks[r].first; i < goal->ranks[r].first + goal->ranks[r].n;
             i++) {
            if (m->states[i].n_missing == 0) {
                m->ready[m->n_ready++] = i;
            }
        }
    }
}

void wf_goal_match(struct wf_goal *goal)
{
    struct matching m = {.goal = goal};

    m.states = wf_xcalloc(goal->n_ops + 1, sizeof(*m.states));
    m.ready = wf_xcalloc(goal->n_ops + 1, sizeof(*m.ready));
    m.wildcards = wf_xcalloc(goal->n_ranks, sizeof(*m.wildcards));
    m.arrived = wf_xcalloc(goal->n_ranks, sizeof(*m.arrived));
    prepare(&m);
    for (uint64_t i = 0; i < m.n_ready; i++) {
        start(&m, m.ready[i]);
    }
    free(m.states);
    free(m.ready);
    free(m.queues);
    free(m.wildcards);
    free(m.arrived);
}
