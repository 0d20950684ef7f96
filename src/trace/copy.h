/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_COPY_H
#define WF_TRACE_COPY_H

#include "ops/source.h"
#include "trace/writer.h"

/* What is changed on the way. `arg` is handed to all; every member may be null. */
struct wf_copy_changes {
    void *arg;
    /* The number that a rank gets; false leaves it out. Called before its first op. */
    bool (*rank_of)(void *arg, uint32_t rank, uint32_t *out);
    /* Changes an op of a rank of the source; false leaves it out. */
    bool (*change)(void *arg, uint32_t rank, struct wf_op *op);
    /* As of struct wf_source_ops, of ranks of the source, with members as they are written. */
    bool (*group)(void *arg, uint32_t rank, uint32_t comm, struct wf_group *out);
};

struct wf_copy {
    const struct wf_source *source;
    struct wf_trace_writer *writer;
    bool partial; /* what can be read is enough */
    bool tidy;    /* requests that were never made are left out of sets: for generators */
    struct wf_copy_changes changes;
    bool (*wall_of)(const struct wf_source *source, uint32_t rank, int64_t *ps);
    uint64_t n_ops; /* how many were written */
};

/* Writes all ops of a source, rank by rank, with the names and communicators that they use,
 * and the recorded times that `wall_of` (may be null) knows; with it, what recording took.
 * Fails if the source cannot be read to its end (unless `partial` is set), or the writer fails;
 * the writer is left to the caller.
 */
WF_NODISCARD
enum wf_status wf_trace_copy(struct wf_copy *copy, struct wf_err *err);

#endif
