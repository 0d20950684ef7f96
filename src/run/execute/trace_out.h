/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The trace of a program that runs, as the host asks for it (run/execute/run.h). */

#include "base/status.h"

#include <stdint.h>

struct wf_source;
struct wf_trace_writer;
struct wf_trace_writer_ops;

struct wf_trace_out {
    struct wf_trace_writer *writer; /* null: no trace is written */
    struct wf_source *recorder;     /* that writes; belongs to the plan */
    uint64_t scale;                 /* factor on compute times */
};

/* The format of a trace with this name: .weft if the name has no known extension. */
WF_NODISCARD
enum wf_status wf_sim_trace_out_format(const char *path, const struct wf_trace_writer_ops **out,
                                       struct wf_err *err);

/* The time of a computation in the trace; `out` is a struct wf_trace_out. */
int64_t wf_sim_trace_out_duration(const void *out, int64_t ps);
