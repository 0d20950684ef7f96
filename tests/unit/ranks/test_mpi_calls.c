/* SPDX-License-Identifier: Apache-2.0 */
/* Point-to-point calls of every kind. A message of k bytes takes A + k picoseconds and no CPU
 * time, so that times show which rank waited for which message. */
#include "model/net/alphabeta.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

static const int64_t A = 1000;

static const struct wf_net_alphabeta_params params = {
    .alpha = 1000, .bandwidth = 1000000000000 * WF_RATE_BYTE};
static const struct setup basic = {
    .net = &wf_net_alphabeta_ops, .net_params = &params, .count_cells = true};
static const char *const LONG[] = {"eager_max", "100", NULL};

static struct outcome run(const struct wf_op *const *ranks, uint32_t n_ranks)
{
    return replay_script(basic, ranks, n_ranks);
}

/* When the last rank is done; -1 if not all is as it should be at the end. */
static int64_t end_of(struct setup setup, const struct wf_op *const *ranks, uint32_t n_ranks)
{
    struct outcome out = replay_script(setup, ranks, n_ranks);

    return out.status == WF_OK && out.tally.unfinished == 0 && out.tally.unreceived == 0 &&
                   out.cells == 0
               ? out.tally.all.finish.max
               : -1;
}

static int64_t end2(const struct wf_op *zero, const struct wf_op *one)
{
    const struct wf_op *const ranks[] = {zero, one};

    return end_of(basic, ranks, 2);
}

