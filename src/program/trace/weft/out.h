/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The files of a native trace while they are written. They take frames, remember offsets, and
 * get their indexes at the end. After a failure all calls do nothing, and
 * wf_native_out_finish() reports the failure.
 */

#include "base/buf.h"
#include "program/trace/weft/encode.h"
#include "program/trace/writer.h"

struct wf_native_out;

enum wf_status wf_native_out_open(const char *path,
                                  const struct wf_trace_writer_options *options,
                                  uint32_t block_size, struct wf_native_out **result,
                                  struct wf_err *err);

/* Adds a record to the tables; it is in the file before the next block. */
void wf_native_out_record(struct wf_native_out *out, const struct wf_native_record *record);

/* Adds a block, of which rank, first_op and n_ops are set. */
void wf_native_out_block(struct wf_native_out *out, struct wf_native_block block,
                         const struct wf_buf *raw);

/* WF_OK, or the first failure. */
enum wf_status wf_native_out_status(const struct wf_native_out *out, struct wf_err *err);

/* Both release `out`. */
enum wf_status wf_native_out_finish(struct wf_native_out *out,
                                    const struct wf_native_totals *totals, struct wf_err *err);
void wf_native_out_discard(struct wf_native_out *out);
