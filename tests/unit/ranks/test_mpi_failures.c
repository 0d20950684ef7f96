/* SPDX-License-Identifier: Apache-2.0 */
/* Incorrect programs, and the errors that are reported for them. */
#include "model/net/alphabeta.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

static const char *const LONG[] = {"eager_max", "100", NULL};

static struct outcome run2(const char *const *mpi, const struct wf_op *zero,
                           const struct wf_op *one)
{
    const struct wf_op *const ranks[] = {zero, one};

    return replay_script((struct setup){.net = &wf_net_alphabeta_ops, .mpi = mpi}, ranks, 2);
}

/* Whether rank 0 alone failed like that. */
static bool fails(const struct outcome *out, enum wf_failure failure, uint32_t peer)
{
    const struct wf_blocked *first = &out->tally.blocked[0];

    return out->status == WF_OK && out->tally.failed == 1 && first->rank == 0 &&
           first->failure == failure && first->fail_peer == peer;
}

static bool is_blocked(const struct outcome *out, uint32_t rank, enum wf_blocked_in in,
                       uint32_t peer, int32_t tag)
{
    for (uint32_t i = 0; i < out->tally.n_blocked; i++) {
        const struct wf_blocked *blocked = &out->tally.blocked[i];
        if (blocked->rank == rank) {
            return blocked->failure == WF_FAILURE_NONE && blocked->on.in == in &&
                   blocked->on.peer == peer && blocked->on.tag == tag;
        }
    }
    return false;
}

static void a_message_longer_than_its_receive(void)
{
    static const struct wf_op zero[] = {PEER_OP(RECV, 1, 0, 199, 0), END};
    static const struct wf_op late[] = {COMPUTE(9000000), PEER_OP(IRECV, 1, 0, 199, 0), WAIT(0),
                                        END};
    static const struct wf_op one[] = {SEND(0, 0, 200), END};
    static const struct wf_op fits[] = {SEND(0, 0, 199), END};
    struct outcome out = run2(NULL, zero, one);

    CHECK(fails(&out, WF_FAILURE_TRUNCATED, 1));
    CHECK_U64(out.tally.unfinished, 1);
    out = run2(NULL, late, one);
    CHECK(fails(&out, WF_FAILURE_TRUNCATED, 1));
    out = run2(LONG, zero, one);
    CHECK(fails(&out, WF_FAILURE_TRUNCATED, 1));
    CHECK_U64(run2(LONG, zero, fits).tally.unfinished, 0);
    CHECK_U64(run2(NULL, late, fits).tally.unfinished, 0);
}

static void a_request_that_is_in_use(void)
{
    static const struct wf_op one[] = {END};
    static const struct wf_op cases[][4] = {
        {IRECV(1, 0, 5), IRECV(1, 1, 5), END},
        {IRECV(1, 0, 5), ISEND(1, 1, 8, 5), END},
        {IRECV(1, 0, 5), ICOLL(IBARRIER, 0, 5), END},
        {IRECV(1, 0, 5), PEER_OP(SEND_INIT, 1, 0, 8, 5), END},
        {PEER_OP(RECV_INIT, 1, 0, 8, 5), SET_OP(START, 5, 1), SET_OP(START, 5, 1), END},
        {SET_OP(START, 5, 1), END},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outcome out = run2(NULL, cases[i], one);
        CHECK(fails(&out, WF_FAILURE_REQUEST, 5));
    }
}

static void ranks_tags_and_communicators_that_there_are_not(void)
{
    static const struct wf_op one[] = {END};
    static const struct wf_op cases[] = {
        SEND(2, 0, 8),
        SEND(WF_ANY_SOURCE, 0, 8),
        SEND(1, -1, 8),
        RECV(2, 0),
        RECV(1, -2),
        PEER_OP(PROBE, 2, 0, 0, 0),
        PEER_OP(SEND_INIT, WF_ANY_SOURCE, 0, 8, 0),
        PEER_OP(PUT, 7, 0, 8, 0),
        SENDRECV(1, 0, 8, 2, 0),
        {.kind = WF_OP_BCAST, .root = 2},
        {.kind = WF_OP_BARRIER, .comm = 3},
        {.kind = WF_OP_SEND, .peer = 1, .comm = 3},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct wf_op zero[] = {cases[i], END};
        struct outcome out = run2(NULL, zero, one);
        CHECK(fails(&out, WF_FAILURE_OP, (uint32_t)cases[i].kind));
        CHECK_U64(out.tally.unfinished, 1);
    }
}

