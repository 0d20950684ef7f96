/* SPDX-License-Identifier: Apache-2.0 */

#include "harness/gen_make.h"
#include "harness/wf_test.h"

#include <stdlib.h>

static struct wf_source *make(uint32_t n_ranks, uint64_t messages, uint64_t seed)
{
    return gen_make(&wf_gen_random_ops, n_ranks, "bytes=100 messages=%llu seed=%llu",
                    (unsigned long long)messages, (unsigned long long)seed);
}

/* Advances to the next send of the rank. Returns its destination, or the number of ranks at the
 * end. */
static uint32_t next_destination(const struct wf_source *source, uint32_t rank,
                                 struct wf_cursor *cursor)
{
    struct wf_op op;

    while (wf_source_next(source, rank, cursor, &op)) {
        if (op.kind == WF_OP_ISEND) {
            return op.peer;
        }
    }
    return source->n_ranks;
}

/* In every round the destinations are a permutation, which the receives agree with. */
static void everybody_sends_and_gets_one_message_a_round(void)
{
    enum { RANKS = 23, ROUNDS = 50 };
    struct wf_source *source = make(RANKS, ROUNDS, 1);
    struct wf_cursor cursor[RANKS] = {{.word = {0}}};

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t from[RANKS], to[RANKS];
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct wf_op receive, send, wait;
            CHECK(wf_source_next(source, rank, &cursor[rank], &receive));
            CHECK(wf_source_next(source, rank, &cursor[rank], &send));
            CHECK(wf_source_next(source, rank, &cursor[rank], &wait));
            CHECK(receive.kind == WF_OP_IRECV && send.kind == WF_OP_ISEND);
            CHECK(wait.kind == WF_OP_WAITALL && wait.request == 0 && wait.count == 2);
            CHECK(send.bytes == 100 && receive.bytes == 100 && send.tag == receive.tag);
            from[rank] = receive.peer;
            to[rank] = send.peer;
        }
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            CHECK(to[rank] < RANKS && from[rank] < RANKS);
            CHECK_U64(from[to[rank]], rank);
            CHECK(to[rank] != rank);
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        CHECK_U64(next_destination(source, rank, &cursor[rank]), RANKS);
    }
    CHECK_U64(source->messages_expected, (uint64_t)RANKS * ROUNDS);
    wf_source_free(source);
}

/* Each count is within six standard deviations of its expectation. */
static void all_pairs_are_equally_frequent(void)
{
    enum { LARGEST = 21, EXPECTED = 2500, DEVIATION = 50 };

    for (uint32_t n = 2; n <= LARGEST; n++) {
        struct wf_source *source = make(n, (uint64_t)EXPECTED * (n - 1), n);
        for (uint32_t rank = 0; rank < n; rank += 3) {
            struct wf_cursor cursor = {.word = {0}};
            uint32_t count[LARGEST + 1] = {0};
            for (uint32_t i = 0; i < EXPECTED * (n - 1); i++) {
                count[next_destination(source, rank, &cursor)]++;
            }
            for (uint32_t to = 0; to < n; to++) {
                uint32_t expected = to == rank ? 0 : EXPECTED;
                CHECK(count[to] <= expected + 6 * DEVIATION &&
                      count[to] + 6 * DEVIATION >= expected);
                CHECK(to != rank || count[to] == 0);
            }
        }
        wf_source_free(source);
    }
}

/* Not one pattern for all: ranks side by side do not send side by side. */
static void neighbours_have_unrelated_partners(void)
{
    enum { RANKS = 1000, ROUNDS = 200 };
    struct wf_source *source = make(RANKS, ROUNDS, 5);
    struct wf_cursor a = {.word = {0}}, b = {.word = {0}};
    uint32_t together = 0;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t first = next_destination(source, 500, &a);
        uint32_t second = next_destination(source, 501, &b);
        together += (first + 1) % RANKS == second;
    }
    CHECK(together <= ROUNDS / 20);
    wf_source_free(source);
}

static void the_seed_chooses_the_pairs(void)
{
    enum { RANKS = 1000, ROUNDS = 100 };
    struct wf_source *one = make(RANKS, ROUNDS, 1), *same = make(RANKS, ROUNDS, 1);
    struct wf_source *two = make(RANKS, ROUNDS, 2);
    struct wf_cursor a = {.word = {0}}, b = {.word = {0}}, c = {.word = {0}};
    uint32_t equal = 0;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t to = next_destination(one, 7, &a);
        CHECK_U64(next_destination(same, 7, &b), to);
        equal += next_destination(two, 7, &c) == to;
    }
    CHECK(equal < ROUNDS / 10);
    wf_source_free(one);
    wf_source_free(same);
    wf_source_free(two);
}

static void a_single_rank_sends_to_itself(void)
{
    struct wf_source *source = make(1, 0, 1);
    struct wf_cursor cursor = {.word = {0}};

    CHECK_U64(source->messages_expected, 1);
    CHECK_U64(next_destination(source, 0, &cursor), 0);
    CHECK_U64(next_destination(source, 0, &cursor), 1);
    wf_source_free(source);
}

static void countless_messages_are_not_counted(void)
{
    struct wf_source *source = make(1000, UINT64_MAX, 1);

    CHECK_U64(source->messages_expected, 0);
    wf_source_free(source);
}

int main(void)
{
    RUN(everybody_sends_and_gets_one_message_a_round);
    RUN(all_pairs_are_equally_frequent);
    RUN(neighbours_have_unrelated_partners);
    RUN(the_seed_chooses_the_pairs);
    RUN(a_single_rank_sends_to_itself);
    RUN(countless_messages_are_not_counted);
    return wf_test_done();
}
