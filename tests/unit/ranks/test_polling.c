/* SPDX-License-Identifier: Apache-2.0 */
/* When ranks notice messages: mpi.progress=waits and node.poll. A message of k bytes takes A + k
 * picoseconds, so that times show when a rank has asked for a long one. */
#include "model/ranks/polling.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/ranks/cpu/contention.h"
#include "model/ranks/node_params.h"

enum { A = 1000, C = 100, D = 300, K = 5000, LATE = 5 * A };

static const struct wf_net_alphabeta_params params = {
    .alpha = A, .bandwidth = 1000000000000 * WF_RATE_BYTE};
static const char *const calls[] = {"eager_max", "100", "progress", "calls", NULL};
static const char *const waits[] = {"eager_max", "100", "progress", "waits", NULL};
static const char *const read_waits[] = {"eager_max",  "100",  "progress", "waits",
                                         "rendezvous", "read", NULL};

/* When the last rank is done; -1 if something is left over. */
static int64_t end_on(const char *const *mpi, const char *const *node, const struct wf_op *zero,
                      const struct wf_op *one)
{
    const struct wf_op *const ranks[] = {zero, one};
    const struct setup setup = {.net = &wf_net_alphabeta_ops,
                                .net_params = &params,
                                .mpi = mpi,
                                .node = node,
                                .count_cells = true};
    struct outcome out = replay_script(setup, ranks, 2);

    return out.status == WF_OK && out.tally.unfinished == 0 && out.tally.unreceived == 0 &&
                   out.cells == 0
               ? out.tally.all.finish.max
               : -1;
}

static int64_t end_of(const char *const *mpi, const struct wf_op *zero, const struct wf_op *one)
{
    return end_on(mpi, NULL, zero, one);
}

/* ---- mpi.progress=waits ---- */

/* The announcement came while the rank computed. A call that posts the receive asks for the data
 * with `calls`; with `waits` only the call that waits does. */
static void only_calls_that_wait_read_announcements(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, K), END};
    static const struct wf_op one[] = {COMPUTE(LATE), IRECV(0, 0, 3), COMPUTE(D), WAITALL(3, 1),
                                       END};

    CHECK(end_of(calls, zero, one) == LATE + A + A + K);
    CHECK(end_of(waits, zero, one) == LATE + D + A + A + K);
    CHECK(end_of(read_waits, zero, one) == LATE + D + A + A + K + A);
}

/* The rank waited for another message when the announcement came: it was read then. */
static void what_came_in_an_earlier_wait_has_been_read(void)
{
    static const struct wf_op zero[] = {ISEND(1, 0, K, 3), SEND(1, 7, 50), WAITALL(3, 1), END};
    static const struct wf_op one[] = {RECV(0, 7), COMPUTE(C),    IRECV(0, 0, 3),
                                       COMPUTE(D), WAITALL(3, 1), END};

    CHECK(end_of(waits, zero, one) == A + 50 + C + A + A + K);
}

static void a_test_reads_announcements(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, K), END};
    static const struct wf_op one[] = {
        COMPUTE(LATE), IRECV(0, 0, 3), COMPUTE(C), SET_OP(TEST, 3, 1),
        COMPUTE(D),    WAITALL(3, 1),  END};

    CHECK(end_of(waits, zero, one) == LATE + C + A + A + K);
}

/* The sender answers in a call that waits, not in one that posts something. */
static void only_calls_that_wait_answer(void)
{
    static const struct wf_op zero[] = {ISEND(1, 0, K, 3), COMPUTE(LATE), ISEND(1, 7, 50, 4),
                                        COMPUTE(D),        WAITALL(3, 2), END};
    static const struct wf_op one[] = {RECV(0, 0), RECV(0, 7), END};

    CHECK(end_of(calls, zero, one) == LATE + A + K);
    CHECK(end_of(waits, zero, one) == LATE + D + A + K);
}

/* Libraries post the receive of a sendrecv first: what has been read is asked for before the
 * rank spends time on its own message. */
static void a_sendrecv_posts_its_receive_first(void)
{
    static const char *const costs[] = {"o_send", "400ps", NULL};
    static const struct wf_op zero[] = {ISEND(1, 0, K, 3), SEND(1, 7, 50), IRECV(1, 0, 4),
                                        WAITALL(3, 2), END};
    static const struct wf_op one[] = {RECV(0, 7), SENDRECV(0, 0, 60, 0, 0), END};

    /* The second message departs after two sends. */
    CHECK(end_on(waits, costs, zero, one) == 800 + A + 50 + A + A + K);
    CHECK(end_on(calls, costs, zero, one) == 800 + A + 50 + 400 + A + A + K);
}

/* ---- node.poll ---- */

enum { PERIOD = 600000, SEED = 5 };

static struct wf_node_polling looks_of(const char *poll, const char *cores, uint32_t n_ranks)
{
    const char *const settings[] = {"poll", poll, "host_cores", cores, NULL};
    struct wf_node_params *node = make_params(wf_node_params, sizeof(*node));

    set_params(wf_node_params, node, settings);
    struct wf_node_polling looks = wf_node_polling_of(node, n_ranks, SEED);
    free_params(wf_node_params, node);
    return looks;
}

