/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/write.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdlib.h>

/* A message, with its receiver and its sender (src). */
struct arrival {
    uint32_t pe, task, src;
    uint64_t bytes;
    uint8_t nic;
};

struct writing {
    FILE *out;
    const struct wf_graph *graph;
    struct wf_losses *losses;
    struct arrival *arrivals; /* sorted by PE and task */
    uint64_t n, capacity, next;
    uint32_t pe;
    int64_t rest; /* rounding error so far */
};

static int by_receiver(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;

    return 8 * WF_ORDER(x->pe, y->pe) + 4 * WF_ORDER(x->task, y->task) +
           2 * WF_ORDER(x->src, y->src) + WF_ORDER(x->bytes, y->bytes);
}

static void note_sends(struct writing *w, const struct wf_task *task)
{
    for (uint32_t i = 0; i < task->n_sends; i++) {
        struct wf_task_send send;

        w->graph->ops->send(w->graph, task, i, &send);
        uint32_t target = wf_graph_target(w->graph, send.pe, task->pe, send.id);
        if (target == WF_NO_TASK) {
            continue;
        }
        WF_PUSH(w->arrivals, w->n, w->capacity,
                (struct arrival){send.pe, target, task->pe, send.bytes, send.peer_nic});
    }
}

static void find_arrivals(struct writing *w)
{
    for (uint32_t pe = 0; pe < w->graph->n_pes; pe++) {
        uint32_t n = w->graph->ops->n_tasks(w->graph, pe);
        for (uint32_t i = 0; i < n; i++) {
            struct wf_task task;
            w->graph->ops->task(w->graph, pe, i, &task);
            note_sends(w, &task);
        }
    }
    WF_SORT(w->arrivals, w->n, by_receiver);
}

/* ---- tasks ---- */

/* is_send() and is_recv(): the task is a single message, for which one op is enough. */
static bool is_send(const struct wf_task *task, const struct wf_task_needs *needs)
{
    return task->duration == 0 && task->n_sends == 1 && needs->messages == 0;
}

static bool is_recv(const struct wf_task *task, const struct wf_task_needs *needs)
{
    return task->duration == 0 && task->n_sends == 0 && needs->messages == 1;
}

/* Returns whether the first and the last op of a task are different ops. */
static bool has_begin(const struct writing *w, uint32_t number)
{
    struct wf_task_needs needs = w->graph->ops->needs(w->graph, w->pe, number);
    struct wf_task task;

    w->graph->ops->task(w->graph, w->pe, number, &task);
    return task.n_sends > 0 && !is_send(&task, &needs);
}

/* Ends the line of an op, with its stream as its cpu. */
static void end_op(const struct writing *w, uint32_t stream, uint8_t nic)
{
    if (stream > 0) {
        (void)fprintf(w->out, " cpu %" PRIu32, stream);
    }
    if (nic > 0) {
        (void)fprintf(w->out, " nic %u", nic);
    }
    (void)fputc('\n', w->out);
}

static void put_send(const struct writing *w, const struct wf_task *task, uint32_t i)
{
    struct wf_task_send send;

    w->graph->ops->send(w->graph, task, i, &send);
    uint32_t target = wf_graph_target(w->graph, send.pe, task->pe, send.id);
    /* If no task needs the message, use a tag that no receive has. */
    target = target != WF_NO_TASK ? target : w->graph->ops->n_tasks(w->graph, send.pe);
    (void)fprintf(w->out, "send %" PRIu64 "b to %" PRIu32 " tag %" PRIu32, send.bytes, send.pe,
                  target);
    end_op(w, task->stream, send.nic);
}

static void put_recv(struct writing *w, uint32_t number, uint32_t stream)
{
    const struct arrival *arrival = w->next < w->n ? &w->arrivals[w->next] : NULL;

    if (arrival != NULL && arrival->pe == w->pe && arrival->task == number) {
        (void)fprintf(w->out, "recv %" PRIu64 "b from %" PRIu32 " tag %" PRIu32, arrival->bytes,
                      arrival->src, number);
        end_op(w, stream, arrival->nic);
        w->next++;
    } else {
        (void)fprintf(w->out, "recv 0b from -1 tag %" PRIu32, number);
        end_op(w, stream, 0);
    }
}

