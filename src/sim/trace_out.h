/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Records a program that runs as a trace, if the host asks for one (sim/sim.h). */

#include "sim/plan.h"
#include "sim/sim.h"

struct wf_trace_writer;
struct wf_trace_writer_ops;

struct wf_trace_out {
    struct wf_sim_trace *what; /* null: no trace is written */
    struct wf_trace_writer *writer;
    struct wf_source *recorder; /* the plan's */
    uint64_t scale;             /* on compute times */
};

/* The format of a trace of this name: .weft if the name has no known ending. */
WF_NODISCARD
enum wf_status wf_sim_trace_out_format(const char *path, const struct wf_trace_writer_ops **out,
                                       struct wf_err *err);

/* Puts itself between the plan's program and whoever asks for its ops, if host->trace is there.
 * `out` is kept until the end. */
WF_NODISCARD
enum wf_status wf_sim_trace_out_begin(struct wf_trace_out *out, struct wf_plan *plan,
                                      const struct wf_sim_host *host, struct wf_err *err);

/* After a run that ended with `status`, before the plan is released: completes the trace, or
 * leaves nothing of it. Returns `status`, or what went wrong here. */
WF_NODISCARD
enum wf_status wf_sim_trace_out_end(struct wf_trace_out *out, enum wf_status status,
                                    struct wf_err *err);
