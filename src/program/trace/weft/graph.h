/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Task graphs in weft's own trace format. A graph that is read keeps the decoded blocks of all
 * PEs that were asked for. If they take too much memory, blocks of other PEs are forgotten and
 * read again when needed.
 */

#include "program/ops/graph.h"
#include "program/trace/weft/file.h"
#include "program/trace/weft/native.h"

/* Makes a graph that owns the files; on failure the files are closed. */
enum wf_status wf_native_graph_new(struct wf_native_set *set, struct wf_graph **out,
                                   struct wf_err *err);

/* As wf_native_limit() and wf_native_memory(). */
void wf_native_graph_limit(struct wf_graph *graph, uint64_t bytes);
uint64_t wf_native_graph_memory(const struct wf_graph *graph);

/* False if the graph is not native. */
bool wf_native_graph_facts(const struct wf_graph *graph, struct wf_native_facts *out);

/* Writes all tasks and counts them. An invalid graph is WF_EINVAL. */
enum wf_status wf_native_graph_write(struct wf_native_out *out, const struct wf_graph *graph,
                                     struct wf_native_totals *totals, struct wf_err *err);
