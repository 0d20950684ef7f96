/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of calls on a LogGP network, to the picosecond. The arithmetic is written out: L
 * 1000, o 500, g 100, and a byte takes a picosecond (G = 1). The rules are in
 * docs/models/mpi.md. */
#include "model/net/loggp.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

static const int64_t L = 1000, O = 500, GAP = 100;

/* A message of BIG bytes has TAIL that follow the first; it is long where LONG says so. */
enum { BIG = 4001, TAIL = BIG - 1, COMPUTED = 20000 };

static const char *const LONG[] = {"eager_max", "4000", NULL};
static const char *const LONG_IN_CALLS[] = {"eager_max", "4000", "progress", "calls", NULL};
static const char *const IN_CALLS[] = {"progress", "calls", NULL};
static const char *const BINOMIAL[] = {"bcast", "binomial", NULL};

static struct wf_job_tally run(const char *const *mpi, const struct wf_op *const *ranks,
                               uint32_t n_ranks)
{
    static const struct wf_net_loggp_params params = {.latency = 1000,
                                                      .overhead = 500,
                                                      .gap = 100,
                                                      .eager_max = WF_PARAM_WORD,
                                                      .bandwidth =
                                                          1000000000000 * WF_RATE_BYTE};
    struct outcome out = replay_script(
        (struct setup){.net = &wf_net_loggp_ops, .net_params = &params, .mpi = mpi}, ranks,
        n_ranks);

    if (out.status != WF_OK || out.tally.unfinished > 0 || out.tally.unreceived > 0) {
        memset(&out.tally, 0xff, sizeof(out.tally));
    }
    return out.tally.all;
}

/* Of two ranks, of which one is done before the other. */
static struct wf_job_tally run2(const char *const *mpi, const struct wf_op *zero,
                                const struct wf_op *one)
{
    const struct wf_op *const ranks[] = {zero, one};

    return run(mpi, ranks, 2);
}

static void an_eager_ping_pong(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), RECV(1, 0), END};
    static const struct wf_op one[] = {RECV(0, 0), SEND(0, 0, BIG), END};
    int64_t there = O + L + TAIL + O;
    struct wf_job_tally job = run2(NULL, zero, one);

    CHECK(job.finish.max == 2 * there);
    CHECK(job.finish.min == there + O); /* rank 1, whose CPU is free again */
}

/* The announcement, the question and the data take L each. The sender goes on when the last
 * byte has left. */
static void a_rendezvous_ping_pong(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), RECV(1, 0), END};
    static const struct wf_op one[] = {RECV(0, 0), SEND(0, 0, BIG), END};
    int64_t there = O + L + L + L + TAIL + O;
    struct wf_job_tally job = run2(LONG, zero, one);

    CHECK(job.finish.max == 2 * there);
    CHECK(job.finish.min == there + O + L + L + TAIL);
    CHECK(job.wait[WF_IN_SEND].max == L + L + TAIL);
    CHECK(job.overhead.min == 2 * O && job.overhead.max == 2 * O);
    CHECK_U64(job.messages, 2); /* what arranges them is not counted */
}

/* At the limit it is still sent at once. */
static void eager_max_is_the_largest_eager_message(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG - 1), END};
    static const struct wf_op one[] = {RECV(0, 0), END};

    CHECK(run2(LONG, zero, one).finish.max == O + L + TAIL - 1 + O);
}

