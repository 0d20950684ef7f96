/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/gen_make.h"
#include "harness/wf_test.h"

static struct wf_source *make(uint32_t n_ranks, bool allreduce)
{
    return gen_make(&wf_gen_stencil3d_ops, n_ranks,
                    "bytes=1000 iterations=2 compute=7ps allreduce=%d", allreduce);
}

/* Rank 0 of 3 x 3 x 3, whose neighbours are easy to work out by hand. */
static void an_iteration_is_receives_sends_wait_compute(void)
{
    static const uint32_t peers[] = {1, 2, 3, 6, 9, 18};
    struct wf_source *source = make(27, true);
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    for (uint32_t iteration = 0; iteration < 2; iteration++) {
        for (uint32_t i = 0; i < 12; i++) {
            uint32_t direction = i % 6;
            CHECK(wf_source_next(source, 0, &cursor, &op));
            CHECK(op.kind == (i < 6 ? WF_OP_IRECV : WF_OP_ISEND));
            CHECK_U64(op.peer, peers[direction]);
            CHECK_U64((uint32_t)op.tag, i < 6 ? direction ^ 1U : direction);
            CHECK_U64(op.request, i);
            CHECK_U64(op.bytes, 1000);
        }
        CHECK(wf_source_next(source, 0, &cursor, &op));
        CHECK(op.kind == WF_OP_WAITALL && op.request == 0 && op.count == 12);
        CHECK(wf_source_next(source, 0, &cursor, &op));
        CHECK(op.kind == WF_OP_COMPUTE && op.duration == 7);
        CHECK(wf_source_next(source, 0, &cursor, &op));
        CHECK(op.kind == WF_OP_ALLREDUCE && op.bytes == 8);
    }
    CHECK(!wf_source_next(source, 0, &cursor, &op));
    CHECK(!wf_source_next(source, 0, &cursor, &op));
    wf_source_free(source);
}

static void a_saved_cursor_answers_the_same_again(void)
{
    struct wf_source *source = make(12, false);
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op, again;

    for (;;) {
        struct wf_cursor saved = cursor;
        memset(&op, 0, sizeof(op));
        memset(&again, 0, sizeof(again));
        if (!wf_source_next(source, 5, &cursor, &op)) {
            break;
        }
        CHECK(wf_source_next(source, 5, &saved, &again));
        CHECK(memcmp(&op, &again, sizeof(op)) == 0);
        CHECK(memcmp(&cursor, &saved, sizeof(cursor)) == 0);
    }
    wf_source_free(source);
}

static uint32_t count_sends(uint32_t n_ranks, uint32_t rank)
{
    struct wf_source *source = make(n_ranks, false);
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    uint32_t sends = 0;

    while (wf_source_next(source, rank, &cursor, &op)) {
        sends += op.kind == WF_OP_ISEND;
    }
    wf_source_free(source);
    return sends / 2; /* iterations */
}

static void thin_dimensions_send_what_a_program_would(void)
{
    CHECK_U64(count_sends(1, 0), 0);  /* copies */
    CHECK_U64(count_sends(2, 1), 2);  /* both neighbours are the other rank */
    CHECK_U64(count_sends(7, 3), 2);  /* a ring */
    CHECK_U64(count_sends(12, 0), 6); /* 3 x 2 x 2 */
    CHECK_U64(count_sends(4, 0), 4);  /* 2 x 2 x 1 */
}

static void the_expected_messages_are_the_messages(void)
{
    for (uint32_t n = 1; n <= 40; n++) {
        struct wf_source *source = make(n, false);
        uint64_t sends = 0;
        for (uint32_t rank = 0; rank < n; rank++) {
            sends += 2 * (uint64_t)count_sends(n, rank);
        }
        CHECK_U64(source->messages_expected, sends);
        wf_source_free(source);
    }
}

static void endless_computing_is_refused(void)
{
    static const char params[] = "iterations=2147483648 compute=4600000s";
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(gen_try(&wf_gen_stencil3d_ops, params, 8, &source, &err) == WF_ELIMIT);
    CHECK(strstr(err.text, "2147483648 times") != NULL);
    CHECK(source == NULL);
}

/* The neighbours of a rank, found by trying all ranks and all directions. */
struct oracle {
    uint32_t n_dims, size[4];
    bool periodic, all;
};

static void coordinates(const struct oracle *oracle, uint32_t rank, uint32_t *coord)
{
    for (uint32_t d = 0; d < oracle->n_dims; d++) {
        coord[d] = rank % oracle->size[d];
        rank /= oracle->size[d];
    }
}

/* How many messages of each codimension go from a to b. */
static void expected_messages(const struct oracle *oracle, uint32_t a, uint32_t b,
                              uint32_t *count)
{
    uint32_t from[4], to[4], n_ways = 1;

    memset(count, 0, 5 * sizeof(*count));
    coordinates(oracle, a, from);
    coordinates(oracle, b, to);
    for (uint32_t d = 0; d < oracle->n_dims; d++) {
        n_ways *= 3;
    }
    for (uint32_t way = 0; way < n_ways; way++) {
        uint32_t code = way, changed = 0;
        bool leads_there = true;
        for (uint32_t d = 0; d < oracle->n_dims; d++, code /= 3) {
            int64_t size = oracle->size[d], x = (int64_t)from[d] + (int64_t)(code % 3) - 1;
            changed += code % 3 != 1;
            leads_there &= code % 3 == 1 || size > 1;
            leads_there &= (oracle->periodic ? (x + size) % size : x) == to[d];
        }
        if (leads_there && changed > 0 && (oracle->all || changed == 1)) {
            count[changed]++;
        }
    }
}

