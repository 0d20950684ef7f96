/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that read the files of a trace: whatever their number, they visit every item once,
 * report the same failure, and add up to the same counts and the same ops. */
#include "harness/wf_test.h"
#include "program/trace/kit/kit.h"
#include "program/trace/spool/spool.h"

#include <stdatomic.h>

enum { N_ITEMS = 500, N_RANKS = 24, N_OPS = WF_TEST_ONE_IN > 1 ? 500 : 3000 };

struct visits {
    uint32_t seen[N_ITEMS];
    uint32_t latest[WF_TRACE_WORKERS_MAX]; /* 1 + the item */
    bool falls[WF_TRACE_WORKERS_MAX];
    const uint32_t *fails;
    uint32_t n_fails;
};

static void count_visit(void *arg, uint32_t worker, uint32_t item, struct wf_err *err)
{
    struct visits *visits = arg;

    visits->seen[item]++;
    visits->falls[worker] |= item + 1 <= visits->latest[worker];
    visits->latest[worker] = item + 1;
    for (uint32_t i = 0; i < visits->n_fails; i++) {
        if (visits->fails[i] == item) {
            (void)wf_err_set(err, WF_EINVAL, "item %u", item);
        }
    }
}

static void all_items_once(void)
{
    for (uint32_t n = 0; n <= N_ITEMS; n = n < 6 ? n + 1 : n * 3 / 2) {
        for (uint32_t workers = 1; workers <= WF_TRACE_WORKERS_MAX; workers++) {
            static struct visits visits;
            struct wf_err err = {.status = WF_OK};

            memset(&visits, 0, sizeof(visits));
            wf_trace_visit_all(n, workers, count_visit, &visits, &err);
            CHECK(err.status == WF_OK);
            for (uint32_t i = 0; i < workers; i++) {
                CHECK(!visits.falls[i]);
            }
            for (uint32_t i = 0; i < N_ITEMS; i++) {
                CHECK_U64(visits.seen[i], i < n ? 1 : 0);
            }
        }
    }
}

static void the_lowest_failure(void)
{
    static const uint32_t fails[] = {499, 131, 77, 300, 78};

    for (uint32_t n = 1; n <= 5; n++) {
        for (uint32_t workers = 1; workers <= WF_TRACE_WORKERS_MAX; workers++) {
            static struct visits visits;
            struct wf_err err = {.status = WF_OK};

            memset(&visits, 0, sizeof(visits));
            visits.fails = fails;
            visits.n_fails = n;
            wf_trace_visit_all(N_ITEMS, workers, count_visit, &visits, &err);
            CHECK_STR(err.text, n == 1 ? "item 499" : n == 2 ? "item 131" : "item 77");
        }
    }
}

static void nothing_after_a_failure(void)
{
    static struct visits visits;
    struct wf_err err = {.status = WF_EINVAL, .text = "before"};

    memset(&visits, 0, sizeof(visits));
    wf_trace_visit_all(N_ITEMS, 2, count_visit, &visits, &err);
    CHECK_U64(visits.seen[0], 0);
    CHECK_STR(err.text, "before");
}

/* ---- counts ---- */

/* Rank r has the names r % 7 and r % 5 + 7, each third one more, and rank 11 very many. */
static void count_rank(struct wf_records *records, uint32_t rank)
{
    char name[16];

    for (uint32_t k = 0; k < 3; k++) {
        uint32_t number = k == 0 ? rank % 7 : k == 1 ? rank % 5 + 7 : 20 - rank;
        if (k < 2 || rank % 3 == 2) {
            (void)snprintf(name, sizeof(name), "name %u", number);
            wf_records_add(records, rank, wf_records_name(records, name), rank);
        }
    }
    for (uint32_t k = 0; rank == 11 && k < 100; k++) {
        (void)snprintf(name, sizeof(name), "own name %u", k);
        wf_records_add(records, rank, wf_records_name(records, name), k);
    }
}

static void counts_are_merged(void)
{
    for (uint32_t parts = 1; parts <= WF_TRACE_WORKERS_MAX; parts++) {
        struct wf_records *all[WF_TRACE_WORKERS_MAX], *one = wf_records_new(20),
                                                      *merged = wf_records_new(20);

        for (uint32_t i = 0; i < parts; i++) {
            all[i] = wf_records_new(20);
            (void)wf_records_name(all[i], "of nobody");
        }
        for (uint32_t rank = 0; rank < 20; rank++) {
            count_rank(one, rank);
            count_rank(all[wf_test_rand(parts, rank, 1) % parts], rank);
        }
        wf_records_merge(merged, all, parts);
        struct wf_record_count *totals = wf_records_totals(merged);
        uint32_t n = 0;
        for (; wf_records_at(one, n) != NULL; n++) {
            struct wf_record_count sum = {0, 0};
            CHECK(wf_records_at(merged, n) != NULL);
            CHECK_STR(wf_records_at(merged, n), wf_records_at(one, n));
            for (uint32_t rank = 0; rank < 20; rank++) {
                CHECK_U64(wf_records_of(merged, rank, n).n, wf_records_of(one, rank, n).n);
                CHECK_U64(wf_records_of(merged, rank, n).bytes,
                          wf_records_of(one, rank, n).bytes);
                sum.n += wf_records_of(one, rank, n).n;
                sum.bytes += wf_records_of(one, rank, n).bytes;
            }
            CHECK_U64(totals[n].n, sum.n);
            CHECK_U64(totals[n].bytes, sum.bytes);
        }
        free(totals);
        CHECK(wf_records_at(merged, n) == NULL);
        wf_records_free(one);
        wf_records_free(merged);
    }
}

