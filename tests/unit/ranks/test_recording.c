/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/record/recording.h"

#include "base/mem.h"

#include "harness/wf_test.h"

#include <stdlib.h>

enum { SEED = 9, CASES = 12, SPANS = 400, MESSAGES = 300, PARTS = 3 };

struct all {
    struct wf_span spans[SPANS];
    struct wf_sent sent[MESSAGES];
    uint32_t n_ranks;
    int64_t last;
};

/* Ranks do one thing after the other; lengths of all sizes. */
static void draw(struct all *all, uint64_t c)
{
    int64_t now[8] = {0};

    all->n_ranks = (uint32_t)(wf_test_rand(SEED, c, 1) % 900 + 8);
    all->last = 0;
    for (uint64_t i = 0; i < SPANS; i++) {
        uint64_t random = wf_test_rand(SEED, c, 10 + i);
        int64_t length = (int64_t)(random >> 8 >> (random % 30 + 24)) + 1;
        uint32_t who = (uint32_t)(i % 8);
        all->spans[i] = (struct wf_span){now[who], now[who] + length, who * (all->n_ranks / 8),
                                         (uint32_t)(random >> 40) % WF_SPENT_KINDS};
        now[who] += length + (int64_t)(random % 3);
        all->last = now[who] > all->last ? now[who] : all->last;
    }
    for (uint64_t i = 0; i < MESSAGES; i++) {
        uint64_t random = wf_test_rand(SEED, c, 1000 + i);
        int64_t at = (int64_t)(random % (uint64_t)all->last);
        all->sent[i] =
            (struct wf_sent){at / 2, at, random >> 50, (uint32_t)(random >> 20) % all->n_ranks,
                             (uint32_t)(random >> 10) % all->n_ranks};
    }
}

static struct wf_recording *make(const struct all *all,
                                 const struct wf_recording_limits *limits)
{
    struct wf_recording *recording = wf_xcalloc(wf_recording_size(all->n_ranks, limits), 1);

    wf_recording_init(recording, all->n_ranks, limits);
    return recording;
}

static int64_t overlap(const struct wf_span *span, int64_t from, int64_t until)
{
    int64_t a = span->from > from ? span->from : from;
    int64_t b = span->until < until ? span->until : until;

    return b > a ? b - a : 0;
}

/* Every bin of every row, from all spans and messages. */
static bool is_sum(struct wf_recording *recording, const struct all *all)
{
    int64_t width = INT64_C(1) << recording->shift;

    for (uint64_t bin = 0; bin < WF_RECORDING_BINS; bin++) {
        int64_t from = (int64_t)bin * width;
        uint64_t bytes = 0, spent = 0, expected = 0;
        for (uint64_t i = 0; i < MESSAGES; i++) {
            bytes += all->sent[i].arrival / width == (int64_t)bin ? all->sent[i].bytes : 0;
        }
        for (uint64_t i = 0; i < SPANS; i++) {
            const struct wf_span *span = &all->spans[i];
            uint64_t share = (uint64_t)overlap(span, from, from + width);
            /* Others may share the cell: at least this, and in all what there is. */
            if (*wf_recording_cell(recording, span->rank / recording->ranks_per_row, bin,
                                   span->what) < share) {
                return false;
            }
            expected += share;
        }
        for (uint64_t row = 0; row < recording->n_rows; row++) {
            for (uint32_t what = 0; what < WF_SPENT_KINDS; what++) {
                spent += *wf_recording_cell(recording, row, bin, what);
            }
        }
        if (bytes != recording->received[bin] || spent != expected) {
            return false;
        }
    }
    return true;
}

/* As narrow as it can be. */
static bool fits(const struct wf_recording *recording, const struct all *all)
{
    int64_t last = 0;

    for (uint64_t i = 0; i < SPANS; i++) {
        last = all->spans[i].until - 1 > last ? all->spans[i].until - 1 : last;
    }
    for (uint64_t i = 0; i < MESSAGES; i++) {
        last = all->sent[i].arrival > last ? all->sent[i].arrival : last;
    }
    return last >> recording->shift < WF_RECORDING_BINS &&
           (recording->shift == 10 || last >> (recording->shift - 1) >= WF_RECORDING_BINS);
}

static bool has_matrix(const struct wf_recording *recording, const struct all *all)
{
    static struct wf_traffic_cell expected[WF_RECORDING_MATRIX * WF_RECORDING_MATRIX];

    memset(expected, 0, sizeof(expected));
    for (uint64_t i = 0; i < MESSAGES; i++) {
        uint64_t per = (all->n_ranks + WF_RECORDING_MATRIX - 1) / WF_RECORDING_MATRIX;
        struct wf_traffic_cell *cell =
            &expected[all->sent[i].from / per * WF_RECORDING_MATRIX + all->sent[i].to / per];
        cell->bytes += all->sent[i].bytes;
        cell->messages++;
    }
    return memcmp(expected, recording->matrix, sizeof(expected)) == 0;
}

