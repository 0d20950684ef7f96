/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the application generators that tests/conformance/test_gen.c cannot check. */
#include "harness/gen_make.h"
#include "harness/wf_test.h"
#include "program/gen/vary.h"

/* Every block must be swept after those of both upstream neighbours and of all earlier octants:
 * computed along the way as the length of the longest chain that ends in it. */
static void a_sweep_takes_as_long_as_its_diagonal(void)
{
    enum { NX = 5, NY = 4, BLOCKS = 6 };
    struct wf_source *source =
        gen_make(&wf_gen_sweep3d_ops, NX * NY,
                 "size=5x4 bytes=1 k_blocks=3 angle_blocks=2 iterations=1 compute=0");
    struct wf_cursor cursors[NX * NY] = {{.word = {0}}};
    /* The lengths of chains that arrive over each link, in order. */
    static uint32_t queue[NX * NY][NX * NY][8 * BLOCKS], sent[NX * NY][NX * NY],
        received[NX * NY][NX * NY];
    uint32_t clock[NX * NY] = {0}, n_ended = 0, end = 0;

    while (n_ended < NX * NY) {
        uint32_t before = n_ended, progress = 0;
        n_ended = 0;
        for (uint32_t r = 0; r < NX * NY; r++) {
            struct wf_cursor saved = cursors[r];
            struct wf_op op;
            if (!wf_source_next(source, r, &cursors[r], &op)) {
                n_ended++;
            } else if (op.kind == WF_OP_RECV && received[op.peer][r] == sent[op.peer][r]) {
                cursors[r] = saved;
                continue;
            } else if (op.kind == WF_OP_RECV) {
                uint32_t chain = queue[op.peer][r][received[op.peer][r]++];
                clock[r] = chain > clock[r] ? chain : clock[r];
            } else if (op.kind == WF_OP_SEND) {
                queue[r][op.peer][sent[r][op.peer]++] = clock[r];
            } else {
                CHECK(op.kind == WF_OP_COMPUTE);
                clock[r]++;
            }
            progress++;
            end = clock[r] > end ? clock[r] : end;
        }
        CHECK(progress > 0 && n_ended >= before);
    }
    /* Both octants of a corner follow each other without a gap, 2 * BLOCKS blocks together. The
     * next corner is reached by the last of them after a row, after a whole diagonal, and after
     * a row again; the last sweep ends a diagonal away from its corner. */
    uint32_t corner = 2 * BLOCKS, x = NX - 1, y = NY - 1;
    CHECK_U64(end, 4 * corner + x + (x + y) + x + (x + y));
    wf_source_free(source);
}

static void gradients_are_reduced_once(void)
{
    static const struct {
        uint64_t model, bucket, layers;
    } cases[] = {{1000, 300, 7}, {1000, 1000, 3}, {1000, 5000, 1}, {7, 1, 3}, {1000, 10, 1000}};

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        bool overlap = i % 2 == 0;
        struct wf_source *source = gen_make(
            &wf_gen_training_ops, 4,
            "model=%d bucket=%d layers=%d steps=2 compute=1000ps optimizer=17ps overlap=%d",
            (int)cases[i / 2].model, (int)cases[i / 2].bucket, (int)cases[i / 2].layers,
            overlap);
        struct wf_cursor cursor = {.word = {0}};
        struct wf_op op;
        uint64_t bytes = 0, computed = 0, n_buckets = 0;
        CHECK(source->acts_in_background == overlap);
        while (wf_source_next(source, 1, &cursor, &op)) {
            if (op.kind == WF_OP_COMPUTE) {
                computed += (uint64_t)op.duration;
            } else if (op.kind == WF_OP_WAITALL) {
                CHECK(overlap && op.count == n_buckets);
                n_buckets = 0;
            } else {
                CHECK(op.kind == (overlap ? WF_OP_IALLREDUCE : WF_OP_ALLREDUCE));
                CHECK(op.bytes > 0 && op.bytes <= cases[i / 2].bucket);
                /* Not before it was computed: a third forwards, then layer by layer. */
                uint64_t step = computed % 1017, done = bytes % cases[i / 2].model + op.bytes;
                CHECK((step - 333 + 1) * cases[i / 2].model >= done * 667 - 667);
                bytes += op.bytes;
                CHECK(!overlap || op.request == n_buckets);
                n_buckets++;
            }
        }
        CHECK_U64(bytes, 2 * cases[i / 2].model);
        CHECK_U64(computed, UINT64_C(2) * 1017);
        wf_source_free(source);
    }
}

