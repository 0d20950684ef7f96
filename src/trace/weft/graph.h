/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WEFT_GRAPH_H
#define WF_TRACE_WEFT_GRAPH_H

/*
 * Task graphs in weft's own trace format. One that is read holds the decoded blocks of PEs that
 * somebody asked for; where these are too many together, those of other PEs are forgotten and
 * read again when they are needed.
 */

#include "ops/graph.h"
#include "trace/weft/file.h"
#include "trace/weft/native.h"

/* Makes a graph of the files, which it takes; on failure they are closed. */
WF_NODISCARD
enum wf_status wf_native_graph_new(struct wf_native_set *set, struct wf_graph **out,
                                   struct wf_err *err);

/* As of struct wf_source. Before the first task. */
void wf_native_graph_limit(struct wf_graph *graph, uint64_t bytes);
uint64_t wf_native_graph_memory(const struct wf_graph *graph);

/* False if the graph is not of this format. */
bool wf_native_graph_facts(const struct wf_graph *graph, struct wf_native_facts *out);

/* Writes all tasks and counts them. A graph that makes no sense is WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_native_graph_write(struct wf_native_out *out, const struct wf_graph *graph,
                                     struct wf_native_totals *totals, struct wf_err *err);

#endif
