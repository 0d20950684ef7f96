/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RECORD_RECORDING_H
#define WF_RANKS_RECORD_RECORDING_H

/*
 * A run to look at: what the ranks did when, and who sent how much to whom.
 *
 * Its size is fixed before the run, whatever the run does. Time is cut into bins whose width
 * doubles as often as it must for all of the run to fit, and many ranks share a row; single
 * spans of time and messages are kept as long as there are not more than asked for, else none.
 * All of it is sums, minima and sets, so that it does not depend on who adds when.
 */

#include "base/choice.h"
#include "base/histogram.h"
#include "ranks/record/spill.h"
#include "ranks/stat.h"

enum {
    WF_RECORDING_ROWS = 200,   /* at most, of ranks over time */
    WF_RECORDING_BINS = 1024,  /* of time */
    WF_RECORDING_MATRIX = 128, /* rows and columns at most, of who sends to whom */
    WF_RECORDING_HOPS = 33,    /* the last is for all above */
};

/* What a rank spends its time on. */
enum wf_spent {
    WF_SPENT_COMPUTING,
    WF_SPENT_ON_MESSAGES, /* CPU time */
    WF_SPENT_WAITING,     /* plus an enum wf_rank_in: the kind of call */
    WF_SPENT_KINDS = WF_SPENT_WAITING + 3,
};

/* How many single spans and messages may be kept of a run, and of which ranks and times: those
 * that touch the time, and messages between these ranks. */
struct wf_recording_limits {
    uint64_t spans, messages;
    uint64_t path_bytes; /* of what the critical path is found by (ranks/record/path.h) */
    struct wf_choice choice;
    struct wf_spill_files
        *spill; /* where they are kept, if not in the recording itself: of a run in
                               one process; or null */
};

/* A rank did one thing. */
struct wf_span {
    int64_t from, until;
    uint32_t rank;
    uint32_t what; /* enum wf_spent */
};

/* A message, from the sender's hands to its last byte's arrival. */
struct wf_sent {
    int64_t departure, arrival;
    uint64_t bytes;
    uint32_t from, to;
};

/* What ranks did in all; of several, sums. */
struct wf_account {
    uint64_t ranks;
    uint64_t least_rank; /* of them; plus 1, so that 0 is none */
    uint64_t finish_ps;  /* picoseconds, as the next */
    uint64_t spent_ps[WF_SPENT_KINDS];
};

struct wf_traffic_cell {
    uint64_t bytes, messages;
};

/* Latencies of messages whose nodes are so many hops apart. */
struct wf_by_hops {
    struct wf_stat latency;
    uint64_t counts[WF_HISTOGRAM_BUCKETS];
};

/* Followed by the rest. Zeroed is that of nobody. */
struct wf_recording {
    uint64_t n_ranks;
    uint64_t ranks_per_row, n_rows;
    uint64_t ranks_per_side, n_sides; /* of the matrix */
    uint64_t shift;                   /* a bin is 2^shift picoseconds wide */
    uint64_t n_bins;                  /* in which anything happened, and those before */
    struct wf_recording_limits limits;
    uint64_t n_spans, n_messages;                   /* seen, if more than the limits */
    struct wf_spill_file *span_file, *message_file; /* of limits.spill */
    struct wf_by_hops by_hops[WF_RECORDING_HOPS];
    uint64_t received[WF_RECORDING_BINS];            /* bytes that arrived */
    struct wf_account similar[WF_HISTOGRAM_BUCKETS]; /* by their compute time */
    struct wf_account rows[WF_RECORDING_ROWS];       /* by their numbers */
    struct wf_traffic_cell matrix[WF_RECORDING_MATRIX * WF_RECORDING_MATRIX];
};

/* Bytes of the recording of a run, a multiple of 8. */
size_t wf_recording_size(uint32_t n_ranks, const struct wf_recording_limits *limits);
/* Makes a zeroed one ready; one that is ready is left alone. */
void wf_recording_init(struct wf_recording *recording, uint32_t n_ranks,
                       const struct wf_recording_limits *limits);

void wf_recording_span(struct wf_recording *recording, const struct wf_span *span);
void wf_recording_message(struct wf_recording *recording, const struct wf_sent *sent);
/* Besides: how far apart the nodes of a message are that took so long. */
void wf_recording_hops(struct wf_recording *recording, uint32_t hops, int64_t latency);
/* At the end of a run: one rank. */
void wf_recording_rank(struct wf_recording *recording, const struct wf_account *rank);

/* `from` may be that of nobody. */
void wf_recording_merge(struct wf_recording *into, const struct wf_recording *from);

/* Adds up what wf_recording_cell() tells of. */
void wf_recording_settle(struct wf_recording *recording);
/* Picoseconds that the ranks of a row spent on something in a bin, when it is settled. */
uint64_t *wf_recording_cell(struct wf_recording *recording, uint64_t row, uint64_t bin,
                            uint32_t what);
/* The single ones; meaningful if there are not more than the limits allow. */
struct wf_span *wf_recording_spans(struct wf_recording *recording);
struct wf_sent *wf_recording_messages(struct wf_recording *recording);
/* By rank and time; by sender and departure, then by receiver, arrival, size. */
void wf_recording_sort(struct wf_recording *recording);

#endif
