/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Statistics of a trace, from reading all of it. */

#include "base/pass.h"
#include "program/ops/groups.h"

struct wf_graph;

enum { WF_SIZE_BINS = 65 };

struct wf_rank_facts {
    uint64_t n_ops;             /* or tasks */
    uint64_t n_messages, bytes; /* sent by the rank */
    int64_t compute;            /* picoseconds */
};

struct wf_trace_facts {
    uint32_t n_ranks;
    struct wf_rank_facts *ranks;
    struct wf_rank_facts all;
    uint64_t n_by_kind[WF_OP_KINDS];
    uint64_t bytes_by_kind[WF_OP_KINDS];
    uint64_t n_by_reduction[WF_REDUCTIONS];
    /* Messages by length: bin 0 is 0 bytes, bin i is 2^(i-1) to 2^i - 1 bytes. */
    uint64_t sizes[WF_SIZE_BINS];
    struct wf_groups *groups; /* the communicators that ops use */
    uint32_t n_groups;        /* without the world */
    /* Of a task graph: how many tasks and messages its tasks wait for. */
    uint64_t n_task_needs, n_message_needs;
};

/* Reads all ranks, on several threads; `pass` hears how far it is. Ask wf_source_check()
 * afterwards whether all could be read. The caller releases the facts with
 * wf_trace_facts_fini(). */
void wf_trace_facts_init(struct wf_trace_facts *facts, const struct wf_source *source,
                         const struct wf_pass *pass);
/* The same for a task graph. */
void wf_trace_graph_facts_init(struct wf_trace_facts *facts, const struct wf_graph *graph);
void wf_trace_facts_fini(struct wf_trace_facts *facts);