/* 300 bytes wait for rank 0 at once if it computes too long, whether it could run ahead of the
 * engine's time or not. */
static void more_messages_than_a_rank_can_hold(void)
{
    static const char *const mpi[] = {"unexpected_limit", "299", NULL};
    static const struct wf_op one[] = {SEND(0, 0, 100), SEND(0, 0, 100), SEND(0, 0, 100), END};
    static const struct wf_op late[] = {COMPUTE(90000000), RECV(1, 0), RECV(1, 0), RECV(1, 0),
                                        END};
    static const struct wf_op ready[] = {IRECV(1, 0, 0), COMPUTE(90000000), RECV(1, 0),
                                         RECV(1, 0),     WAIT(0),           END};
    struct outcome out = run2(mpi, late, one);

    CHECK(fails(&out, WF_FAILURE_UNEXPECTED, 1));
    CHECK_U64(run2(mpi, ready, one).tally.unfinished, 0);
    CHECK_U64(run2(NULL, late, one).tally.unfinished, 0);
}

/* Both send before they receive: that goes well as long as messages are short. */
static void blocking_sends_that_wait_for_each_other(void)
{
    static const struct wf_op zero[] = {SEND(1, 7, 200), RECV(1, 8), END};
    static const struct wf_op one[] = {SEND(0, 8, 200), RECV(0, 7), END};
    struct outcome out = run2(NULL, zero, one);

    CHECK_U64(out.tally.unfinished, 0);
    out = run2(LONG, zero, one);
    CHECK_U64(out.tally.unfinished, 2);
    CHECK_U64(out.tally.failed, 0);
    CHECK(is_blocked(&out, 0, WF_BLOCKED_SEND, 1, 7) &&
          is_blocked(&out, 1, WF_BLOCKED_SEND, 0, 8));
    CHECK_U64(out.tally.unreceived, 2);
}

static void a_receive_without_a_sender(void)
{
    static const struct wf_op zero[] = {IRECV(1, 5, 0), IRECV(1, 6, 1), WAIT(1), END};
    static const struct wf_op any[] = {RECV(WF_ANY_SOURCE, WF_ANY_TAG), END};
    static const struct wf_op probe[] = {PEER_OP(PROBE, 1, 9, 0, 0), END};
    static const struct wf_op waits[] = {IRECV(1, 5, 0), IRECV(1, 6, 1), SET_OP(WAITANY, 0, 2),
                                         END};
    static const struct wf_op ssend[] = {PEER_OP(ISSEND, 1, 4, 1, 20), WAIT(20), END};
    static const struct wf_op one[] = {END};
    struct outcome out = run2(NULL, zero, one);

    CHECK(is_blocked(&out, 0, WF_BLOCKED_RECV, 1, 6)); /* the one it waits for */
    out = run2(NULL, any, one);
    CHECK(is_blocked(&out, 0, WF_BLOCKED_RECV, WF_MATCH_ANY_SOURCE, WF_MATCH_ANY_TAG));
    out = run2(NULL, probe, one);
    CHECK(is_blocked(&out, 0, WF_BLOCKED_PROBE, 1, 9));
    out = run2(NULL, waits, one);
    CHECK(is_blocked(&out, 0, WF_BLOCKED_RECV, 1, 5));
    out = run2(NULL, ssend, one);
    CHECK(is_blocked(&out, 0, WF_BLOCKED_SEND, 1, 4));
    CHECK_U64(out.tally.all.finish.n, 1);
}

