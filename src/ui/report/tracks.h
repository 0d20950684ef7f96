/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The timeline of a recording as tracks of spans, for files that other programs display. If the
 * recording has individual spans and they are not too many, there is a track for each rank.
 * Otherwise there is a track for each row of ranks, with the prevailing activity in each bin of
 * time.
 */

#include "ui/report/writer.h"

struct wf_tracks {
    bool exact;
    uint64_t n;     /* number of tracks; 0 if there is no recording */
    uint64_t ranks; /* ranks of the run */
    uint64_t end_ps, bin_ps, bins;
    const char *letters; /* of the kinds of spans in each bin... */
    uint64_t kinds;      /* ...and their number */
    const struct wf_value *spans, *rows;
    const struct wf_value *messages; /* one text per rank; null if there are none */
    const char *nodes;               /* nodes of the ranks with spans, as text; null: unknown */
    struct wf_choice kept, view;     /* recorded; to be shown */
    uint64_t n_numbers;              /* length of... */
    uint32_t *number;                /* by rank: number of its track + 1; 0: it has none */
};

/* Selects the part of a document that the options ask for. Release with wf_tracks_fini(). */
void wf_tracks_init(struct wf_tracks *tracks, const struct wf_value *doc,
                    const struct wf_write_options *options);
void wf_tracks_fini(struct wf_tracks *tracks);

enum { WF_TRACK_KINDS = 7, WF_TRACK_IDLE = WF_TRACK_KINDS };
/* The names of the kinds of spans, then that of idle time. */
extern const char *const wf_track_names[WF_TRACK_KINDS + 1];

struct wf_track_span {
    uint64_t from, until; /* picoseconds; clipped to the time that is shown */
    int what;             /* below WF_TRACK_KINDS */
};

/* One track being read. */
struct wf_track {
    const struct wf_tracks *tracks;
    uint64_t number; /* numbered from 0 */
    uint64_t first_rank, ranks;
    uint64_t node;  /* node of a rank, if tracks->nodes is known */
    const char *at; /* the unread part of its text */
    uint64_t now;   /* picoseconds, or the number of the bin */
};

/* Iterates over the tracks. */
struct wf_track_walk {
    const struct wf_tracks *tracks;
    const struct wf_value *value;
    const char *nodes;
    uint64_t rank, number;
};

struct wf_track_walk wf_tracks_walk(const struct wf_tracks *tracks);
bool wf_track_step(struct wf_track_walk *walk, struct wf_track *out);
/* The next span of the track that is not idle; false at its end. */
bool wf_track_next(struct wf_track *track, struct wf_track_span *out);

struct wf_track_message {
    uint64_t from, to; /* ranks; both have tracks */
    uint64_t departure, arrival, bytes;
};

/* Iterates over the messages, by sender and departure. */
struct wf_message_walk {
    const struct wf_tracks *tracks;
    const struct wf_value *value;
    const char *at;
    uint64_t rank, now;
};

struct wf_message_walk wf_tracks_messages(const struct wf_tracks *tracks);
bool wf_track_message(struct wf_message_walk *walk, struct wf_track_message *out);

/* Reads the next number from a text; moves *at past it, and to the end of the text if there is
 * none. */
uint64_t wf_track_number(const char **at);
