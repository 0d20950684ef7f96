/* SPDX-License-Identifier: Apache-2.0 */
/* The section `recording`. Long lists are stored as texts, because one document value for each
 * number would take too much memory. */
#include "model/ranks/record/recording.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/model.h"
#include "run/document/document.h"
#include "run/plan/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Indexed by enum wf_spent. */
static const char *const names[WF_SPENT_KINDS] = {
    "compute_ps",         "overhead_ps",  "send_wait_ps", "receive_wait_ps",
    "collective_wait_ps", "file_wait_ps", "core_wait_ps"};
static const char letters[WF_SPENT_KINDS + 1] = "cosrkfw";
enum { NOTHING = '-' };

static void put_text(struct wf_buf *buf, const char *text)
{
    wf_buf_append(buf, text, strlen(text));
}

static void put_number(struct wf_buf *buf, const char *before, uint64_t number)
{
    char digits[24];

    put_text(buf, before);
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    put_text(buf, digits);
}

/* Adds the contents of the buffer as text, and empties the buffer. */
static void add_text(struct wf_value *parent, const char *name, struct wf_buf *buf)
{
    wf_buf_append(buf, "", 1);
    wf_doc_text(parent, name, (const char *)buf->data);
    buf->size = 0;
}

/* The kinds that a document has, enum wf_spent, in their order. */
struct kinds {
    uint32_t n, what[WF_SPENT_KINDS];
    char letters[WF_SPENT_KINDS + 1];
};

/* Adds the means of an account over its ranks. */
static void add_account(struct wf_value *item, const struct wf_account *account,
                        const struct kinds *kinds)
{
    wf_doc_count(item, "ranks", account->ranks);
    wf_doc_count(item, "first_rank", account->least_rank - 1);
    wf_doc_count(item, "finish_ps", account->finish_ps / account->ranks);
    for (uint32_t i = 0; i < kinds->n; i++) {
        uint32_t what = kinds->what[i];
        wf_doc_count(item, names[what], account->spent_ps[what] / account->ranks);
    }
}

/* Writes, for each bin of time, the share that the ranks of the row spent on each kind: 0 to
 * 255. */
static void put_cells(struct wf_buf *buf, struct wf_recording *recording, uint64_t row,
                      uint64_t n_bins, const struct kinds *kinds)
{
    unsigned char *bytes = wf_xcalloc(n_bins * kinds->n, 1);
    double full =
        (double)recording->rows[row].ranks * (double)(UINT64_C(1) << recording->shift);

    for (uint64_t bin = 0; bin < n_bins; bin++) {
        for (uint32_t i = 0; i < kinds->n; i++) {
            double share =
                (double)*wf_recording_cell(recording, row, bin, kinds->what[i]) / full;
            bytes[bin * kinds->n + i] = (unsigned char)(share * 255 + 0.5);
        }
    }
    wf_buf_base64(buf, bytes, n_bins * kinds->n);
    free(bytes);
}

/* Documents do without waits for files and cores if no rank waited for them. */
static struct kinds kinds_of(const struct wf_recording *recording)
{
    struct kinds kinds = {.n = 0};

    for (uint32_t what = 0; what < WF_SPENT_KINDS; what++) {
        bool any = what < (uint32_t)WF_SPENT_WAITING + WF_IN_FILE;

        for (uint64_t row = 0; row < recording->n_rows && !any; row++) {
            any = recording->rows[row].spent_ps[what] > 0;
        }
        if (any) {
            kinds.letters[kinds.n] = letters[what];
            kinds.what[kinds.n++] = what;
        }
    }
    return kinds;
}

static void add_rows(struct wf_value *section, struct wf_recording *recording, uint64_t n_bins,
                     struct wf_buf *buf)
{
    const struct kinds kinds = kinds_of(recording);

    if (kinds.n > (uint32_t)WF_SPENT_WAITING + WF_IN_FILE) {
        wf_doc_text(section, "kinds", kinds.letters);
    }
    struct wf_value *rows = wf_doc_list(section, "rows");
    for (uint64_t row = 0; row < recording->n_rows; row++) {
        struct wf_value *item = wf_doc_section(rows, NULL);
        add_account(item, &recording->rows[row], &kinds);
        put_cells(buf, recording, row, n_bins, &kinds);
        add_text(item, "shares", buf);
    }
    struct wf_value *similar = wf_doc_list(section, "similar");
    for (size_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        if (recording->similar[i].ranks > 0) {
            add_account(wf_doc_section(similar, NULL), &recording->similar[i], &kinds);
        }
    }
}

