/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/record/recorder.h"

#include "model/ranks/rails.h"

/* An entry of an event's trail. */
enum entry { ENTRY_SPAN, ENTRY_MESSAGE, ENTRY_CAUSE, ENTRY_CALL };
struct recorded {
    uint64_t what; /* enum entry */
    union {
        struct wf_span span;
        struct wf_sent sent;
        struct wf_cause cause;
        struct wf_call call;
    };
};

size_t wf_recorder_init(struct wf_recorder *recorder,
                        const struct wf_recording_options *options,
                        const struct wf_rails *rails, struct wf_net *net, size_t size,
                        struct wf_tally_lists lists)
{
    uint32_t n_ranks = rails->place->n_ranks;
    size_t recording = 0, path = 0;

    if (options != NULL) {
        *recorder = (struct wf_recorder){.options = *options, .rails = rails};
        recording = wf_recording_size(n_ranks, &options->limits);
        path = options->limits.path_bytes > 0
                   ? wf_path_size(n_ranks, options->limits.path_bytes)
                   : 0;
    }
    return wf_tally_layout(&recorder->at, size, net, recording, path, lists);
}

/* Returns another entry. The stored part of an event must have no undefined bytes: what the entry
 * does not use is zero. */
static inline struct recorded *extend_trail(struct wf_ctx *ctx, enum entry what)
{
    struct recorded *entry = wf_trail_extend(ctx, sizeof(*entry));

    *entry = (struct recorded){.what = what};
    return entry;
}

struct wf_recording *wf_recorder_recording(const struct wf_recorder *recorder,
                                           struct wf_ranks_tally *tally)
{
    tally->at = recorder->at;
    struct wf_recording *recording = wf_tally_recording(tally);
    if (recording != NULL && recording->n_ranks == 0) {
        wf_recording_init(recording, recorder->rails->place->n_ranks,
                          &recorder->options.limits);
    }
    return recording;
}

struct wf_path *wf_recorder_path(const struct wf_recorder *recorder,
                                 struct wf_ranks_tally *tally)
{
    tally->at = recorder->at;
    struct wf_path *path = wf_tally_path(tally);
    if (path != NULL) {
        wf_path_init(path, recorder->rails->place->n_ranks,
                     recorder->options.limits.path_bytes);
    }
    return path;
}

static void add_message(const struct wf_recorder *recorder, struct wf_recording *recording,
                        const struct wf_sent *sent)
{
    const struct wf_recording_options *options = &recorder->options;

    wf_recording_message(recording, sent);
    if (options->hops != NULL) {
        uint32_t hops =
            options->hops(options->hops_arg, wf_rails_end(recorder->rails, sent->from),
                          wf_rails_end(recorder->rails, sent->to));
        wf_recording_hops(recording, hops, sent->arrival - sent->departure);
    }
}

static inline struct wf_recording *recording_of(const struct wf_recorder *recorder,
                                                struct wf_ctx *ctx)
{
    struct wf_ranks_tally *tally = wf_tally(ctx);
    struct wf_recording *recording = (void *)((unsigned char *)tally + recorder->at.recording);

    return recording->n_ranks != 0 ? recording : wf_recorder_recording(recorder, tally);
}

static inline struct wf_path *path_of(const struct wf_recorder *recorder, struct wf_ctx *ctx)
{
    struct wf_ranks_tally *tally = wf_tally(ctx);
    struct wf_path *path = (void *)((unsigned char *)tally + recorder->at.path);

    return path->n_ranks != 0 ? path : wf_recorder_path(recorder, tally);
}

/* A computation, for the critical path. */
static inline void add_computation(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                                   const struct wf_span *span)
{
    if (wf_recorder_wants_causes(recorder)) {
        wf_path_compute(path_of(recorder, ctx), span->rank, span->from, span->until);
    }
}

void wf_recorder_end_last(const struct wf_recorder *recorder, struct wf_recording *recording,
                          struct wf_ctx *ctx)
{
    struct wf_span *last = &recording->last;

