/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recording.h"

#include "base/mem.h"
#include "mpi/rank.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(WF_SPENT_KINDS == (int)WF_SPENT_WAITING + (int)WF_IN_KINDS, "each wait is one");

/* Bins of a nanosecond: nobody wants to see less of a whole run. */
enum { FIRST_SHIFT = 10 };

static uint64_t per_group(uint64_t n, uint64_t groups)
{
    return n <= groups ? 1 : (n + groups - 1) / groups;
}

static uint64_t n_groups(uint64_t n, uint64_t per)
{
    return (n + per - 1) / per;
}

static size_t cells_of(uint64_t n_rows)
{
    return n_rows * WF_RECORDING_BINS * WF_SPENT_KINDS;
}

size_t wf_recording_size(uint32_t n_ranks, const struct wf_recording_limits *limits)
{
    uint64_t rows = n_groups(n_ranks, per_group(n_ranks, WF_RECORDING_ROWS));

    return sizeof(struct wf_recording) + cells_of(rows) * sizeof(uint64_t) +
           limits->spans * sizeof(struct wf_span) + limits->messages * sizeof(struct wf_sent);
}

void wf_recording_init(struct wf_recording *recording, uint32_t n_ranks,
                       const struct wf_recording_limits *limits)
{
    if (recording->n_ranks != 0) {
        return;
    }
    recording->n_ranks = n_ranks;
    recording->ranks_per_row = per_group(n_ranks, WF_RECORDING_ROWS);
    recording->n_rows = n_groups(n_ranks, recording->ranks_per_row);
    recording->ranks_per_side = per_group(n_ranks, WF_RECORDING_MATRIX);
    recording->n_sides = n_groups(n_ranks, recording->ranks_per_side);
    recording->shift = FIRST_SHIFT;
    recording->limits = *limits;
}

uint64_t *wf_recording_cell(struct wf_recording *recording, uint64_t row, uint64_t bin,
                            uint32_t what)
{
    return (uint64_t *)(recording + 1) + (row * WF_RECORDING_BINS + bin) * WF_SPENT_KINDS +
           what;
}

struct wf_span *wf_recording_spans(struct wf_recording *recording)
{
    return (void *)((uint64_t *)(recording + 1) + cells_of(recording->n_rows));
}

struct wf_sent *wf_recording_messages(struct wf_recording *recording)
{
    return (void *)(wf_recording_spans(recording) + recording->limits.spans);
}

/* Two bins become one, in all rows. */
static void double_width(struct wf_recording *recording)
{
    enum { HALF = WF_RECORDING_BINS / 2 };
    uint64_t *cells = (uint64_t *)(recording + 1);

    for (uint64_t row = 0; row < recording->n_rows; row++) {
        uint64_t *at = cells + row * WF_RECORDING_BINS * WF_SPENT_KINDS;
        for (size_t bin = 0; bin < HALF; bin++) {
            for (size_t what = 0; what < WF_SPENT_KINDS; what++) {
                at[bin * WF_SPENT_KINDS + what] = at[2 * bin * WF_SPENT_KINDS + what] +
                                                  at[(2 * bin + 1) * WF_SPENT_KINDS + what];
            }
        }
        memset(at + (size_t)HALF * WF_SPENT_KINDS, 0, sizeof(*at) * HALF * WF_SPENT_KINDS);
    }
    for (size_t bin = 0; bin < HALF; bin++) {
        recording->received[bin] =
            recording->received[2 * bin] + recording->received[2 * bin + 1];
    }
    memset(&recording->received[HALF], 0, HALF * sizeof(recording->received[0]));
    recording->shift++;
}

/* The bin of a time, which is made to fit. */
static uint64_t bin_of(struct wf_recording *recording, int64_t time)
{
    while ((uint64_t)time >> recording->shift >= WF_RECORDING_BINS) {
        double_width(recording);
    }
    return (uint64_t)time >> recording->shift;
}

static void add_to_row(struct wf_recording *recording, const struct wf_span *span)
{
    uint64_t last = bin_of(recording, span->until - 1), from = (uint64_t)span->from;
    uint64_t row = span->rank / (uint32_t)recording->ranks_per_row;

    for (uint64_t bin = from >> recording->shift; bin <= last; bin++) {
        uint64_t end = (bin + 1) << recording->shift;
        uint64_t until = end < (uint64_t)span->until ? end : (uint64_t)span->until;

        *wf_recording_cell(recording, row, bin, span->what) += until - from;
        from = until;
    }
}

static void keep_span(struct wf_recording *recording, const struct wf_span *span)
{
    if (recording->n_spans < recording->limits.spans) {
        wf_recording_spans(recording)[recording->n_spans] = *span;
    }
    recording->n_spans++;
}

static void keep_message(struct wf_recording *recording, const struct wf_sent *sent)
{
    if (recording->n_messages < recording->limits.messages) {
        wf_recording_messages(recording)[recording->n_messages] = *sent;
    }
    recording->n_messages++;
}

