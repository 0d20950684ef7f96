/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/record/recording.h"

#include "base/arith.h"
#include "base/mem.h"
#include "model/ranks/rank.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(WF_SPENT_KINDS == (int)WF_SPENT_WAITING + (int)WF_IN_KINDS,
               "one for each enum wf_rank_in");

/* The first bins are a nanosecond wide; no run is shown at a finer resolution. */
enum { FIRST_SHIFT = 10 };

static uint64_t per_group(uint64_t n, uint64_t groups)
{
    return n <= groups ? 1 : (n + groups - 1) / groups;
}

static uint64_t n_groups(uint64_t n, uint64_t per)
{
    return (n + per - 1) / per;
}

/* One bin more than there are: a span may end where the last one does. */
static size_t cells_of(uint64_t n_rows)
{
    return n_rows * (WF_RECORDING_BINS + 1);
}

/* Bytes of the calls that are not complete, one for each rank. */
static size_t open_size(uint64_t n_ranks, const struct wf_recording_limits *limits)
{
    return limits->has_calls ? n_ranks * sizeof(struct wf_call) : 0;
}

size_t wf_recording_size(uint32_t n_ranks, const struct wf_recording_limits *limits)
{
    uint64_t rows = n_groups(n_ranks, per_group(n_ranks, WF_RECORDING_ROWS));

    size_t size = sizeof(struct wf_recording) +
                  cells_of(rows) * sizeof(struct wf_recording_cell) +
                  open_size(n_ranks, limits);

    return limits->spill != NULL ? size
                                 : size + limits->spans * sizeof(struct wf_span) +
                                       limits->messages * sizeof(struct wf_sent) +
                                       limits->calls * sizeof(struct wf_call);
}

/* Finds out whether individual spans and messages need only be counted from now on. */
static void check_limits(struct wf_recording *recording)
{
    const struct wf_recording_limits *limits = &recording->limits;
    bool all = limits->choice.until == 0 && limits->choice.n_ranges == 0;

    recording->sums_only = all && recording->n_spans >= limits->spans;
    recording->message_sums = all && recording->n_messages >= limits->messages;
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
    recording->row_reciprocal = wf_reciprocal_of((uint32_t)recording->ranks_per_row);
    recording->side_reciprocal = wf_reciprocal_of((uint32_t)recording->ranks_per_side);
    recording->shift = FIRST_SHIFT;
    recording->limits = *limits;
    recording->last.what = WF_SPENT_NOTHING;
    check_limits(recording);
    if (limits->spill != NULL) {
        recording->span_file =
            wf_spill_files_add(limits->spill, sizeof(struct wf_span), limits->spans);
        recording->message_file =
            wf_spill_files_add(limits->spill, sizeof(struct wf_sent), limits->messages);
        if (limits->has_calls) {
            recording->call_file =
                wf_spill_files_add(limits->spill, sizeof(struct wf_call), limits->calls);
        }
    }
}

static struct wf_recording_cell *cells_in(struct wf_recording *recording)
{
    return (void *)(recording + 1);
}

static struct wf_recording_cell *cell_at(struct wf_recording *recording, uint64_t row,
                                         uint64_t bin)
{
    return cells_in(recording) + bin * recording->n_rows + row;
}

uint64_t *wf_recording_cell(struct wf_recording *recording, uint64_t row, uint64_t bin,
                            uint32_t what)
{
    return &cell_at(recording, row, bin)->times_ps[what];
}

struct wf_span *wf_recording_spans(struct wf_recording *recording)
{
    if (recording->limits.spill != NULL) {
        return recording->span_file != NULL ? (void *)recording->span_file->base : NULL;
    }
    return (void *)((unsigned char *)(cells_in(recording) + cells_of(recording->n_rows)) +
                    open_size(recording->n_ranks, &recording->limits));
}

struct wf_sent *wf_recording_messages(struct wf_recording *recording)
{
    if (recording->limits.spill != NULL) {
        return recording->message_file != NULL ? (void *)recording->message_file->base : NULL;
    }
    return (void *)(wf_recording_spans(recording) + recording->limits.spans);
}