static void tasks_have_times_of_their_own(void)
{
    static const char params[] = "tasks=50 compute=1us spread=0.5";
    struct wf_source *alone = gen_make(&wf_gen_masterworker_ops, 1, params);
    struct wf_source *two = gen_make(&wf_gen_masterworker_ops, 2, params);
    struct wf_cursor one = {.word = {0}}, worker = {.word = {0}};
    struct wf_op op, other;
    int64_t sum = 0;

    CHECK(!alone->depends_on_time && two->depends_on_time);
    for (int32_t task = 1; task <= 50; task++) {
        CHECK(wf_source_next(alone, 0, &one, &op) && op.kind == WF_OP_COMPUTE);
        CHECK(wf_source_next(two, 1, &worker, &other) && other.kind == WF_OP_SEND);
        CHECK(wf_source_next(two, 1, &worker, &other) && other.kind == WF_OP_RECV);
        worker.seen_tag = task;
        CHECK(wf_source_next(two, 1, &worker, &other) && other.kind == WF_OP_COMPUTE);
        CHECK(other.duration == op.duration);
        CHECK(op.duration >= 500000 && op.duration <= 1500000);
        sum += op.duration;
    }
    CHECK(!wf_source_next(alone, 0, &one, &op));
    CHECK(sum > 40 * INT64_C(1000000) && sum < 60 * INT64_C(1000000));
    wf_source_free(alone);
    wf_source_free(two);
}

/* Each exchange covers all n^3 complex numbers, including those that stay on their rank. */
static void a_transform_moves_all_points(void)
{
    struct wf_source *source = gen_make(&wf_gen_fft_ops, 8, "size=4x2 n=16 iterations=1");
    struct wf_cursor cursor = {.word = {0}};
    struct wf_group group;
    struct wf_op op;
    uint32_t exchanges = 0;

    while (wf_source_next(source, 6, &cursor, &op)) {
        if (op.kind == WF_OP_ALLTOALL) {
            CHECK(wf_source_group(source, 6, op.comm, &group));
            CHECK_U64(op.bytes * group.size * 8, UINT64_C(16) * 16 * 16 * 16);
            CHECK_U64(group.size, exchanges == 0 ? 4 : 2);
            CHECK_U64(wf_group_rank(&group, 0), exchanges == 0 ? 4 : 2);
            CHECK_U64(wf_group_rank(&group, 1), exchanges == 0 ? 5 : 6);
            exchanges++;
        }
    }
    CHECK_U64(exchanges, 2);
    CHECK(!wf_source_group(source, 6, 3, &group));
    wf_source_free(source);
}

enum { TAG_TRANSPOSE = 1, LONGEST_SUM = 2 * 8 };

/* The peers with which a rank adds up its first product, and their number. */
static uint32_t partners(const struct wf_source *source, uint32_t rank, uint32_t *peers)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    uint32_t n = 0;

    while (wf_source_next(source, rank, &cursor, &op) &&
           (op.kind != WF_OP_SEND || op.tag != TAG_TRANSPOSE)) {
        if (op.kind == WF_OP_SEND && op.bytes > LONGEST_SUM) {
            peers[n++] = op.peer;
        }
    }
    return n;
}

