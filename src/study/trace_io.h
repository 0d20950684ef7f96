/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Opens traces and generators by name, and writes them as traces of any format. */

#include "trace/copy.h"
#include "trace/reader.h"

struct wf_study_trace_options {
    const char *const *params; /* "gen.bytes=1KiB", "trace.ranks=4", "mpi.rules=openmpi" */
    size_t n_params;
    uint64_t ranks; /* of a generator; 0: not given */
    bool partial;   /* take what can be read of a trace that is damaged */
    bool expand;    /* write collectives as messages; params with "mpi." choose algorithms */
    bool force;     /* replace what is there */
    uint32_t parts; /* files in a directory instead of one file; 0: one file */
};

/* Opens a trace, or the program of a generator if the word begins with "gen:". The caller
 * closes it with wf_trace_close(). */
WF_NODISCARD
enum wf_status wf_study_trace_open(const char *word,
                                   const struct wf_study_trace_options *options,
                                   struct wf_trace *out, struct wf_err *err);

/* Its ranks, or PEs. */
uint32_t wf_study_trace_n_ranks(const struct wf_trace *trace);

/* A trace or a part of it. */
struct wf_study_trace_part {
    const struct wf_trace *trace;
    uint32_t n_ranks; /* of the trace that is written */
    struct wf_copy_changes changes;
    const char *creator; /* goes into the trace that is written */
};

/* What was written. */
struct wf_study_trace_written {
    const struct wf_trace_writer_ops *format;
    uint64_t n; /* ops or tasks */
    struct wf_losses losses;
};

/* Checks name and options before any work; failures are WF_EUSAGE. */
WF_NODISCARD
enum wf_status wf_study_trace_check(const char *path,
                                    const struct wf_study_trace_options *options,
                                    struct wf_err *err);

/* Writes all of the part to `path`. Nothing is left of it on failure. */
WF_NODISCARD
enum wf_status wf_study_trace_write(const char *path, const struct wf_study_trace_part *part,
                                    const struct wf_study_trace_options *options,
                                    struct wf_study_trace_written *written, struct wf_err *err);