/* Ranks take turns, and each has more names than most: 1, 2 and 3 records of every name. */
static void ranks_may_have_many_names(void)
{
    enum { RANKS = 3, NAMES = 200 };
    struct wf_records *records = wf_records_new(RANKS);
    char name[16];

    for (uint32_t i = 0; i < NAMES; i++) {
        (void)snprintf(name, sizeof(name), "name %u", i);
        CHECK_U64(wf_records_name(records, name), i);
        for (uint32_t k = 0; k < RANKS * RANKS; k++) {
            if (k / RANKS <= k % RANKS) {
                wf_records_add(records, k % RANKS, i, i);
            }
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            CHECK_U64(wf_records_of(records, rank, i).n, rank + 1);
            CHECK_U64(wf_records_of(records, rank, i).bytes, (rank + 1) * (uint64_t)i);
        }
    }
    CHECK_U64(wf_records_of(records, 0, NAMES).n, 0);
    wf_records_free(records);
}

/* ---- ops ---- */

static const uint32_t requests[3] = {1, 2, 3};

static struct wf_op op_at(uint32_t rank, uint64_t i)
{
    if (i < 3) {
        return (struct wf_op){.kind = WF_OP_ISEND, .request = (uint32_t)i + 1};
    }
    if (i % 5 == 0) {
        return (struct wf_op){.kind = WF_OP_WAITALL, .count = 3, .requests = requests};
    }
    if (i % 7 == 0) {
        return (struct wf_op){.kind = WF_OP_SEND, .comm = 9, .peer = 1, .bytes = i};
    }
    return (struct wf_op){.kind = WF_OP_COMPUTE,
                          .duration = (int64_t)(wf_test_rand(5, rank, i) >> 30)};
}

static void put_op(struct wf_spool *spool, uint32_t rank, uint64_t i, struct wf_err *err)
{
    const struct wf_trace_place place = {.path = "x", .unit = "rank", .rank = rank, .err = err};
    const struct wf_group pair = {
        .id = 9, .first = rank / 2 * 2, .size = 2, .rank = rank % 2, .stride = 1, .width = 2};
    struct wf_op op = op_at(rank, i);

    if (i == 3) {
        (void)wf_spool_group(spool, rank, 9, &pair, err);
    }
    wf_spool_put(spool, &op, &place);
}

static void write_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct wf_spool *part = wf_spool_part(arg, worker);

    for (uint64_t i = 0; i < N_OPS; i++) {
        put_op(part, rank, i, err);
    }
    wf_spool_rank_ends(part, rank);
}

static void check_source(const struct wf_source *source)
{
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        struct wf_cursor cursor;
        struct wf_op op;

        memset(&cursor, 0, sizeof(cursor));
        for (uint64_t i = 0; i < N_OPS; i++) {
            struct wf_op wanted = op_at(rank, i);
            CHECK(wf_source_next(source, rank, &cursor, &op) && op.kind == wanted.kind);
            CHECK(op.kind != WF_OP_COMPUTE || op.duration == wanted.duration);
            CHECK(op.kind != WF_OP_SEND || (op.bytes == i && op.comm == 9 && op.peer == 1));
            CHECK(op.kind != WF_OP_WAITALL ||
                  memcmp(op.requests, requests, sizeof(requests)) == 0);
        }
        CHECK(!wf_source_next(source, rank, &cursor, &op));
        struct wf_group group;
        CHECK(wf_source_group(source, rank, 9, &group) && group.size == 2 &&
              wf_group_rank(&group, 0) == rank / 2 * 2);
    }
    CHECK(wf_source_check(source, NULL) == WF_OK);
}

static void ops_of_parts(void)
{
    for (uint32_t parts = 1; parts <= WF_TRACE_WORKERS_MAX; parts++) {
        struct wf_spool *spool = NULL;
        struct wf_source *source = NULL;
        struct wf_err err = {.status = WF_OK};

        CHECK(wf_spool_new_parts(N_RANKS, parts, &spool, &err) == WF_OK);
        wf_trace_visit_all(N_RANKS, parts, write_rank, spool, &err);
        CHECK(wf_spool_end(spool, "test", &source, &err) == WF_OK);
        check_source(source);
        wf_source_free(source);
    }
}

/* Ranks that take turns: their ops are collected before they are written. */
static void ops_in_turns(void)
{
    struct wf_spool *spool = NULL;
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_spool_new(N_RANKS, &spool, &err) == WF_OK);
    for (uint64_t i = 0; i < N_OPS; i++) {
        for (uint32_t rank = 0; rank < N_RANKS; rank++) {
            put_op(spool, rank, i, &err);
        }
    }
    CHECK(wf_spool_end(spool, "test", &source, &err) == WF_OK);
    check_source(source);
    wf_source_free(source);
}

int main(void)
{
    RUN(all_items_once);
    RUN(the_lowest_failure);
    RUN(nothing_after_a_failure);
    RUN_ONE_THREAD(counts_are_merged);
    RUN_ONE_THREAD(ranks_may_have_many_names);
    RUN(ops_of_parts);
    RUN_ONE_THREAD(ops_in_turns);
    return wf_test_done();
}
