/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_KIT_TASK_TABLE_H
#define WF_TRACE_KIT_TASK_TABLE_H

/*
 * A task graph that is held in memory, for readers of formats in which a message finds its task
 * only when all ranks are known: about 40 bytes for a task, 24 for a message and 4 for a task
 * that waits for another.
 *
 * Tasks are added PE by PE, each with its messages and the tasks that wait for it; needs are
 * counted from what the others say, and may be added to.
 */

#include "ops/graph.h"

struct wf_task_table;

struct wf_task_table *wf_task_table_new(uint32_t n_pes);
void wf_task_table_free(struct wf_task_table *table); /* null is allowed */

/* The next PE begins; the first one by itself. */
void wf_task_table_pe(struct wf_task_table *table);

/* A task of the PE and its messages, in the order of time; `id` is the number of the task they
 * are for, or WF_NO_TASK, and may be set later. */
void wf_task_table_task(struct wf_task_table *table, int64_t duration);
void wf_task_table_send(struct wf_task_table *table, const struct wf_task_send *send);
/* A task of this PE, which may be still to come, waits for the last one. */
void wf_task_table_next(struct wf_task_table *table, uint32_t task);

/* A task needs a message more, whoever may send it. */
void wf_task_table_need(struct wf_task_table *table, uint32_t pe, uint32_t task);

/* All is there: counts what tasks need of each other. Returns the graph, named `format`, that
 * the table has become, and which is released with wf_graph_free(). */
struct wf_graph *wf_task_table_graph(struct wf_task_table *table, const char *format);

#endif
