/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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

#include "base/buf.h"
#include "program/ops/source.h"
#include "program/trace/kit/infile.h"
#include "program/trace/writer.h"

struct wf_spool;

/* For a trace of `n_ranks`. wf_spool_end(), wf_spool_source() or wf_spool_discard() releases
 * it. */
enum wf_status wf_spool_new(uint32_t n_ranks, struct wf_spool **out, struct wf_err *err);

/* The same for several workers (kit/workers.h): each writes the ops of its ranks to a part of its
 * own, which wf_spool_part() returns. Part 0 is the spool itself. A communicator has the same
 * number in all ranks then, and a name the same text in all parts. */
enum wf_status wf_spool_new_parts(uint32_t n_ranks, uint32_t n_parts, struct wf_spool **out,
                                  struct wf_err *err);
struct wf_spool *wf_spool_part(struct wf_spool *spool, uint32_t part);

/* ---- for readers, whose `err` holds the first failure: after it nothing is added ---- */

/* An op of the rank that the place names. An invalid op is a failure with that place. */
void wf_spool_put(struct wf_spool *spool, const struct wf_op *op,
                  const struct wf_trace_place *place);
/* A wait for the requests with these numbers (uint32_t), of which there is at least one; empties
 * the list. */
void wf_spool_waits(struct wf_spool *spool, struct wf_buf *numbers,
                    const struct wf_trace_place *place);
/* A sendrecv, made of a send and a receive; each may be null. */
void wf_spool_sendrecv(struct wf_spool *spool, const struct wf_op *send,
                       const struct wf_op *recv, const struct wf_trace_place *place);
/* Computing; nothing if it takes no time. */
void wf_spool_compute(struct wf_spool *spool, uint32_t rank, int64_t ps, struct wf_err *err);
/* As the members of struct wf_trace_writer_ops. False: the group is invalid; `err` may be null.
 * A rank that tells a number again costs little. */
bool wf_spool_group(struct wf_spool *spool, uint32_t rank, uint32_t comm,
                    const struct wf_group *group, struct wf_err *err);
void wf_spool_name(struct wf_spool *spool, enum wf_source_name kind, uint32_t number,
                   const char *name);
/* The rank has no more ops: its memory is released. */
void wf_spool_rank_ends(struct wf_spool *spool, uint32_t rank);
void wf_spool_wall(struct wf_spool *spool, uint32_t rank, int64_t ps);
/* Releases the spool, which may be null, and makes the source unless `err` holds a failure.
 * Returns the status of `err`. */
enum wf_status wf_spool_end(struct wf_spool *spool, const char *format, struct wf_source **out,
                            struct wf_err *err);

/* ---- for others: as the members of struct wf_trace_writer_ops ---- */

enum wf_status wf_spool_add(struct wf_spool *spool, uint32_t rank, const struct wf_op *op,
                            struct wf_err *err);
enum wf_status wf_spool_tell(struct wf_spool *spool, uint32_t rank, uint32_t comm,
                             const struct wf_group *group, struct wf_err *err);

/* Both release the spool. The first makes the source, named `format`. */
enum wf_status wf_spool_source(struct wf_spool *spool, const char *format,
                               struct wf_source **out, struct wf_err *err);
void wf_spool_discard(struct wf_spool *spool); /* null is allowed */
