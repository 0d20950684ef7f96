/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_GOAL_OUT_H
#define WF_TRACE_GOAL_OUT_H

/* What is written of a GOAL schedule: ops with labels, and which of them wait for which. */

#include "ops/graph.h"
#include "ops/source.h"
#include "trace/kit/losses.h"

#include <stdio.h>

enum { WF_GOAL_PS = 1000 }; /* picoseconds in a unit of local work */

/* Writes the ops of a source, or the tasks of a graph: all of the file. What cannot be written
 * is counted. `losses` may be null. A source or graph that cannot be read is WF_EINVAL; errors
 * of the file are left to who opened it. */
WF_NODISCARD
enum wf_status wf_goal_put_source(FILE *out, const struct wf_source *source,
                                  struct wf_losses *losses, struct wf_err *err);
WF_NODISCARD
enum wf_status wf_goal_put_graph(FILE *out, const struct wf_graph *graph,
                                 struct wf_losses *losses, struct wf_err *err);

#endif
