/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The recording of a run: what the ranks did when, and who sent how much to whom.
 *
 * Its size is fixed before the run. Time is divided into bins, whose width doubles until the
 * whole run fits; many ranks share a row. Individual spans, messages and calls are kept up to a
 * limit; if there are more, none are. The recording consists of sums, minima and sets, so it
 * does not depend on the order of additions.
 */

#include "base/choice.h"
#include "base/histogram.h"
#include "base/reciprocal.h"
#include "model/ranks/record/spill.h"
#include "model/ranks/stat.h"
#include "program/ops/op_kinds.h"

enum {
    WF_RECORDING_ROWS = 200,   /* rows of ranks over time, at most */
    WF_RECORDING_BINS = 1024,  /* bins of time */
    WF_RECORDING_MATRIX = 128, /* rows and columns of the traffic matrix, at most */
    WF_RECORDING_HOPS = 33,    /* the last counts all larger numbers of hops */
};

/* What a rank spends its time on. */
enum wf_spent {
    WF_SPENT_COMPUTING,
    WF_SPENT_ON_MESSAGES, /* CPU time */
    WF_SPENT_WAITING,     /* plus an enum wf_rank_in, the kind of call */
    WF_SPENT_KINDS = WF_SPENT_WAITING + 5,
    WF_SPENT_NOTHING = WF_SPENT_KINDS, /* there is no span */
};

/* How many individual spans and messages may be kept, and for which ranks and times: spans
 * and messages that overlap the time, and messages between these ranks. */
struct wf_recording_limits {
    uint64_t spans, messages, calls;
    bool has_calls; /* calls are recorded */
    uint64_t
        path_bytes; /* bytes of histories for the critical path (model/ranks/record/path.h) */
    struct wf_choice choice;
    struct wf_spill_files
        *spill; /* spill files for spans and messages of a run in one process; null: keep
                 * them in the recording */
};

/* A time during which a rank did one thing. */
struct wf_span {
    int64_t from, until;
    uint32_t rank;
    uint32_t what; /* enum wf_spent */
};

/* A message, from its departure to the arrival of its last byte. */
struct wf_sent {
    int64_t departure, arrival;
    uint64_t bytes;
    uint32_t from, to;
};

#define WF_CALL_NONE UINT32_MAX /* a call without a peer or communicator */

/* A call or a marker of the program, with the arguments that it has. */
struct wf_call {
    int64_t from, until;
    uint64_t bytes;
    uint32_t rank, peer; /* ranks of the run; peer: also the root of a collective */
    int32_t tag;         /* for markers and calls of no kind of their own: number of the name */
    uint32_t comm;
    uint16_t kind;  /* enum wf_op_kind; WF_OP_COMPUTE ends the call before it */
    uint16_t state; /* enum wf_call_state */
    uint32_t site;  /* that of the computing before the call; 0: unknown */
};

enum wf_call_state {
    WF_CALL_CLOSED, /* no call, or a complete one */
    WF_CALL_OPEN,
    WF_CALL_AGAIN, /* begun, and made again later as one and the same call */
};

/* All calls of one kind. */
struct wf_call_sum {
    uint64_t n, bytes;
    uint64_t time_ps, max_ps;
};

/* Totals of a rank, or sums over several. */
struct wf_account {
    uint64_t ranks;
    uint64_t least_rank; /* lowest rank number plus 1; 0: no rank */
    uint64_t finish_ps;  /* sum of the final clocks, in picoseconds */
    uint64_t spent_ps[WF_SPENT_KINDS];
};

struct wf_traffic_cell {
    uint64_t bytes, messages;
};

/* Latencies of messages between nodes with the same distance in hops. */
struct wf_by_hops {
    struct wf_stat latency;
    uint64_t counts[WF_HISTOGRAM_BUCKETS];
};

/* What the ranks of a row begin and end in a bin, by activity: time in bins of any width follows
 * from it (wf_recording_settle()). A span of any length changes two cells, and widening bins means
 * adding cells. */
struct wf_recording_cell {
    uint64_t times_ps[WF_SPENT_KINDS]; /* times of begins less times of ends, modulo 2^64 */
    int32_t spans[WF_SPENT_KINDS];     /* number of begins less number of ends */
    int32_t padding;
};

_Static_assert(sizeof(struct wf_recording_cell) == 88, "no padding");

/* Bins, calls that are not complete, spans, messages and calls follow the struct. All zero means
 * empty. */
struct wf_recording {
    uint64_t n_ranks;
    uint64_t ranks_per_row, n_rows;
    uint64_t ranks_per_side, n_sides;         /* size of the traffic matrix */
    uint64_t row_reciprocal, side_reciprocal; /* of ranks_per_row and ranks_per_side */
    uint64_t shift;                           /* a bin is 2^shift picoseconds wide */
    uint64_t n_bins;                          /* used bins */
    struct wf_recording_limits limits;
    /* For the recorder: the last span of a final event, which the next one may extend, or the end
     * of that span that is not in the sums yet. Its `what` is WF_SPENT_NOTHING if there is none,
     * and its times are then the same. */
    struct wf_span last;
    uint32_t sums_only;                     /* individual spans are only counted... */
    uint32_t message_sums;                  /* ...and so are individual messages */
    uint8_t touched[WF_RECORDING_BINS + 1]; /* 1: the bin may have spans; 0: it is all zero */
    uint64_t n_spans, n_messages, n_calls;  /* numbers seen; may exceed the limits */
    struct wf_spill_file *span_file, *message_file, *call_file; /* files in limits.spill */
    struct wf_call_sum by_call[WF_OP_KINDS];
    struct wf_by_hops by_hops[WF_RECORDING_HOPS];
    uint64_t received[WF_RECORDING_BINS];            /* bytes that arrived */
    struct wf_account similar[WF_HISTOGRAM_BUCKETS]; /* by compute time of ranks */
    struct wf_account rows[WF_RECORDING_ROWS];       /* by rank number */
    struct wf_traffic_cell matrix[WF_RECORDING_MATRIX * WF_RECORDING_MATRIX];
};