    if (recording->n_ranks == 0) { /* the thread's first event, which recorded nothing */
        (void)recording_of(recorder, ctx);
        return;
    }
    if (last->from != last->until) {
        wf_recording_spend(recording, last->rank, last->what, last->from, last->until);
    }
    if (last->what == WF_SPENT_COMPUTING) {
        add_computation(recorder, ctx, last);
    }
    /* Where only sums are kept, the span was counted when it began. */
    if (!recording->sums_only) {
        wf_recording_count(recording, last);
    }
    last->from = last->until;
    last->what = WF_SPENT_NOTHING;
}

static inline struct wf_recording *end_spans(const struct wf_recorder *recorder,
                                             struct wf_ctx *ctx)
{
    struct wf_recording *recording = recording_of(recorder, ctx);

    if (recording->last.what != WF_SPENT_NOTHING) {
        wf_recorder_end_last(recorder, recording, ctx);
    }
    return recording;
}

static void commit_entry(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                         const struct recorded *entry)
{
    switch ((enum entry)entry->what) {
    case ENTRY_SPAN:
        wf_recording_span(recording_of(recorder, ctx), &entry->span);
        if (entry->span.what == WF_SPENT_COMPUTING) {
            add_computation(recorder, ctx, &entry->span);
        }
        break;
    case ENTRY_MESSAGE:
        add_message(recorder, recording_of(recorder, ctx), &entry->sent);
        break;
    case ENTRY_CALL:
        wf_recording_call(recording_of(recorder, ctx), &entry->call);
        break;
    case ENTRY_CAUSE:
        wf_path_cause(path_of(recorder, ctx), &entry->cause);
        break;
    }
}

/* Leaves a span for the commit of an event that may be undone. */
static void leave_span(struct wf_ctx *ctx, const struct wf_span *span)
{
    struct recorded *entry = wf_trail_last(ctx, sizeof(*entry));

    if (entry != NULL && entry->what == ENTRY_SPAN && wf_span_continues(span, &entry->span)) {
        entry->span.until = span->until;
    } else {
        extend_trail(ctx, ENTRY_SPAN)->span = *span;
    }
}

void wf_recorder_span_carefully(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                                uint32_t rank, uint32_t what, int64_t from, int64_t until)
{
    const struct wf_span span = {from, until, rank, what};

    if (!wf_now_is_final(ctx)) {
        leave_span(ctx, &span);
        return;
    }
    struct wf_recording *recording = recording_of(recorder, ctx);

    if (wf_span_continues(&span, &recording->last)) {
        recording->last.until = until;
        return;
    }
    (void)end_spans(recorder, ctx);
    recording->last.from = from;
    recording->last.until = until;
    recording->last.rank = rank;
    recording->last.what = what;
    recording->n_spans += recording->sums_only;
}

void wf_recorder_message(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                         const struct wf_sent *sent)
{
    if (wf_now_is_final(ctx)) {
        add_message(recorder, end_spans(recorder, ctx), sent);
    } else {
        extend_trail(ctx, ENTRY_MESSAGE)->sent = *sent;
    }
}

void wf_recorder_call(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                      const struct wf_call *call)
{
    if (wf_now_is_final(ctx)) {
        wf_recording_call(end_spans(recorder, ctx), call);
    } else {
        extend_trail(ctx, ENTRY_CALL)->call = *call;
    }
}

void wf_recorder_cause(const struct wf_recorder *recorder, struct wf_ctx *ctx,
                       const struct wf_cause *cause)
{
    if (wf_now_is_final(ctx)) {
        (void)end_spans(recorder, ctx);
        wf_path_cause(path_of(recorder, ctx), cause);
    } else {
        extend_trail(ctx, ENTRY_CAUSE)->cause = *cause;
    }
}

void wf_recorder_commit_trail(const struct wf_recorder *recorder, struct wf_ctx *ctx)
{
    size_t size;
    const struct recorded *entries = wf_trail(ctx, &size);

    for (size_t i = 0; i < size / sizeof(*entries); i++) {
        commit_entry(recorder, ctx, &entries[i]);
    }
}
