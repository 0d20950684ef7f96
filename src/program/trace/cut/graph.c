/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/cut/graph.h"

#include "base/mem.h"
#include "program/trace/kit/task_table.h"

/* State of cutting a graph. */
struct cutting {
    const struct wf_graph *from;
    struct wf_task_table *piece;
    uint32_t **numbers; /* by PE and task of `from`: the new number, or WF_NO_TASK */
    uint32_t *pe;       /* by PE of `from`: the new number, or WF_NO_TASK */
    uint64_t n_kept, n_lost;
};

/* Numbers the tasks of a PE that are kept. */
static void number_tasks(struct cutting *c, uint32_t pe, const struct wf_cut_options *options)
{
    uint32_t n = c->from->ops->n_tasks(c->from, pe), kept = 0;
    int64_t now = 0;
    struct wf_task task;

    c->numbers[pe] = wf_xcalloc((size_t)n + 1, sizeof(*c->numbers[pe]));
    for (uint32_t i = 0; i < n; i++) {
        bool inside = !options->has_time || (now >= options->begin && now < options->end);
        c->numbers[pe][i] = c->pe[pe] != WF_NO_TASK && inside ? kept++ : WF_NO_TASK;
        if (options->has_time) {
            c->from->ops->task(c->from, pe, i, &task);
            now += task.duration;
        }
    }
    c->n_kept += kept;
}

static void copy_next(const struct cutting *c, const struct wf_task *task)
{
    for (uint32_t i = 0; i < task->n_next; i++) {
        uint32_t next = c->numbers[task->pe][c->from->ops->next(c->from, task, i)];
        if (next != WF_NO_TASK) {
            wf_task_table_next(c->piece, next);
        }
    }
}

/* A task that is left out has messages to lose, too. */
static void copy_sends(struct cutting *c, const struct wf_task *task, bool is_kept)
{
    struct wf_task_send send;

    for (uint32_t i = 0; i < task->n_sends; i++) {
        c->from->ops->send(c->from, task, i, &send);
        uint32_t target = wf_graph_target(c->from, send.pe, task->pe, send.id);
        send.id = target != WF_NO_TASK ? c->numbers[send.pe][target] : WF_NO_TASK;
        c->n_lost += (send.id != WF_NO_TASK) != is_kept ? 1 : 0;
        if (is_kept && send.id != WF_NO_TASK) {
            send.pe = c->pe[send.pe];
            wf_task_table_send(c->piece, &send);
        }
    }
}

static void copy_pe(struct cutting *c, uint32_t pe)
{
    struct wf_task task;

    if (c->pe[pe] != WF_NO_TASK && c->pe[pe] > 0) {
        wf_task_table_pe(c->piece);
    }
    for (uint32_t i = 0; i < c->from->ops->n_tasks(c->from, pe); i++) {
        bool is_kept = c->numbers[pe][i] != WF_NO_TASK;
        c->from->ops->task(c->from, pe, i, &task);
        if (is_kept) {
            wf_task_table_task(c->piece, task.duration, task.stream);
            copy_next(c, &task);
        }
        copy_sends(c, &task, is_kept);
    }
}

enum wf_status wf_cut_graph(const struct wf_graph *graph, const struct wf_cut_options *options,
                            struct wf_graph **out, uint64_t *n_messages, struct wf_err *err)
{
    uint32_t n_pes = 0;
    struct cutting c = {.from = graph,
                        .numbers = wf_xcalloc(graph->n_pes, sizeof(*c.numbers)),
                        .pe = wf_xcalloc(graph->n_pes, sizeof(*c.pe))};

    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        c.pe[pe] = options->ranks == NULL || options->ranks[pe] ? n_pes++ : WF_NO_TASK;
    }
    c.piece = wf_task_table_new(n_pes);
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        number_tasks(&c, pe, options);
    }
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        copy_pe(&c, pe);
    }
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        free(c.numbers[pe]);
    }
    free(c.numbers);
    free(c.pe);
    enum wf_status status = wf_graph_check(graph, err);
    if (status == WF_OK && c.n_kept == 0) {
        status = wf_err_set(err, WF_EINVAL, "nothing is left: no task begins in that time");
    }
    if (status != WF_OK) {
        wf_task_table_free(c.piece);
        return status;
    }
    *n_messages = c.n_lost;
    *out = wf_task_table_graph(c.piece, "cut", graph);
    return WF_OK;
}