static void a_sendrecv_does_both_at_once(void)
{
    static const struct wf_op zero[] = {SENDRECV(1, 0, 500, 1, 7), END};
    static const struct wf_op one[] = {SENDRECV(0, 7, 900, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct setup setup = basic;

    CHECK(end2(zero, one) == A + 900);
    setup.mpi = LONG; /* neither waits for the other to receive first */
    CHECK(end_of(setup, ranks, 2) == 3 * A + 900);
}

static void nobody_answers_at_once(void)
{
    static const struct wf_op zero[] = {SENDRECV(1, 0, 500, WF_PROC_NULL, 0),
                                        SEND(WF_PROC_NULL, 0, 9),
                                        ISEND(WF_PROC_NULL, 0, 9, 3),
                                        IRECV(WF_PROC_NULL, 0, 3),
                                        PEER_OP(PROBE, WF_PROC_NULL, 0, 0, 0),
                                        PEER_OP(RECV_INIT, WF_PROC_NULL, 0, 9, 5),
                                        PEER_OP(SEND_INIT, WF_PROC_NULL, 0, 9, 6),
                                        SET_OP(STARTALL, 5, 2),
                                        WAITALL(3, 4),
                                        SET_OP(REQUEST_FREE, 5, 1),
                                        SET_OP(REQUEST_FREE, 6, 1),
                                        END};
    static const struct wf_op one[] = {SENDRECV(WF_PROC_NULL, 0, 500, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = run(ranks, 2);

    CHECK_U64(out.tally.unfinished, 0);
    CHECK(out.tally.all.finish.min == 0 && out.tally.all.finish.max == A + 500);
    CHECK_U64(out.tally.all.messages, 1);
    CHECK_U64(out.cells, 0);
}

/* The message stays where it is, for the receive. */
static void a_probe_waits_for_a_message(void)
{
    static const struct wf_op zero[] = {SEND(1, 3, 10), SEND(1, 4, 500), END};
    static const struct wf_op one[] = {PEER_OP(PROBE, 0, 4, 0, 0), COMPUTE(100), RECV(0, 4),
                                       RECV(0, 3), END};

    CHECK(end2(zero, one) == A + 500 + 100);
}

/* An iprobe takes no time; one that found something when it was recorded finds it here too. */
static void an_iprobe_is_as_it_was_recorded(void)
{
    static const struct wf_op zero[] = {SEND(1, 4, 500), END};
    static const struct wf_op asks[] = {PEER_OP(IPROBE, 0, 4, 0, 0), COMPUTE(9000), RECV(0, 4),
                                        END};
    struct wf_op found[] = {PEER_OP(IPROBE, WF_ANY_SOURCE, WF_ANY_TAG, 0, 0), COMPUTE(9000),
                            RECV(0, 4), END};

    CHECK(end2(zero, asks) == 9000);
    found[0].recorded = true;
    found[0].outcome = 1;
    found[0].matched_peer = 0;
    found[0].matched_tag = 4;
    CHECK(end2(zero, found) == A + 500 + 9000);
    found[0].outcome = 0;
    CHECK(end2(zero, found) == 9000);
}

static void persistent_requests_are_started_again_and_again(void)
{
    static const struct wf_op zero[] = {PEER_OP(SSEND_INIT, 1, 2, 500, 0),
                                        SET_OP(START, 0, 1),
                                        COMPUTE(10000),
                                        WAIT(0),
                                        WAIT(0), /* not started: done */
                                        SET_OP(START, 0, 1),
                                        WAIT(0),
                                        SET_OP(START, 0, 1),
                                        SET_OP(REQUEST_FREE, 0, 1), /* while it is under way */
                                        ISEND(1, 2, 8, 0),
                                        WAIT(0),
                                        END};
    static const struct wf_op one[] = {PEER_OP(RECV_INIT, 0, 2, 500, 77),
                                       SET_OP(STARTALL, 77, 1),
                                       WAIT(77),
                                       SET_OP(START, 77, 1),
                                       WAITALL(77, 1),
                                       SET_OP(START, 77, 1),
                                       WAIT(77),
                                       SET_OP(REQUEST_FREE, 77, 1),
                                       RECV(0, 2),
                                       END};

    /* The second is announced at 10000, when it has the data 3 A + 500 later; its sender goes
     * on A before that. The third is asked for when rank 1 has the second. */
    int64_t second = 10000 + 3 * A + 500;
    int64_t third = second + 2 * A + 500;
    CHECK(end2(zero, one) == third);
}

/* Receives that expect an eager message are short; the announcement of a synchronous one makes
 * them whole, whatever refers to them: small and large numbers, a persistent request, the call. */
static void an_announced_message_ends_any_receive(void)
{
    static const struct wf_op zero[] = {PEER_OP(ISSEND, 1, 0, 500, 0),
                                        PEER_OP(ISSEND, 1, 1, 500, 1),
                                        PEER_OP(ISSEND, 1, 2, 500, 2),
                                        PEER_OP(ISSEND, 1, 3, 500, 3),
                                        WAITALL(0, 4),
                                        PEER_OP(SSEND, 1, 4, 500, 0),
                                        END};
    static const struct wf_op one[] = {IRECV(0, 0, 3),
                                       IRECV(0, 1, 30),
                                       PEER_OP(RECV_INIT, 0, 2, 500, 40),
                                       SET_OP(START, 40, 1),
                                       WAIT(3),
                                       WAIT(30),
                                       WAIT(40),
                                       SET_OP(REQUEST_FREE, 40, 1),
                                       RECV(0, 3), /* announced at A */
                                       RECV(0, 4),
                                       END};

    /* The fourth is asked for at 3 A + 500, and rank 0 goes on A + 500 later. */
    CHECK(end2(zero, one) == (3 * A + 500) + (A + 500) + (3 * A + 500));
}

static void a_request_that_is_freed_goes_its_way(void)
{
    static const struct wf_op zero[] = {PEER_OP(ISSEND, 1, 0, 500, 4),
                                        SET_OP(REQUEST_FREE, 4, 1),
                                        ISEND(1, 0, 500, 4),
                                        SET_OP(REQUEST_FREE, 4, 1),
                                        IRECV(1, 0, 4),
                                        SET_OP(REQUEST_FREE, 4, 1),
                                        END};
    static const struct wf_op one[] = {COMPUTE(9000), RECV(0, 0), RECV(0, 0), SEND(0, 0, 1),
                                       END};

    CHECK(end2(zero, one) == 9000 + 2 * A + 500);
}

/* Ranks 1 and 2 send to rank 0, which tells rank 3 when it has got something. Rank 1's message
 * is the first to come, but so long that the one of rank 2 is complete before; what rank 0 does
 * next takes longer than that. */
static void waitany_takes_what_is_complete_first(void)
{
    static const struct wf_op zero[] = {
        IRECV(1, 0, 0), IRECV(2, 0, 1),        SET_OP(WAITANY, 0, 2), SEND(3, 0, 0),
        RECV(3, 0),     SET_OP(WAITANY, 0, 2), SET_OP(WAITANY, 0, 2), END};
    static const struct wf_op one[] = {SEND(0, 0, 50000), END};
    static const struct wf_op two[] = {COMPUTE(3000), SEND(0, 0, 1), END};
    static const struct wf_op three[] = {RECV(0, 0), COMPUTE(90000), SEND(0, 0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, three};

    CHECK(end_of(basic, ranks, 4) == 3000 + A + 1 + A + 90000 + A);
}

static void waitany_is_as_it_was_recorded(void)
{
    struct wf_op zero[] = {IRECV(1, 0, 0), IRECV(2, 0, 1), SET_OP(WAITANY, 0, 2),
                           SEND(3, 0, 0),  WAITALL(0, 2),  END};
    static const struct wf_op one[] = {SEND(0, 0, 50000), END};
    static const struct wf_op two[] = {SEND(0, 0, 1), END};
    static const struct wf_op three[] = {RECV(0, 0), END};
    const struct wf_op *const ranks[] = {zero, one, two, three};
    struct setup setup = basic;

    zero[2].recorded = true;
    zero[2].outcome = 0;
    CHECK(end_of(setup, ranks, 4) == A + 50000 + A);
    zero[2].outcome = 2; /* none was in use: on at once */
    CHECK(end_of(setup, ranks, 4) == A + 50000);
    setup.wildcards = WF_WILDCARDS_ARRIVAL;
    zero[2].outcome = 0;
    CHECK(end_of(setup, ranks, 4) == A + 50000); /* rank 3 has heard long before */
}

/* Two of three have come when rank 0 looks, at 9000. Numbers that were taken can be used again;
 * those that were not cannot. */
static struct outcome look(enum wf_op_kind kind, uint32_t used_again, uint32_t n)
{
    const struct wf_op zero[] = {IRECV(1, 0, 20),
                                 IRECV(2, 0, 21),
                                 IRECV(3, 0, 22),
                                 COMPUTE(9000),
                                 {.kind = kind, .request = 20, .count = n},
                                 COMPUTE(1),
                                 IRECV(WF_PROC_NULL, 0, 0),
                                 PEER_OP(RECV_INIT, 1, 9, 0, used_again),
                                 SET_OP(REQUEST_FREE, used_again, 1),
                                 WAITALL(20, 3),
                                 END};
    static const struct wf_op one[] = {SEND(0, 0, 2), END};
    static const struct wf_op two[] = {SEND(0, 0, 1), END};
    static const struct wf_op three[] = {COMPUTE(20000), SEND(0, 0, 1), END};
    const struct wf_op *const ranks[] = {zero, one, two, three};

    return run(ranks, 4);
}

static bool is_taken(enum wf_op_kind kind, uint32_t number, uint32_t n)
{
    return look(kind, number, n).tally.failed == 0;
}

static void tests_take_what_they_should(void)
{
    CHECK(!is_taken(WF_OP_TESTANY, 20, 3) && is_taken(WF_OP_TESTANY, 21, 3));
    CHECK(is_taken(WF_OP_TESTSOME, 20, 3) && is_taken(WF_OP_TESTSOME, 21, 3));
    CHECK(!is_taken(WF_OP_TESTSOME, 22, 3) && !is_taken(WF_OP_TESTANY, 22, 3));
    CHECK(!is_taken(WF_OP_TESTALL, 20, 3) && is_taken(WF_OP_TESTALL, 20, 2));
    CHECK(is_taken(WF_OP_TEST, 20, 3) && !is_taken(WF_OP_TEST, 21, 3));
    CHECK(is_taken(WF_OP_WAITSOME, 20, 3) && is_taken(WF_OP_WAITSOME, 21, 3));
    CHECK(!is_taken(WF_OP_WAITSOME, 22, 3));
    CHECK(!is_taken(WF_OP_WAITANY, 20, 3) && is_taken(WF_OP_WAITANY, 21, 3));
    CHECK(look(WF_OP_TESTSOME, 20, 3).tally.all.finish.max == 20000 + A + 1);
    CHECK_U64(look(WF_OP_TESTSOME, 20, 3).cells, 0);
}

static void recorded_tests_and_waitsomes_wait_for_what_was_complete(void)
{
    static const uint32_t outcomes[] = {2, 0}, numbers[] = {30, 5, 31};
    struct wf_op zero[] = {IRECV(1, 0, 30),
                           IRECV(1, 1, 5),
                           IRECV(1, 2, 31),
                           SET_OP(WAITSOME, 0, 3),
                           SEND(1, 0, 0),
                           WAIT(5),
                           END};
    static const struct wf_op one[] = {SEND(0, 0, 100), SEND(0, 2, 700), RECV(0, 0),
                                       SEND(0, 1, 0), END};
    static const enum wf_op_kind kinds[] = {WF_OP_WAITSOME, WF_OP_TESTSOME};

    zero[3].recorded = true;
    zero[3].outcome = 2;
    zero[3].outcomes = outcomes;
    zero[3].requests = numbers;
    for (size_t i = 0; i < 2; i++) {
        zero[3].kind = kinds[i];
        CHECK(end2(zero, one) == A + 700 + A + A);
    }
    zero[3] = (struct wf_op)SET_OP(TEST, 31, 1);
    zero[3].recorded = true;
    zero[3].outcome = 1;
    zero[5] = (struct wf_op){.kind = WF_OP_WAITALL, .requests = numbers, .count = 3};
    CHECK(end2(zero, one) == A + 700 + A + A);
    zero[3].outcome = 0;
    CHECK(end2(zero, one) == A + A); /* on at once: the answer comes last */
}

/* Far more requests than a rank has slots; waited for backwards, and each twice. */
static void any_number_of_requests(void)
{
    enum { MANY = 12000 };
    struct wf_op *zero = wf_xcalloc(2 * MANY + 2, sizeof(*zero));
    struct wf_op *one = wf_xcalloc(MANY + 1, sizeof(*one));
    uint32_t *numbers = wf_xcalloc(2 * MANY, sizeof(*numbers));

    for (uint32_t i = 0; i < MANY; i++) {
        zero[i] = (struct wf_op)IRECV(1, (int32_t)i, i * 3);
        one[i] = (struct wf_op)SEND(0, (int32_t)(i * 7 % MANY), 8);
        numbers[i] = (MANY - 1 - i) * 3;
        numbers[MANY + i] = i * 3;
    }
    one[MANY] = (struct wf_op)END;
    zero[MANY] = (struct wf_op){.kind = WF_OP_WAITALL, .requests = numbers, .count = 2 * MANY};
    zero[MANY + 1] = (struct wf_op)END;
    CHECK(end2(zero, one) == A + 8);
    for (uint32_t i = 0; i < MANY; i++) { /* one by one */
        zero[MANY + i] = (struct wf_op)WAIT(numbers[i]);
    }
    zero[2 * MANY] = (struct wf_op)END;
    CHECK(end2(zero, one) == A + 8);
    free(zero);
    free(one);
    free(numbers);
}

/* Rank 0 of each job answers whoever comes first, twice, with the tag it got: the cursor tells
 * the program who that was, in the numbers of its job. */
static bool answer_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    uint64_t step = cursor->word[0];

    if (step == 4 || (rank > 0 && step == 3)) {
        return false;
    }
    cursor->word[0]++;
    if (rank > 0) {
        const struct wf_op ops[] = {COMPUTE((int64_t)(3 - rank) * 5000),
                                    SEND(0, 10 + (int)rank, 0), RECV(0, 10 + (int)rank)};
        *op = ops[step];
    } else if (step % 2 == 0) {
        *op = (struct wf_op)RECV(WF_ANY_SOURCE, WF_ANY_TAG);
    } else {
        *op = (struct wf_op)SEND(cursor->seen_source, cursor->seen_tag, 0);
    }
    return true;
}

static void a_program_learns_whom_it_received_from(void)
{
    static const struct wf_source_ops ops = {.name = "answer", .next = answer_next};
    static const struct wf_source source = {.ops = &ops, .n_ranks = 3, .depends_on_time = true};
    static const struct wf_ranks_job jobs[] = {{.source = &source, .repeat = 1},
                                               {.source = &source, .start = 700, .repeat = 1}};
    struct setup setup = basic;

    setup.jobs = jobs;
    setup.n_jobs = 2;
    struct outcome out = replay(&setup);
    CHECK_U64(out.tally.unfinished + out.tally.unreceived + out.cells, 0);
    CHECK(out.jobs[0].finish.max == 10000 + 2 * A);
    CHECK(out.jobs[0].finish.min == 5000 + 2 * A); /* rank 2, which was first */
    CHECK(out.jobs[1].finish.max == 700 + 10000 + 2 * A);
}

static void wildcards_take_what_was_recorded_or_what_comes(void)
{
    struct wf_op zero[] = {RECV(WF_ANY_SOURCE, WF_ANY_TAG), SEND(3, 0, 0),
                           RECV(WF_ANY_SOURCE, WF_ANY_TAG), END};
    static const struct wf_op one[] = {COMPUTE(5000), SEND(0, 1, 0), END};
    static const struct wf_op two[] = {SEND(0, 2, 0), END};
    static const struct wf_op three[] = {RECV(0, 0), COMPUTE(100000), END};
    const struct wf_op *const ranks[] = {zero, one, two, three};
    struct setup setup = basic;

    for (int i = 0; i <= 2; i += 2) {
        zero[i].recorded = true;
        zero[i].matched_peer = i == 0 ? 1 : 2; /* the late one was first in the recording */
        zero[i].matched_tag = i == 0 ? 1 : 2;
    }
    CHECK(end_of(setup, ranks, 4) == 5000 + A + A + 100000);
    setup.wildcards = WF_WILDCARDS_ARRIVAL;
    CHECK(end_of(setup, ranks, 4) == A + A + 100000);
}

/* Pairs out of many that are complete, the last first. A search among all of them would take
 * 10^10 steps. */
static void a_wait_for_some_of_many_that_are_complete(void)
{
    enum { MANY = 200000 };
    struct wf_op *zero = wf_xcalloc(MANY + MANY / 2 + 2, sizeof(*zero));
    struct wf_op *one = wf_xcalloc(MANY + 1, sizeof(*one));
    const struct wf_op *const ranks[] = {zero, one};
    uint32_t n = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        zero[n++] = (struct wf_op)IRECV(1, (int32_t)i, i);
        one[i] = (struct wf_op)SEND(0, (int32_t)(i ^ 1), 1);
    }
    zero[n++] = (struct wf_op)COMPUTE(INT64_C(1000000000000));
    for (uint32_t i = MANY; i > 0; i -= 2) {
        zero[n++] = (struct wf_op)WAITALL(i - 2, 2);
    }
    zero[n] = (struct wf_op)END;
    one[MANY] = (struct wf_op)END;

    struct outcome out = replay_script((struct setup){.net = &wf_net_alphabeta_ops}, ranks, 2);
    CHECK(out.status == WF_OK && out.tally.unfinished == 0 && out.tally.unreceived == 0);
    CHECK(out.tally.all.finish.max == INT64_C(1000000000000));
    free(zero);
    free(one);
}

int main(void)
{
    RUN(a_sendrecv_does_both_at_once);
    RUN(nobody_answers_at_once);
    RUN(a_probe_waits_for_a_message);
    RUN(an_iprobe_is_as_it_was_recorded);
    RUN(persistent_requests_are_started_again_and_again);
    RUN(an_announced_message_ends_any_receive);
    RUN(a_request_that_is_freed_goes_its_way);
    RUN(waitany_takes_what_is_complete_first);
    RUN(waitany_is_as_it_was_recorded);
    RUN(tests_take_what_they_should);
    RUN(recorded_tests_and_waitsomes_wait_for_what_was_complete);
    RUN(any_number_of_requests);
    RUN(a_program_learns_whom_it_received_from);
    RUN(wildcards_take_what_was_recorded_or_what_comes);
    RUN(a_wait_for_some_of_many_that_are_complete);
    return wf_test_done();
}