/* However it is dealt to parts, and in whatever order, the recording is the same. */
static void parts_add_up(void)
{
    static struct all all;
    const struct wf_recording_limits limits = {.spans = SPANS, .messages = MESSAGES};

    for (uint64_t c = 0; c < CASES; c++) {
        draw(&all, c);
        struct wf_recording *whole = make(&all, &limits), *part[PARTS];
        size_t size = wf_recording_size(all.n_ranks, &limits);
        for (uint64_t i = 0; i < PARTS; i++) {
            part[i] = make(&all, &limits);
        }
        for (uint64_t i = 0; i < SPANS; i++) {
            wf_recording_span(whole, &all.spans[i]);
            wf_recording_span(part[wf_test_rand(SEED, c, i) % PARTS],
                              &all.spans[SPANS - 1 - i]);
        }
        for (uint64_t i = 0; i < MESSAGES; i++) {
            wf_recording_message(whole, &all.sent[i]);
            wf_recording_message(part[wf_test_rand(SEED, c, i) % PARTS],
                                 &all.sent[MESSAGES - 1 - i]);
        }
        wf_recording_merge(part[c % PARTS], part[(c + 1) % PARTS]);
        wf_recording_merge(part[c % PARTS], part[(c + 2) % PARTS]);
        wf_recording_sort(whole);
        wf_recording_sort(part[c % PARTS]);
        wf_recording_settle(whole);
        wf_recording_settle(part[c % PARTS]);
        CHECK(fits(whole, &all));
        CHECK(is_sum(whole, &all));
        CHECK(has_matrix(whole, &all));
        CHECK(memcmp(whole, part[c % PARTS], size) == 0);
        for (uint64_t i = 0; i < PARTS; i++) {
            free(part[i]);
        }
        free(whole);
    }
}

/* On the disk as in memory, in parts as in one. */
static void rooms_hold_the_same(void)
{
    static struct all all;
    struct wf_spill_files *rooms = wf_spill_files_new();
    const struct wf_recording_limits in_memory = {.spans = SPANS, .messages = MESSAGES};
    struct wf_recording_limits on_disk = in_memory;

    CHECK(rooms != NULL);
    on_disk.spill = rooms;
    draw(&all, 1);
    struct wf_recording *a = make(&all, &in_memory), *b = make(&all, &on_disk);
    struct wf_recording *c = make(&all, &on_disk);
    for (uint64_t i = 0; i < SPANS; i++) {
        wf_recording_span(a, &all.spans[i]);
        wf_recording_span(i % 3 == 0 ? b : c, &all.spans[i]);
    }
    for (uint64_t i = 0; i < MESSAGES; i++) {
        wf_recording_message(a, &all.sent[i]);
        wf_recording_message(i % 3 == 0 ? b : c, &all.sent[i]);
    }
    wf_recording_merge(b, c);
    wf_recording_sort(a);
    wf_recording_sort(b);
    CHECK_U64(b->n_spans, SPANS);
    CHECK(memcmp(wf_recording_spans(a), wf_recording_spans(b),
                 SPANS * sizeof(struct wf_span)) == 0);
    CHECK(memcmp(wf_recording_messages(a), wf_recording_messages(b),
                 MESSAGES * sizeof(struct wf_sent)) == 0);
    for (uint64_t i = 1; i < SPANS; i++) {
        const struct wf_span *span = &wf_recording_spans(b)[i];
        CHECK(span[-1].rank < span->rank ||
              (span[-1].rank == span->rank && span[-1].until <= span->from));
    }
    free(a);
    free(b);
    free(c);
    wf_spill_files_free(rooms);
}

/* Many more than fit into a step of the file. */
static void rooms_grow(void)
{
    enum { MANY = 3000000 };
    struct wf_spill_files *rooms = wf_spill_files_new();
    struct wf_spill_file *room = wf_spill_files_add(rooms, sizeof(uint64_t), MANY);

    CHECK(room != NULL);
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK(wf_spill_reach(room, i));
        ((uint64_t *)(void *)room->base)[i] = i * i;
    }
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK_U64(((uint64_t *)(void *)room->base)[i], i * i);
    }
    CHECK(wf_spill_files_add(rooms, 8, 0) == NULL);
    wf_spill_files_free(rooms);
}

/* Spans that are added to the sums in two parts, or together with the span after them, and then
 * counted are added like single ones. */
