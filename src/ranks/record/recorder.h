/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RECORD_RECORDER_H
#define WF_RANKS_RECORD_RECORDER_H

/*
 * How a replay, of operations or of tasks, is recorded: handlers leave spans and messages in
 * their event's trail, and its commit adds them to the recording behind the tally. Nothing is
 * kept in the ranks and nothing has to be undone.
 */

#include "ranks/record/path.h"
#include "ranks/record/recording.h"
#include "ranks/tally.h"

/* Hops of a shortest way between two nodes. */
typedef uint32_t wf_hops_fn(const void *arg, uint32_t from_node, uint32_t to_node);

/* What is asked for. */
struct wf_recording_options {
    struct wf_recording_limits limits;
    wf_hops_fn *hops; /* null: there is no topology that counts */
    const void *hops_arg;
};

/* Zeroed records nothing. */
struct wf_recorder {
    struct wf_recording_options options;
    const struct wf_place *place;
    size_t at;      /* of the recording, in the tally; 0: there is none */
    size_t path_at; /* likewise of what the critical path is found by */
};

/* Makes file behind a tally of `size` bytes; returns the size with the recording. Null: nothing
 * is recorded. */
size_t wf_recorder_init(struct wf_recorder *recorder,
                        const struct wf_recording_options *options,
                        const struct wf_place *place, size_t size);

/* In handlers, if there is a recording; a span that continues the one before becomes one with
 * it. */
void wf_recorder_span(struct wf_ctx *ctx, struct wf_span span);
void wf_recorder_message(struct wf_ctx *ctx, const struct wf_sent *sent);
/* Likewise, if the critical path is wanted. */
void wf_recorder_cause(struct wf_ctx *ctx, const struct wf_cause *cause);

/* In commit: what the event left. */
void wf_recorder_commit(const struct wf_recorder *recorder, struct wf_ctx *ctx);

/* In commit and finish: this thread's part; null if nothing is recorded. */
struct wf_recording *wf_recorder_of(const struct wf_recorder *recorder,
                                    struct wf_ranks_tally *tally);
/* Likewise, its part of what the critical path is found by. */
struct wf_path *wf_recorder_path(const struct wf_recorder *recorder,
                                 struct wf_ranks_tally *tally);

#endif
