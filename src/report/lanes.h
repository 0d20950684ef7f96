/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_LANES_H
#define WF_REPORT_LANES_H

/*
 * The timeline of a recording as lanes of spans, for files that other programs show: a lane for
 * each rank with every single span if the recording has them; else a lane for each row of
 * ranks, with what its ranks do most in each bin of time.
 */

#include "result/doc.h"

struct wf_lanes {
    bool exact;
    uint64_t n; /* lanes; 0 if there is no recording */
    uint64_t end_ps, bin_ps, bins;
    const struct wf_value *first;    /* of the lanes: texts or rows */
    const struct wf_value *messages; /* texts of each rank; null if there are none */
    const char *nodes;               /* of each rank, as text; null if not known */
};

struct wf_lanes wf_lanes_of(const struct wf_value *doc);

enum { WF_LANE_KINDS = 5, WF_LANE_IDLE = WF_LANE_KINDS };
/* What a span is, in words; the last is for what is none. */
extern const char *const wf_lane_words[WF_LANE_KINDS + 1];

struct wf_lane_span {
    uint64_t from, until; /* picoseconds */
    int what;             /* below WF_LANE_KINDS */
};

/* One lane being read. */
struct wf_lane {
    const struct wf_lanes *lanes;
    uint64_t first_rank, ranks;
    const char *at; /* the rest of its text */
    uint64_t now;   /* picoseconds, or the bin */
};

/* The lane that `value`, one of the list, is; `number` counts from 0. */
struct wf_lane wf_lane_open(const struct wf_lanes *lanes, const struct wf_value *value,
                            uint64_t number);
/* Its next span that is not idle; false at its end. */
bool wf_lane_next(struct wf_lane *lane, struct wf_lane_span *out);

struct wf_lane_message {
    uint64_t to, departure, arrival, bytes;
};

/* The next message of a text that is read from *at on, *now being 0 at first. */
bool wf_lane_message(const char **at, uint64_t *now, struct wf_lane_message *out);

/* The next number of lanes->nodes. */
uint64_t wf_lane_node(const char **at);

#endif