/* Bytes of the recording of a run, a multiple of 8. */
size_t wf_recording_size(uint32_t n_ranks, const struct wf_recording_limits *limits);
/* Initialises a zeroed struct; changes nothing if that was done before. */
void wf_recording_init(struct wf_recording *recording, uint32_t n_ranks,
                       const struct wf_recording_limits *limits);

/* Uses more bins, and widens them until the time is in one. */
void wf_recording_reach(struct wf_recording *recording, int64_t time);

/* Adds a span to the sums and counts it; keeps it if the limit allows. */
void wf_recording_span(struct wf_recording *recording, const struct wf_span *span);
/* The second half of that, for a span whose parts have been added to the sums. */
void wf_recording_count(struct wf_recording *recording, const struct wf_span *span);
/* The first half: adds a span to the sums. */
void wf_recording_spend(struct wf_recording *recording, uint32_t rank, uint32_t what,
                        int64_t from, int64_t until);

/* The cell of a row at a time, which may be the end of the last bin. Bins of the same time are
 * neighbours, so that ranks write to few pages at any time. */
static inline struct wf_recording_cell *wf_recording_at(struct wf_recording *recording,
                                                        uint64_t row, int64_t time)
{
    uint64_t bin = (uint64_t)time >> recording->shift;

    recording->touched[bin] = 1;
    return (struct wf_recording_cell *)(void *)(recording + 1) + bin * recording->n_rows + row;
}

/* Adds a span to the sums, whose last bin is in use. Where it begins and ends in one bin, the numbers
 * of spans do not change. */
static inline void wf_recording_put(struct wf_recording *recording, uint64_t row, uint32_t what,
                                    int64_t from, int64_t until)
{
    struct wf_recording_cell *last = wf_recording_at(recording, row, until);

    if ((uint64_t)from >> recording->shift == (uint64_t)until >> recording->shift) {
        last->times_ps[what] -= (uint64_t)(until - from);
        return;
    }
    struct wf_recording_cell *first = wf_recording_at(recording, row, from);

    first->times_ps[what] += (uint64_t)from;
    first->spans[what]++;
    last->times_ps[what] -= (uint64_t)until;
    last->spans[what]--;
}

/* Adds a span, and the CPU time of a message that follows it until `later`, to the sums: most spans
 * are those of receives. */
static inline void wf_recording_spend_both(struct wf_recording *recording, uint32_t rank,
                                           uint32_t what, int64_t from, int64_t until,
                                           int64_t later)
{
    if ((uint64_t)(later - 1) >> recording->shift >= recording->n_bins) {
        wf_recording_reach(recording, later - 1);
    }
    uint64_t row = wf_reciprocal_divide(rank, recording->row_reciprocal);

    wf_recording_put(recording, row, what, from, until);
    wf_recording_put(recording, row, WF_SPENT_ON_MESSAGES, until, later);
}

/* wf_recording_message() for messages that may be kept, or arrive in a bin that is not used yet. */
void wf_recording_message_carefully(struct wf_recording *recording, const struct wf_sent *sent);

static inline void wf_recording_message(struct wf_recording *recording,
                                        const struct wf_sent *sent)
{
    uint64_t bin = (uint64_t)sent->arrival >> recording->shift;

    if (!recording->message_sums || bin >= recording->n_bins) {
        wf_recording_message_carefully(recording, sent);
        return;
    }
    uint64_t from = wf_reciprocal_divide(sent->from, recording->side_reciprocal);
    uint64_t to = wf_reciprocal_divide(sent->to, recording->side_reciprocal);
    struct wf_traffic_cell *cell = &recording->matrix[from * WF_RECORDING_MATRIX + to];

    cell->bytes += sent->bytes;
    cell->messages++;
    recording->received[bin] += sent->bytes;
    recording->n_messages++;
}

/* A rank begins an op, which ends the one before it; ops of a rank come in order. `op->until` is
 * not used. If the op before it was to be made again (WF_CALL_AGAIN), this is the same. */
void wf_recording_call(struct wf_recording *recording, const struct wf_call *op);
/* Adds the latency of a message and the distance between its nodes. */
void wf_recording_hops(struct wf_recording *recording, uint32_t hops, int64_t latency);
/* At the end of a run: the totals of one rank. */
void wf_recording_rank(struct wf_recording *recording, const struct wf_account *rank);

/* `from` may be empty. */
void wf_recording_merge(struct wf_recording *into, const struct wf_recording *from);

/* Completes the bins, before wf_recording_cell(). */
void wf_recording_settle(struct wf_recording *recording);
/* Picoseconds that the ranks of a row spent on something in a bin. */
uint64_t *wf_recording_cell(struct wf_recording *recording, uint64_t row, uint64_t bin,
                            uint32_t what);
/* Individual spans, messages and calls; valid if there are not more than the limits allow. */
struct wf_span *wf_recording_spans(struct wf_recording *recording);
struct wf_sent *wf_recording_messages(struct wf_recording *recording);
struct wf_call *wf_recording_calls(struct wf_recording *recording);
/* Sorts spans by rank and time; messages by sender and departure, then receiver, arrival, size;
 * calls by rank, in the order of its program. */
void wf_recording_sort(struct wf_recording *recording);