static void add_matrix(struct wf_value *section, const struct wf_recording *recording,
                       struct wf_buf *buf)
{
    struct wf_value *matrix = wf_doc_section(section, "matrix");
    uint64_t n = recording->n_sides;

    wf_doc_count(matrix, "ranks_per_row", recording->ranks_per_side);
    for (int messages = 0; messages < 2; messages++) {
        struct wf_value *rows = wf_doc_list(matrix, messages ? "messages" : "bytes");
        for (uint64_t from = 0; from < n; from++) {
            for (uint64_t to = 0; to < n; to++) {
                const struct wf_traffic_cell *cell =
                    &recording->matrix[from * WF_RECORDING_MATRIX + to];
                put_number(buf, to == 0 ? "" : " ", messages ? cell->messages : cell->bytes);
            }
            add_text(rows, NULL, buf);
        }
    }
}

/* Writes spans as "c1200-30r77": activity and duration, from time 0 on. Neighbouring spans of
 * the same activity are merged. */
static const struct wf_span *put_spans(struct wf_buf *buf, const struct wf_span *span,
                                       const struct wf_span *end)
{
    uint32_t rank = span->rank;
    int64_t now = 0;

    while (span < end && span->rank == rank) {
        const struct wf_span *first = span;
        const char letter[2] = {letters[span->what], '\0'};

        if (span->from > now) {
            put_number(buf, "-", (uint64_t)(span->from - now));
        }
        for (now = span->until, span++;
             span < end && span->rank == rank && span->what == first->what && span->from == now;
             span++) {
            now = span->until;
        }
        put_number(buf, letter, (uint64_t)(now - first->from));
    }
    return span;
}

/* Writes messages as "3 0 1200 64;5 10 1300 64": destination, time since the previous
 * departure, duration, bytes. */
static const struct wf_sent *put_messages(struct wf_buf *buf, const struct wf_sent *sent,
                                          const struct wf_sent *end)
{
    uint32_t from = sent->from;
    int64_t now = 0;

    for (const struct wf_sent *first = sent; sent < end && sent->from == from; sent++) {
        put_number(buf, sent == first ? "" : ";", sent->to);
        put_number(buf, " ", (uint64_t)(sent->departure - now));
        put_number(buf, " ", (uint64_t)(sent->arrival - sent->departure));
        put_number(buf, " ", sent->bytes);
        now = sent->departure;
    }
    return sent;
}

/* Adds one text for each chosen rank; nothing if there are too many spans or messages. */
static void add_single(struct wf_value *section, struct wf_recording *recording,
                       struct wf_buf *buf)
{
    const struct wf_span *span = wf_recording_spans(recording);
    const struct wf_sent *sent = wf_recording_messages(recording);
    const struct wf_span *last_span = span + recording->n_spans;
    const struct wf_sent *last_sent = sent + recording->n_messages;
    const struct wf_choice *choice = &recording->limits.choice;

    wf_recording_sort(recording);
    wf_doc_count(section, "n_spans", recording->n_spans);
    wf_doc_count(section, "n_messages", recording->n_messages);
    if (recording->n_spans <= recording->limits.spans) {
        struct wf_value *list = wf_doc_list(section, "spans");
        for (uint64_t rank = 0; rank < recording->n_ranks; rank++) {
            if (!wf_choice_has_rank(choice, rank)) {
                continue;
            }
            span =
                span < last_span && span->rank == rank ? put_spans(buf, span, last_span) : span;
            add_text(list, NULL, buf);
        }
    }
    if (recording->n_messages <= recording->limits.messages) {
        struct wf_value *list = wf_doc_list(section, "messages");
        for (uint64_t rank = 0; rank < recording->n_ranks; rank++) {
            if (!wf_choice_has_rank(choice, rank)) {
                continue;
            }
            sent = sent < last_sent && sent->from == rank ? put_messages(buf, sent, last_sent)
                                                          : sent;
            add_text(list, NULL, buf);
        }
    }
}

