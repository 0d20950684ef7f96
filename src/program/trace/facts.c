/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/facts.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/ops/fields.h"
#include "program/ops/graph.h"
#include "program/trace/kit/workers.h"

#include <stdalign.h>
#include <stdatomic.h>
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
           family == WF_FAMILY_COLLECTIVE || family == WF_FAMILY_FILE;
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

/* Properties of a kind of op, looked up once. */
struct kind_facts {
    bool has_comm, has_bytes, sends, reduces, computes;
    bool has_one_size; /* its size is `bytes` */
};

static void plan_kinds(struct kind_facts *kinds)
{
    for (uint32_t i = 0; i < WF_OP_KINDS; i++) {
        enum wf_op_kind kind = (enum wf_op_kind)i;
        enum wf_op_family family = wf_op_info(kind)->family;
        kinds[i] = (struct kind_facts){.has_comm = wf_op_has_comm(kind),
                                       .has_bytes = has_bytes(family),
                                       .sends = sends(family),
                                       .reduces = wf_op_reduces(kind),
                                       .computes = family == WF_FAMILY_COMPUTE,
                                       .has_one_size =
                                           has_bytes(family) && family != WF_FAMILY_COLLECTIVE};
    }
}

static void count_op(struct wf_trace_facts *facts, struct wf_rank_facts *rank,
                     const struct wf_op *op, const struct kind_facts *kind, uint32_t comm_size)
{
    uint64_t bytes = kind->has_one_size ? op->bytes
                     : kind->has_bytes  ? bytes_of(op, comm_size)
                                        : 0;

    rank->n_ops++;
    facts->n_by_kind[op->kind]++;
    if (kind->reduces && op->reduction < WF_REDUCTIONS) {
        facts->n_by_reduction[op->reduction]++;
    }
    if (bytes > 0) {
        facts->bytes_by_kind[op->kind] = wf_count_add(facts->bytes_by_kind[op->kind], bytes);
    }
    if (kind->sends && op->peer != WF_PROC_NULL) {
        count_message(facts, rank, bytes);
    }
    if (kind->computes) {
        add_compute(rank, op->duration);
    }
}

/* A communicator that a rank uses. */
struct use {
    uint32_t rank, comm;
};

/* A worker counts in facts of its own, whose `ranks` all workers share. */
struct counting {
    alignas(
        WF_CACHE_LINE) struct wf_trace_facts facts; /* aligned: workers share no cache line */
    struct use *uses; /* by rank; those of a rank in the order of their first use */
    size_t n_uses, capacity;
    struct wf_map seen; /* communicators of the present rank */
};

struct counters {
    const struct wf_source *source;
    const struct wf_pass *pass;
    struct counting *workers;
    struct kind_facts kinds[WF_OP_KINDS];
    atomic_ullong ranks, ops; /* done by all workers */
};

static void use_comm(struct counting *c, uint32_t rank, uint32_t comm)
{
    uint64_t *seen = comm == WF_COMM_WORLD ? NULL : wf_map_put(&c->seen, comm);

    if (seen != NULL && *seen == 0) {
        *seen = 1;
        WF_PUSH(c->uses, c->n_uses, c->capacity, (struct use){rank, comm});
    }
}

/* Only the first worker reports progress. */
static void tell(struct counters *all, uint32_t worker, uint64_t more_ops)
{
    if (worker == 0) {
        const struct wf_pass_progress progress = {
            .ranks = atomic_load_explicit(&all->ranks, memory_order_relaxed),
            .n_ranks = all->source->n_ranks,
            .ops = atomic_load_explicit(&all->ops, memory_order_relaxed) + more_ops};
        wf_pass_tell(all->pass, &progress);
    }
}

static void read_rank(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    struct counters *all = arg;
    struct counting *c = &all->workers[worker];
    struct wf_rank_facts own = {.n_ops = 0},
                         *rank = &own; /* those of all are beside each other */
    struct wf_group group = {.size = all->source->n_ranks};
    uint32_t comm = WF_COMM_WORLD;
    struct wf_cursor cursor;
    struct wf_op op;

    (void)err;
    memset(&cursor, 0, sizeof(cursor));
    wf_map_clear(&c->seen);
    while (wf_source_next(all->source, number, &cursor, &op)) {
        const struct kind_facts *kind = &all->kinds[op.kind];
        if (kind->has_comm && op.comm != comm) {
            comm = op.comm;
            if (wf_source_group(all->source, number, comm, &group)) {
                use_comm(c, number, comm);
            }
        }
        count_op(&c->facts, rank, &op, kind, group.size);
        if (rank->n_ops % WF_PASS_OPS == 0) {
            tell(all, worker, rank->n_ops);
        }
    }
    c->facts.ranks[number] = own;
    (void)atomic_fetch_add_explicit(&all->ranks, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&all->ops, rank->n_ops, memory_order_relaxed);
    tell(all, worker, 0);
}

