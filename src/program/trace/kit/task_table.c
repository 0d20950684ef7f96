/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/task_table.h"

#include "base/array.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct stored_task {
    int64_t duration;
    uint64_t first_send, first_next; /* the lists end where those of the next task begin */
    struct wf_task_needs needs;
    uint32_t stream;
};

struct wf_task_table {
    struct wf_graph graph; /* must be the first member */
    struct wf_graph_ops ops;
    uint32_t n_begun; /* number of PEs begun */
    uint64_t *first;  /* first task of each PE, and the end of the last PE */
    uint64_t n, n_sends, n_next, capacity, sends_capacity, next_capacity;
    struct stored_task *tasks; /* and an extra one that ends the lists */
    struct wf_task_send *sends;
    uint32_t *next;
    uint8_t *streams;
};

static struct wf_task_table *table_of(const struct wf_graph *graph)
{
    return wf_unconst(graph);
}

/* ---- the graph ---- */

static const struct stored_task *stored(const struct wf_graph *graph, uint32_t pe,
                                        uint32_t task)
{
    const struct wf_task_table *table = table_of(graph);

    return &table->tasks[table->first[pe] + task];
}

static uint32_t table_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    const struct wf_task_table *table = table_of(graph);

    return (uint32_t)(table->first[pe + 1] - table->first[pe]);
}

static struct wf_task_needs table_needs(const struct wf_graph *graph, uint32_t pe,
                                        uint32_t task)
{
    return stored(graph, pe, task)->needs;
}

static uint32_t table_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    return wf_graph_root(graph, table_needs, pe, from, table_n_tasks(graph, pe));
}

static void table_task(const struct wf_graph *graph, uint32_t pe, uint32_t number,
                       struct wf_task *out)
{
    const struct stored_task *task = stored(graph, pe, number);

    *out = (struct wf_task){.pe = pe,
                            .number = number,
                            .duration = task->duration,
                            .n_sends = (uint32_t)(task[1].first_send - task->first_send),
                            .n_next = (uint32_t)(task[1].first_next - task->first_next),
                            .stream = task->stream,
                            .own = {task->first_send, task->first_next}};
}

static void table_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                       struct wf_task_send *out)
{
    *out = table_of(graph)->sends[task->own[0] + i];
}

static uint32_t table_next(const struct wf_graph *graph, const struct wf_task *task, uint32_t i)
{
    return table_of(graph)->next[task->own[1] + i];
}

static void table_destroy(struct wf_graph *graph)
{
    wf_task_table_free(table_of(graph));
}

/* ---- filling the table ---- */

struct wf_task_table *wf_task_table_new(uint32_t n_pes)
{
    struct wf_task_table *table = wf_xcalloc(1, sizeof(*table));

    table->graph.n_pes = n_pes;
    table->first = wf_xcalloc((size_t)n_pes + 1, sizeof(*table->first));
    WF_GROW_ZERO(table->tasks, 0, table->capacity);
    table->n_begun = 1;
    return table;
}

void wf_task_table_free(struct wf_task_table *table)
{
    if (table != NULL) {
        free(table->first);
        free(table->tasks);
        free(table->sends);
        free(table->next);
        free(table->streams);
        free(table);
    }
}

void wf_task_table_pe(struct wf_task_table *table)
{
    table->first[table->n_begun++] = table->n;
}

static void end_task(struct wf_task_table *table)
{
    table->tasks[table->n].first_send = table->n_sends;
    table->tasks[table->n].first_next = table->n_next;
}

void wf_task_table_task(struct wf_task_table *table, int64_t duration, uint32_t stream)
{
    WF_GROW(table->tasks, table->n + 1, table->capacity);
    table->tasks[table->n] = (struct stored_task){.duration = duration,
                                                  .first_send = table->n_sends,
                                                  .first_next = table->n_next,
                                                  .stream = stream};
    table->n++;
    end_task(table);
}

void wf_task_table_send(struct wf_task_table *table, const struct wf_task_send *send)
{
    WF_PUSH(table->sends, table->n_sends, table->sends_capacity, *send);
    end_task(table);
}

void wf_task_table_next(struct wf_task_table *table, uint32_t task)
{
    WF_PUSH(table->next, table->n_next, table->next_capacity, task);
    end_task(table);
}

/* Counts what tasks need of each other. */
static void count_needs(struct wf_task_table *table)
{
    for (uint32_t pe = 0; pe < table->graph.n_pes; pe++) {
        struct stored_task *first = &table->tasks[table->first[pe]];
        uint64_t end = table->tasks[table->first[pe + 1]].first_next;
        for (uint64_t i = first->first_next; i < end; i++) {
            first[table->next[i]].needs.tasks++;
        }
    }
    for (uint64_t i = 0; i < table->n_sends; i++) {
        const struct wf_task_send *send = &table->sends[i];
        if (send->id != WF_NO_TASK) {
            table->tasks[table->first[send->pe] + send->id].needs.messages++;
        }
    }
}

struct wf_graph *wf_task_table_graph(struct wf_task_table *table, const char *format,
                                     const struct wf_graph *like)
{
    while (table->n_begun <= table->graph.n_pes) {
        wf_task_table_pe(table);
    }
    count_needs(table);
    table->ops = (struct wf_graph_ops){
        .name = format,
        .summary = "tasks of a trace of another format",
        .destroy = table_destroy,
        .n_tasks = table_n_tasks,
        .root = table_root,
        .needs = table_needs,
        .task = table_task,
        .send = table_send,
        .next = table_next,
    };
    table->graph.ops = &table->ops;
    if (like != NULL) {
        table->graph.n_streams = like->n_streams;
        table->graph.n_nics = like->n_nics;
    }
    if (like != NULL && like->streams != NULL) {
        table->streams = wf_xmalloc(wf_graph_n_streams(like));
        memcpy(table->streams, like->streams, wf_graph_n_streams(like));
        table->graph.streams = table->streams;
    }
    table->graph.tasks_expected = table->n;
    table->graph.messages_expected = table->n_sends;
    return &table->graph;
}
