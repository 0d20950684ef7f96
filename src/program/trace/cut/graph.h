/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A piece of a task graph, which is a graph by itself: some PEs, and the tasks that begin in a span
 * of their PE's own time, the sum of the durations of its tasks with lower numbers. What a task
 * waited for and is left out is no longer waited for; a message whose sender or receiver is left
 * out is, too. The piece is kept in memory.
 */

#include "program/ops/graph.h"
#include "program/trace/cut/cut.h"

/* Makes the piece; `ranks`, `begin` and `end` of the options are used. Sets *n_messages to the
 * messages that are left out although their sender or their receiver is kept. WF_EINVAL if the
 * graph cannot be read or nothing is left. */
WF_NODISCARD
enum wf_status wf_cut_graph(const struct wf_graph *graph, const struct wf_cut_options *options,
                            struct wf_graph **out, uint64_t *n_messages, struct wf_err *err);