static void add_sums(struct wf_trace_facts *facts, const struct wf_trace_facts *part)
{
    for (uint32_t kind = 0; kind < WF_OP_KINDS; kind++) {
        facts->n_by_kind[kind] += part->n_by_kind[kind];
        facts->bytes_by_kind[kind] =
            wf_count_add(facts->bytes_by_kind[kind], part->bytes_by_kind[kind]);
    }
    for (uint32_t i = 0; i < WF_REDUCTIONS; i++) {
        facts->n_by_reduction[i] += part->n_by_reduction[i];
    }
    for (uint32_t i = 0; i < WF_SIZE_BINS; i++) {
        facts->sizes[i] += part->sizes[i];
    }
    facts->n_task_needs += part->n_task_needs;
    facts->n_message_needs += part->n_message_needs;
}

/* Notes the communicators that a rank uses; `next` is where a worker is in its list. */
static void learn_groups(struct wf_trace_facts *facts, const struct wf_source *source,
                         uint32_t rank, const struct counting *c, size_t *next)
{
    struct wf_group group;

    for (; *next < c->n_uses && c->uses[*next].rank == rank; ++*next) {
        uint32_t comm = c->uses[*next].comm;
        if (wf_source_group(source, rank, comm, &group) &&
            wf_groups_fault(facts->groups, &group) == NULL) {
            (void)wf_groups_learn(facts->groups, rank, comm, &group);
        }
    }
}

void wf_trace_facts_init(struct wf_trace_facts *facts, const struct wf_source *source,
                         const struct wf_pass *pass)
{
    struct counting workers[WF_TRACE_WORKERS_MAX];
    struct counters all = {.source = source, .pass = pass, .workers = workers};
    uint32_t n_workers = wf_trace_workers(source->n_ranks), comm = 0;
    struct wf_err err = {.status = WF_OK};
    size_t next[WF_TRACE_WORKERS_MAX] = {0};
    struct wf_group group;

    plan_kinds(all.kinds);
    begin(facts, source->n_ranks);
    for (uint32_t i = 0; i < n_workers; i++) {
        workers[i] = (struct counting){.facts.ranks = facts->ranks};
    }
    wf_trace_visit_all(source->n_ranks, n_workers, read_rank, &all, &err);
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        add_rank(facts, rank);
        for (uint32_t i = 0; i < n_workers; i++) {
            learn_groups(facts, source, rank, &workers[i], &next[i]);
        }
    }
    for (uint32_t i = 0; i < n_workers; i++) {
        add_sums(facts, &workers[i].facts);
        free(workers[i].uses);
        wf_map_fini(&workers[i].seen);
    }
    while (wf_groups_at(facts->groups, facts->n_groups, &comm, &group)) {
        facts->n_groups++;
    }
}

/* ---- tasks ---- */

static void read_task(struct wf_trace_facts *facts, struct wf_rank_facts *one,
                      const struct wf_graph *graph, uint32_t pe, uint32_t number)
{
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

/* A worker counts in facts of its own, whose `ranks` all workers share. */
struct task_counters {
    const struct wf_graph *graph;
    struct counting workers[WF_TRACE_WORKERS_MAX];
};

static void read_pe(void *arg, uint32_t worker, uint32_t pe, struct wf_err *err)
{
    struct task_counters *all = arg;
    struct wf_trace_facts *facts = &all->workers[worker].facts;
    uint32_t n_tasks = all->graph->ops->n_tasks(all->graph, pe);
    struct wf_rank_facts one = {.n_ops = 0};

    (void)err;
    for (uint32_t task = 0; task < n_tasks; task++) {
        read_task(facts, &one, all->graph, pe, task);
    }
    facts->ranks[pe] = one;
}

void wf_trace_graph_facts_init(struct wf_trace_facts *facts, const struct wf_graph *graph)
{
    struct task_counters all = {.graph = graph};
    uint32_t n_workers = wf_trace_workers(graph->n_pes);
    struct wf_err err = {.status = WF_OK};

    begin(facts, graph->n_pes);
    for (uint32_t i = 0; i < n_workers; i++) {
        all.workers[i].facts.ranks = facts->ranks;
    }
    wf_trace_visit_all(graph->n_pes, n_workers, read_pe, &all, &err);
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        add_rank(facts, pe);
    }
    for (uint32_t i = 0; i < n_workers; i++) {
        add_sums(facts, &all.workers[i].facts);
    }
}

void wf_trace_facts_fini(struct wf_trace_facts *facts)
{
    free(facts->ranks);
    wf_groups_free(facts->groups);
}
