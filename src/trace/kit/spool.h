/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_KIT_SPOOL_H
#define WF_TRACE_KIT_SPOOL_H

/*
 * Ops of a foreign trace on their way to becoming a source.
 *
 * Most formats can only be understood from their beginning: what a wait waits for, which ranks
 * a communicator has, what a wildcard matched is known from other places in the file. A reader
 * of such a format goes through it once, when it is opened, and puts the ops here. They are
 * kept in weft's own format in a file of the temporary directory ($TMPDIR, else /tmp), which
 * has no name any more when the source exists and vanishes with it. So the memory for a rank is
 * bounded however long the trace is, and any op can be asked for again.
 */

#include "ops/source.h"
#include "trace/writer.h"

struct wf_spool;

/* For a trace of `n_ranks`. The caller ends it with one of the last two. */
WF_NODISCARD
enum wf_status wf_spool_new(uint32_t n_ranks, struct wf_spool **out, struct wf_err *err);

/* What ops, names and communicators are given to; not to be finished or discarded. */
struct wf_trace_writer *wf_spool_writer(struct wf_spool *spool);

/* Shorter: an op of a rank; its computing first, if that takes time. */
WF_NODISCARD
enum wf_status wf_spool_op(struct wf_spool *spool, uint32_t rank, const struct wf_op *op,
                           struct wf_err *err);
WF_NODISCARD
enum wf_status wf_spool_compute(struct wf_spool *spool, uint32_t rank, int64_t ps,
                                struct wf_err *err);

/* Both release the spool. The first makes the source, named `format`. */
WF_NODISCARD
enum wf_status wf_spool_source(struct wf_spool *spool, const char *format,
                               struct wf_source **out, struct wf_err *err);
void wf_spool_discard(struct wf_spool *spool); /* null is allowed */

#endif
