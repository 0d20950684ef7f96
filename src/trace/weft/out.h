/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WEFT_OUT_H
#define WF_TRACE_WEFT_OUT_H

/*
 * The files of a native trace while they are written: frames go in, offsets are remembered, and
 * in the end each file gets its index. After a failure everything is ignored, and the end says
 * what it was.
 */

#include "base/buf.h"
#include "trace/writer.h"

/* The kinds of records in a table. */
enum wf_record_type {
    WF_RECORD_CREATOR = 1,
    WF_RECORD_NAME = 2,
    WF_RECORD_GROUP = 3,
    WF_RECORD_BIND = 4,
    WF_RECORD_WALL = 5,
    WF_RECORD_ROOTS = 6,
    WF_RECORD_CLOCK = 7,
    WF_RECORD_COST = 8,
    WF_RECORD_CANCELLED = 9,
};

/* What the index says of the ops or tasks in all. */
struct wf_totals {
    uint64_t n_ops;    /* with loops unrolled... */
    uint64_t n_stored; /* ...and not */
    uint64_t raw_bytes;
    uint64_t n_messages;
    bool acts_in_background, depends_on_time;
};

struct wf_native_out;

WF_NODISCARD
enum wf_status wf_native_out_open(const char *path,
                                  const struct wf_trace_writer_options *options,
                                  uint32_t block_size, struct wf_native_out **out,
                                  struct wf_err *err);

/* Adds a record; it is in the file before the next block. */
void wf_native_out_record(struct wf_native_out *out, enum wf_record_type type,
                          const struct wf_buf *record);

struct wf_block_place {
    uint32_t rank;
    uint64_t first_op, n_ops;
};
void wf_native_out_block(struct wf_native_out *out, const struct wf_block_place *place,
                         const struct wf_buf *raw);

/* WF_OK, or the failure that everything is ignored since. */
enum wf_status wf_native_out_status(const struct wf_native_out *out, struct wf_err *err);

/* Both release `out`. */
WF_NODISCARD
enum wf_status wf_native_out_finish(struct wf_native_out *out, const struct wf_totals *totals,
                                    struct wf_err *err);
void wf_native_out_discard(struct wf_native_out *out);

#endif
