/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/ranks.h"

#include "harness/gen_make.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/ranks/cpu/cpu.h"

enum { RANKS_MAX = 33 };

static const struct setup loggp = {.net = &wf_net_loggp_ops};

/* A program of n ranks that all run the same ops. */
static struct outcome run_same(struct setup setup, const struct wf_op *ops, uint32_t n_ranks)
{
    const struct wf_op *ranks[RANKS_MAX];

    if (n_ranks > RANKS_MAX) {
        abort();
    }
    for (uint32_t i = 0; i < n_ranks; i++) {
        ranks[i] = ops;
    }
    return replay_script(setup, ranks, n_ranks);
}

static uint64_t log2_down(uint64_t n)
{
    return n == 1 ? 0 : 1 + log2_down(n / 2);
}

static void collectives_end_with_the_right_number_of_messages(void)
{
    static const struct wf_op barrier[] = {BARRIER, END};
    static const struct wf_op allreduce[] = {ALLREDUCE(24), END};

    for (uint32_t n = 1; n <= RANKS_MAX; n++) {
        uint64_t down = log2_down(n), power = UINT64_C(1) << down;
        struct outcome out = run_same(loggp, barrier, n);
        CHECK(out.status == WF_OK && out.tally.unfinished == 0);
        CHECK_U64(out.tally.all.messages, n * (power == n ? down : down + 1));
        CHECK_U64(out.tally.all.bytes, 0);
        out = run_same(loggp, allreduce, n);
        CHECK(out.status == WF_OK && out.tally.unfinished == 0);
        CHECK_U64(out.tally.all.messages, power * down + 2 * (n - power));
        CHECK_U64(out.tally.all.bytes, 24 * out.tally.all.messages);
        CHECK_U64(out.tally.all.finish.n, n);
        CHECK_U64(out.tally.unreceived, 0);
    }
}

/* Each exchange of recursive doubling takes as long as one message, on an idle network. */
static void an_allreduce_of_a_power_of_two_takes_log2_messages(void)
{
    static const struct wf_net_alphabeta_params ab = {
        .alpha = 1000, .bandwidth = 1000000000000 * WF_RATE_BYTE};
    static const struct wf_op ops[] = {ALLREDUCE(24), END};

    for (uint32_t rounds = 0; rounds <= 5; rounds++) {
        struct outcome out = run_same(
            (struct setup){.net = &wf_net_alphabeta_ops, .net_params = &ab}, ops, 1U << rounds);
        CHECK_U64((uint64_t)out.tally.all.finish.max, UINT64_C(1024) * rounds);
        CHECK_U64((uint64_t)out.tally.all.finish.min, UINT64_C(1024) * rounds);
    }
}

/* Nobody leaves a barrier before the last has come. */
static void a_barrier_waits_for_the_slowest(void)
{
    static const struct wf_op slow[] = {COMPUTE(5000000000), BARRIER, END};
    static const struct wf_op fast[] = {BARRIER, END};

    for (uint32_t n = 2; n <= 9; n++) {
        const struct wf_op *ranks[9];
        for (uint32_t late = 0; late < n; late++) {
            for (uint32_t i = 0; i < n; i++) {
                ranks[i] = i == late ? slow : fast;
            }
            struct outcome out = replay_script(loggp, ranks, n);
            CHECK(out.tally.unfinished == 0);
            CHECK(out.tally.all.finish.min > 5000000000);
        }
    }
}

