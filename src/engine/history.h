/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_HISTORY_H
#define WF_ENGINE_HISTORY_H

/*
 * The events a worker has executed and not yet committed, in the order of execution, with all
 * that is needed to undo them: one contiguous log. Records are appended at the end; those in
 * the middle that are undone stay as dead weight until the log is trimmed from either side.
 * The records of a rollback group (KP) are chained backwards.
 */

#include "engine/spec.h"

/* Followed by the event (a stride), the events it scheduled, the note, the trail, the undo
 * entries. */
struct wf_record {
    uint32_t size;      /* of all of it */
    uint32_t size_back; /* of the record before this one in the log, 0 for the first */
    uint64_t prev;      /* place of the KP's record before it, WF_NOWHERE if none */
    uint64_t fate;      /* enum wf_fate */
    struct wf_frame frame;
};

#define WF_NOWHERE UINT64_MAX

enum wf_fate {
    WF_LIVE,
    WF_UNDONE,
    WF_COMMITTED, /* early, out of turn; stays in the log, for later records lead back to it */
};

/* Places count bytes since the run began; they stay valid as the log moves in memory. */
struct wf_history {
    unsigned char *data;
    size_t capacity;
    uint64_t base;       /* place of data[0] */
    uint64_t begin, end; /* of the live log */
    uint32_t last_size;  /* of the last record, 0 if the log is empty */
    uint32_t stride;
};

void wf_history_init(struct wf_history *history, uint32_t stride);
void wf_history_fini(struct wf_history *history);

static inline struct wf_record *wf_history_at(const struct wf_history *history, uint64_t place)
{
    return (void *)(history->data + (place - history->base));
}

static inline uint64_t wf_history_bytes(const struct wf_history *history)
{
    return history->end - history->begin;
}

static inline struct wf_event *wf_record_event(struct wf_record *record)
{
    return (void *)(record + 1);
}

/* Appends what `recording` and `frame` know of `ev`; returns its place. */
uint64_t wf_history_append(struct wf_history *history, const struct wf_ctx *ctx,
                           const struct wf_event *ev, const struct wf_frame *frame,
                           uint64_t prev);

/* The parts of a record. */
static inline unsigned char *wf_record_sent(struct wf_record *record, uint32_t stride)
{
    return (unsigned char *)(record + 1) + stride;
}

static inline unsigned char *wf_record_note(struct wf_record *record, uint32_t stride)
{
    return wf_record_sent(record, stride) + record->frame.sent_size;
}

/* As undo and commit handlers get it: null if there is none. */
static inline const void *wf_record_noted(struct wf_record *record, uint32_t stride)
{
    return record->frame.note_size == 0 ? NULL : wf_record_note(record, stride);
}

static inline unsigned char *wf_record_trail(struct wf_record *record, uint32_t stride)
{
    return wf_record_note(record, stride) + ((size_t)record->frame.note_size + 7) / 8 * 8;
}

static inline unsigned char *wf_record_undo(struct wf_record *record, uint32_t stride)
{
    return wf_record_trail(record, stride) + record->frame.trail_size;
}

/* Forgets undone records at the end. */
void wf_history_trim_end(struct wf_history *history);
/* Forgets the first record. */
void wf_history_drop_first(struct wf_history *history);

#endif
