/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_LANES_H
#define WF_REPORT_LANES_H

/*
 * The timeline of a recording as lanes of spans, for files that other programs show: a lane for
 * each rank with every single span if the recording has them and they are not too many; else a
 * lane for each row of ranks, with what its ranks do most in each bin of time.
 */

#include "report/writer.h"

struct wf_lanes {
    bool exact;
    uint64_t n;     /* lanes; 0 if there is no recording */
    uint64_t ranks; /* of the run */
    uint64_t end_ps, bin_ps, bins;
    const struct wf_value *spans, *rows;
    const struct wf_value *messages; /* texts of each rank; null if there are none */
    const char *nodes;               /* of the ranks with spans, as text; null if not known */
    struct wf_choice kept, view;     /* in the recording; to be shown */
    uint32_t *number;                /* of each rank that has a lane of its own: which; + 1 */
};

/* What the options ask to see of a document; to be released with wf_lanes_fini(). */
void wf_lanes_init(struct wf_lanes *lanes, const struct wf_value *doc,
                   const struct wf_write_options *options);
void wf_lanes_fini(struct wf_lanes *lanes);

enum { WF_LANE_KINDS = 5, WF_LANE_IDLE = WF_LANE_KINDS };
/* What a span is, in words; the last is for what is none. */
extern const char *const wf_lane_words[WF_LANE_KINDS + 1];

struct wf_lane_span {
    uint64_t from, until; /* picoseconds; cut to the time that is shown */
    int what;             /* below WF_LANE_KINDS */
};

/* One lane being read. */
struct wf_lane {
    const struct wf_lanes *lanes;
    uint64_t number; /* counted from 0 */
    uint64_t first_rank, ranks;
    uint64_t node;  /* of a rank, if lanes->nodes is known */
    const char *at; /* the rest of its text */
    uint64_t now;   /* picoseconds, or the bin */
};

/* The lanes one after the other. */
struct wf_lane_walk {
    const struct wf_lanes *lanes;
    const struct wf_value *value;
    const char *nodes;
    uint64_t rank, number;
};

struct wf_lane_walk wf_lanes_walk(const struct wf_lanes *lanes);
bool wf_lane_step(struct wf_lane_walk *walk, struct wf_lane *out);
/* A lane's next span that is not idle; false at its end. */
bool wf_lane_next(struct wf_lane *lane, struct wf_lane_span *out);

struct wf_lane_message {
    uint64_t from, to; /* ranks, which both have lanes */
    uint64_t departure, arrival, bytes;
};

/* The messages, by sender and departure. */
struct wf_message_walk {
    const struct wf_lanes *lanes;
    const struct wf_value *value;
    const char *at;
    uint64_t rank, now;
};

struct wf_message_walk wf_lanes_messages(const struct wf_lanes *lanes);
bool wf_lane_message(struct wf_message_walk *walk, struct wf_lane_message *out);

/* The next number of a text of them. */
uint64_t wf_lane_number(const char **at);

#endif
