/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WEFT_NATIVE_H
#define WF_TRACE_WEFT_NATIVE_H

/*
 * weft's own trace format, read. A source of it holds at most a decoded block for each rank;
 * where these are too many together, those of ranks that nobody asked for lately are forgotten
 * and read again when they are needed.
 *
 * A trace that is truncated or damaged can be opened if its header is whole. Each rank then has
 * the ops up to its last block that can be found, and wf_source_check() says what is missing as
 * soon as somebody has asked for more.
 */

#include "trace/reader.h"
#include "trace/weft/out.h"

/* As of struct wf_reader_ops: WF_EINVAL if it is no such trace, WF_EIO if it cannot be read. */
WF_NODISCARD
enum wf_status wf_native_open(const char *path, struct wf_trace *out, struct wf_err *err);

/* Makes the source one of another format, whose ops were stored in this one: that is its name
 * then, and wf_native_facts() knows nothing of it. */
void wf_native_set_format(struct wf_source *source, const char *format);

/* The bytes that blocks may take in all; WF_NATIVE_MEMORY unless set. Before the first op. */
#define WF_NATIVE_MEMORY (UINT64_C(512) << 20)
void wf_native_limit(struct wf_source *source, uint64_t bytes);

/* The bytes that blocks take now. */
uint64_t wf_native_memory(const struct wf_source *source);

/* What is known of the trace but its ops. */
struct wf_native_facts {
    uint64_t n_bytes, n_blocks;
    uint32_t n_files;
    const char *creator;            /* or null */
    bool totals_known;              /* whether the next is */
    struct wf_native_totals totals; /* of an index */
    const struct wf_err *damage;    /* null if there is none */
    uint32_t n_starts;              /* ranks of which it is known when their records begin */
    uint64_t starts_ns;             /* from the first of them to the last... */
    uint64_t doubt_ns; /* ...and how far off that may be; 0: as good as wall clocks */
};

/* False if the source is not of this format. */
bool wf_native_facts(const struct wf_source *source, struct wf_native_facts *out);

/* Where the record of a rank ends. */
struct wf_native_end {
    const char *path; /* the file it is in */
    uint64_t offset;  /* the end of what can be read of that */
    uint64_t n_ops;
    bool is_whole; /* the end is that of the record, not of what can be read */
};

/* False if there is nothing of the rank, or the source is null or not of this format. */
bool wf_native_end(const struct wf_source *source, uint32_t rank, struct wf_native_end *out);

#endif