struct wf_call *wf_recording_calls(struct wf_recording *recording)
{
    if (recording->limits.spill != NULL) {
        return recording->call_file != NULL ? (void *)recording->call_file->base : NULL;
    }
    return (void *)(wf_recording_messages(recording) + recording->limits.messages);
}

/* ---- bins ---- */

/* Adds the cells of a bin to those of another, in the same recording or in one of as many ranks. */
static void add_bin(struct wf_recording *into, uint64_t wide,
                    const struct wf_recording_cell *from)
{
    struct wf_recording_cell *sum = cell_at(into, 0, wide);

    for (uint64_t row = 0; row < into->n_rows; row++) {
        for (int what = 0; what < WF_SPENT_KINDS; what++) {
            sum[row].times_ps[what] += from[row].times_ps[what];
            sum[row].spans[what] += from[row].spans[what];
        }
    }
    into->touched[wide] = 1;
}

/* Merges each 2^by bins into one. Bins without spans are not looked at: a run in which ranks compute
 * for long never needs the memory of most bins. */
static void widen(struct wf_recording *recording, uint64_t by)
{
    for (uint64_t bin = 0; bin < recording->n_bins; bin++) {
        uint64_t bytes = recording->received[bin];
        recording->received[bin] = 0;
        recording->received[bin >> by] += bytes;
    }
    for (uint64_t bin = 1; bin <= WF_RECORDING_BINS; bin++) { /* the first stays where it is */
        if (recording->touched[bin]) {
            struct wf_recording_cell *cells = cell_at(recording, 0, bin);

            add_bin(recording, bin >> by, cells);
            memset(cells, 0, recording->n_rows * sizeof(*cells));
            recording->touched[bin] = 0;
        }
    }
    recording->shift += by;
    recording->n_bins = recording->n_bins == 0 ? 0 : ((recording->n_bins - 1) >> by) + 1;
}

void wf_recording_settle(struct wf_recording *recording)
{
    struct wf_recording_cell *before = wf_xcalloc(recording->n_rows, sizeof(*before));

    /* A span that begins in a bin takes what is left of it then, and all of the bins after it; one
     * that ends gives that back. The bin after the last one has ends, too. */
    for (uint64_t bin = 0; bin <= recording->n_bins; bin++) {
        struct wf_recording_cell *cell = cell_at(recording, 0, bin);

        for (uint64_t row = 0; row < recording->n_rows; row++) {
            for (int what = 0; what < WF_SPENT_KINDS; what++) {
                uint64_t spans = (uint64_t)(int64_t)cell[row].spans[what];
                uint64_t whole = (uint64_t)(int64_t)before[row].spans[what];

                cell[row].times_ps[what] = ((whole + spans * (bin + 1)) << recording->shift) -
                                           cell[row].times_ps[what];
                before[row].spans[what] += cell[row].spans[what];
                cell[row].spans[what] = 0;
            }
        }
        recording->touched[bin] = 1;
    }
    free(before);
}

__attribute__((noinline)) void wf_recording_reach(struct wf_recording *recording, int64_t time)
{
    uint64_t by = 0;

    while ((uint64_t)time >> (recording->shift + by) >= WF_RECORDING_BINS) {
        by++;
    }
    if (by > 0) {
        widen(recording, by);
    }
    recording->n_bins = wf_max_u64(recording->n_bins, ((uint64_t)time >> recording->shift) + 1);
}

void wf_recording_spend(struct wf_recording *recording, uint32_t rank, uint32_t what,
                        int64_t from, int64_t until)
{
    if ((uint64_t)(until - 1) >> recording->shift >= recording->n_bins) {
        wf_recording_reach(recording, until - 1);
    }
    wf_recording_put(recording, wf_reciprocal_divide(rank, recording->row_reciprocal), what,
                     from, until);
}

/* ---- single spans and messages ---- */

/* The spans, the messages or the calls of a recording: entries of one size. */
struct list {
    unsigned char *base;
    struct wf_spill_file *file;
    uint64_t *n, *limit;
    size_t entry; /* size of an entry */
};