/* "rank 0 waits in barrier for rank 1, which called allreduce" */
static void collectives_that_do_not_match(void)
{
    static const struct wf_op zero[] = {BARRIER, END};
    static const struct wf_op one[] = {ALLREDUCE(8), END};
    static const struct wf_op returns[] = {ICOLL(IBARRIER, 0, 2), WAIT(2), END};
    const struct wf_op *const cases[] = {zero, returns};

    for (int i = 0; i < 2; i++) {
        struct outcome out = run2(NULL, cases[i], one);
        const struct wf_blocked *blocked = out.tally.blocked;
        CHECK_U64(out.tally.n_blocked, 2);
        CHECK(blocked[0].rank == 0 && blocked[0].on.peer == 1);
        CHECK(blocked[0].on.in == WF_BLOCKED_RECV);
        CHECK_U64(blocked[0].on.coll, WF_COLL_BARRIER + 1);
        CHECK_U64(blocked[0].on.other, WF_COLL_ALLREDUCE + 1);
        CHECK(blocked[1].rank == 1 && blocked[1].on.peer == 0);
        CHECK_U64(blocked[1].on.coll, WF_COLL_ALLREDUCE + 1);
        CHECK_U64(blocked[1].on.other, WF_COLL_BARRIER + 1);
    }
}

/* Nothing comes to rank 0 from rank 1, which it waits for first, but from rank 3, whose barrier
 * goes another way. What came for a later collective says nothing. */
static void another_collective_is_seen_wherever_it_comes_from(void)
{
    static const char *const mpi[] = {"barrier", "dissemination", "allreduce",
                                      "recursive_doubling", NULL};
    static const struct wf_op zero[] = {ALLREDUCE(8), END}, others[] = {BARRIER, END};
    static const struct wf_op late[] = {IRECV(1, 9, 0), WAIT(0), END};
    static const struct wf_op ahead[] = {ICOLL(IALLREDUCE, 8, 0), ICOLL(IBARRIER, 0, 1),
                                         SET_OP(WAITALL, 0, 2), END};
    static const struct wf_op *const ranks[] = {zero, others, others, others};
    static const struct wf_op *const same[] = {zero, ahead, late, ahead};
    const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = mpi};
    struct outcome out = replay_script(setup, ranks, 4);
    const struct wf_blocked_on *on = &out.tally.blocked[0].on;

    CHECK(on->peer == 3 && on->coll == WF_COLL_ALLREDUCE + 1);
    CHECK_U64(on->other, WF_COLL_BARRIER + 1);
    out = replay_script(setup, same, 4);
    CHECK(on->peer == 2 && on->coll == WF_COLL_ALLREDUCE + 1 && on->other == 0);
}

static void messages_that_nobody_receives(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, 8), PEER_OP(ISSEND, 1, 1, 8, 0),
                                        SET_OP(REQUEST_FREE, 0, 1), END};
    static const struct wf_op one[] = {END};
    struct outcome out = run2(NULL, zero, one);

    CHECK_U64(out.tally.unfinished, 0);
    CHECK_U64(out.tally.unreceived, 2);
    CHECK_U64(out.tally.n_leftover, 1);
    CHECK(out.tally.leftover[0].rank == 1 && out.tally.leftover[0].what.peer == 0);
    CHECK(out.tally.leftover[0].what.tag == 0 && out.tally.leftover[0].what.coll == 0);
}

int main(void)
{
    RUN(a_message_longer_than_its_receive);
    RUN(a_request_that_is_in_use);
    RUN(ranks_tags_and_communicators_that_there_are_not);
    RUN(more_messages_than_a_rank_can_hold);
    RUN(blocking_sends_that_wait_for_each_other);
    RUN(a_receive_without_a_sender);
    RUN(collectives_that_do_not_match);
    RUN(another_collective_is_seen_wherever_it_comes_from);
    RUN(messages_that_nobody_receives);
    return wf_test_done();
}
