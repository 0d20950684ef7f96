/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Records a run of ranks or tasks. Handlers leave spans, messages and causes in the trail of
 * their event; its commit adds them to the recording in the tally. Handlers of final events add
 * them at once. A span may extend the last one of its event; sums need not know that. Ranks keep
 * nothing, and nothing has to be undone.
 */

#include "model/ranks/record/path.h"
#include "model/ranks/record/recording.h"
#include "model/ranks/tally.h"

/* The number of hops of a shortest path between two endpoints. */
typedef uint32_t wf_hops_fn(const void *arg, uint32_t from, uint32_t to);

struct wf_rails;

/* What to record, and the limits of a recording. */
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

/* Lays out the sections of a tally of n_jobs jobs, for a struct of `size` bytes that begins with
 * a struct wf_ranks_tally. Returns the size of the whole tally. Keeps `rails`. `options` null:
 * nothing is recorded. */
size_t wf_recorder_init(struct wf_recorder *recorder,
                        const struct wf_recording_options *options,
                        const struct wf_rails *rails, struct wf_net *net, size_t size,
                        struct wf_tally_lists lists);

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

/* This thread's recording, if the event is final and individual spans need only be counted; else
 * null, also if nothing is recorded. */
static inline struct wf_recording *wf_recorder_sums(const struct wf_recorder *recorder,
                                                    struct wf_ctx *ctx)
{
    if (!wf_recorder_is_on(recorder) || !wf_now_is_final(ctx)) {
        return NULL;
    }
    struct wf_recording *recording =
        (void *)((unsigned char *)wf_tally(ctx) + recorder->at.recording);
    return recording->sums_only ? recording : NULL;
}

/* wf_recorder_span() where it has more to do: the event may be undone, individual spans are kept, or
 * the span does not continue the last one. Not inlined, so that callers save few registers. */
__attribute__((noinline)) void wf_recorder_span_carefully(const struct wf_recorder *recorder,
                                                          struct wf_ctx *ctx, uint32_t rank,
                                                          uint32_t what, int64_t from,
                                                          int64_t until);

/* Adds the last span of a final event to the sums, and to the history of its rank if it is a
 * computation: nothing extends it any more. */
void wf_recorder_end_last(const struct wf_recorder *recorder, struct wf_recording *recording,
                          struct wf_ctx *ctx);

/* wf_recorder_span() for callers that have `sums`, which is what wf_recorder_sums() returned in the
 * same event. Sends follow each other: they become one span, which is added to the sums as a
 * whole. */
__attribute__((always_inline)) static inline void
wf_recorder_add(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                struct wf_recording *sums, const struct wf_span *span)
{
    if (sums != NULL && wf_span_continues(span, &sums->last)) {
        sums->last.until = span->until;
    } else {
        wf_recorder_span_carefully(recorder, ctx, span->rank, span->what, span->from,
                                   span->until);
    }
}

/* Adds a span, and the CPU time of a message that follows it until a later time. For receives, which
 * are most spans: one decision for both. The span must not be of the same kind as the last one. */
static inline void wf_recorder_add_both(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                                        struct wf_recording *sums, const struct wf_span *span,
                                        int64_t until)
{
    if (sums->last.from != sums->last.until) {
        wf_recorder_end_last(recorder, sums, ctx);
    }
    sums->n_spans += 2;
    sums->last.from = sums->last.until = until;
    sums->last.rank = span->rank;
    sums->last.what = WF_SPENT_ON_MESSAGES;
    wf_recording_spend_both(sums, span->rank, span->what, span->from, span->until, until);
}

/* In handlers, if the recorder is on. A span that continues the previous one extends it. */
static inline void wf_recorder_span(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                                    const struct wf_span *span)
{
    wf_recorder_add(recorder, ctx, wf_recorder_sums(recorder, ctx), span);
}

void wf_recorder_message(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                         const struct wf_sent *sent);

/* The same for callers that have `sums`, which is what wf_recorder_sums() returned in the same
 * event. */
static inline void wf_recorder_add_message(const struct wf_recorder *recorder,
                                           struct wf_ctx *ctx, struct wf_recording *sums,
                                           const struct wf_sent *sent)
{
    if (sums != NULL && sums->last.what == WF_SPENT_NOTHING && recorder->options.hops == NULL) {
        wf_recording_message(sums, sent);
    } else {
        wf_recorder_message(recorder, ctx, sent);
    }
}

/* In handlers, if the recorder wants calls: the rank begins an op at `call->from`. */
void wf_recorder_call(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                      const struct wf_call *call);
/* Likewise, if the recorder wants causes. */
void wf_recorder_cause(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                       const struct wf_cause *cause);

/* Ends the last span of a final event. Called at the end of each event, final or not; or by
 * wf_recorder_commit(), for processes that have all their events committed. */
static inline void wf_recorder_end_event(const struct wf_recorder *recorder, struct wf_ctx *ctx)
{
    if (!wf_now_is_final(ctx)) {
        return;
    }
    struct wf_recording *recording =
        (void *)((unsigned char *)wf_tally(ctx) + recorder->at.recording);

    if (recording->last.what != WF_SPENT_NOTHING) {
        wf_recorder_end_last(recorder, recording, ctx);
    }
}

/* wf_recorder_commit() for an event that has left a trail. */
void wf_recorder_commit_trail(const struct wf_recorder *recorder, struct wf_ctx *ctx);

/* In commit: adds the event's trail to the tally. Events that were final at once have none. */
static inline void wf_recorder_commit(const struct wf_recorder *recorder, struct wf_ctx *ctx)
{
    size_t size;

    wf_recorder_end_event(recorder, ctx);
    (void)wf_trail(ctx, &size);
    if (size > 0) {
        wf_recorder_commit_trail(recorder, ctx);
    }
}
