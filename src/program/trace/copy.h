/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/pass.h"
#include "program/ops/source.h"
#include "program/trace/writer.h"

/* Changes that a copy makes. All functions get `arg`; every member may be null. */
struct wf_copy_changes {
    void *arg;
    /* Sets the new number of a rank before its first op; false leaves the rank out. */
    bool (*rank_of)(void *arg, uint32_t rank, uint32_t *out);
    /* Changes an op; false leaves it out. `rank` is the number in the source. */
    bool (*change)(void *arg, uint32_t rank, struct wf_op *op);
    /* As in struct wf_source_ops, with members as they are written. */
    bool (*group)(void *arg, uint32_t rank, uint32_t comm, struct wf_group *out);
};

struct wf_copy {
    const struct wf_source *source;
    struct wf_trace_writer *writer;
    bool partial; /* a source that cannot be read to its end is no failure */
    bool tidy;    /* takes requests that were never created out of sets: for generators */
    struct wf_copy_changes changes;
    bool (*wall_of)(const struct wf_source *source, uint32_t rank, int64_t *ps);
    struct wf_pass pass; /* who waits for it */
    uint64_t n_ops;      /* how many were written */
};

/* Writes all ops of a source, rank by rank, with the names and communicators that they use. If
 * `wall_of` is not null, writes the recorded times that it knows and the cost of recording too.
 * Fails if the source cannot be read to its end, unless `partial` is set, or if the writer
 * fails. The caller still owns the writer. */
enum wf_status wf_trace_copy(struct wf_copy *copy, struct wf_err *err);