/* User messages with any tag pass collectives without being mistaken for theirs. */
static void collectives_and_messages_keep_apart(void)
{
    static const struct wf_op zero[] = {IRECV(1, 1, 0), ISEND(1, 1, 8, 1), ALLREDUCE(8),
                                        ALLREDUCE(8),   WAITALL(0, 2),     END};
    static const struct wf_op one[] = {IRECV(0, 1, 0), ALLREDUCE(8),  ISEND(0, 1, 8, 1),
                                       ALLREDUCE(8),   WAITALL(0, 2), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script(loggp, ranks, 2);

    CHECK(out.tally.unfinished == 0 && out.tally.unreceived == 0);
    CHECK_U64(out.tally.all.messages, 6);
}

/* A message sent early, with the tag that the barrier uses, does not open the barrier. */
static void a_message_does_not_pass_for_a_step_of_a_collective(void)
{
    static const struct wf_op zero[] = {SEND(1, 1, 0), COMPUTE(1000000000), BARRIER, END};
    static const struct wf_op one[] = {BARRIER, COMPUTE(1000000000), RECV(0, 1), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script(loggp, ranks, 2);

    CHECK(out.tally.unfinished == 0);
    CHECK(out.tally.all.finish.max > 2000000000);
}

static void a_deadlock_names_the_ranks_and_what_they_wait_for(void)
{
    static const struct wf_op zero[] = {RECV(1, 17), SEND(1, 3, 8), END};
    static const struct wf_op one[] = {RECV(0, 3), SEND(0, 17, 8), END};
    static const struct wf_op two[] = {COMPUTE(1000), END};
    static const struct wf_op *const ranks[] = {zero, one, two};
    struct outcome out = replay_script(loggp, ranks, 3);

    CHECK(out.status == WF_OK);
    CHECK_U64(out.tally.unfinished, 2);
    CHECK_U64(out.tally.n_blocked, 2);
    const struct wf_blocked *blocked = out.tally.blocked;
    CHECK(blocked[0].rank == 0 && blocked[0].on.in == WF_BLOCKED_RECV);
    CHECK(blocked[0].on.peer == 1 && blocked[0].on.tag == 17);
    CHECK(blocked[1].rank == 1 && blocked[1].on.in == WF_BLOCKED_RECV);
    CHECK(blocked[1].on.peer == 0 && blocked[1].on.tag == 3);
    CHECK(blocked[1].on.coll == 0 && blocked[1].failure == WF_FAILURE_NONE);
    CHECK_U64(out.tally.all.finish.n, 1);
    CHECK(out.tally.all.finish.max == 1000);
}

static void a_missing_rank_in_a_collective_is_a_deadlock_too(void)
{
    static const struct wf_op in[] = {BARRIER, END};
    static const struct wf_op out_of_it[] = {END};
    static const struct wf_op *const ranks[] = {in, in, out_of_it, in};
    struct outcome out = replay_script(loggp, ranks, 4);

    CHECK_U64(out.tally.unfinished, 3);
    CHECK_U64(out.tally.blocked[0].on.coll, WF_COLL_BARRIER + 1);
}

static void a_message_nobody_wants_is_counted(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, 8), SEND(1, 1, 8), END};
    static const struct wf_op one[] = {RECV(0, 1), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script(loggp, ranks, 2);

    CHECK_U64(out.tally.unfinished, 0);
    CHECK_U64(out.tally.unreceived, 1);
}

static void the_times_of_a_rank_add_up(void)
{
    static const struct wf_op zero[] = {COMPUTE(700), SEND(1, 0, 100), RECV(1, 0), END};
    static const struct wf_op one[] = {RECV(0, 0), COMPUTE(300), SEND(0, 0, 100), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script(loggp, ranks, 2);
    const struct wf_ranks_tally *t = &out.tally;

    const struct wf_job_tally *job = &t->all;
    CHECK_U64(job->compute.sum_low + job->wait[WF_IN_RECV].sum_low + job->overhead.sum_low,
              job->finish.sum_low);
    CHECK_U64(job->compute.sum_low, 1000);
    CHECK(wf_stat_mean(&job->overhead) == 1000000);
    CHECK(job->wait[WF_IN_SEND].max == 0 && job->wait[WF_IN_COLLECTIVE].max == 0);
}

/* The latency model: hops * 100 ns + bytes / 10 GB/s; node 0 to 2 on a ring of 5 is two hops.
 */
static void the_latency_model_counts_hops(void)
{
    static const struct wf_op zero[] = {SEND(2, 0, 1000), END};
    static const struct wf_op idle[] = {END};
    static const struct wf_op two[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, idle, two, idle, idle};
    struct outcome out =
        replay_script((struct setup){.net = &wf_net_latency_ops, .topo = "torus:5"}, ranks, 5);

    CHECK(out.tally.all.finish.max == 2 * 100000 + 100000);
}

/* Sends one message of 1000 bytes from the first rank to another of 12 on nested networks and
 * returns when it is there, in picoseconds. */
static int64_t nested_latency(const char *topo, uint32_t to)
{
    static const struct wf_op idle[] = {END};
    static uint64_t latencies[] = {1000000, 100000};
    static uint64_t rates[] = {1000000000 * WF_RATE_BYTE, 10000000000 * WF_RATE_BYTE};
    const struct wf_net_latency_params params = {.link_latency = {latencies, 2},
                                                 .bandwidth = {rates, 2}};
    const struct wf_op send[] = {SEND(to, 0, 1000), END}, recv[] = {RECV(0, 0), END};
    const struct wf_op *ranks[12];

    for (uint32_t i = 0; i < 12; i++) {
        ranks[i] = idle;
    }
    ranks[0] = send;
    ranks[to] = recv;
    struct outcome out = replay_script(
        (struct setup){.net = &wf_net_latency_ops, .net_params = &params, .topo = topo}, ranks,
        12);
    return out.tally.all.finish.max;
}

/* Outside 1 us and 1 GB/s (1000 bytes: 1 us), inside 100 ns and 10 GB/s (1000 bytes: 100 ns).
 */
static void a_hierarchy_costs_every_level_crossed_and_the_lowest_bandwidth(void)
{
    /* A mesh of 3 in each node of a ring of 4; its gate is its node 0. */
    CHECK(nested_latency("torus:4/mesh:3", 2) == 2 * 100000 + 100000);
    CHECK(nested_latency("torus:4/mesh:3", 3) == 1000000 + 1000000);
    CHECK(nested_latency("torus:4/mesh:3", 8) == 2 * 1000000 + 2 * 100000 + 1000000);
    /* A star's gate is its switch: one hop to it, one hop from it. */
    CHECK(nested_latency("torus:4/star:3", 1) == 2 * 100000 + 100000);
    CHECK(nested_latency("torus:4/star:3", 3) == 100000 + 1000000 + 100000 + 1000000);
}

static void a_rank_may_write_to_itself(void)
{
    static const struct wf_op ops[] = {ISEND(0, 0, 1000, 0), RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {ops};
    static const char *const network[] = {"local", "false", NULL};
    struct setup setup = {.net = &wf_net_latency_ops, .topo = "torus:1", .mpi = network};
    struct outcome out = replay_script(setup, ranks, 1);

    CHECK(out.tally.unfinished == 0);
    CHECK(out.tally.all.finish.max == 100000); /* no hop */
    setup.mpi = NULL;
    out = replay_script(setup, ranks, 1);
    CHECK(out.tally.all.finish.max == 300000 + 100000); /* the node's own path */
}

/* Ranks that share a node share its interface: they send in the order of time. */
static void ranks_on_one_node_share_the_interface_in_order_of_time(void)
{
    static const struct wf_net_loggp_params params = {.latency = 1000,
                                                      .overhead = 500,
                                                      .gap = 100,
                                                      .eager_max = WF_PARAM_WORD,
                                                      .bandwidth =
                                                          1000000000000 * WF_RATE_BYTE};
    static const struct wf_op zero[] = {COMPUTE(2000), SEND(2, 0, 10001), END};
    static const struct wf_op one[] = {COMPUTE(1000), SEND(3, 0, 10001), END};
    static const struct wf_op two[] = {RECV(0, 0), END};
    static const struct wf_op three[] = {RECV(1, 0), END};
    static const struct wf_op *const ranks[] = {zero, one, two, three};
    struct outcome out = replay_script(
        (struct setup){.net = &wf_net_loggp_ops, .net_params = &params, .ranks_per_node = 2},
        ranks, 4);

    /* Rank 1 sends at 1500; rank 0, ready at 2500, 10100 after that. */
    CHECK(out.tally.unfinished == 0);
    CHECK(out.tally.all.finish.max == 1500 + 10100 + 1000 + 10000 + 500);
}

/* Where clocks run ahead and where they do not, times are the same. */
static void running_ahead_changes_no_time(void)
{
    for (uint32_t n = 1; n <= 30; n++) {
        struct wf_source *source = gen_make(&wf_gen_stencil3d_ops, n,
                                            "bytes=5000 iterations=3 compute=1us allreduce=1");
        struct setup setup = {.source = source, .net = &wf_net_loggp_ops};
        struct outcome ahead = replay(&setup);
        setup.in_step = true;
        struct outcome in_step = replay(&setup);
        CHECK(ahead.tally.unfinished == 0);
        CHECK(memcmp(&ahead.tally, &in_step.tally, sizeof(ahead.tally)) == 0);
        CHECK(n == 1 || in_step.run.events_committed > ahead.run.events_committed);
        wf_source_free(source);
    }
}

/* Without contention it does not matter either how many ranks share a node. */
static void placement_changes_no_time_where_nothing_is_shared(void)
{
    struct wf_source *source =
        gen_make(&wf_gen_stencil3d_ops, 24, "bytes=5000 iterations=2 compute=1us allreduce=1");
    static const char *const network[] = {"local", "false", NULL};
    struct setup setup = {.source = source, .net = &wf_net_alphabeta_ops, .mpi = network};
    struct outcome alone = replay(&setup);
    for (setup.ranks_per_node = 2; setup.ranks_per_node <= 25; setup.ranks_per_node++) {
        struct outcome together = replay(&setup);
        CHECK(together.tally.unfinished == 0);
        CHECK(memcmp(&alone.tally, &together.tally, sizeof(alone.tally)) == 0);
    }
    wf_source_free(source);
}

/* 27 ranks in a cube, all alike: the whole iteration on paper. Six messages leave g + (k-1)G
 * apart; overheads of the first five are spent while later ones come in. */
static void a_stencil_takes_the_time_it_takes_on_paper(void)
{
    struct wf_source *source =
        gen_make(&wf_gen_stencil3d_ops, 27, "bytes=131072 iterations=3 compute=1ms");
    int64_t o = 500000, l = 1000000, g = 100000, tail = 13107100; /* 131071 B at 10 GB/s */

    struct outcome out = replay(&(struct setup){.source = source, .net = &wf_net_loggp_ops});
    int64_t exchange = o + 5 * (g + tail) + l + tail + o;
    CHECK_U64(out.tally.all.messages, UINT64_C(27) * 6 * 3);
    CHECK_U64(out.tally.all.bytes, UINT64_C(27) * 6 * 3 * 131072);
    CHECK_U64((uint64_t)out.tally.all.finish.max, (uint64_t)(3 * (exchange + 1000000000)));
    CHECK_U64((uint64_t)out.tally.all.finish.min, (uint64_t)out.tally.all.finish.max);
    wf_source_free(source);
}

/* A sender that never waits must not do its whole life in one event. */
static bool endless_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    if (cursor->word[0] == 10000) {
        return false;
    }
    cursor->word[0]++;
    *op = rank == 0 ? (struct wf_op)SEND(1, 0, 8) : (struct wf_op)RECV(0, 0);
    return true;
}

static void a_rank_that_never_waits_yields(void)
{
    static const struct wf_source_ops ops = {.name = "endless", .next = endless_next};
    static const struct wf_source source = {.ops = &ops, .n_ranks = 2};
    struct outcome out = replay(&(struct setup){.source = &source, .net = &wf_net_loggp_ops});

    CHECK(out.tally.unfinished == 0);
    CHECK_U64(out.tally.all.messages, 10000);
    CHECK(out.run.events_committed > 10002);
}

static void time_that_runs_out_is_an_error(void)
{
    static const struct wf_op zero[] = {COMPUTE(WF_TIME_MAX - 10), SEND(1, 0, 8), END};
    static const struct wf_op one[] = {RECV(0, 0), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script(loggp, ranks, 2);

    CHECK(out.status == WF_ELIMIT);
}

/* A rank that ends there schedules nothing that the engine could object to. */
static void a_clock_that_runs_out_is_counted(void)
{
    static const struct wf_op zero[] = {COMPUTE(WF_TIME_MAX), END};
    static const struct wf_op one[] = {COMPUTE(WF_TIME_MAX - 1), END};
    static const struct wf_op *const ranks[] = {zero, one};
    struct outcome out = replay_script(loggp, ranks, 2);

    CHECK(out.status == WF_OK);
    CHECK_U64(out.tally.timeless, 1);
}

static void a_network_of_another_size_is_refused(void)
{
    const struct wf_place place = wf_place_linear(3, 1);
    struct wf_err err = {.status = WF_OK};

    CHECK(try_place(&place, 2, &err) == WF_EINVAL);
    CHECK_STR(err.text, "3 ranks are placed on 3 nodes; the jobs have 3, the network 2");
}

static const char *one_region(const struct wf_source *source, enum wf_source_name kind,
                              uint32_t number)
{
    static const char *const names[] = {"outer", "inner"};

    return kind == WF_NAME_REGION && number < 2 ? names[number] : NULL;
}

/* A region has its value again when one within it is over. */
static void the_value_of_a_region_outlives_inner_ones(void)
{
    static const struct wf_source_ops named = {.name = "named", .name_of = one_region};
    static const struct wf_source program = {.ops = &named}, *const programs[] = {&program};
    static const struct wf_op ops[] = {
        {.kind = WF_OP_REGION_BEGIN, .tag = 0, .bytes = 3},
        COMPUTE(1),
        {.kind = WF_OP_REGION_BEGIN, .tag = 1, .bytes = 50},
        COMPUTE(1),
        MARK(REGION_END, 1),
        COMPUTE(1),
        MARK(REGION_END, 0),
        END,
    };
    struct wf_cpu_rule rules[2] = {{.text = "1us*n"}, {.text = "1ns*n"}};
    struct wf_cpu cpu = {.scale = WF_CPU_SCALE_ONE};
    struct wf_err err = {.status = WF_OK};
    struct wf_cpu_rules *made = NULL;

    CHECK(wf_cpu_rule_parse("region.outer", &rules[0]) == WF_CPU_REGION);
    CHECK(wf_cpu_rule_parse("region.inner", &rules[1]) == WF_CPU_REGION);
    must(wf_cpu_build(rules, 2, programs, 1, &made, &err), &err);
    cpu.rules = made;

    struct setup setup = loggp;
    setup.cpu = &cpu;
    CHECK(run_same(setup, ops, 1).tally.all.finish.max == 3000000 + 50000 + 3000000);
    wf_cpu_rules_free(made);
}

int main(void)
{
    RUN(collectives_end_with_the_right_number_of_messages);
    RUN(an_allreduce_of_a_power_of_two_takes_log2_messages);
    RUN(a_barrier_waits_for_the_slowest);
    RUN(collectives_and_messages_keep_apart);
    RUN(a_message_does_not_pass_for_a_step_of_a_collective);
    RUN(a_deadlock_names_the_ranks_and_what_they_wait_for);
    RUN(a_missing_rank_in_a_collective_is_a_deadlock_too);
    RUN(a_message_nobody_wants_is_counted);
    RUN(the_times_of_a_rank_add_up);
    RUN(the_latency_model_counts_hops);
    RUN(a_hierarchy_costs_every_level_crossed_and_the_lowest_bandwidth);
    RUN(a_rank_may_write_to_itself);
    RUN(ranks_on_one_node_share_the_interface_in_order_of_time);
    RUN(running_ahead_changes_no_time);
    RUN(placement_changes_no_time_where_nothing_is_shared);
    RUN(a_stencil_takes_the_time_it_takes_on_paper);
    RUN(a_rank_that_never_waits_yields);
    RUN(time_that_runs_out_is_an_error);
    RUN(a_clock_that_runs_out_is_counted);
    RUN(the_value_of_a_region_outlives_inner_ones);
    RUN(a_network_of_another_size_is_refused);
    return wf_test_done();
}
