/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warp/history.h"

#include "base/mem.h"
#include "engine/tuning.h"

#include <stdlib.h>

void wf_history_fini(struct wf_history *history)
{
    free(history->data);
}

/* Makes space for `size` more bytes at the end. */
static void make_room(struct wf_history *history, size_t size)
{
    size_t used = history->end - history->begin;

    if (history->end - history->base + size <= history->capacity) {
        return;
    }
    if (used + size > history->capacity / 2) {
        history->capacity = 2 * (used + size) > WF_TUNE_HISTORY_FIRST ? 2 * (used + size)
                                                                      : WF_TUNE_HISTORY_FIRST;
        history->data = wf_xrealloc(history->data, history->capacity, 1);
    }
    memmove(history->data, history->data + (history->begin - history->base), used);
    history->base = history->begin;
}

uint64_t wf_history_append(struct wf_history *history, const struct wf_ctx *ctx,
                           const struct wf_event *ev, const struct wf_frame *frame,
                           uint64_t prev)
{
    size_t note = ((size_t)frame->note_size + 7) / 8 * 8;
    size_t size = sizeof(struct wf_record) + wf_event_room(ev) + frame->sent_size + note +
                  frame->trail_size + frame->undo_size;

    make_room(history, size);
    uint64_t place = history->end;
    struct wf_record *record = wf_history_at(history, place);
    record->size = (uint32_t)size;
    record->size_back = history->last_size;
    record->prev = prev;
    record->fate = WF_LIVE;
    record->frame = *frame;
    wf_event_copy(wf_record_event(record), ev);
    unsigned char *to = wf_record_sent(record);
    wf_copy_words(to, ctx->undo_log->sent.data, frame->sent_size);
    to += frame->sent_size;
    wf_copy_words(to, ctx->note, note);
    to += note;
    if (frame->trail_size > 0) { /* often long */
        memcpy(to, ctx->trail.data, frame->trail_size);
        to += frame->trail_size;
    }
    wf_copy_words(to, ctx->undo_log->entries.data, frame->undo_size);
    history->end += size;
    history->last_size = record->size;
    return place;
}

void wf_history_trim_end(struct wf_history *history)
{
    while (history->last_size != 0) {
        const struct wf_record *last =
            wf_history_at(history, history->end - history->last_size);
        if (last->fate != WF_UNDONE) {
            return;
        }
        history->end -= last->size;
        history->last_size = last->size_back;
    }
}

void wf_history_drop_first(struct wf_history *history)
{
    history->begin += wf_history_at(history, history->begin)->size;
    if (history->begin == history->end) {
        history->last_size = 0;
        history->base = history->end; /* from the beginning again, which is in the cache */
        return;
    }
    wf_history_at(history, history->begin)->size_back = 0;
}
