/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/facts.h"

#include "base/mem.h"
#include "base/units.h"
#include "ops/fields.h"
#include "ops/graph.h"

#include <stdlib.h>
#include <string.h>

/* Returns the histogram bin of a message of this length. */
static uint32_t size_bin(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
}

static void begin(struct wf_trace_facts *facts, uint32_t n_ranks)
{
    *facts = (struct wf_trace_facts){
        .n_ranks = n_ranks,
        .ranks = wf_xcalloc(n_ranks, sizeof(*facts->ranks)),
        .groups = wf_groups_new(n_ranks),
    };
}

static void add_rank(struct wf_trace_facts *facts, uint32_t rank)
{
    const struct wf_rank_facts *one = &facts->ranks[rank];

    facts->all.n_ops += one->n_ops;
    facts->all.n_messages += one->n_messages;
    facts->all.bytes = wf_count_add(facts->all.bytes, one->bytes);
}

static void count_message(struct wf_trace_facts *facts, struct wf_rank_facts *rank,
                          uint64_t bytes)
{
    rank->n_messages++;
    rank->bytes = wf_count_add(rank->bytes, bytes);
    facts->sizes[size_bin(bytes)]++;
}

static void add_compute(struct wf_rank_facts *rank, int64_t ps)
{
    rank->compute = ps > WF_TIME_MAX - rank->compute ? WF_TIME_MAX : rank->compute + ps;
}

/* ---- ops ---- */

/* sends(): whether ops of the family send a message. has_bytes(): whether they have a size. */
static bool sends(enum wf_op_family family)
{
    return family == WF_FAMILY_SEND || family == WF_FAMILY_SENDRECV ||
           family == WF_FAMILY_ONESIDED;
}

static bool has_bytes(enum wf_op_family family)
{
    return sends(family) || family == WF_FAMILY_RECV || family == WF_FAMILY_PERSISTENT ||
           family == WF_FAMILY_COLLECTIVE;
}

/* Returns the bytes of a call; for blocks of different lengths, their sum. */
static uint64_t bytes_of(const struct wf_op *op, uint32_t comm_size)
{
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);
    uint64_t bytes = op->kind == WF_OP_BARRIER || op->kind == WF_OP_IBARRIER ? 0 : op->bytes;

    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        if (layout->arrays[i].offset != offsetof(struct wf_op, counts) || op->counts == NULL) {
            continue;
        }
        bytes = 0;
        for (uint32_t k = 0; k < wf_op_length(op, &layout->arrays[i], comm_size); k++) {
            bytes = wf_count_add(bytes, op->counts[k]);
        }
    }
    return bytes;
}

static void count_op(struct wf_trace_facts *facts, struct wf_rank_facts *rank,
                     const struct wf_op *op, uint32_t comm_size)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    uint64_t bytes = has_bytes(family) ? bytes_of(op, comm_size) : 0;

    rank->n_ops++;
    facts->n_by_kind[op->kind]++;
    if (wf_op_reduces(op->kind) && op->reduction < WF_REDUCTIONS) {
        facts->n_by_reduction[op->reduction]++;
    }
    facts->bytes_by_kind[op->kind] = wf_count_add(facts->bytes_by_kind[op->kind], bytes);
    if (sends(family) && op->peer != WF_PROC_NULL) {
        count_message(facts, rank, bytes);
    }
    if (family == WF_FAMILY_COMPUTE) {
        add_compute(rank, op->duration);
    }
}

static void read_rank(struct wf_trace_facts *facts, const struct wf_source *source,
                      uint32_t number, const struct wf_pass *pass,
                      struct wf_pass_progress *progress)
{
    struct wf_rank_facts *rank = &facts->ranks[number];
    struct wf_group group = {.size = source->n_ranks};
    uint32_t comm = WF_COMM_WORLD;
    struct wf_cursor cursor;
    struct wf_op op;

    memset(&cursor, 0, sizeof(cursor));
    while (wf_source_next(source, number, &cursor, &op)) {
        if (wf_op_has_comm(op.kind) && op.comm != comm) {
            comm = op.comm;
            if (wf_source_group(source, number, comm, &group) && comm != WF_COMM_WORLD &&
                wf_groups_fault(facts->groups, &group) == NULL) {
                (void)wf_groups_learn(facts->groups, number, comm, &group);
            }
        }
        count_op(facts, rank, &op, group.size);
        wf_pass_op(pass, progress);
    }
}

void wf_trace_facts_init(struct wf_trace_facts *facts, const struct wf_source *source,
                         const struct wf_pass *pass)
{
    struct wf_pass_progress progress = {.n_ranks = source->n_ranks};
    struct wf_group group;
    uint32_t comm = 0;

    begin(facts, source->n_ranks);
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        read_rank(facts, source, rank, pass, &progress);
        add_rank(facts, rank);
        wf_pass_rank(pass, &progress);
    }
    while (wf_groups_at(facts->groups, facts->n_groups, &comm, &group)) {
        facts->n_groups++;
    }
}

/* ---- tasks ---- */

static void read_task(struct wf_trace_facts *facts, const struct wf_graph *graph, uint32_t pe,
                      uint32_t number)
{
    struct wf_rank_facts *one = &facts->ranks[pe];
    struct wf_task_needs needs = graph->ops->needs(graph, pe, number);
    struct wf_task task;

    graph->ops->task(graph, pe, number, &task);
    one->n_ops++;
    add_compute(one, task.duration);
    facts->n_task_needs += needs.tasks;
    facts->n_message_needs += needs.messages;
    for (uint32_t i = 0; i < task.n_sends; i++) {
        struct wf_task_send send;

        graph->ops->send(graph, &task, i, &send);
        count_message(facts, one, send.bytes);
    }
}

void wf_trace_graph_facts_init(struct wf_trace_facts *facts, const struct wf_graph *graph)
{
    begin(facts, graph->n_pes);
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        uint32_t n_tasks = graph->ops->n_tasks(graph, pe);

        for (uint32_t task = 0; task < n_tasks; task++) {
            read_task(facts, graph, pe, task);
        }
        add_rank(facts, pe);
    }
}

void wf_trace_facts_fini(struct wf_trace_facts *facts)
{
    free(facts->ranks);
    wf_groups_free(facts->groups);
}
