/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/cut/graph.h"

#include "base/array.h"
#include "base/mem.h"

#include <string.h>

struct piece_task {
    int64_t duration;
    uint32_t stream;
    struct wf_task_needs needs;
    size_t first_next, first_send; /* in the lists of the PE */
    uint32_t n_next, n_sends;
};

struct piece_pe {
    struct piece_task *tasks;
    uint32_t n;
    uint32_t *next;
    size_t n_next, next_capacity;
    struct wf_task_send *sends;
    size_t n_sends, sends_capacity;
};

struct piece {
    struct wf_graph graph;
    struct piece_pe *pes;
    uint8_t *streams;
};

/* The making of a piece. */
struct cutting {
    const struct wf_graph *from;
    struct piece *piece;
    uint32_t **numbers; /* by PE and task of `from`: number in the piece, or WF_NO_TASK */
    uint32_t *pe;       /* by PE of `from`: number in the piece, or WF_NO_TASK */
    uint64_t n_lost;
};

/* ---- the graph ---- */

static const struct piece_pe *pe_of(const struct wf_graph *graph, uint32_t pe)
{
    return &((const struct piece *)graph)->pes[pe];
}

static uint32_t piece_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    return pe_of(graph, pe)->n;
}

static struct wf_task_needs piece_needs(const struct wf_graph *graph, uint32_t pe,
                                        uint32_t task)
{
    return pe_of(graph, pe)->tasks[task].needs;
}

static uint32_t piece_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    const struct piece_pe *of = pe_of(graph, pe);

    for (uint32_t task = from; task < of->n; task++) {
        if (of->tasks[task].needs.tasks == 0 && of->tasks[task].needs.messages == 0) {
            return task;
        }
    }
    return WF_NO_TASK;
}

static void piece_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                       struct wf_task *out)
{
    const struct piece_task *from = &pe_of(graph, pe)->tasks[task];

    *out = (struct wf_task){.pe = pe,
                            .number = task,
                            .duration = from->duration,
                            .n_sends = from->n_sends,
                            .n_next = from->n_next,
                            .stream = from->stream};
}

static void piece_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                       struct wf_task_send *out)
{
    const struct piece_pe *pe = pe_of(graph, task->pe);

    *out = pe->sends[pe->tasks[task->number].first_send + i];
}

static uint32_t piece_next(const struct wf_graph *graph, const struct wf_task *task, uint32_t i)
{
    const struct piece_pe *pe = pe_of(graph, task->pe);

    return pe->next[pe->tasks[task->number].first_next + i];
}

static void piece_destroy(struct wf_graph *graph)
{
    struct piece *piece = (struct piece *)graph;

    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        free(piece->pes[pe].tasks);
        free(piece->pes[pe].next);
        free(piece->pes[pe].sends);
    }
    free(piece->pes);
    free(piece->streams);
    free(piece);
}

static const struct wf_graph_ops piece_ops = {
    .name = "cut",
    .summary = "a piece of a task graph",
    .destroy = piece_destroy,
    .n_tasks = piece_n_tasks,
    .root = piece_root,
    .needs = piece_needs,
    .task = piece_task,
    .send = piece_send,
    .next = piece_next,
};

/* ---- making one ---- */

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
    if (c->pe[pe] != WF_NO_TASK) {
        struct piece_pe *to = &c->piece->pes[c->pe[pe]];
        to->n = kept;
        to->tasks = wf_xcalloc((size_t)kept + 1, sizeof(*to->tasks));
    }
}

static void copy_next(struct cutting *c, const struct wf_task *task, uint32_t number)
{
    struct piece_pe *to = &c->piece->pes[c->pe[task->pe]];

    to->tasks[number].first_next = to->n_next;
    for (uint32_t i = 0; i < task->n_next; i++) {
        uint32_t next = c->numbers[task->pe][c->from->ops->next(c->from, task, i)];
        if (next != WF_NO_TASK) {
            WF_PUSH(to->next, to->n_next, to->next_capacity, next);
            to->tasks[number].n_next++;
            to->tasks[next].needs.tasks++;
        }
    }
}

/* A task that is left out, `number` being WF_NO_TASK, has messages to lose, too. */
static void copy_sends(struct cutting *c, const struct wf_task *task, uint32_t number)
{
    struct piece_pe *to = number != WF_NO_TASK ? &c->piece->pes[c->pe[task->pe]] : NULL;
    struct wf_task_send send;

    if (to != NULL) {
        to->tasks[number].first_send = to->n_sends;
    }
    for (uint32_t i = 0; i < task->n_sends; i++) {
        c->from->ops->send(c->from, task, i, &send);
        uint32_t target = wf_graph_target(c->from, send.pe, task->pe, send.id);
        uint32_t needs = target != WF_NO_TASK ? c->numbers[send.pe][target] : WF_NO_TASK;
        c->n_lost += (needs == WF_NO_TASK) != (to == NULL) ? 1 : 0;
        if (to != NULL && needs != WF_NO_TASK) {
            send.pe = c->pe[send.pe];
            send.id = needs;
            WF_PUSH(to->sends, to->n_sends, to->sends_capacity, send);
            to->tasks[number].n_sends++;
            c->piece->pes[send.pe].tasks[needs].needs.messages++;
        }
    }
}

static uint64_t copy_tasks(struct cutting *c)
{
    uint64_t kept = 0;
    struct wf_task task;

    for (uint32_t pe = 0; pe < c->from->n_pes; pe++) {
        for (uint32_t i = 0; i < c->from->ops->n_tasks(c->from, pe); i++) {
            uint32_t number = c->numbers[pe][i];
            c->from->ops->task(c->from, pe, i, &task);
            if (number != WF_NO_TASK) {
                struct piece_task *to = &c->piece->pes[c->pe[pe]].tasks[number];
                to->duration = task.duration;
                to->stream = task.stream;
                copy_next(c, &task, number);
                kept++;
            }
            copy_sends(c, &task, number);
        }
    }
    return kept;
}

static struct piece *new_piece(const struct wf_graph *graph, uint32_t n_pes)
{
    struct piece *piece = wf_xcalloc(1, sizeof(*piece));

    piece->graph = (struct wf_graph){.ops = &piece_ops,
                                     .n_pes = n_pes,
                                     .n_streams = graph->n_streams,
                                     .n_nics = graph->n_nics};
    piece->pes = wf_xcalloc((size_t)n_pes + 1, sizeof(*piece->pes));
    if (graph->streams != NULL) {
        piece->streams = wf_xcalloc(wf_graph_n_streams(graph), sizeof(*piece->streams));
        memcpy(piece->streams, graph->streams, wf_graph_n_streams(graph));
        piece->graph.streams = piece->streams;
    }
    return piece;
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
    c.piece = new_piece(graph, n_pes);
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        number_tasks(&c, pe, options);
    }
    uint64_t kept = copy_tasks(&c);
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        free(c.numbers[pe]);
    }
    free(c.numbers);
    free(c.pe);
    enum wf_status status = wf_graph_check(graph, err);
    if (status == WF_OK && kept == 0) {
        status = wf_err_set(err, WF_EINVAL, "nothing is left: no task begins in that time");
    }
    if (status != WF_OK) {
        piece_destroy(&c.piece->graph);
        return status;
    }
    *n_messages = c.n_lost;
    *out = &c.piece->graph;
    return WF_OK;
}