static void put_parts(struct writing *w, const struct wf_task *task)
{
    int64_t before = 0;

    for (uint32_t i = 0; i < task->n_sends; i++) {
        struct wf_task_send send;
        w->graph->ops->send(w->graph, task, i, &send);
        (void)fprintf(w->out, "t%" PRIu32 "c%" PRIu32 ": calc %" PRId64, task->number, i,
                      wf_goal_units(send.offset - before, &w->rest, w->losses));
        end_op(w, task->stream, 0);
        (void)fprintf(w->out, "t%" PRIu32 "s%" PRIu32 ": ", task->number, i);
        put_send(w, task, i);
        before = send.offset;
    }
    (void)fprintf(w->out, "t%" PRIu32 ": calc %" PRId64, task->number,
                  wf_goal_units(task->duration - before, &w->rest, w->losses));
    end_op(w, task->stream, 0);
    for (uint32_t i = 0; i < task->n_sends; i++) {
        (void)fprintf(w->out, "t%" PRIu32 "s%" PRIu32 " requires t%" PRIu32 "c%" PRIu32 "\n",
                      task->number, i, task->number, i);
        if (i + 1 < task->n_sends) {
            (void)fprintf(w->out,
                          "t%" PRIu32 "c%" PRIu32 " requires t%" PRIu32 "s%" PRIu32 "\n",
                          task->number, i + 1, task->number, i);
        } else {
            (void)fprintf(w->out, "t%" PRIu32 " requires t%" PRIu32 "s%" PRIu32 "\n",
                          task->number, task->number, i);
        }
    }
}

static void put_task(struct writing *w, uint32_t number)
{
    struct wf_task_needs needs = w->graph->ops->needs(w->graph, w->pe, number);
    struct wf_task task;

    w->graph->ops->task(w->graph, w->pe, number, &task);
    if (is_send(&task, &needs)) {
        (void)fprintf(w->out, "t%" PRIu32 ": ", number);
        put_send(w, &task, 0);
        return;
    }
    if (is_recv(&task, &needs)) {
        (void)fprintf(w->out, "t%" PRIu32 ": ", number);
        put_recv(w, number, task.stream);
        return;
    }
    for (uint32_t i = 0; i < needs.messages; i++) {
        (void)fprintf(w->out, "t%" PRIu32 "r%" PRIu32 ": ", number, i);
        put_recv(w, number, task.stream);
    }
    put_parts(w, &task);
    for (uint32_t i = 0; i < needs.messages; i++) {
        (void)fprintf(w->out, "t%" PRIu32 "%s requires t%" PRIu32 "r%" PRIu32 "\n", number,
                      task.n_sends > 0 ? "c0" : "", number, i);
    }
}

static void put_pe(struct writing *w)
{
    uint32_t n = w->graph->ops->n_tasks(w->graph, w->pe);

    (void)fprintf(w->out, "\nrank %" PRIu32 " {\n", w->pe);
    w->rest = 0;
    for (uint32_t i = 0; i < n; i++) {
        put_task(w, i);
        while (w->next < w->n && w->arrivals[w->next].pe == w->pe &&
               w->arrivals[w->next].task == i) {
            w->next++; /* invalid graph: more messages than the task needs */
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        struct wf_task task;
        w->graph->ops->task(w->graph, w->pe, i, &task);
        for (uint32_t k = 0; k < task.n_next; k++) {
            uint32_t next = w->graph->ops->next(w->graph, &task, k);
            (void)fprintf(w->out, "t%" PRIu32 "%s requires t%" PRIu32 "\n", next,
                          has_begin(w, next) ? "c0" : "", i);
        }
    }
    (void)fprintf(w->out, "}\n");
}

enum wf_status wf_goal_write_graph(const struct wf_sheet *sheet, const struct wf_graph *graph,
                                   struct wf_err *err)
{
    struct writing w = {.out = sheet->file, .graph = graph, .losses = sheet->losses};

    find_arrivals(&w);
    (void)fprintf(w.out, "num_ranks %" PRIu32 "\n", graph->n_pes);
    for (w.pe = 0; w.pe < graph->n_pes; w.pe++) {
        put_pe(&w);
    }
    free(w.arrivals);
    return wf_graph_check(graph, err);
}
