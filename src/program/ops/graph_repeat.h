/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A task graph that is executed several times: each PE starts again when all of its tasks are
 * over, as each rank of a repeated program does. After the tasks of every time but the last one a
 * PE has one more task, which takes no time: it waits for all of them, and the first tasks of the
 * next time wait for it.
 */

#include "program/ops/graph.h"

/* Wraps `inner`, which the new graph then owns; `times` is at least 1. On failure `inner` still
 * belongs to the caller. WF_ELIMIT if a PE would have too many tasks. */
enum wf_status wf_graph_repeat(struct wf_graph *inner, uint64_t times, struct wf_graph **out,
                               struct wf_err *err);

/* Likewise, but only the first body[pe] tasks of each PE are repeated, and its other tasks follow
 * the last time. `body` is copied. A message from a time before the last one to a task after the
 * body starts nothing. */
enum wf_status wf_graph_repeat_body(struct wf_graph *inner, const uint32_t *body,
                                    uint64_t times, struct wf_graph **out, struct wf_err *err);
