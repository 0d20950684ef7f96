/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A task graph in memory, for formats in which the task of a message is known only when all PEs
 * have been read, and for graphs that are cut. Takes about 40 bytes for a task, 32 for a message and
 * 4 for a dependency between tasks.
 *
 * Tasks are added PE by PE, each with its messages and the tasks that wait for it. What tasks need
 * of each other is counted at the end.
 */

#include "program/ops/graph.h"

struct wf_task_table;

struct wf_task_table *wf_task_table_new(uint32_t n_pes);
void wf_task_table_free(struct wf_task_table *table); /* null is allowed */

/* Begins the next PE; the first PE is begun already. */
void wf_task_table_pe(struct wf_task_table *table);

/* Adds a task to the PE, and messages to the latest task in the order of time. `id` is the
 * number of the task that receives the message, or WF_NO_TASK. */
void wf_task_table_task(struct wf_task_table *table, int64_t duration, uint32_t stream);
void wf_task_table_send(struct wf_task_table *table, const struct wf_task_send *send);
/* A task of this PE, which may be added later, waits for the latest one. */
void wf_task_table_next(struct wf_task_table *table, uint32_t task);

/* Turns the complete table into a graph named `format`, which the caller releases with
 * wf_graph_free(). It has the streams and interfaces of `like`; null: one of each. */
struct wf_graph *wf_task_table_graph(struct wf_task_table *table, const char *format,
                                     const struct wf_graph *like);
