/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Records a run of ranks or tasks. Handlers leave spans, messages and causes in the trail of
 * their event; its commit adds them to the recording in the tally. Handlers of final events add
 * them at once, spans to a batch, of which the next span may extend the last one. Ranks keep
 * nothing, and nothing has to be undone.
 */

#include "ranks/record/path.h"
#include "ranks/record/recording.h"
#include "ranks/tally.h"

/* The number of hops of a shortest path between two endpoints. */
typedef uint32_t wf_hops_fn(const void *arg, uint32_t from, uint32_t to);

struct wf_rails;

/* What is to be recorded. */
struct wf_recording_options {
    struct wf_recording_limits limits;
    wf_hops_fn *hops; /* null: there is no topology, so hops are not counted */
    const void *hops_arg;
};

/* All zero means that nothing is recorded. */
struct wf_recorder {
    struct wf_recording_options options;
    const struct wf_rails *rails;
    struct wf_tally_sections at; /* sections of the tally */
    int64_t *ends;               /* as in struct wf_ranks_config */
};

/* Lays out the sections of a tally, for a struct of `size` bytes that begins with a struct
 * wf_ranks_tally. Returns the size of the whole tally. Keeps `rails`. `options` null: nothing
 * is recorded. */
size_t wf_recorder_init(struct wf_recorder *recorder,
                        const struct wf_recording_options *options,
                        const struct wf_rails *rails, struct wf_net *net, size_t size);

static inline bool wf_recorder_is_on(const struct wf_recorder *recorder)
{
    return recorder->at.recording != 0;
}

/* Whether the critical path is to be found. */
static inline bool wf_recorder_wants_causes(const struct wf_recorder *recorder)
{
    return recorder->at.path != 0;
}

static inline bool wf_recorder_wants_calls(const struct wf_recorder *recorder)
{
    return recorder->options.limits.has_calls;
}

/* The sections of this thread's tally, ready to use; null if there is none. */
struct wf_recording *wf_recorder_recording(const struct wf_recorder *recorder,
                                           struct wf_ranks_tally *tally);
struct wf_path *wf_recorder_path(const struct wf_recorder *recorder,
                                 struct wf_ranks_tally *tally);

/* Whether a span continues another one. Sends follow each other without a gap: one span for all
 * of them is enough. */
static inline bool wf_span_continues(const struct wf_span *span, const struct wf_span *last)
{
    /* In this order: compilers compare `rank` and `what` as one number if they are neighbours
     * here, and the processor then waits until both have been written. */
    return last->what == span->what && last->until == span->from && last->rank == span->rank;
}

/* wf_recorder_span() in the rare cases: the event may be undone, the batch is full or not set up,
 * or the last span was a computation. */
void wf_recorder_span_rarely(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                             const struct wf_span *span);

/* In handlers, if the recorder is on. A span that continues the previous one extends it. Inlined,
 * so that a span goes from registers to the batch and not by way of the stack. */
__attribute__((always_inline)) static inline void
wf_recorder_span(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                 const struct wf_span *span)
{
    struct wf_recording *recording =
        (void *)((unsigned char *)wf_tally(ctx) + recorder->at.recording);

    if (wf_now_is_final(ctx) && recording->room > 0) {
        struct wf_span *last = recording->is_open ? wf_recording_last(recording) : NULL;

        if (last != NULL && wf_span_continues(span, last)) {
            last->until = span->until;
            return;
        }
        if (last == NULL || last->what != WF_SPENT_COMPUTING) {
            wf_recording_append(recording, span);
            return;
        }
    }
    /* A copy: if others know the address of `span`, it is in memory and not in registers. */
    const struct wf_span copy = *span;
    wf_recorder_span_rarely(recorder, ctx, &copy);
}

void wf_recorder_message(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                         const struct wf_sent *sent);
/* Likewise, if the recorder wants calls: the rank begins an op at `call->from`. */
void wf_recorder_call(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                      const struct wf_call *call);
/* Likewise, if the recorder wants causes. */
void wf_recorder_cause(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                       const struct wf_cause *cause);

/* In commit: adds the event's trail to the tally. */
void wf_recorder_commit(const struct wf_recorder *recorder, struct wf_ctx *ctx);