static void parts_of_spans_add_the_same(void)
{
    static struct all all;

    for (uint64_t c = 0; c < CASES; c++) {
        draw(&all, c);
        const struct wf_recording_limits limits = {
            .spans = c % 2 == 0 ? SPANS : SPANS / 3,
            .choice = {.until = c % 3 == 0 ? all.last / 2 : 0},
        };
        struct wf_recording *singly = make(&all, &limits), *by_parts = make(&all, &limits);
        for (uint64_t i = 0; i < SPANS; i++) {
            struct wf_span span = all.spans[i];
            uint64_t length = (uint64_t)(span.until - span.from);
            int64_t at = span.from + (int64_t)(wf_test_rand(SEED, c, i) % length);

            wf_recording_span(singly, &span);
            if (span.what == WF_SPENT_ON_MESSAGES && at > span.from) {
                wf_recording_spend_both(by_parts, span.rank, span.what, span.from, at,
                                        span.until);
            } else if (at > span.from) {
                wf_recording_spend(by_parts, span.rank, span.what, span.from, at);
                wf_recording_spend(by_parts, span.rank, span.what, at, span.until);
            } else {
                wf_recording_spend(by_parts, span.rank, span.what, span.from, span.until);
            }
            wf_recording_count(by_parts, &span);
        }
        CHECK(singly->sums_only == (c % 3 != 0 && singly->n_spans >= limits.spans));
        wf_recording_settle(singly);
        wf_recording_settle(by_parts);
        CHECK(memcmp(singly, by_parts, wf_recording_size(all.n_ranks, &limits)) == 0);
        free(singly);
        free(by_parts);
    }
}

/* One too many, in one part or in all together: the count says so either way. */
static void too_many_are_counted(void)
{
    static struct all all;
    const struct wf_recording_limits limits = {.spans = SPANS / 2, .messages = MESSAGES / 3};

    for (uint64_t c = 0; c < 4; c++) {
        draw(&all, c);
        struct wf_recording *a = make(&all, &limits), *b = make(&all, &limits);
        for (uint64_t i = 0; i < SPANS; i++) {
            wf_recording_span(i < SPANS * c / 4 ? a : b, &all.spans[i]);
        }
        for (uint64_t i = 0; i < MESSAGES; i++) {
            wf_recording_message(i < MESSAGES * c / 4 ? a : b, &all.sent[i]);
        }
        wf_recording_merge(a, b);
        CHECK_U64(a->n_spans, SPANS);
        CHECK_U64(a->n_messages, MESSAGES);
        wf_recording_settle(a);
        CHECK(is_sum(a, &all));
        free(a);
        free(b);
    }
}

/* Of chosen ranks and a time single ones are kept, and the sums are of all. */
static void a_choice_is_kept(void)
{
    static struct all all;

    for (uint64_t c = 0; c < CASES; c++) {
        draw(&all, c);
        uint32_t first = all.n_ranks / 8, last = all.n_ranks / 2;
        const struct wf_recording_limits limits = {
            .spans = SPANS,
            .messages = MESSAGES,
            .choice = {.from = all.last / 4,
                       .until = all.last / 2,
                       .n_ranges = 1,
                       .ranges = {{first, last}}},
        };
        struct wf_recording *recording = make(&all, &limits);
        uint64_t spans = 0, messages = 0;
        for (uint64_t i = 0; i < SPANS; i++) {
            const struct wf_span *span = &all.spans[i];
            wf_recording_span(recording, span);
            spans += overlap(span, all.last / 4, all.last / 2) > 0 && span->rank >= first &&
                     span->rank <= last;
        }
        for (uint64_t i = 0; i < MESSAGES; i++) {
            const struct wf_sent *sent = &all.sent[i];
            wf_recording_message(recording, sent);
            messages += sent->from >= first && sent->from <= last && sent->to >= first &&
                        sent->to <= last && sent->departure < all.last / 2 &&
                        sent->arrival >= all.last / 4;
        }
        CHECK_U64(recording->n_spans, spans);
        CHECK_U64(recording->n_messages, messages);
        wf_recording_settle(recording);
        CHECK(is_sum(recording, &all));
        CHECK(has_matrix(recording, &all));
        free(recording);
    }
}

/* Latencies are counted by hops, the last of which are all that are more. */
static void latencies_have_hops(void)
{
    static struct all all;
    const struct wf_recording_limits limits = {.spans = 0};

    draw(&all, 0);
    struct wf_recording *a = make(&all, &limits), *b = make(&all, &limits);
    for (uint32_t i = 0; i < 1000; i++) {
        wf_recording_hops(i % 3 == 0 ? a : b, i % 50, (int64_t)i * 10);
    }
    wf_recording_merge(a, b);
    for (uint32_t hops = 0; hops < WF_RECORDING_HOPS; hops++) {
        uint64_t n = 0, counted = 0;
        int64_t most = 0;
        for (uint32_t i = 0; i < 1000; i++) {
            bool here = hops < WF_RECORDING_HOPS - 1 ? i % 50 == hops : i % 50 >= hops;
            n += here;
            most = here ? (int64_t)i * 10 : most;
        }
        for (size_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
            counted += a->by_hops[hops].counts[i];
        }
        CHECK_U64(a->by_hops[hops].latency.n, n);
        CHECK_U64(counted, n);
        CHECK(a->by_hops[hops].latency.max == most);
    }
    free(a);
    free(b);
}

