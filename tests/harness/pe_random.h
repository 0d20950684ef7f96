/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Random task graphs without deadlocks: dependencies and messages go from earlier to later
 * tasks of a random order. */

#include "harness/pe_harness.h"

#include <stdlib.h>

struct dice {
    uint64_t seed, count;
};

static inline uint64_t roll(struct dice *dice, uint64_t below)
{
    return wf_test_rand(dice->seed, 0, dice->count++) % below;
}

struct place_in_order {
    uint32_t pe, task;
};

/* A random task earlier in the order whose list has space for another entry. If `pe` is a PE,
 * the task is on it. */
static inline const struct place_in_order *earlier(struct dice *dice,
                                                   const struct drawing *drawing,
                                                   const struct place_in_order *order,
                                                   uint32_t at, uint32_t pe)
{
    for (int attempt = 0; at > 0 && attempt < 20; attempt++) {
        const struct place_in_order *found = &order[roll(dice, at)];
        const struct drawn_task *task = &drawing->tasks[found->pe][found->task];
        if ((pe == found->pe || pe == PES_MAX) && task->n_next < LIST_MAX &&
            task->n_sends < LIST_MAX) {
            return found;
        }
    }
    return NULL;
}

static inline bool waits_for(const struct drawn_task *task, uint32_t next)
{
    for (uint32_t i = 0; i < task->n_next; i++) {
        if (task->next[i] == next) {
            return true;
        }
    }
    return false;
}

static inline int by_offset(const void *a, const void *b)
{
    const struct wf_task_send *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A task without duration that sends to its own PE. Chains of such tasks happen within a
 * picosecond, in an order that is not specified. */
static inline bool takes_no_time(const struct drawing *drawing,
                                 const struct place_in_order *from,
                                 const struct place_in_order *to)
{
    return from->pe == to->pe && drawing->tasks[from->pe][from->task].duration == 0;
}

/* Draws the dependencies of the task at this position of the order. */
static inline void draw_needs(struct dice *dice, struct drawing *drawing,
                              const struct place_in_order *order, uint32_t at, int64_t unit)
{
    const struct place_in_order *self = &order[at];

    for (uint64_t n = roll(dice, 3); n > 0; n--) {
        const struct place_in_order *from = earlier(dice, drawing, order, at, self->pe);
        if (from != NULL && !waits_for(&drawing->tasks[self->pe][from->task], self->task)) {
            draw_next(drawing, self->pe, from->task, self->task);
        }
    }
    for (uint64_t n = roll(dice, 4); n > 0; n--) {
        const struct place_in_order *from = earlier(dice, drawing, order, at, PES_MAX);
        if (from != NULL && !takes_no_time(drawing, from, self)) {
            uint64_t steps =
                (uint64_t)drawing->tasks[from->pe][from->task].duration / (uint64_t)unit;
            draw_send(drawing, from->pe, from->task,
                      (struct wf_task_send){.offset = (int64_t)roll(dice, steps + 1) * unit,
                                            .bytes = roll(dice, 4),
                                            .pe = self->pe,
                                            .id = self->task});
        }
    }
}

/* Durations and offsets are small multiples of `unit`. With a unit near that of the network,
 * many events happen at the same time. */
static inline void draw_random(struct drawing *drawing, uint64_t seed, int64_t unit)
{
    struct dice dice = {seed, 0};
    struct place_in_order order[PES_MAX * TASKS_MAX];
    uint32_t n = 0;

    *drawing = (struct drawing){.graph = {
                                    .ops = seed % 2 == 0 ? &drawing_ops : &drawing_ops_coded,
                                    .n_pes = 1 + (uint32_t)roll(&dice, PES_MAX),
                                }};
    for (uint32_t pe = 0; pe < drawing->graph.n_pes; pe++) {
        for (uint64_t left = roll(&dice, TASKS_MAX + 1); left > 0; left--) {
            uint32_t task = draw_task(drawing, pe, (int64_t)roll(&dice, 5) * unit);
            uint64_t at = roll(&dice, ++n);
            order[n - 1] = order[at];
            order[at] = (struct place_in_order){pe, task};
        }
    }
    for (uint32_t at = 0; at < n; at++) {
        draw_needs(&dice, drawing, order, at, unit);
    }
    for (uint32_t at = 0; at < n; at++) {
        struct drawn_task *task = &drawing->tasks[order[at].pe][order[at].task];
        qsort(task->sends, task->n_sends, sizeof(task->sends[0]), by_offset);
    }
}

/* Deals the tasks to streams. All take time, and a message to the own PE leaves after the start
 * of its task: else chains of tasks on several streams happen within a picosecond. */
static inline void draw_streams(struct drawing *drawing, uint64_t seed, int64_t unit,
                                uint32_t n_streams)
{
    static const uint8_t kinds[] = {WF_STREAM_CPU, WF_STREAM_GPU, WF_STREAM_COMM, WF_STREAM_CPU,
                                    WF_STREAM_COPY};
    struct dice dice = {seed, UINT64_C(1) << 32};

    drawing->graph.n_streams = n_streams;
    drawing->graph.streams = kinds;
    for (uint32_t pe = 0; n_streams > 1 && pe < drawing->graph.n_pes; pe++) {
        for (uint32_t number = 0; number < drawing->n_tasks[pe]; number++) {
            struct drawn_task *task = &drawing->tasks[pe][number];
            task->stream = (uint32_t)roll(&dice, n_streams);
            task->duration = task->duration == 0 ? unit : task->duration;
            for (uint32_t i = 0; i < task->n_sends; i++) {
                struct wf_task_send *send = &task->sends[i];
                send->offset = send->pe == pe && send->offset == 0 ? unit : send->offset;
            }
            qsort(task->sends, task->n_sends, sizeof(task->sends[0]), by_offset);
        }
    }
}

/* Deals the messages to interfaces, and lets some tasks take no time. */
static inline void draw_nics(struct drawing *drawing, uint32_t n_nics)
{
    drawing->graph.n_nics = n_nics;
    for (uint32_t pe = 0; pe < drawing->graph.n_pes; pe++) {
        for (uint32_t number = 0; number < drawing->n_tasks[pe]; number++) {
            struct drawn_task *task = &drawing->tasks[pe][number];
            task->duration = task->n_sends == 0 && number % 3 == 0 ? 0 : task->duration;
            for (uint32_t i = 0; i < task->n_sends; i++) {
                task->sends[i].nic = (uint8_t)((number + i) % n_nics);
                task->sends[i].peer_nic = (uint8_t)(number % n_nics);
            }
        }
    }
}