/* Messages of control_bytes k' take L + (k'-1)G. */
static void control_messages_have_a_length(void)
{
    static const char *const mpi[] = {"eager_max", "4000", "control_bytes", "65", NULL};
    static const struct wf_op zero[] = {SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {RECV(0, 0), END};

    CHECK(run2(mpi, zero, one).finish.max == O + (L + 64) + (L + 64) + L + TAIL + O);
}

static void a_synchronous_send_waits_whatever_its_length(void)
{
    static const struct wf_op zero[] = {SSEND(1, 0, 1), END};
    static const struct wf_op one[] = {COMPUTE(COMPUTED), RECV(0, 0), END};
    struct wf_job_tally job = run2(NULL, zero, one);

    CHECK(job.finish.min == COMPUTED + L); /* asked, and the byte is gone */
    CHECK(job.finish.max == COMPUTED + L + L + O);
}

static void a_buffered_send_never_waits(void)
{
    static const struct wf_op zero[] = {PEER_OP(BSEND, 1, 0, BIG, 0), END};
    static const struct wf_op one[] = {COMPUTE(COMPUTED), RECV(0, 0), END};
    struct wf_job_tally job = run2(LONG, zero, one);

    CHECK(job.finish.min == O && job.finish.max == COMPUTED + O);
}

static void a_late_receiver_holds_up_a_long_message(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {COMPUTE(COMPUTED), RECV(0, 0), END};
    struct wf_job_tally job = run2(LONG, zero, one);

    CHECK(job.finish.min == COMPUTED + L + TAIL);
    CHECK(job.finish.max == COMPUTED + L + L + TAIL + O);
    CHECK(job.wait[WF_IN_SEND].max == COMPUTED + L + TAIL - O);
    CHECK(job.wait[WF_IN_RECV].max == L + L + TAIL);
}

static void a_late_sender_of_a_long_message(void)
{
    static const struct wf_op zero[] = {COMPUTE(COMPUTED), SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    struct wf_job_tally job = run2(LONG, zero, one);

    CHECK(job.finish.max == COMPUTED + O + 3 * L + TAIL + O);
    CHECK(job.wait[WF_IN_RECV].max == COMPUTED + O + 3 * L + TAIL);
}

/* The sender computes while its message is arranged and sent: by itself, or when it looks. */
static void a_sender_overlaps(void)
{
    static const struct wf_op zero[] = {ISEND(1, 0, BIG, 0), COMPUTE(COMPUTED), WAIT(0), END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    struct wf_job_tally job = run2(LONG, zero, one);

    CHECK(job.finish.max == O + COMPUTED);
    CHECK(job.finish.min == O + 3 * L + TAIL + O);
    job = run2(LONG_IN_CALLS, zero, one);
    CHECK(job.finish.min == O + COMPUTED + TAIL);
    CHECK(job.finish.max == O + COMPUTED + L + TAIL + O);
}

static void a_receiver_overlaps(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {IRECV(0, 0, 0), COMPUTE(COMPUTED), WAIT(0), END};
    struct wf_job_tally job = run2(LONG, zero, one);

    CHECK(job.finish.max == COMPUTED + O);
    CHECK(job.finish.min == O + 2 * L + TAIL);
    job = run2(LONG_IN_CALLS, zero, one);
    CHECK(job.finish.min == COMPUTED + L + TAIL);
    CHECK(job.finish.max == COMPUTED + 2 * L + TAIL + O);
}

/* A test in the middle of the work is enough. */
static void a_test_makes_progress(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {IRECV(0, 0, 0),
                                       COMPUTE(COMPUTED / 2),
                                       SET_OP(TEST, 0, 1),
                                       COMPUTE(COMPUTED / 2),
                                       WAIT(0),
                                       END};
    struct wf_job_tally job = run2(LONG_IN_CALLS, zero, one);

    CHECK(job.finish.min == COMPUTED / 2 + L + TAIL);
    CHECK(job.finish.max == COMPUTED + O);
}

/* A rank that waits in a call handles other messages meanwhile: rank 0 waits for the tail of a
 * message from rank 1, and rank 2 requests one from it. */
static void a_rank_that_waits_makes_progress(void)
{
    static const struct wf_op zero[] = {COMPUTE(1), ISEND(2, 0, BIG, 0), RECV(1, 0), WAIT(0),
                                        END};
    static const struct wf_op one[] = {PEER_OP(BSEND, 0, 0, 50001, 0), END};
    static const struct wf_op two[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two};
    struct wf_job_tally job = run(LONG_IN_CALLS, ranks, 3);

    /* The question comes behind rank 1's message through rank 0's interface. */
    int64_t asked = O + L + 50000 + GAP;
    CHECK(job.finish.max == asked + L + TAIL + O);
    CHECK_U64(job.finish.sum_low, (uint64_t)(O + (asked + TAIL) + (asked + L + TAIL + O)));
}

/* n messages of a byte leave g apart if that is more than o. */
static void a_burst_is_limited_by_the_gap(void)
{
    static const struct wf_net_loggp_params slow = {.latency = 1000,
                                                    .overhead = 500,
                                                    .gap = 2000,
                                                    .eager_max = WF_PARAM_WORD,
                                                    .bandwidth = 1000000000000 * WF_RATE_BYTE};
    static const struct wf_op zero[] = {SEND(1, 0, 1), SEND(1, 0, 1), SEND(1, 0, 1),
                                        SEND(1, 0, 1), SEND(1, 0, 1), END};
    static const struct wf_op one[] = {RECV(0, 0), RECV(0, 0), RECV(0, 0),
                                       RECV(0, 0), RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out =
        replay_script((struct setup){.net = &wf_net_loggp_ops, .net_params = &slow}, ranks, 2);

    CHECK(out.tally.all.finish.max == O + 4 * 2000 + L + O);
    CHECK(out.tally.all.finish.min == 5 * O);
}

/* Two long messages to different ranks: announced o apart, their data leaves one after the
 * other. */
static void long_messages_share_the_interface(void)
{
    static const struct wf_op zero[] = {ISEND(1, 0, BIG, 0), ISEND(2, 0, BIG, 1), WAITALL(0, 2),
                                        END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, one};
    struct wf_job_tally job = run(LONG, ranks, 3);
    int64_t first = O + 2 * L, second = first + TAIL + GAP;

    CHECK(job.finish.max == second + L + TAIL + O);
    CHECK(job.finish.min == first + L + TAIL + O);
    CHECK_U64(job.finish.sum_low, (uint64_t)(job.finish.min + second + TAIL + job.finish.max));
}

/* The root sends to 4, 2 and 1; 4 to 6 and 5; 2 to 3; 6 to 7. */
static void a_binomial_broadcast_of_a_byte(void)
{
    static const struct wf_op ops[] = {COLL(BCAST, 1), END};
    static const struct wf_op *const ranks[] = {ops, ops, ops, ops, ops, ops, ops, ops};
    struct wf_job_tally job = run(BINOMIAL, ranks, 8);
    int64_t hop = O + L + O;
    int64_t got[8] = {0, 2 * O + hop, O + hop, O + 2 * hop, hop, O + 2 * hop, 2 * hop, 3 * hop};
    static const int sends[8] = {3, 0, 1, 0, 2, 0, 1, 0};
    uint64_t sum = 0;

    for (int i = 0; i < 8; i++) {
        sum += (uint64_t)(got[i] + sends[i] * O);
    }
    CHECK(job.finish.max == 3 * hop);
    CHECK(job.finish.min == 3 * O);
    CHECK_U64(job.finish.sum_low, sum);
    CHECK_U64(job.overhead.sum_low, (uint64_t)(7 * 2 * O));
    CHECK_U64(job.messages, 7);
}

/* Now the interface is what a second message waits for: it leaves T + g after the first. */
static void a_binomial_broadcast_of_a_mebibyte(void)
{
    enum { MEBIBYTE = 1048576, T = MEBIBYTE - 1 };
    static const struct wf_op ops[] = {COLL(BCAST, MEBIBYTE), END};
    static const struct wf_op *const ranks[] = {ops, ops, ops, ops, ops, ops, ops, ops};
    struct wf_job_tally job = run(BINOMIAL, ranks, 8);
    int64_t hop = O + L + T + O, next = T + GAP;
    int64_t got4 = hop, got2 = next + hop, got1 = 2 * next + hop;
    int64_t got6 = got4 + hop, got5 = got4 + next + hop, got3 = got2 + hop;
    int64_t got7 = got6 + hop;

    CHECK(job.finish.max == got7);
    CHECK(job.finish.min == 3 * O);
    CHECK_U64(job.finish.sum_low, (uint64_t)(3 * O + got1 + (got2 + O) + got3 + (got4 + 2 * O) +
                                             got5 + (got6 + O) + got7));
}

static void a_long_broadcast_is_arranged(void)
{
    static const char *const mpi[] = {"bcast", "binomial", "eager_max", "4000", NULL};
    static const struct wf_op ops[] = {COLL(BCAST, BIG), END};
    static const struct wf_op *const ranks[] = {ops, ops};
    struct wf_job_tally job = run(mpi, ranks, 2);

    CHECK(job.finish.max == O + 3 * L + TAIL + O);
    CHECK(job.finish.min == O + 2 * L + TAIL);
    CHECK(job.wait[WF_IN_COLLECTIVE].max == O + 3 * L + TAIL);
}

/* A blocking barrier of two: CPU time is not waiting time. */
static void a_barrier_spends_overhead(void)
{
    static const struct wf_op ops[] = {BARRIER, END};
    struct wf_job_tally job = run2(NULL, ops, ops);

    CHECK(job.finish.min == O + L + O && job.finish.max == O + L + O);
    CHECK(job.overhead.max == 2 * O);
    CHECK(job.wait[WF_IN_COLLECTIVE].max == L);
}

/* Two rounds of a dissemination barrier of four ranks beside a computation. In calls the second
 * begins when the computation is over, and the CPU then takes in the first. */
static void a_nonblocking_barrier_overlaps(void)
{
    static const struct wf_op ops[] = {ICOLL(IBARRIER, 0, 0), COMPUTE(COMPUTED), WAIT(0), END};
    static const struct wf_op *const ranks[] = {ops, ops, ops, ops};
    struct wf_job_tally job = run(NULL, ranks, 4);

    CHECK(job.finish.min == COMPUTED && job.finish.max == COMPUTED);
    CHECK(job.overhead.max == 0);
    job = run(IN_CALLS, ranks, 4);
    CHECK(job.finish.min == COMPUTED + O + O + L + O && job.finish.max == job.finish.min);
}

/* Within a node: o, a latency, all bytes, o. */
static void a_message_within_a_node(void)
{
    static const char *const mpi[] = {"local_latency", "700ps", "local_bandwidth", "1TB/s",
                                      NULL};
    static const struct wf_net_loggp_params params = {.latency = 1000,
                                                      .overhead = 500,
                                                      .gap = 100,
                                                      .eager_max = WF_PARAM_WORD,
                                                      .bandwidth =
                                                          1000000000000 * WF_RATE_BYTE};
    static const struct wf_op zero[] = {SEND(1, 0, BIG), END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct setup setup = {
        .net = &wf_net_loggp_ops, .net_params = &params, .mpi = mpi, .ranks_per_node = 2};

    CHECK(replay_script(setup, ranks, 2).tally.all.finish.max == O + 700 + BIG + O);
    setup.mpi = (const char *const[]){"local", "false", NULL};
    CHECK(replay_script(setup, ranks, 2).tally.all.finish.max == O + L + TAIL + O);
}

/* A put is there after L + (k-1)G and acknowledged after another L; the question of a get takes
 * L, its data L + (k-1)G. Then everybody meets in a barrier. */
static void one_sided_traffic_ends_with_the_epoch(void)
{
    static const struct wf_op put[] = {PEER_OP(PUT, 1, 0, BIG, 0), {.kind = WF_OP_FENCE}, END};
    static const struct wf_op get[] = {PEER_OP(GET, 1, 0, BIG, 0), {.kind = WF_OP_FENCE}, END};
    static const struct wf_op one[] = {{.kind = WF_OP_FENCE}, END};
    struct wf_job_tally job = run2(NULL, put, one);

    CHECK(job.finish.min == (L + TAIL) + L + O + O);
    CHECK(job.finish.max == (L + TAIL) + L + O + L + O);
    job = run2(NULL, get, one);
    CHECK(job.finish.min == L + (L + TAIL) + O + O);
    CHECK(job.finish.max == L + (L + TAIL) + O + L + O);
}

/* A flush waits for all operations of the calling rank, and for no other rank. */
static void one_sided_traffic_ends_with_a_flush(void)
{
    static const struct wf_op put[] = {
        PEER_OP(PUT, 1, 0, BIG, 0), {.kind = WF_OP_WIN_FLUSH}, END};
    static const struct wf_op two[] = {PEER_OP(PUT, 1, 0, 1, 0),
                                       PEER_OP(GET, 1, 0, BIG, 0),
                                       {.kind = WF_OP_WIN_FLUSH},
                                       {.kind = WF_OP_WIN_FLUSH},
                                       END};
    static const struct wf_op late[] = {
        PEER_OP(PUT, 1, 0, 1, 0), COMPUTE(COMPUTED), {.kind = WF_OP_WIN_FLUSH}, END};
    static const struct wf_op one[] = {END};
    struct wf_job_tally job = run2(NULL, put, one);

    CHECK(job.finish.min == 0 && job.finish.max == (L + TAIL) + L);
    job = run2(NULL, two, one);
    CHECK(job.finish.min == 0 && job.finish.max >= L + (L + TAIL) &&
          job.finish.max <= L + (L + TAIL) + 2 * GAP);
    /* What is complete by then is waited for no more. */
    job = run2(NULL, late, one);
    CHECK(job.finish.max == (COMPUTED > 2 * L ? COMPUTED : 2 * L));
}

int main(void)
{
    RUN(an_eager_ping_pong);
    RUN(a_rendezvous_ping_pong);
    RUN(eager_max_is_the_largest_eager_message);
    RUN(control_messages_have_a_length);
    RUN(a_synchronous_send_waits_whatever_its_length);
    RUN(a_buffered_send_never_waits);
    RUN(a_late_receiver_holds_up_a_long_message);
    RUN(a_late_sender_of_a_long_message);
    RUN(a_sender_overlaps);
    RUN(a_receiver_overlaps);
    RUN(a_test_makes_progress);
    RUN(a_rank_that_waits_makes_progress);
    RUN(a_burst_is_limited_by_the_gap);
    RUN(long_messages_share_the_interface);
    RUN(a_binomial_broadcast_of_a_byte);
    RUN(a_binomial_broadcast_of_a_mebibyte);
    RUN(a_long_broadcast_is_arranged);
    RUN(a_barrier_spends_overhead);
    RUN(a_nonblocking_barrier_overlaps);
    RUN(a_message_within_a_node);
    RUN(one_sided_traffic_ends_with_the_epoch);
    RUN(one_sided_traffic_ends_with_a_flush);
    return wf_test_done();
}
