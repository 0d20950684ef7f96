/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Opens traces and generators by name, and writes them as traces of any format. */

#include "program/trace/copy.h"
#include "program/trace/reader.h"

struct wf_study_trace_options {
    const char *const *params; /* "gen.bytes=1KiB", "trace.ranks=4", "mpi.rules=openmpi" */
    size_t n_params;
    uint64_t ranks; /* for a generator; 0: not given */
    bool partial;   /* read as much as possible of a damaged trace */
    bool expand;    /* write collectives as messages; params with "mpi." choose algorithms */
    bool force;     /* replace an existing file */
    uint32_t parts; /* files in a directory instead of one file; 0: one file */
};

/* Opens a trace, or the program of a generator if the word begins with "gen:". The caller
 * closes it with wf_trace_close(). */
enum wf_status wf_study_trace_open(const char *word,
                                   const struct wf_study_trace_options *options,
                                   struct wf_trace *out, struct wf_err *err);

/* The number of ranks, or PEs. */
uint32_t wf_study_trace_n_ranks(const struct wf_trace *trace);

/* A trace or a part of it. */
struct wf_study_trace_part {
    const struct wf_trace *trace;
    uint32_t n_ranks; /* ranks of the written trace */
    struct wf_copy_changes changes;
    const char *creator; /* stored in the written trace */
    struct wf_pass pass; /* who waits for it; not for tasks */
};

/* Facts about the written trace. */
struct wf_study_trace_written {
    const struct wf_trace_writer_ops *format;
    uint64_t n; /* ops or tasks */
    struct wf_losses losses;
};

/* Checks name and options before any work starts; failures are WF_EUSAGE. */
enum wf_status wf_study_trace_check(const char *path,
                                    const struct wf_study_trace_options *options,
                                    struct wf_err *err);

/* Writes the whole part to `path`. On failure no file is left. */
enum wf_status wf_study_trace_write(const char *path, const struct wf_study_trace_part *part,
                                    const struct wf_study_trace_options *options,
                                    struct wf_study_trace_written *written, struct wf_err *err);