static void ranks_look_once_in_a_period(void)
{
    const struct wf_node_polling looks = looks_of("600ns", "unlimited", 4);
    enum { N = 20000, STEP = 70001 };
    int64_t before = 0, sum = 0;

    for (int64_t i = 0; i < N; i++) {
        int64_t at = i * STEP, look = wf_node_next_poll(&looks, 3, at);

        CHECK(look >= at && look < at + 2 * PERIOD && look >= before);
        CHECK(wf_node_next_poll(&looks, 3, look) == look);
        before = look;
        sum += look - at;
    }
    /* The mean is 7/12 of a period; ranks differ. */
    CHECK(llabs(sum / N - PERIOD * 7 / 12) < PERIOD / 50);
    CHECK(wf_node_next_poll(&looks, 2, 1) != wf_node_next_poll(&looks, 3, 1));
    CHECK(wf_node_next_poll(&looks, 2, WF_TIME_MAX) == WF_TIME_MAX);
}

static void ranks_take_turns_on_shared_cores(void)
{
    CHECK(looks_of("600ns", "unlimited", 2).period == PERIOD);
    CHECK(looks_of("600ns", "2", 2).period == 0);
    CHECK(looks_of("600ns", "2", 3).period == PERIOD * 3 / 2);
    CHECK(looks_of("600ns", "2", 8).period == PERIOD * 4);
    CHECK(looks_of("0", "unlimited", 8).period == 0);
}

/* Messages of a pair never overtake each other, however many a look finds. */
static void looks_keep_the_order_of_messages(void)
{
    static const char *const polled[] = {"poll", "20ns", NULL};
    static const struct wf_op zero[] = {SEND(1, 0, 90), SEND(1, 0, 1), SEND(1, 0, K), END};
    static const struct wf_op one[] = {RECV(0, 0), RECV(0, 0), RECV(0, 0), END};
    static const char *const eager[] = {NULL};
    int64_t end = end_on(eager, polled, zero, one);

    CHECK(end > A + K && end < A + K + 40000);
    CHECK(end_on(waits, polled, zero, one) >= end);
    CHECK(end_of(eager, zero, one) == A + K);
}

/* ---- node.host_cores ---- */

enum { WORK = 3001 };

/* When ranks that only compute are done. */
static int64_t computed_by(uint32_t n_ranks, const char *cores)
{
    static const struct wf_op work[] = {COMPUTE(WORK), END};
    static const struct wf_op *const ranks[] = {work, work, work, work, work};
    const char *const node[] = {"host_cores", cores, NULL};
    const struct setup setup = {
        .net = &wf_net_alphabeta_ops, .net_params = &params, .mpi = waits, .node = node};

    return replay_script(setup, ranks, n_ranks).tally.all.finish.max;
}

/* Computing on shared cores takes as many times longer as a core has ranks, rounded once. */
static void ranks_share_cores_to_compute(void)
{
    CHECK(computed_by(5, "unlimited") == WORK);
    CHECK(computed_by(2, "2") == WORK);
    CHECK(computed_by(4, "2") == 2 * WORK);
    CHECK(computed_by(3, "2") == 4502); /* 4501.5 */
    CHECK(computed_by(5, "1") == 5 * WORK);
}

/* What ranks combine in a collective is computed on shared cores, too. */
static void ranks_share_cores_to_combine(void)
{
    static const char *const mpi[] = {"reduce_bandwidth", "1GB/s", NULL};
    static const char *const shared[] = {"host_cores", "1", NULL};
    static const struct wf_op sum[] = {ALLREDUCE(D), END}; /* an exchange */

    CHECK(end_on(mpi, NULL, sum, sum) == A + D + 1000 * D);
    CHECK(end_on(mpi, shared, sum, sum) == A + D + 2 * 1000 * D);
}

/* Memory and cores: both factors. Without a limited memory its share has no effect. */
static void memory_and_cores_are_shared_at_once(void)
{
    struct wf_node_params node = wf_node_free;
    const uint64_t half = WF_CPU_SCALE_ONE / 2;

    node.host_cores = 2;
    struct wf_cpu_contention shared = wf_cpu_contention_init(&node, NULL, 6);
    CHECK(shared.on && wf_cpu_contention_time(&shared, half, 4, 1000) == 3000);
    CHECK(!wf_cpu_contention_init(&node, NULL, 2).on);
    node.memory_bound = 0.5;
    node.core_bandwidth = 10;
    node.memory_bandwidth = 20;
    shared = wf_cpu_contention_init(&node, NULL, 6);
    CHECK(wf_cpu_contention_time(&shared, half, 4, 1000) == 4500);
    CHECK(wf_cpu_contention_time(&shared, half, 2, 1000) == 3000);
}

int main(void)
{
    RUN(only_calls_that_wait_read_announcements);
    RUN(what_came_in_an_earlier_wait_has_been_read);
    RUN(a_test_reads_announcements);
    RUN(only_calls_that_wait_answer);
    RUN(a_sendrecv_posts_its_receive_first);
    RUN(ranks_look_once_in_a_period);
    RUN(ranks_take_turns_on_shared_cores);
    RUN(looks_keep_the_order_of_messages);
    RUN(ranks_share_cores_to_compute);
    RUN(ranks_share_cores_to_combine);
    RUN(memory_and_cores_are_shared_at_once);
    return wf_test_done();
}