static void similar_ranks_share_an_account(void)
{
    static struct all all;
    const struct wf_recording_limits limits = {.spans = 0};
    uint64_t ranks = 0, compute = 0;

    draw(&all, 0);
    struct wf_recording *recording = make(&all, &limits);
    for (uint64_t rank = 0; rank < all.n_ranks; rank++) {
        const struct wf_account account = {
            .ranks = 1, .least_rank = rank + 1, .spent_ps = {1000 + rank % 3 * 1000}};
        wf_recording_rank(recording, &account);
    }
    for (size_t i = 0; i < WF_HISTOGRAM_BUCKETS; i++) {
        const struct wf_account *account = &recording->similar[i];
        if (account->ranks > 0) {
            CHECK_U64(account->least_rank, ranks == 0 ? 1 : compute / 1000 + 1);
            compute = account->spent_ps[0] / account->ranks;
            CHECK(compute % 1000 == 0);
            ranks += account->ranks;
        }
    }
    CHECK_U64(compute, 3000);
    CHECK_U64(ranks, all.n_ranks);
    free(recording);
}

static struct wf_call begins(uint32_t rank, int64_t from, enum wf_op_kind kind)
{
    return (struct wf_call){
        .from = from, .rank = rank, .kind = (uint16_t)kind, .state = WF_CALL_OPEN};
}

/* A call ends where the next op begins; one that is made again is one call; ranks keep the order
 * of calls that take no time. */
static void calls_follow_each_other(void)
{
    const struct wf_recording_limits limits = {
        .spans = 1, .messages = 1, .calls = 9, .has_calls = true};
    const struct all all = {.n_ranks = 2};
    struct wf_recording *recording = make(&all, &limits);
    const struct wf_account ends[] = {{.ranks = 1, .least_rank = 1, .finish_ps = 90},
                                      {.ranks = 1, .least_rank = 2, .finish_ps = 70}};
    struct wf_call ops[] = {
        begins(1, 0, WF_OP_IRECV), begins(0, 0, WF_OP_COMPUTE), begins(1, 0, WF_OP_ISEND),
        begins(0, 10, WF_OP_SEND), begins(0, 15, WF_OP_SEND),   begins(1, 20, WF_OP_WAITALL),
        begins(0, 40, WF_OP_RECV),
    };

    ops[3].state = WF_CALL_AGAIN;
    ops[3].bytes = 64;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        wf_recording_call(recording, &ops[i]);
    }
    wf_recording_rank(recording, &ends[0]);
    wf_recording_rank(recording, &ends[1]);
    wf_recording_sort(recording);
    const struct wf_call *calls = wf_recording_calls(recording);
    static const struct {
        uint32_t rank, kind;
        int64_t from, until;
    } expected[] = {
        {0, WF_OP_SEND, 10, 40}, {0, WF_OP_RECV, 40, 90},    {1, WF_OP_IRECV, 0, 0},
        {1, WF_OP_ISEND, 0, 20}, {1, WF_OP_WAITALL, 20, 70},
    };
    CHECK(recording->n_calls == 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK(calls[i].rank == expected[i].rank && calls[i].kind == expected[i].kind &&
              calls[i].from == expected[i].from && calls[i].until == expected[i].until);
    }
    const struct wf_call_sum *sum = &recording->by_call[WF_OP_SEND];
    CHECK(sum->n == 1 && sum->bytes == 64 && sum->time_ps == 30 && sum->max_ps == 30);
    CHECK(recording->by_call[WF_OP_COMPUTE].n == 0);

    struct wf_recording *both = make(&all, &limits);
    wf_recording_merge(both, recording);
    wf_recording_merge(both, recording);
    CHECK(both->n_calls == 10 && both->by_call[WF_OP_RECV].time_ps == 100);
    free(both);
    free(recording);
}

int main(void)
{
    RUN(calls_follow_each_other);
    RUN(parts_add_up);
    RUN(parts_of_spans_add_the_same);
    RUN(too_many_are_counted);
    RUN(rooms_hold_the_same);
    RUN(rooms_grow);
    RUN(a_choice_is_kept);
    RUN(latencies_have_hops);
    RUN(similar_ranks_share_an_account);
    return wf_test_done();
}
