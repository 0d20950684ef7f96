/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a PE or one of its streams (program/ops/graph.h) has started and others wait for, for
 * model/ranks/tasks/pe_rules.c. Tasks run in the order in which they were started, so a list is sorted by
 * the ends of its tasks. Lists are in cells.
 */

#include "engine/model.h"

#include <stdbool.h>

/* Part of a node's state, announced by the caller (wf_touch()). All zero is the initial state. */
struct wf_pe_open_list {
    uint64_t end; /* of the first task (wf_pe_end_key()): most events need no cell to see it */
    uint32_t first, last; /* cells; 0: none */
    uint16_t taken, used; /* entries taken from the first cell, and used in the last */
    uint32_t padding;
};

/* The end of a task, and whether it ended when it began. Of tasks that end at the same time, those
 * that took time come first. */
static inline uint64_t wf_pe_end_key(int64_t end, bool at_once)
{
    return (uint64_t)end << 1 | at_once;
}

/* Whether the list has a task that ends at `until` or before. */
static inline bool wf_pe_open_has(const struct wf_pe_open_list *list, int64_t until)
{
    return list->first != 0 && (int64_t)(list->end >> 1) <= until;
}

/* Adds a task; it ends after all others of the list, or with the last one. */
void wf_pe_open_push(struct wf_ctx *ctx, struct wf_pe_open_list *list, uint64_t end,
                     uint32_t task);
/* Takes the first task of a list that has one. */
uint32_t wf_pe_open_pop(struct wf_ctx *ctx, struct wf_pe_open_list *list);

struct wf_pe_stream {
    int64_t free_at; /* when all tasks that were started until now have ended */
    int64_t busy_ps;
    struct wf_pe_open_list open;
};

/* The stream among `n` whose first task ends first, if that is at `until` or before; else null. Of
 * tasks with the same end, the one with the lower number comes first. */
struct wf_pe_stream *wf_pe_stream_first(struct wf_ctx *ctx, struct wf_pe_stream *streams,
                                        uint32_t n, int64_t until);
