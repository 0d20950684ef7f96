/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/record/recorder.h"

#include "ranks/rails.h"

#include <string.h>

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
                        const struct wf_rails *rails, struct wf_net *net, size_t size)
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
    return wf_tally_layout(&recorder->at, size, net, recording, path);
}

/* Returns another entry, all zero: the stored part of an event must have no undefined bytes. */
static struct recorded *extend(struct wf_ctx *ctx, enum entry what)
{
    struct recorded *entry = wf_trail_extend(ctx, sizeof(*entry));

    memset(entry, 0, sizeof(*entry));
    entry->what = what;
    return entry;
}

void wf_recorder_span(struct wf_ctx *ctx, struct wf_span span)
{
    struct recorded *last = wf_trail_last(ctx, sizeof(*last));

    /* Sends follow each other without a gap: one span for all of them is enough. */
    if (last != NULL && last->what == ENTRY_SPAN && last->span.rank == span.rank &&
        last->span.what == span.what && last->span.until == span.from) {
        last->span.until = span.until;
        return;
    }
    extend(ctx, ENTRY_SPAN)->span = span;
}

void wf_recorder_message(struct wf_ctx *ctx, const struct wf_sent *sent)
{
    extend(ctx, ENTRY_MESSAGE)->sent = *sent;
}

void wf_recorder_call(struct wf_ctx *ctx, const struct wf_call *call)
{
    extend(ctx, ENTRY_CALL)->call = *call;
}

void wf_recorder_cause(struct wf_ctx *ctx, const struct wf_cause *cause)
{
    extend(ctx, ENTRY_CAUSE)->cause = *cause;
}

struct wf_recording *wf_recorder_recording(const struct wf_recorder *recorder,
                                           struct wf_ranks_tally *tally)
{
    tally->at = recorder->at;
    struct wf_recording *recording = wf_tally_recording(tally);
    if (recording != NULL) {
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

static void add_to_path(struct wf_path *path, const struct recorded *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct recorded *entry = &entries[i];

        if (entry->what == ENTRY_CAUSE) {
            wf_path_cause(path, &entry->cause);
        } else if (entry->what == ENTRY_SPAN && entry->span.what == WF_SPENT_COMPUTING) {
            wf_path_compute(path, entry->span.rank, entry->span.from, entry->span.until);
        }
    }
}

void wf_recorder_commit(const struct wf_recorder *recorder, struct wf_ctx *ctx)
{
    size_t size;
    const struct recorded *entries = wf_trail(ctx, &size);
    size_t n = size / sizeof(*entries);

    if (n == 0) {
        return;
    }
    struct wf_recording *recording = wf_recorder_recording(recorder, wf_tally(ctx));
    for (size_t i = 0; i < n; i++) {
        if (entries[i].what == ENTRY_MESSAGE) {
            add_message(recorder, recording, &entries[i].sent);
        } else if (entries[i].what == ENTRY_SPAN) {
            wf_recording_span(recording, &entries[i].span);
        } else if (entries[i].what == ENTRY_CALL) {
            wf_recording_call(recording, &entries[i].call);
        }
    }
    if (wf_recorder_wants_causes(recorder)) {
        add_to_path(wf_recorder_path(recorder, wf_tally(ctx)), entries, n);
    }
}
