/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Reading weft's own trace format. A source holds at most one decoded block for each rank. If
 * all these together take too much memory, blocks are forgotten and read again when needed.
 *
 * A truncated or damaged trace can be opened if its header is whole. Each rank then has the ops
 * up to its last block that can be found. When a caller asks for more, wf_source_check() tells
 * what is missing.
 */

#include "program/trace/reader.h"
#include "program/trace/weft/out.h"

/* As in struct wf_reader_ops: WF_EINVAL if it is no such trace, WF_EIO if it cannot be read. */
enum wf_status wf_native_open(const char *path, struct wf_trace *out, struct wf_err *err);

/* Opens a trace that this process has written, with ops of another format: that is the name of
 * the source then, and wf_native_facts() knows nothing of it. The ops are not checked again,
 * and the file is mapped into memory if it is not too large. */
enum wf_status wf_native_open_own(const char *path, const char *format, struct wf_source **out,
                                  struct wf_err *err);

/* For a writer of this format: adds computing of this time and nothing else, as add() does. */
enum wf_status wf_native_writer_compute(struct wf_trace_writer *writer, uint32_t rank,
                                        int64_t ps, struct wf_err *err);

/* For a writer of this format: the rank has no more ops. They are written, and the memory that
 * looks for loops in them is used for another rank. */
void wf_native_writer_rank_ends(struct wf_trace_writer *writer, uint32_t rank);

/* Limits the memory of all blocks, before the first op; the default is WF_NATIVE_MEMORY. */
#define WF_NATIVE_MEMORY (UINT64_C(512) << 20)
void wf_native_limit(struct wf_source *source, uint64_t bytes);

/* The memory of all blocks now. */
uint64_t wf_native_memory(const struct wf_source *source);

/* Facts about the files of a trace. */
struct wf_native_facts {
    uint64_t n_bytes, n_blocks;
    uint64_t n_ops; /* that the blocks have, with loops unrolled */
    uint32_t n_files;
    const char *creator;            /* or null */
    bool totals_known;              /* whether the next is */
    struct wf_native_totals totals; /* from the index */
    const struct wf_err *damage;    /* null if there is none */
    uint32_t n_starts;              /* ranks whose start time is known */
    uint64_t starts_ns;             /* from the first of them to the last... */
    uint64_t doubt_ns; /* ...and how far off that may be; 0: as good as wall clocks */
};

/* False if the source is not native. */
bool wf_native_facts(const struct wf_source *source, struct wf_native_facts *out);

/* Where the ops of a rank end. */
struct wf_native_end {
    const char *path; /* the file it is in */
    uint64_t offset;  /* the end of what can be read */
    uint64_t n_ops;
    bool is_whole; /* nothing is missing */
};

/* False if the rank has no ops, or the source is null or not native. */
bool wf_native_end(const struct wf_source *source, uint32_t rank, struct wf_native_end *out);
