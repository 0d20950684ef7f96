/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recorder.h"

#include "mpi/place.h"

/* An entry of a trail. */
struct recorded {
    uint64_t is_message;
    union {
        struct {
            struct wf_span span;
            uint64_t unused; /* what is kept of an event has no bytes that mean nothing */
        };
        struct wf_sent sent;
    };
};

size_t wf_recorder_init(struct wf_recorder *recorder, const struct wf_recording_wish *wish,
                        const struct wf_place *place, size_t size)
{
    if (wish == NULL) {
        return size;
    }
    *recorder = (struct wf_recorder){.wish = *wish, .place = place, .at = size};
    return size + wf_recording_size(place->n_ranks, &wish->limits);
}

void wf_recorder_span(struct wf_ctx *ctx, struct wf_span span)
{
    struct recorded *last = wf_trail_last(ctx, sizeof(*last));

    /* Sends follow each other: one span for all of them is enough. */
    if (last != NULL && !last->is_message && last->span.rank == span.rank &&
        last->span.what == span.what && last->span.until == span.from) {
        last->span.until = span.until;
        return;
    }
    last = wf_trail_extend(ctx, sizeof(*last));
    last->is_message = 0;
    last->span = span;
    last->unused = 0;
}

void wf_recorder_message(struct wf_ctx *ctx, const struct wf_sent *sent)
{
    struct recorded *entry = wf_trail_extend(ctx, sizeof(*entry));

    entry->is_message = 1;
    entry->sent = *sent;
}

struct wf_recording *wf_recorder_of(const struct wf_recorder *recorder,
                                    struct wf_replay_tally *tally)
{
    if (recorder->at == 0) {
        return NULL;
    }
    tally->recording_at = recorder->at;
    struct wf_recording *recording = wf_tally_recording(tally);
    wf_recording_init(recording, recorder->place->n_ranks, &recorder->wish.limits);
    return recording;
}

static void add_message(const struct wf_recorder *recorder, struct wf_recording *recording,
                        const struct wf_sent *sent)
{
    const struct wf_recording_wish *wish = &recorder->wish;

    wf_recording_message(recording, sent);
    if (wish->hops != NULL) {
        uint32_t hops = wish->hops(wish->hops_arg, wf_place_node(recorder->place, sent->from),
                                   wf_place_node(recorder->place, sent->to));
        wf_recording_hops(recording, hops, sent->arrival - sent->departure);
    }
}

void wf_recorder_commit(const struct wf_recorder *recorder, struct wf_ctx *ctx)
{
    size_t size;
    const struct recorded *entries = wf_trail(ctx, &size);

    if (size == 0) {
        return;
    }
    struct wf_recording *recording = wf_recorder_of(recorder, wf_tally(ctx));
    for (size_t i = 0; i < size / sizeof(*entries); i++) {
        if (entries[i].is_message) {
            add_message(recorder, recording, &entries[i].sent);
        } else {
            wf_recording_span(recording, &entries[i].span);
        }
    }
}
