/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/stencil3d.h"

#include "gen/gen.h"
#include "wf_test.h"

static struct wf_source *make(uint32_t n_ranks, bool allreduce)
{
    const struct wf_stencil3d_params params = {
        .bytes = 1000, .iterations = 2, .compute = 7, .allreduce = allreduce};
    struct wf_source *source = NULL;

    if (wf_stencil3d_ops.create(&params, n_ranks, &source, NULL) != WF_OK) {
        abort();
    }
    return source;
}

/* Rank 0 of 3 x 3 x 3: its neighbours are known by heart. */
static void an_iteration_is_receives_sends_wait_compute(void)
{
    static const uint32_t peers[] = {1, 2, 3, 6, 9, 18};
    struct wf_source *source = make(27, true);
    struct wf_cursor cursor = {{0}};
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
    struct wf_cursor cursor = {{0}};
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
    struct wf_cursor cursor = {{0}};
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
    const struct wf_stencil3d_params params = {.iterations = 1U << 31,
                                               .compute = INT64_MAX / 2};
    struct wf_source *source = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_stencil3d_ops.create(&params, 8, &source, &err) == WF_ELIMIT);
    CHECK(strstr(err.text, "2147483648 iterations") != NULL);
    CHECK(source == NULL);
}

static void an_unknown_generator_gets_a_proposal(void)
{
    const struct wf_source_ops *ops = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_gen_find("stencil3d", &ops, &err) == WF_OK && ops == &wf_stencil3d_ops);
    CHECK(wf_gen_find("stencil3", &ops, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "unknown generator 'stencil3'; did you mean 'stencil3d'?");
}

int main(void)
{
    RUN(an_iteration_is_receives_sends_wait_compute);
    RUN(a_saved_cursor_answers_the_same_again);
    RUN(thin_dimensions_send_what_a_program_would);
    RUN(the_expected_messages_are_the_messages);
    RUN(endless_computing_is_refused);
    RUN(an_unknown_generator_gets_a_proposal);
    return wf_test_done();
}