/* A face of 10 x 10 x ... cells of 3 bytes, and a little more. */
static const uint64_t face_bytes[] = {0, 0, 32, 317, 3049};

/* In how many dimensions a message of so many bytes goes. */
static uint32_t codimension(uint32_t n_dims, uint64_t bytes)
{
    uint64_t cells = 3;
    uint32_t k = n_dims;

    if (bytes == face_bytes[n_dims]) {
        return 1;
    }
    for (; cells < bytes; cells *= 10) {
        k--;
    }
    return cells == bytes ? k : 0;
}

static void check_pair(const struct wf_source *source, const struct oracle *oracle,
                       uint32_t rank, uint32_t peer)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    uint32_t want[5], got[5] = {0};

    while (wf_source_next(source, rank, &cursor, &op)) {
        if (op.kind == WF_OP_ISEND && op.peer == peer) {
            got[codimension(oracle->n_dims, op.bytes)]++;
        }
    }
    expected_messages(oracle, rank, peer, want);
    CHECK(memcmp(got, want, sizeof(got)) == 0);
}

static void check_against_oracle(const struct wf_source_ops *ops, const struct oracle *oracle,
                                 char *size, uint32_t n)
{
    struct wf_source *source = gen_make(
        ops, n, "size=%s points=%s periodic=%d bytes=%d cell=3 iterations=1", size,
        oracle->all ? "all" : "faces", oracle->periodic, (int)face_bytes[oracle->n_dims]);

    for (uint32_t i = 0; i < n * n; i++) {
        check_pair(source, oracle, i / n, i % n);
    }
    wf_source_free(source);
}

static void neighbours_are_those_of_the_grid(void)
{
    static const struct wf_source_ops *const ops[] = {
        &wf_gen_stencil2d_ops, &wf_gen_stencil3d_ops, &wf_gen_stencil4d_ops};
    static const uint32_t sizes[][4] = {{4, 3, 2, 2}, {3, 3, 3, 2}, {1, 5, 1, 3}, {2, 1, 4, 3}};

    for (uint32_t i = 0; i < 3 * 4 * 4; i++) {
        struct oracle oracle = {
            .n_dims = 2 + i % 3, .periodic = i / 3 % 2 == 0, .all = i / 6 % 2 == 0};
        char text[64] = "";
        uint32_t n = 1;
        memcpy(oracle.size, sizes[i / 12], sizeof(oracle.size));
        for (uint32_t d = 0; d < oracle.n_dims; d++) {
            n *= oracle.size[d];
            (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u",
                           d > 0 ? "x" : "", oracle.size[d]);
        }
        check_against_oracle(ops[i % 3], &oracle, text, n);
        CHECK(wf_test_failed == 0);
    }
}

static void computing_may_be_uneven_and_iterations_marked(void)
{
    struct wf_source *source = gen_make(&wf_gen_stencil2d_ops, 64,
                                        "iterations=3 compute=1us imbalance=0.25 markers=1");
    int64_t least = INT64_MAX, most = 0, sum = 0;

    for (uint32_t rank = 0; rank < 64; rank++) {
        struct wf_cursor cursor = {.word = {0}};
        struct wf_op op;
        int64_t time = -1;
        uint32_t marks = 0;
        while (wf_source_next(source, rank, &cursor, &op)) {
            CHECK(op.kind == WF_OP_ITERATION_BEGIN ? marks % 2 == 0 : marks % 2 == 1);
            marks += op.kind == WF_OP_ITERATION_BEGIN || op.kind == WF_OP_ITERATION_END;
            if (op.kind == WF_OP_COMPUTE) {
                CHECK(time < 0 || time == op.duration);
                time = op.duration;
            }
        }
        CHECK(marks == 6);
        least = time < least ? time : least;
        most = time > most ? time : most;
        sum += time;
    }
    CHECK(least >= 750000 && most <= 1250000 && most - least > 400000);
    CHECK(sum / 64 > 950000 && sum / 64 < 1050000);
    wf_source_free(source);
}

static void an_unknown_generator_gets_a_proposal(void)
{
    const struct wf_source_ops *ops = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_gen_find("stencil3d", &ops, &err) == WF_OK && ops == &wf_gen_stencil3d_ops);
    CHECK(wf_gen_find("stencil3", &ops, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "unknown generator 'stencil3'; did you mean 'stencil3d'?");
}

int main(void)
{
    RUN(an_iteration_is_receives_sends_wait_compute);
    RUN(a_saved_cursor_answers_the_same_again);
    RUN(thin_dimensions_send_what_a_program_would);
    RUN(the_expected_messages_are_the_messages);
    RUN(neighbours_are_those_of_the_grid);
    RUN(computing_may_be_uneven_and_iterations_marked);
    RUN(endless_computing_is_refused);
    RUN(an_unknown_generator_gets_a_proposal);
    return wf_test_done();
}
