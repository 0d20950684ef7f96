/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_SPEC_H
#define WF_ENGINE_SPEC_H

/*
 * Executing an event so that it can be undone.
 *
 * Going forward takes down what the handler scheduled and what it changed: nothing if the
 * process has an undo handler, the announced bytes if it announces them, else its whole state;
 * and in any case the cells it edited, got and freed. A freed cell is kept until commit.
 */

#include "engine/internal.h"

/* What has to be known of an executed event to undo it, besides its bytes. */
struct wf_frame {
    uint64_t digest, sent, draws; /* of the process before it */
    uint64_t overflows;           /* what it scheduled beyond the end of time */
    uint32_t undo_size, undo_last;
    uint32_t sent_size;
    uint32_t note_size;
    uint32_t trail_size, padding;
};

void wf_recording_fini(struct wf_recording *recording);

/* Executes `ev` under ctx->recording, which is emptied first. Events scheduled stay in the
 * recording. */
void wf_spec_forward(struct wf_worker *worker, const struct wf_event *ev,
                     struct wf_frame *frame);

/* Undoes it. `undo` are the recording's entries, `note` the handler's note. */
void wf_spec_undo(struct wf_worker *worker, const struct wf_event *ev,
                  const struct wf_frame *frame, const void *note, const unsigned char *undo);

/* Makes it final. `trail` is what the handler left with wf_trail_add(). */
void wf_spec_commit(struct wf_worker *worker, const struct wf_event *ev,
                    const struct wf_frame *frame, const void *note, const void *trail,
                    const unsigned char *undo);

/* For ctx.c: entries of the log. */
void wf_spec_log_state(struct wf_ctx *ctx, size_t offset, size_t size);
void wf_spec_log_edit(struct wf_ctx *ctx, uint32_t cell);
void wf_spec_log_get(struct wf_ctx *ctx, uint32_t cell);
void wf_spec_log_put(struct wf_ctx *ctx, uint32_t cell);

#endif
