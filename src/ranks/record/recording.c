/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/record/recording.h"

#include "base/arith.h"
#include "base/mem.h"
#include "base/reciprocal.h"
#include "ranks/rank.h"

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

/* Time that the ranks of a row spent in a bin, by activity. A long span is added to its
 * first and its last bin only, and to `fill`: +1 where it begins to fill whole bins, -1
 * where it ceases to. wf_recording_settle() adds these up. */
struct cell {
    uint64_t spent_ps[WF_SPENT_KINDS];
    int32_t fill[WF_SPENT_KINDS]; /* change of the number of spans that fill whole bins */
};

_Static_assert(sizeof(struct cell) == 72, "no padding");

static size_t cells_of(uint64_t n_rows)
{
    return n_rows * WF_RECORDING_BINS;
}

/* Bytes of the calls that are not complete, one for each rank. */
static size_t open_size(uint64_t n_ranks, const struct wf_recording_limits *limits)
{
    return limits->has_calls ? n_ranks * sizeof(struct wf_call) : 0;
}

size_t wf_recording_size(uint32_t n_ranks, const struct wf_recording_limits *limits)
{
    uint64_t rows = n_groups(n_ranks, per_group(n_ranks, WF_RECORDING_ROWS));

    size_t size = sizeof(struct wf_recording) + cells_of(rows) * sizeof(struct cell) +
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

static struct cell *cells_in(struct wf_recording *recording)
{
    return (void *)(recording + 1);
}

/* Bins of the same time are neighbours, so that ranks write to few pages at any time. */
static struct cell *cell_at(struct wf_recording *recording, uint64_t row, uint64_t bin)
{
    return cells_in(recording) + bin * recording->n_rows + row;
}

uint64_t *wf_recording_cell(struct wf_recording *recording, uint64_t row, uint64_t bin,
                            uint32_t what)
{
    return &cell_at(recording, row, bin)->spent_ps[what];
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

/* Bins of 2^shift picoseconds that become parts of bins 2^by times as wide. */
struct scale {
    uint64_t shift, by;
};

/* Adds the cells of a bin to those of the bin that it becomes a part of. Where spans begin or cease
 * to fill whole bins within the new bin, they do so for the bins after it; the new bin gets the
 * difference, which may be negative. */
static void add_bin(struct wf_recording *into, const struct cell *from, uint64_t bin,
                    struct scale scale)
{
    uint64_t parts = UINT64_C(1) << scale.by, part = bin % parts, wide = bin >> scale.by;
    uint64_t rest = part > 0 ? (parts - part) << scale.shift : 0; /* of the new bin */
    uint64_t filled = part > 0 ? wide + 1 : wide;
    struct cell *sum = cell_at(into, 0, wide), *fill = cell_at(into, 0, filled);

    for (uint64_t row = 0; row < into->n_rows; row++) {
        for (int what = 0; what < WF_SPENT_KINDS; what++) {
            int32_t change = from[row].fill[what];

            sum[row].spent_ps[what] +=
                from[row].spent_ps[what] + (uint64_t)(int64_t)change * rest;
            fill[row].fill[what] += change;
        }
    }
    into->touched[wide] = into->touched[filled] = 1;
}

/* Merges each 2^by bins into one. Bins without spans are not looked at: a run in which ranks compute
 * for long never needs the memory of most bins. */
static void widen(struct wf_recording *recording, uint64_t by)
{
    const struct scale scale = {recording->shift, by};
    size_t size = recording->n_rows * sizeof(struct cell);
    struct cell *cells = wf_xmalloc(size);

    for (uint64_t bin = 0; bin < recording->n_bins; bin++) {
        uint64_t bytes = recording->received[bin];
        recording->received[bin] = 0;
        recording->received[bin >> by] += bytes;
    }
    for (uint64_t bin = 0; bin < WF_RECORDING_BINS; bin++) {
        if (recording->touched[bin]) {
            memcpy(cells, cell_at(recording, 0, bin), size);
            memset(cell_at(recording, 0, bin), 0, size);
            recording->touched[bin] = 0;
            add_bin(recording, cells, bin, scale); /* to this bin or to earlier ones */
        }
    }
    free(cells);
    recording->shift += by;
    recording->n_bins = recording->n_bins == 0 ? 0 : ((recording->n_bins - 1) >> by) + 1;
    recording->place = (struct wf_recording_place){0};
}

void wf_recording_settle(struct wf_recording *recording)
{
    struct cell *filling = wf_xcalloc(recording->n_rows, sizeof(*filling));

    /* The bin after the last one: spans cease there to fill it. */
    for (uint64_t bin = 0; bin <= recording->n_bins && bin < WF_RECORDING_BINS; bin++) {
        struct cell *cell = cell_at(recording, 0, bin);

        for (uint64_t row = 0; row < recording->n_rows; row++) {
            for (int what = 0; what < WF_SPENT_KINDS; what++) {
                filling[row].fill[what] += cell[row].fill[what];
                cell[row].fill[what] = 0;
                cell[row].spent_ps[what] += (uint64_t)filling[row].fill[what]
                                            << recording->shift;
            }
        }
        recording->touched[bin] = 1;
    }
    free(filling);
    recording->place = (struct wf_recording_place){0};
}

/* The bin of a time. Uses more bins, and widens them until the time fits. */
__attribute__((noinline)) static uint64_t next_bin(struct wf_recording *recording, int64_t time)
{
    uint64_t by = 0;

    while ((uint64_t)time >> (recording->shift + by) >= WF_RECORDING_BINS) {
        by++;
    }
    if (by > 0) {
        widen(recording, by);
    }
    uint64_t bin = (uint64_t)time >> recording->shift;
    recording->n_bins = wf_max_u64(recording->n_bins, bin + 1);
    return bin;
}

/* A span that ends in a bin that is not used yet. */
__attribute__((noinline)) static void spend_later(struct wf_recording *recording, uint32_t rank,
                                                  uint32_t what, int64_t from, int64_t until)
{
    (void)next_bin(recording, until - 1);
    wf_recording_spend_elsewhere(recording, rank, what, from, until);
}

void wf_recording_spend_elsewhere(struct wf_recording *recording, uint32_t rank, uint32_t what,
                                  int64_t from, int64_t until)
{
    uint64_t shift = recording->shift, n_rows = recording->n_rows;
    uint64_t first = (uint64_t)from >> shift, last = (uint64_t)(until - 1) >> shift;

    if (last >= recording->n_bins) {
        spend_later(recording, rank, what, from, until);
        return;
    }
    uint64_t row = wf_reciprocal_divide(rank, recording->row_reciprocal);
    struct cell *cell = cell_at(recording, row, first);

    recording->touched[first] = 1;
    if (first == last) {
        cell->spent_ps[what] += (uint64_t)(until - from);
    } else {
        cell->spent_ps[what] += ((first + 1) << shift) - (uint64_t)from;
        cell[n_rows].fill[what]++;
        recording->touched[first + 1] = 1;
        cell += (last - first) * n_rows;
        cell->spent_ps[what] += (uint64_t)until - (last << shift);
        cell->fill[what]--;
        recording->touched[last] = 1;
    }
    recording->place = (struct wf_recording_place){.from = (int64_t)(last << shift),
                                                   .until = (int64_t)((last + 1) << shift),
                                                   .spent_ps = cell->spent_ps,
                                                   .rank = rank};
}

/* A span that begins in the bin of the last one and ends in a later bin, which is used already. */
static inline void leave_bin(struct wf_recording *recording, uint32_t what, int64_t from,
                             int64_t until, uint64_t last)
{
    struct wf_recording_place *place = &recording->place;
    uint64_t shift = recording->shift, n_rows = recording->n_rows;
    uint64_t bins = last - ((uint64_t)place->from >> shift);
    struct cell *cell = (void *)place->spent_ps;

    cell->spent_ps[what] += (uint64_t)(place->until - from);
    if (bins > 1) {
        cell[n_rows].fill[what]++;
        recording->touched[last - bins + 1] = 1;
        cell += (bins - 1) * n_rows;
        cell[n_rows].fill[what]--;
    }
    cell += n_rows;
    cell->spent_ps[what] += (uint64_t)until - (last << shift);
    recording->touched[last] = 1;
    place->from = (int64_t)(last << shift);
    place->until = (int64_t)((last + 1) << shift);
    place->spent_ps = cell->spent_ps;
}

/* Not inlined, so that wf_recording_spend_both() saves no registers. */
__attribute__((noinline)) static void spend_in_steps(struct wf_recording *recording,
                                                     uint32_t rank, uint32_t what, int64_t from,
                                                     int64_t until, int64_t later)
{
    wf_recording_spend(recording, rank, what, from, until);
    wf_recording_spend(recording, rank, WF_SPENT_ON_MESSAGES, until, later);
}

void wf_recording_spend_both(struct wf_recording *recording, uint32_t rank, uint32_t what,
                             int64_t from, int64_t until, int64_t later)
{
    struct wf_recording_place *place = &recording->place;
    uint64_t last = (uint64_t)(until - 1) >> recording->shift;

    if (rank != place->rank || from < place->from || from >= place->until ||
        until <= place->until || last >= recording->n_bins) {
        spend_in_steps(recording, rank, what, from, until, later);
        return;
    }
    leave_bin(recording, what, from, until, last);
    wf_recording_spend(recording, rank, WF_SPENT_ON_MESSAGES, until, later);
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
__attribute__((noinline)) static void keep(const struct wf_recording *recording,
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
        keep(recording, spans_of(recording), span);
        check_limits(recording);
    }
}

void wf_recording_span(struct wf_recording *recording, const struct wf_span *span)
{
    wf_recording_spend(recording, span->rank, span->what, span->from, span->until);
    wf_recording_count(recording, span);
}

/* Counts a message and keeps it, if it is among those to be kept. */
__attribute__((noinline)) static void count_message(struct wf_recording *recording,
                                                    const struct wf_sent *sent)
{
    const struct wf_choice *choice = &recording->limits.choice;

    if (recording->message_sums) {
        recording->n_messages++;
    } else if (wf_choice_touches(choice, sent->departure, sent->arrival + 1) &&
               (choice->n_ranges == 0 || (wf_choice_has_rank(choice, sent->from) &&
                                          wf_choice_has_rank(choice, sent->to)))) {
        keep(recording, messages_of(recording), sent);
        check_limits(recording);
    }
}

/* Adds a message to its bin, which may be one that is not used yet. */
__attribute__((noinline)) static void add_received(struct wf_recording *recording,
                                                   const struct wf_sent *sent)
{
    recording->received[next_bin(recording, sent->arrival)] += sent->bytes;
}

void wf_recording_message(struct wf_recording *recording, const struct wf_sent *sent)
{
    uint64_t bin = (uint64_t)sent->arrival >> recording->shift, bytes = sent->bytes;
    uint64_t from = wf_reciprocal_divide(sent->from, recording->side_reciprocal);
    uint64_t to = wf_reciprocal_divide(sent->to, recording->side_reciprocal);
    struct wf_traffic_cell *cell = &recording->matrix[from * WF_RECORDING_MATRIX + to];

    cell->bytes += bytes;
    cell->messages++;
    if (recording->message_sums && bin < recording->n_bins) {
        recording->received[bin] += bytes;
        recording->n_messages++;
        return;
    }
    add_received(recording, sent);
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
    if (wf_choice_touches(choice, call->from, call->until + 1) &&
        (choice->n_ranges == 0 || wf_choice_has_rank(choice, call->rank))) {
        keep(recording, calls_of(recording), call);
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
        keep(recording, into, from.base + i * from.entry);
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
    const struct scale scale = {from->shift, into->shift - from->shift};
    for (uint64_t bin = 0; bin < WF_RECORDING_BINS; bin++) {
        into->received[bin >> scale.by] += from->received[bin];
        if (from->touched[bin]) {
            add_bin(into, cell_at(other, 0, bin), bin, scale);
        }
    }
    uint64_t n_bins = from->n_bins == 0 ? 0 : ((from->n_bins - 1) >> scale.by) + 1;
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