/* After the exchanges of a row, all its ranks have information from each other. */
static void sums_reach_the_whole_row(void)
{
    static const uint32_t columns_of[] = {1, 2, 2, 4, 4, 8, 8}; /* of 2^i ranks */

    for (uint32_t n = 1; n <= 64; n++) {
        struct wf_source *source = gen_make(&wf_gen_cg_ops, n, "n=1000 iterations=1");
        uint32_t peers[64][8] = {{0}}, active = 1, log = 0, n_exchanges = 0;
        uint64_t heard[64], next[64];
        for (; 2 * active <= n; active *= 2) {
            log++;
        }
        for (uint32_t r = 0; r < n; r++) {
            uint32_t found = partners(source, r, peers[r]);
            n_exchanges = r == 0 ? found : n_exchanges;
            CHECK_U64(found, r < active ? n_exchanges : 0);
            heard[r] = UINT64_C(1) << r;
        }
        for (uint32_t e = 0; e < n_exchanges; e++) {
            for (uint32_t r = 0; r < active; r++) {
                next[r] = heard[r] | heard[peers[r][e]];
            }
            memcpy(heard, next, active * sizeof(heard[0]));
        }
        for (uint32_t r = 0; r < active; r++) {
            uint32_t columns = columns_of[log];
            CHECK_U64(heard[r], ((UINT64_C(1) << columns) - 1) << (r / columns * columns));
        }
        wf_source_free(source);
    }
}

/* What CG of NPB 3.3 sends for a solution of class W, counted with 8 and 16 ranks. */
static void solutions_send_what_npb_sends(void)
{
    static const struct {
        uint32_t n_ranks;
        uint64_t n_messages, bytes;
    } counted[] = {{8, 1472, 8742912}, {16, 2944, 17485824}};

    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        struct wf_source *source =
            gen_make(&wf_gen_cg_ops, counted[i].n_ranks, "n=7000 iterations=1");
        uint64_t n_messages = 0, bytes = 0;
        for (uint32_t r = 0; r < counted[i].n_ranks; r++) {
            struct wf_cursor cursor = {.word = {0}};
            struct wf_op op;
            while (wf_source_next(source, r, &cursor, &op)) {
                n_messages += op.kind == WF_OP_SEND;
                bytes += op.kind == WF_OP_SEND ? op.bytes : 0;
            }
        }
        CHECK_U64(n_messages, counted[i].n_messages);
        CHECK_U64(bytes, counted[i].bytes);
        CHECK_U64(source->messages_expected, n_messages);
        wf_source_free(source);
    }
}

static void amounts_vary_within_their_bounds(void)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t amount = wf_gen_vary(1000, 100000, 7, i);
        CHECK(amount >= 900 && amount <= 1100);
        CHECK_U64(amount, wf_gen_vary(1000, 100000, 7, i));
        CHECK_U64(wf_gen_vary(1000, 0, 7, i), 1000);
        sum += amount;
    }
    CHECK(sum > 990000 && sum < 1010000);
    CHECK(wf_gen_vary(INT64_MAX / 2, WF_GEN_SHARE_ONE, 0, 0) <= INT64_MAX);
    CHECK_U64(wf_gen_share(0.1), 100000);
    CHECK_U64(wf_times_u64(UINT64_MAX, 2), UINT64_MAX);
    CHECK_U64(wf_gen_times_over(10, 10, 3), 34);
    CHECK_U64(wf_gen_times_over(UINT64_MAX, UINT64_MAX, 2), UINT64_MAX);
    CHECK_U64(wf_gen_expected(UINT64_MAX, 2), 0);
    CHECK(wf_gen_log2_up(1) == 0 && wf_gen_log2_up(5) == 3 && wf_gen_log2_up(UINT32_MAX) == 32);
}

/* Half a million ranks cost as much as one: the last op of the last rank is available at
 * once. */
static void large_programs_cost_nothing(void)
{
    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        struct wf_cursor cursor = {.word = {0}};
        struct wf_op op;
        if (strcmp((*ops)->name, "text") == 0) {
            continue;
        }
        struct wf_source *source = gen_make(*ops, 524288, "%s", "");
        for (uint32_t i = 0; i < 1000 && wf_source_next(source, 524287, &cursor, &op); i++) {
        }
        wf_source_free(source);
    }
}

int main(void)
{
    RUN(a_sweep_takes_as_long_as_its_diagonal);
    RUN(gradients_are_reduced_once);
    RUN(tasks_have_times_of_their_own);
    RUN(a_transform_moves_all_points);
    RUN(sums_reach_the_whole_row);
    RUN(solutions_send_what_npb_sends);
    RUN(amounts_vary_within_their_bounds);
    RUN(large_programs_cost_nothing);
    return wf_test_done();
}