static void add_nodes(struct wf_value *section, const struct wf_place *place,
                      const struct wf_choice *of, struct wf_buf *buf)
{
    for (uint32_t rank = 0; rank < place->n_ranks; rank++) {
        if (wf_choice_has_rank(of, rank)) {
            put_number(buf, buf->size == 0 ? "" : " ", wf_place_node(place, rank));
        }
    }
    add_text(section, "nodes", buf);
}

/* Adds which ranks and times have individual spans and messages, unless all have. */
static void add_choice(struct wf_value *section, const struct wf_recording *recording,
                       const struct wf_place *place, struct wf_buf *buf)
{
    const struct wf_choice *choice = &recording->limits.choice;
    char words[WF_CHOICE_TEXT_MAX];

    if (choice->n_ranges == 0 && choice->until == 0) {
        return;
    }
    struct wf_value *chosen = wf_doc_section(section, "chosen");
    if (choice->n_ranges > 0) {
        wf_doc_text(chosen, "ranks", wf_choice_words(choice, words));
        if (recording->n_spans <= recording->limits.spans) {
            add_nodes(chosen, place, choice, buf);
        }
    }
    if (choice->until > 0) {
        wf_doc_count(chosen, "from_ps", (uint64_t)choice->from);
        wf_doc_count(chosen, "until_ps", (uint64_t)choice->until);
    }
}

/* Adds how long messages take, by the number of hops between their nodes. */
static void add_hops(struct wf_value *section, const struct wf_by_hops *by_hops)
{
    struct wf_value *list = wf_doc_list(section, "latency_by_hops");

    for (size_t hops = 0; hops < WF_RECORDING_HOPS; hops++) {
        const struct wf_by_hops *of = &by_hops[hops];
        if (of->latency.n == 0) {
            continue;
        }
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_count(item, "hops", hops);
        wf_doc_count(item, "messages", of->latency.n);
        wf_doc_count(item, "min_ps", (uint64_t)of->latency.min);
        wf_doc_count(item, "mean_ps", (uint64_t)wf_stat_mean(&of->latency));
        wf_doc_count(item, "p50_ps", wf_histogram_quantile(of->counts, 500));
        wf_doc_count(item, "p99_ps", wf_histogram_quantile(of->counts, 990));
        wf_doc_count(item, "max_ps", (uint64_t)of->latency.max);
    }
}

void wf_document_recording(struct wf_value *root, const struct wf_job *job,
                           const struct wf_engine *engine, const struct wf_run *run)
{
    /* The run is over and nothing else uses the tally: its recording may be sorted. */
    struct wf_ranks_tally *tally = wf_unconst(wf_engine_tally_get(engine));
    struct wf_recording *recording = wf_tally_recording(tally);
    struct wf_buf buf = {.data = NULL};
    const struct wf_choice all = {.n_ranges = 0};

    if (recording == NULL) {
        return;
    }
    wf_recording_settle(recording);
    int64_t end = wf_document_end(tally, run);
    uint64_t n_bins = ((uint64_t)end >> recording->shift) + 1;
    struct wf_value *section = wf_doc_section(root, "recording");

    n_bins = n_bins < WF_RECORDING_BINS ? n_bins : WF_RECORDING_BINS;
    wf_doc_count(section, "ranks", recording->n_ranks);
    wf_doc_count(section, "end_ps", (uint64_t)end);
    wf_doc_count(section, "bin_ps", UINT64_C(1) << recording->shift);
    wf_doc_count(section, "bins", n_bins);
    wf_doc_count(section, "ranks_per_row", recording->ranks_per_row);
    add_rows(section, recording, n_bins, &buf);
    for (uint64_t bin = 0; bin < n_bins; bin++) {
        put_number(&buf, bin == 0 ? "" : " ", recording->received[bin]);
    }
    add_text(section, "received_bytes", &buf);
    add_matrix(section, recording, &buf);
    if (job->recording->hops != NULL) {
        add_hops(section, recording->by_hops);
    }
    add_choice(section, recording, &job->place, &buf);
    if (recording->ranks_per_row == 1 || (recording->limits.choice.n_ranges == 0 &&
                                          recording->n_spans <= recording->limits.spans)) {
        add_nodes(section, &job->place, &all, &buf);
    }
    add_single(section, recording, &buf);
    const struct wf_document_jobs jobs = wf_document_jobs_of(job);
    wf_document_calls(section, recording, &jobs);
    wf_buf_fini(&buf);
}
