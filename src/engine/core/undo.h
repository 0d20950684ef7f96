/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Speculative execution: events that can be undone.
 *
 * Executing an event logs the events that the handler schedules and the cells that it edits,
 * gets and frees. It also logs the state: nothing if the process has an undo handler, the
 * announced bytes if it announces changes, else all of it. A freed cell is kept until commit.
 */

#include "engine/core/internal.h"

/* What is needed to undo an executed event, besides its bytes and its undo log. */
struct wf_frame {
    uint64_t digest, sent, random; /* of the process before it */
    uint64_t overflows;            /* events it scheduled beyond the end of time */
    uint32_t undo_size, undo_last;
    uint32_t sent_size;
    uint32_t note_size;
    uint32_t trail_size;
    uint32_t dropped; /* events it scheduled at or after the end of the run */
};

void wf_undo_log_fini(struct wf_undo_log *log);

/* Executes `ev` under ctx->undo_log, which is emptied first. Events scheduled stay in the
 * log. */
void wf_undo_execute(struct wf_worker *worker, const struct wf_event *ev,
                     struct wf_frame *frame);

/* Undoes the event. `undo` are the entries of its undo log, `note` what the handler noted. */
void wf_undo_revert(struct wf_worker *worker, const struct wf_event *ev,
                    const struct wf_frame *frame, const void *note, const unsigned char *undo);

/* Commits the event. `trail` is what the handler left with wf_trail_extend(). */
void wf_undo_commit(struct wf_worker *worker, const struct wf_event *ev,
                    const struct wf_frame *frame, const void *note, const void *trail,
                    const unsigned char *undo);

/* Entries of the undo log, for ctx.c. Logging an edit returns the bytes of the cell, logging a new
 * cell gets it first. Not inlined: without a log, which is the common case, the functions of ctx.c
 * are only a few instructions. */
__attribute__((noinline)) void wf_undo_log_state(struct wf_ctx *ctx, size_t offset,
                                                 size_t size);
__attribute__((noinline)) void *wf_undo_log_edit(struct wf_ctx *ctx, uint32_t cell);
__attribute__((noinline)) uint32_t wf_undo_log_get(struct wf_ctx *ctx, size_t bytes);
__attribute__((noinline)) void wf_undo_log_put(struct wf_ctx *ctx, uint32_t cell);
