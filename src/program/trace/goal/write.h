/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* GOAL schedules, written: labelled ops, and which of them wait for which. */

#include "program/trace/spool/writer.h"

/* Whole nanoseconds, the units of local work, of a time. What rounding leaves is added to *rest
 * and makes later times longer. */
int64_t wf_goal_units(int64_t ps, int64_t *rest, struct wf_losses *losses);

/* Writes a whole file with the tasks of a graph and counts what is lost. A graph that
 * cannot be read is WF_EINVAL; the caller checks the file for errors. */
enum wf_status wf_goal_write_graph(const struct wf_sheet *sheet, const struct wf_graph *graph,
                                   struct wf_err *err);