void wf_recording_span(struct wf_recording *recording, const struct wf_span *span)
{
    add_to_row(recording, span);
    keep_span(recording, span);
}

void wf_recording_message(struct wf_recording *recording, const struct wf_sent *sent)
{
    uint64_t from = sent->from / (uint32_t)recording->ranks_per_side;
    uint64_t to = sent->to / (uint32_t)recording->ranks_per_side;
    struct wf_traffic_cell *cell = &recording->matrix[from * WF_RECORDING_MATRIX + to];

    cell->bytes += sent->bytes;
    cell->messages++;
    recording->received[bin_of(recording, sent->arrival)] += sent->bytes;
    keep_message(recording, sent);
}

static void add_account(struct wf_account *into, const struct wf_account *from)
{
    if (from->ranks == 0) {
        return;
    }
    if (into->ranks == 0 || from->least_rank < into->least_rank) {
        into->least_rank = from->least_rank;
    }
    into->ranks += from->ranks;
    into->finish_ps += from->finish_ps;
    for (int what = 0; what < WF_SPENT_KINDS; what++) {
        into->spent_ps[what] += from->spent_ps[what];
    }
}

void wf_recording_rank(struct wf_recording *recording, const struct wf_account *rank)
{
    uint32_t bucket = wf_histogram_bucket(rank->spent_ps[WF_SPENT_COMPUTING]);

    add_account(&recording->similar[bucket], rank);
    add_account(&recording->rows[(rank->least_rank - 1) / recording->ranks_per_row], rank);
}

static void merge_cells(struct wf_recording *into, const struct wf_recording *from)
{
    const uint64_t *cells = (const uint64_t *)(from + 1);
    unsigned narrower = (unsigned)(into->shift - from->shift);

    for (uint64_t row = 0; row < from->n_rows; row++) {
        for (uint64_t bin = 0; bin < WF_RECORDING_BINS; bin++) {
            for (uint32_t what = 0; what < WF_SPENT_KINDS; what++) {
                *wf_recording_cell(into, row, bin >> narrower, what) += *cells++;
            }
        }
    }
    for (uint64_t bin = 0; bin < WF_RECORDING_BINS; bin++) {
        into->received[bin >> narrower] += from->received[bin];
    }
}

static void merge_lists(struct wf_recording *into, const struct wf_recording *from)
{
    /* Only read through. */
    struct wf_recording *other = wf_unconst(from);

    for (uint64_t i = 0; i < from->n_spans && i < from->limits.spans; i++) {
        keep_span(into, &wf_recording_spans(other)[i]);
    }
    for (uint64_t i = 0; i < from->n_messages && i < from->limits.messages; i++) {
        keep_message(into, &wf_recording_messages(other)[i]);
    }
    /* What one has too many of, both have. */
    if (from->n_spans > from->limits.spans) {
        into->n_spans += from->n_spans - from->limits.spans;
    }
    if (from->n_messages > from->limits.messages) {
        into->n_messages += from->n_messages - from->limits.messages;
    }
}

void wf_recording_merge(struct wf_recording *into, const struct wf_recording *from)
{
    if (from->n_ranks == 0) {
        return;
    }
    wf_recording_init(into, (uint32_t)from->n_ranks, &from->limits);
    while (into->shift < from->shift) {
        double_width(into);
    }
    merge_cells(into, from);
    merge_lists(into, from);
    for (size_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        add_account(&into->similar[i], &from->similar[i]);
    }
    for (size_t i = 0; i < WF_RECORDING_ROWS; i++) {
        add_account(&into->rows[i], &from->rows[i]);
    }
    for (size_t i = 0; i < sizeof(into->matrix) / sizeof(into->matrix[0]); i++) {
        into->matrix[i].bytes += from->matrix[i].bytes;
        into->matrix[i].messages += from->matrix[i].messages;
    }
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_spans(const void *a, const void *b)
{
    const struct wf_span *x = a, *y = b;
    int by_rank = order(x->rank, y->rank);

    return by_rank != 0 ? by_rank : order((uint64_t)x->from, (uint64_t)y->from);
}

static int compare_messages(const void *a, const void *b)
{
    const struct wf_sent *x = a, *y = b;
    const int by[] = {
        order(x->from, y->from),   order((uint64_t)x->departure, (uint64_t)y->departure),
        order(x->to, y->to),       order((uint64_t)x->arrival, (uint64_t)y->arrival),
        order(x->bytes, y->bytes),
    };

    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
        if (by[i] != 0) {
            return by[i];
        }
    }
    return 0;
}

void wf_recording_sort(struct wf_recording *recording)
{
    if (recording->n_spans <= recording->limits.spans) {
        qsort(wf_recording_spans(recording), recording->n_spans, sizeof(struct wf_span),
              compare_spans);
    }
    if (recording->n_messages <= recording->limits.messages) {
        qsort(wf_recording_messages(recording), recording->n_messages, sizeof(struct wf_sent),
              compare_messages);
    }
}
