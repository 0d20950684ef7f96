/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the message latencies that a replay reports with numbers computed by hand. */
#include "harness/gen_make.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"

/* Two hops of 100 ns and 1000 bytes at 10 GB/s, from whenever the message leaves; the receiver
 * may be late. */
static void a_latency_runs_from_departure_to_arrival(void)
{
    static const struct wf_op zero[] = {COMPUTE(123456), SEND(2, 0, 1000), END};
    static const struct wf_op idle[] = {END};
    static const struct wf_op two[] = {COMPUTE(9000000), RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, idle, two, idle, idle};
    struct outcome out =
        replay_script((struct setup){.net = &wf_net_latency_ops, .topo = "torus:5"}, ranks, 5);

    CHECK_U64(out.tally.latency.n, 1);
    CHECK(out.tally.latency.min == 300000 && out.tally.latency.max == 300000);
    CHECK(wf_stat_mean(&out.tally.latency) == 300000);
}

/* Two messages at once; the interface takes 9900 ps for the tail of the first and a gap of
 * 100 ns before it sends the second. Nobody receives that. */
static void waiting_for_the_interface_is_part_of_it(void)
{
    static const struct wf_net_loggp_params params = {.latency = 1000000,
                                                      .gap = 100000,
                                                      .eager_max = WF_PARAM_WORD,
                                                      .bandwidth =
                                                          UINT64_C(10000000000) * WF_RATE_BYTE};
    static const struct wf_op zero[] = {COMPUTE(700), SEND(1, 0, 100), SEND(2, 0, 100), END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    static const struct wf_op two[] = {END};
    static const struct wf_op *const ranks[] = {zero, one, two};
    struct outcome out = replay_script(
        (struct setup){.net = &wf_net_loggp_ops, .net_params = &params}, ranks, 3);

    CHECK_U64(out.tally.unreceived, 1);
    CHECK_U64(out.tally.latency.n, 2);
    CHECK(out.tally.latency.min == 1009900 && out.tally.latency.max == 1009900 + 109900);
    CHECK(wf_stat_mean(&out.tally.latency) == 1064850);
}

/* Three ranks on a node: who sends and who receives is told by their slots. */
static void ranks_that_share_a_node_get_their_own_messages(void)
{
    static const struct wf_op zero[] = {RECV(5, 7), SEND(4, 1, 3000), END};
    static const struct wf_op idle[] = {END};
    static const struct wf_op four[] = {RECV(0, 1), SEND(2, 9, 0), END};
    static const struct wf_op five[] = {SEND(0, 7, 1000), END};
    static const struct wf_op two[] = {RECV(4, 9), END};
    static const struct wf_op *const ranks[] = {zero, idle, two, idle, four, five, idle};
    struct outcome out = replay_script(
        (struct setup){.net = &wf_net_alphabeta_ops, .ranks_per_node = 3}, ranks, 7);

    CHECK_U64(out.tally.unfinished, 0);
    CHECK_U64(out.tally.latency.n, 3);
    CHECK(out.tally.latency.min == 2000000 && out.tally.latency.max == 2300000);
    CHECK(out.tally.all.finish.max == 3 * 2000000 + 100000 + 300000);
}

static void messages_of_collectives_count(void)
{
    static const struct wf_op ops[] = {BARRIER, END};
    static const struct wf_op *const ranks[] = {ops, ops, ops, ops};
    struct outcome out = replay_script((struct setup){.net = &wf_net_alphabeta_ops}, ranks, 4);

    CHECK(out.tally.all.messages == 8 && out.tally.latency.n == 8);
    CHECK(out.tally.latency.min == 2000000 && out.tally.latency.max == 2000000);
}

/* Random traffic on a ring of 9: distances 1 to 4, all pairs alike, 2.5 hops on average. */
static void random_traffic_measures_the_mean_distance(void)
{
    struct wf_source *source = gen_make(&wf_gen_random_ops, 9, "bytes=0 messages=4000 seed=3");
    struct outcome out = replay(
        &(struct setup){.source = source, .net = &wf_net_latency_ops, .topo = "torus:9"});
    CHECK_U64(out.tally.latency.n, 36000);
    CHECK(out.tally.latency.min == 100000 && out.tally.latency.max == 400000);
    int64_t mean = wf_stat_mean(&out.tally.latency);
    CHECK(mean > 245000 && mean < 255000);
    wf_source_free(source);
}

static void too_many_ranks_on_a_node_are_refused(void)
{
    const struct wf_place place = wf_place_linear(1, 65537);
    struct wf_err err = {.status = WF_OK};

    CHECK(try_place(&place, 1, &err) == WF_EINVAL);
    CHECK_STR(err.text, "65537 ranks on a node are too many; the limit is 65536");
}

int main(void)
{
    RUN(a_latency_runs_from_departure_to_arrival);
    RUN(waiting_for_the_interface_is_part_of_it);
    RUN(ranks_that_share_a_node_get_their_own_messages);
    RUN(messages_of_collectives_count);
    RUN(random_traffic_measures_the_mean_distance);
    RUN(too_many_ranks_on_a_node_are_refused);
    return wf_test_done();
}
