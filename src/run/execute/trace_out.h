/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Records a program that runs as a trace, if the host asks for one (run/execute/run.h). */

#include "run/execute/run.h"
#include "run/plan/plan.h"

struct wf_trace_writer;
struct wf_trace_writer_ops;

struct wf_trace_out {
    struct wf_sim_trace *what; /* null: no trace is written */
    struct wf_trace_writer *writer;
    struct wf_source *recorder; /* that writes; set by record.h, belongs to the plan */
    uint64_t scale;             /* factor on compute times */
};

/* The format of a trace with this name: .weft if the name has no known extension. */
WF_NODISCARD
enum wf_status wf_sim_trace_out_format(const char *path, const struct wf_trace_writer_ops **out,
                                       struct wf_err *err);

/* If host->trace is set, begins the trace; wf_sim_record_begin() then records the program. `out`
 * must stay valid until wf_sim_trace_out_end(). */
WF_NODISCARD
enum wf_status wf_sim_trace_out_begin(struct wf_trace_out *out, struct wf_plan *plan,
                                      const struct wf_sim_host *host, struct wf_err *err);

/* The time of a computation in the trace; `out` is a struct wf_trace_out. */
int64_t wf_sim_trace_out_duration(const void *out, int64_t ps);

/* After a run that ended with `status`, before the recorder is freed: completes the trace, or
 * removes it. Returns `status`, or the error that occurred here. */
WF_NODISCARD
enum wf_status wf_sim_trace_out_end(struct wf_trace_out *out, enum wf_status status,
                                    struct wf_err *err);
