/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The streams of a PE (program/ops/graph.h), for model/ranks/tasks/pe_rules.c: when each is free, and its
 * started tasks that others wait for. A stream runs its tasks in the order in which they were
 * started, so its list is sorted by the ends of the tasks. Lists are in cells. A call costs
 * the number of streams.
 */

#include "engine/model.h"

#include <stdbool.h>

/* Part of a node's state, announced by the caller (wf_touch()). All zero is the initial state. */
struct wf_pe_stream {
    int64_t free_at; /* when all tasks that were started until now have ended */
    int64_t busy_ps;
    uint32_t first, last; /* cells: tasks that others wait for, by their end; 0: none */
    uint16_t taken, used; /* entries taken from the first cell, and used in the last */
    uint32_t padding;
};

/* A started task that others wait for. */
struct wf_pe_open {
    int64_t finish;
    uint32_t task;
    uint32_t at_once; /* 1: it ended when it began */
};

/* Adds a task; it ends at `finish` or after all other tasks of the stream. */
void wf_pe_stream_push(struct wf_ctx *ctx, struct wf_pe_stream *stream,
                       const struct wf_pe_open *open);

/* Takes the task that ends first among those of all `n` streams, if it ends at `until` or
 * before. Of tasks that end at the same time, those that took time come first, in the order of
 * their numbers. Returns false if there is none. */
bool wf_pe_stream_take(struct wf_ctx *ctx, struct wf_pe_stream *streams, uint32_t n,
                       int64_t until, struct wf_pe_open *out);
