/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The events of an OTF2 archive, one location at a time. Each file is opened once and read from
 * front to back; numbers and times are global ones. Whatever is in the file, an event is
 * returned whole or there is a failure with its place.
 *
 * Memory is 64 KiB and what is looked ahead at.
 */

#include "program/trace/otf2/anchor.h"
#include "program/trace/otf2/event.h"
#include "program/trace/otf2/file.h"
#include "program/trace/otf2/local.h"

struct wf_otf2_events {
    /* Set by the caller; they stay as they are. */
    const char *path; /* of the anchor file */
    const struct wf_otf2_layout *layout;
    const struct wf_otf2_defs *defs;
    /* Of the location that is read. */
    const struct wf_otf2_location *location;
    int64_t rank;
    struct wf_otf2_file file;
    struct wf_otf2_local local;
    uint64_t n_read; /* events */
    uint64_t time;   /* of the latest event, in ticks of the location */
    bool ended;
    struct wf_otf2_event *queue; /* events that were looked ahead at... */
    size_t next, n, capacity;    /* ...of which those from `next` to before `n` are left */
    struct wf_err *err;
};

/* Another reader of the same archive, which reads nothing yet. */
static inline struct wf_otf2_events wf_otf2_events_like(const struct wf_otf2_events *events)
{
    return (struct wf_otf2_events){
        .path = events->path, .layout = events->layout, .defs = events->defs};
}

/* Goes to the beginning of the events of a location. A failure, now or later, is kept in `err`,
 * which holds none, and concerns `rank`. After it there are no more events. */
void wf_otf2_events_open(struct wf_otf2_events *events, uint64_t location, int64_t rank,
                         struct wf_err *err);
/* Releases everything. A struct in which only the first members are set is allowed. */
void wf_otf2_events_close(struct wf_otf2_events *events);

/* The next event; false if there is none. More or fewer than the definitions say is a
 * failure. */
bool wf_otf2_events_next(struct wf_otf2_events *events, struct wf_otf2_event *event);

/* The event at this distance after the one that comes next; null if there is none. All events
 * up to it are kept. Valid until the next call. */
const struct wf_otf2_event *wf_otf2_events_ahead(struct wf_otf2_events *events,
                                                 size_t distance);