static struct list spans_of(struct wf_recording *recording)
{
    return (struct list){(void *)wf_recording_spans(recording), recording->span_file,
                         &recording->n_spans, &recording->limits.spans, sizeof(struct wf_span)};
}

static struct list messages_of(struct wf_recording *recording)
{
    return (struct list){(void *)wf_recording_messages(recording), recording->message_file,
                         &recording->n_messages, &recording->limits.messages,
                         sizeof(struct wf_sent)};
}

static struct list calls_of(struct wf_recording *recording)
{
    return (struct list){(void *)wf_recording_calls(recording), recording->call_file,
                         &recording->n_calls, &recording->limits.calls, sizeof(struct wf_call)};
}

/* Counts an entry and keeps it if the limit allows. If the disk is full, no more are kept. */
__attribute__((noinline)) static void keep_entry(const struct wf_recording *recording,
                                                 struct list list, const void *entry)
{
    if (*list.n < *list.limit && recording->limits.spill != NULL &&
        (list.file == NULL || !wf_spill_reach(list.file, *list.n))) {
        *list.limit = 0;
    }
    if (*list.n < *list.limit) {
        memcpy(list.base + *list.n * list.entry, entry, list.entry);
    }
    ++*list.n;
}

void wf_recording_count(struct wf_recording *recording, const struct wf_span *span)
{
    const struct wf_choice *choice = &recording->limits.choice;

    if (recording->sums_only) {
        recording->n_spans++;
    } else if (wf_choice_touches(choice, span->from, span->until) &&
               (choice->n_ranges == 0 || wf_choice_has_rank(choice, span->rank))) {
        keep_entry(recording, spans_of(recording), span);
        check_limits(recording);
    }
}

void wf_recording_span(struct wf_recording *recording, const struct wf_span *span)
{
    wf_recording_spend(recording, span->rank, span->what, span->from, span->until);
    wf_recording_count(recording, span);
}

/* The time after this one, if there is one. */
static int64_t after(int64_t time)
{
    return time < INT64_MAX ? time + 1 : time;
}

/* Counts a message and keeps it, if it is among those to be kept. */
static void count_message(struct wf_recording *recording, const struct wf_sent *sent)
{
    const struct wf_choice *choice = &recording->limits.choice;

    if (recording->message_sums) {
        recording->n_messages++;
    } else if (wf_choice_touches(choice, sent->departure, after(sent->arrival)) &&
               (choice->n_ranges == 0 || (wf_choice_has_rank(choice, sent->from) &&
                                          wf_choice_has_rank(choice, sent->to)))) {
        keep_entry(recording, messages_of(recording), sent);
        check_limits(recording);
    }
}

void wf_recording_message_carefully(struct wf_recording *recording, const struct wf_sent *sent)
{
    uint64_t from = wf_reciprocal_divide(sent->from, recording->side_reciprocal);
    uint64_t to = wf_reciprocal_divide(sent->to, recording->side_reciprocal);
    struct wf_traffic_cell *cell = &recording->matrix[from * WF_RECORDING_MATRIX + to];

    cell->bytes += sent->bytes;
    cell->messages++;
    wf_recording_reach(recording, sent->arrival);
    recording->received[(uint64_t)sent->arrival >> recording->shift] += sent->bytes;
    count_message(recording, sent);
}

/* Ends the call of a rank that is not complete, if there is one. */
static void close_call(struct wf_recording *recording, struct wf_call *call, int64_t until)
{
    const struct wf_choice *choice = &recording->limits.choice;
    struct wf_call_sum *sum = &recording->by_call[call->kind];

    if (call->state == WF_CALL_CLOSED || call->kind == WF_OP_COMPUTE) {
        call->state = WF_CALL_CLOSED;
        return;
    }
    call->state = WF_CALL_CLOSED;
    call->until = until > call->from ? until : call->from;
    uint64_t length = (uint64_t)(call->until - call->from);
    sum->n++;
    sum->bytes += call->bytes;
    sum->time_ps += length;
    sum->max_ps = length > sum->max_ps ? length : sum->max_ps;
    if (wf_choice_touches(choice, call->from, after(call->until)) &&
        (choice->n_ranges == 0 || wf_choice_has_rank(choice, call->rank))) {
        keep_entry(recording, calls_of(recording), call);
    }
}

