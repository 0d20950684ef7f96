/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_BIGSIM_GRAPH_H
#define WF_TRACE_BIGSIM_GRAPH_H

/*
 * From the logs of a BigSim trace to tasks.
 *
 * A log is a task. It needs the logs before it that it names, and the message that started it.
 * A message is known by the file that its sender's logs are in, and a number that counts in
 * that file: so all logs are read twice, the first time to learn which messages start which.
 */

#include "trace/bigsim/file.h"
#include "trace/reader.h"

#include <stdint.h>

enum wf_bigsim_rules { WF_BIGSIM_RECORDED, WF_BIGSIM_TRACER };

struct wf_bigsim_params {
    int rules; /* enum wf_bigsim_rules */
    int64_t soft_delay;
};

/* Reads all: sets the graph and the records of `out` and adds notes. */
WF_NODISCARD
enum wf_status wf_bigsim_graph(const struct wf_bigsim_trace *trace,
                               const struct wf_bigsim_params *params, struct wf_trace *out,
                               struct wf_err *err);

#endif
