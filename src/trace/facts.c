/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/facts.h"

#include "base/mem.h"
#include "base/units.h"
#include "ops/fields.h"

#include <stdlib.h>
#include <string.h>

uint32_t wf_size_bin(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
}

/* Whether the op hands a message to the network, and whether it counts in bytes at all. */
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

/* The bytes that a call names; of blocks of different lengths their sum. */
static uint64_t bytes_of(const struct wf_op *op, uint32_t comm_size)
{
    const struct wf_layout *layout = wf_layout_of(op->kind);
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
        rank->n_messages++;
        rank->bytes = wf_count_add(rank->bytes, bytes);
        facts->sizes[wf_size_bin(bytes)]++;
    }
    if (family == WF_FAMILY_COMPUTE) {
        rank->compute = op->duration > WF_TIME_MAX - rank->compute
                            ? WF_TIME_MAX
                            : rank->compute + op->duration;
    }
}

static void read_rank(struct wf_trace_facts *facts, const struct wf_source *source,
                      uint32_t number)
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
    }
}

void wf_trace_facts_init(struct wf_trace_facts *facts, const struct wf_source *source)
{
    struct wf_group group;
    uint32_t comm = 0;

    memset(facts, 0, sizeof(*facts));
    facts->n_ranks = source->n_ranks;
    facts->ranks = wf_xcalloc(source->n_ranks, sizeof(*facts->ranks));
    facts->groups = wf_groups_new(source->n_ranks);
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        const struct wf_rank_facts *one = &facts->ranks[rank];

        read_rank(facts, source, rank);
        facts->all.n_ops += one->n_ops;
        facts->all.n_messages += one->n_messages;
        facts->all.bytes = wf_count_add(facts->all.bytes, one->bytes);
    }
    while (wf_groups_at(facts->groups, facts->n_groups, &comm, &group)) {
        facts->n_groups++;
    }
}

void wf_trace_facts_fini(struct wf_trace_facts *facts)
{
    free(facts->ranks);
    wf_groups_free(facts->groups);
}
