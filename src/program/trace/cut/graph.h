/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Cuts a task graph: the result has some of the PEs, and of these the tasks that begin in a span of
 * the PE's own time. That time is the sum of the durations of its tasks with lower numbers. A task
 * does not wait for tasks that are left out, and a message is left out if its sender or its receiver
 * is. The result is kept in memory.
 */

#include "program/ops/graph.h"
#include "program/trace/cut/cut.h"

/* Uses `ranks`, `begin` and `end` of the options. Sets *n_messages to the
 * messages that are left out although their sender or their receiver is kept. WF_EINVAL if the
 * graph cannot be read or nothing is left. */
enum wf_status wf_cut_graph(const struct wf_graph *graph, const struct wf_cut_options *options,
                            struct wf_graph **out, uint64_t *n_messages, struct wf_err *err);
