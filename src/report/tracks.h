/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The timeline of a recording as tracks of spans, for files that other programs show: a track
 * for each rank with every single span if the recording has them and they are not too many;
 * else a track for each row of ranks, with the activity that prevails in each bin of time.
 */

#include "report/writer.h"

struct wf_tracks {
    bool exact;
    uint64_t n;     /* tracks; 0 if there is no recording */
    uint64_t ranks; /* of the run */
    uint64_t end_ps, bin_ps, bins;
    const struct wf_value *spans, *rows;
    const struct wf_value *messages; /* texts of each rank; null if there are none */
    const char *nodes;               /* of the ranks with spans, as text; null if not known */
    struct wf_choice kept, view;     /* in the recording; to be shown */
    uint32_t *number;                /* of each rank that has a track of its own: which; + 1 */
};

/* The part of a document that the options select; release it with wf_tracks_fini(). */
void wf_tracks_init(struct wf_tracks *tracks, const struct wf_value *doc,
                    const struct wf_write_options *options);
void wf_tracks_fini(struct wf_tracks *tracks);

enum { WF_TRACK_KINDS = 5, WF_TRACK_IDLE = WF_TRACK_KINDS };
/* The names of the kinds of spans, and of idle time. */
extern const char *const wf_track_names[WF_TRACK_KINDS + 1];

struct wf_track_span {
    uint64_t from, until; /* picoseconds; cut to the time that is shown */
    int what;             /* below WF_TRACK_KINDS */
};

/* One track being read. */
struct wf_track {
    const struct wf_tracks *tracks;
    uint64_t number; /* counted from 0 */
    uint64_t first_rank, ranks;
    uint64_t node;  /* of a rank, if tracks->nodes is known */
    const char *at; /* the rest of its text */
    uint64_t now;   /* picoseconds, or the bin */
};

/* The tracks one after the other. */
struct wf_track_walk {
    const struct wf_tracks *tracks;
    const struct wf_value *value;
    const char *nodes;
    uint64_t rank, number;
};

struct wf_track_walk wf_tracks_walk(const struct wf_tracks *tracks);
bool wf_track_step(struct wf_track_walk *walk, struct wf_track *out);
/* A track's next span that is not idle; false at its end. */
bool wf_track_next(struct wf_track *track, struct wf_track_span *out);

struct wf_track_message {
    uint64_t from, to; /* ranks, which both have tracks */
    uint64_t departure, arrival, bytes;
};

/* The messages, by sender and departure. */
struct wf_message_walk {
    const struct wf_tracks *tracks;
    const struct wf_value *value;
    const char *at;
    uint64_t rank, now;
};

struct wf_message_walk wf_tracks_messages(const struct wf_tracks *tracks);
bool wf_track_message(struct wf_message_walk *walk, struct wf_track_message *out);

/* The next number of a text of them. */
uint64_t wf_track_number(const char **at);