static struct wf_call *open_call(struct wf_recording *recording, uint64_t rank)
{
    return (struct wf_call *)(void *)(cells_in(recording) + cells_of(recording->n_rows)) + rank;
}

void wf_recording_call(struct wf_recording *recording, const struct wf_call *op)
{
    struct wf_call *open = open_call(recording, op->rank);

    if (open->state == WF_CALL_AGAIN) {
        open->state = op->state;
        return;
    }
    close_call(recording, open, op->from);
    uint32_t site = open->kind == WF_OP_COMPUTE ? open->site : 0;
    *open = *op;
    open->site = op->kind == WF_OP_COMPUTE ? op->site : site;
}

void wf_recording_hops(struct wf_recording *recording, uint32_t hops, int64_t latency)
{
    uint32_t at = hops < WF_RECORDING_HOPS ? hops : WF_RECORDING_HOPS - 1;

    wf_stat_add(&recording->by_hops[at].latency, latency);
    recording->by_hops[at].counts[wf_histogram_bucket((uint64_t)latency)]++;
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

    if (recording->limits.has_calls) {
        close_call(recording, open_call(recording, rank->least_rank - 1),
                   (int64_t)rank->finish_ps);
    }

    add_account(&recording->similar[bucket], rank);
    add_account(&recording->rows[(rank->least_rank - 1) / recording->ranks_per_row], rank);
}

static void merge_hops(struct wf_by_hops *into, const struct wf_by_hops *from)
{
    for (size_t hops = 0; hops < WF_RECORDING_HOPS; hops++) {
        wf_stat_merge(&into[hops].latency, &from[hops].latency);
        for (size_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
            into[hops].counts[i] += from[hops].counts[i];
        }
    }
}

static void merge_sums(struct wf_call_sum *into, const struct wf_call_sum *from)
{
    for (size_t kind = 0; kind < WF_OP_KINDS; kind++) {
        into[kind].n += from[kind].n;
        into[kind].bytes += from[kind].bytes;
        into[kind].time_ps += from[kind].time_ps;
        into[kind].max_ps =
            into[kind].max_ps > from[kind].max_ps ? into[kind].max_ps : from[kind].max_ps;
    }
}

static void merge_lists(const struct wf_recording *recording, struct list into,
                        struct list from)
{
    for (uint64_t i = 0; i < *from.n && i < *from.limit; i++) {
        keep_entry(recording, into, from.base + i * from.entry);
    }
    /* The lower limit counts: one of the two may have found the disk full. */
    if (*from.limit < *into.limit) {
        *into.limit = *from.limit;
    }
    if (*from.n > *from.limit) {
        *into.n += *from.n - *from.limit;
    }
}

void wf_recording_merge(struct wf_recording *into, const struct wf_recording *from)
{
    struct wf_recording *other = wf_unconst(from); /* only read */

    if (from->n_ranks == 0) {
        return;
    }
    wf_recording_init(into, (uint32_t)from->n_ranks, &from->limits);
    if (into->shift < from->shift) {
        widen(into, from->shift - into->shift);
    }
    uint64_t by = into->shift - from->shift;
    for (uint64_t bin = 0; bin < WF_RECORDING_BINS; bin++) {
        into->received[bin >> by] += from->received[bin];
    }
    for (uint64_t bin = 0; bin <= WF_RECORDING_BINS; bin++) {
        if (from->touched[bin]) {
            add_bin(into, bin >> by, cell_at(other, 0, bin));
        }
    }
    uint64_t n_bins = from->n_bins == 0 ? 0 : ((from->n_bins - 1) >> by) + 1;
    into->n_bins = wf_max_u64(into->n_bins, n_bins);
    merge_hops(into->by_hops, from->by_hops);
    merge_lists(into, spans_of(into), spans_of(other));
    merge_lists(into, messages_of(into), messages_of(other));
    check_limits(into);
    if (into->limits.has_calls) {
        merge_lists(into, calls_of(into), calls_of(other));
        merge_sums(into->by_call, from->by_call);
    }
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
