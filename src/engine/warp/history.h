/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A contiguous log of the events that a worker has executed and not yet committed, in the order
 * of execution, with all that is needed to undo them. Records are appended at the end. Undone
 * records in the middle stay until the log is trimmed at either end. The records of a rollback
 * group (KP) are chained backwards.
 */

#include "engine/core/undo.h"

/* The event, the events it scheduled, the note, the trail and the undo entries follow. Events
 * take no more bytes than they need (wf_event_room()): a shorter log stays in the cache. */
struct wf_record {
    uint32_t size;      /* in bytes, of the whole record */
    uint32_t size_back; /* of the record before this one in the log, 0 for the first */
    uint64_t prev;      /* place of the KP's record before it, WF_NOWHERE if none */
    uint64_t fate;      /* enum wf_fate */
    struct wf_frame frame;
};

#define WF_NOWHERE UINT64_MAX

enum wf_fate {
    WF_LIVE,
    WF_UNDONE,
    WF_COMMITTED, /* before earlier ones; stays in the log, because later records refer to it */
};

/* Places count bytes since the run began; they stay valid as the log moves in memory. */
struct wf_history {
    unsigned char *data;
    size_t capacity;
    uint64_t base;       /* place of data[0] */
    uint64_t begin, end; /* of the live log */
    uint32_t last_size;  /* of the last record, 0 if the log is empty */
};

/* A zeroed struct is an empty history. */
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

/* Appends a record of `ev` from the undo log of `ctx` and `frame`; returns its place. */
uint64_t wf_history_append(struct wf_history *history, const struct wf_ctx *ctx,
                           const struct wf_event *ev, const struct wf_frame *frame,
                           uint64_t prev);

/* The parts of a record. */
static inline unsigned char *wf_record_sent(struct wf_record *record)
{
    return (unsigned char *)(record + 1) + wf_event_room(wf_record_event(record));
}

static inline unsigned char *wf_record_note(struct wf_record *record)
{
    return wf_record_sent(record) + record->frame.sent_size;
}

/* The note as undo and commit handlers get it: null if there is none. */
static inline const void *wf_record_noted(struct wf_record *record)
{
    return record->frame.note_size == 0 ? NULL : wf_record_note(record);
}

static inline unsigned char *wf_record_trail(struct wf_record *record)
{
    return wf_record_note(record) + ((size_t)record->frame.note_size + 7) / 8 * 8;
}

static inline unsigned char *wf_record_undo(struct wf_record *record)
{
    return wf_record_trail(record) + record->frame.trail_size;
}

/* Removes undone records at the end. */
void wf_history_trim_end(struct wf_history *history);
/* Removes the first record. */
void wf_history_drop_first(struct wf_history *history);
