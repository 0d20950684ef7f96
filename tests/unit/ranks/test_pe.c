/* SPDX-License-Identifier: Apache-2.0 */
/* When tasks run. Compares small graphs with times worked out by hand, and random ones with a
 * simple simulation that steps from one picosecond to the next. */
#include "harness/pe_harness.h"
#include "model/net/alphabeta.h"
#include "model/net/loggp.h"
#include "model/ranks/cpu/cpu.h"

/* 1 byte/ns, 1 us: a message of b bytes takes 1000 + b ns. */
#define NS         INT64_C(1000)
#define ALPHA      (1000 * NS)
#define MESSAGE(b) (ALPHA + (b)*NS)

static const struct wf_net_alphabeta_params plain = {.alpha = ALPHA,
                                                     .bandwidth = 1000000000 * WF_RATE_BYTE};

static struct pe_setup on_plain(const struct wf_graph *graph)
{
    return (struct pe_setup){
        .graph = graph, .net_ops = &wf_net_alphabeta_ops, .net_params = &plain};
}

static struct drawing new_drawing(uint32_t n_pes)
{
    return (struct drawing){.graph = {.ops = &drawing_ops, .n_pes = n_pes}};
}

/* Runs in both granularities, both ways of sending, and checks when the last PE is done. */
static void check_finish(struct pe_setup setup, int64_t first, int64_t last)
{
    for (int i = 0; i < 4; i++) {
        struct wf_pe_tally tally;

        setup.granularity = i % 2 == 0 ? WF_PE_SINGLE : WF_PE_MULTI;
        setup.in_step = i / 2 == 1;
        CHECK(run_in_order(&setup, &tally).status == WF_OK);
        CHECK_U64(tally.replay.unfinished, 0);
        CHECK_U64(tally.replay.unreceived, 0);
        CHECK_U64((uint64_t)tally.replay.all.finish.min, (uint64_t)first);
        CHECK_U64((uint64_t)tally.replay.all.finish.max, (uint64_t)last);
    }
}

static void a_chain(void)
{
    struct drawing d = new_drawing(1);
    uint32_t a = draw_task(&d, 0, 10), b = draw_task(&d, 0, 20), c = draw_task(&d, 0, 30);

    /* Against the order of their numbers, so that only the dependencies give it. */
    draw_next(&d, 0, c, b);
    draw_next(&d, 0, b, a);
    check_finish(on_plain(&d.graph), 30 + 20 + 10, 30 + 20 + 10);

    struct pe_setup late = on_plain(&d.graph);
    late.start = 500;
    check_finish(late, 500 + 60, 500 + 60);
}

/* 0 forks to 1, 2, 3 on its own PE and to a task on each of two others; 4 joins them all. */
static void fork_and_join(void)
{
    struct drawing d = new_drawing(3);
    uint32_t fork = draw_task(&d, 0, 100 * NS), join = draw_task(&d, 0, 7 * NS);

    for (int i = 0; i < 3; i++) {
        uint32_t task = draw_task(&d, 0, 50 * NS);
        draw_next(&d, 0, fork, task);
        draw_next(&d, 0, task, join);
    }
    for (uint32_t pe = 1; pe < 3; pe++) {
        uint32_t task = draw_task(&d, pe, pe * 1000 * NS);
        draw_send(&d, 0, fork,
                  (struct wf_task_send){.offset = 100 * NS, .bytes = 20, .pe = pe, .id = task});
        draw_send(
            &d, pe, task,
            (struct wf_task_send){.offset = pe * 1000 * NS, .bytes = 30, .pe = 0, .id = join});
    }
    /* PE 1: fork, message, task. PE 0: likewise with PE 2, message back, join. */
    check_finish(on_plain(&d.graph), 100 * NS + MESSAGE(20) + 1000 * NS,
                 100 * NS + MESSAGE(20) + 2000 * NS + MESSAGE(30) + 7 * NS);
}

/* Messages leave in the middle of their task. */
static void ping_pong_with_offsets(void)
{
    enum { ROUNDS = 5 };
    struct drawing d = new_drawing(2);

    for (uint32_t i = 0; i <= 2 * ROUNDS; i++) {
        (void)draw_task(&d, i % 2, 300 * NS);
    }
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        draw_send(&d, i % 2, i / 2,
                  (struct wf_task_send){
                      .offset = 200 * NS, .bytes = 8, .pe = (i + 1) % 2, .id = (i + 1) / 2});
    }
    int64_t leg = 200 * NS + MESSAGE(8);
    check_finish(on_plain(&d.graph), (2 * ROUNDS - 1) * leg + 300 * NS,
                 2 * ROUNDS * leg + 300 * NS);

    /* Two PEs on a node: by its memory instead. */
    struct pe_setup setup = on_plain(&d.graph);
    setup.pes_per_node = 2;
    setup.mpi = (struct wf_mpi_params){
        .local = true, .local_latency = 11 * NS, .local_bandwidth = 2000000000 * WF_RATE_BYTE};
    leg = 200 * NS + 11 * NS + 4 * NS;
    check_finish(setup, (2 * ROUNDS - 1) * leg + 300 * NS, 2 * ROUNDS * leg + 300 * NS);
}

/* Three tasks become ready while the PE is busy: by messages of different lengths, whose heads
 * come in another order than their ends. */
static void ready_tasks_wait_in_order(void)
{
    struct drawing d = new_drawing(3);
    uint32_t root = draw_task(&d, 0, 10000 * NS);
    uint32_t third = draw_task(&d, 0, 10 * NS), first = draw_task(&d, 0, 200 * NS);
    uint32_t second = draw_task(&d, 0, 3000 * NS);
    uint32_t a = draw_task(&d, 1, 600 * NS);
    uint32_t sink[3] = {draw_task(&d, 2, 1 * NS), draw_task(&d, 2, 2 * NS),
                        draw_task(&d, 2, 4 * NS)};
    const uint32_t order[3] = {first, second, third};

    (void)root;
    /* At 0 + MESSAGE(900), 100 + MESSAGE(500), 300 + MESSAGE(400). */
    draw_send(&d, 1, a, (struct wf_task_send){.bytes = 900, .pe = 0, .id = third});
    draw_send(&d, 1, a,
              (struct wf_task_send){.offset = 100 * NS, .bytes = 500, .pe = 0, .id = first});
    draw_send(&d, 1, a,
              (struct wf_task_send){.offset = 300 * NS, .bytes = 400, .pe = 0, .id = second});
    for (uint32_t i = 0; i < 3; i++) {
        draw_send(&d, 0, order[i], (struct wf_task_send){.bytes = 0, .pe = 2, .id = sink[i]});
    }
    /* PE 2 gets its messages at the starts of the three, and the last is the third. */
    int64_t starts = 10000 * NS + 200 * NS + 3000 * NS;
    check_finish(on_plain(&d.graph), 600 * NS, starts + MESSAGE(0) + 4 * NS);
}

/* A task that needs a task and a message: whichever is later counts. */
static void message_before_and_after_the_task(void)
{
    for (int64_t before = 0; before < 2; before++) {
        int64_t busy = before ? 5000 * NS : 100 * NS;
        struct drawing d = new_drawing(2);
        uint32_t a = draw_task(&d, 0, busy), b = draw_task(&d, 0, 40 * NS);
        uint32_t s = draw_task(&d, 1, 10 * NS);

        draw_next(&d, 0, a, b);
        draw_send(&d, 1, s,
                  (struct wf_task_send){.offset = 10 * NS, .bytes = 64, .pe = 0, .id = b});
        int64_t message = 10 * NS + MESSAGE(64);
        check_finish(on_plain(&d.graph), 10 * NS, (before ? busy : message) + 40 * NS);
    }
}

/* The head of the message comes before the task is over, its end after. */
static void message_that_is_on_its_way(void)
{
    struct drawing d = new_drawing(2);
    uint32_t a = draw_task(&d, 0, 1500 * NS), b = draw_task(&d, 0, 40 * NS);
    uint32_t other = draw_task(&d, 0, 300 * NS), s = draw_task(&d, 1, 0);

    draw_next(&d, 0, a, b);
    draw_next(&d, 0, a, other);
    draw_send(&d, 1, s, (struct wf_task_send){.bytes = 900, .pe = 0, .id = b});
    /* a to 1500, then the other one to 1800, then b, which has been ready since 1900. */
    check_finish(on_plain(&d.graph), 0, MESSAGE(900) + 40 * NS);
}

/* What a task sends to its own PE is there at once. */
static void messages_to_oneself(void)
{
    struct drawing d = new_drawing(1);
    uint32_t a = draw_task(&d, 0, 100), b = draw_task(&d, 0, 10), c = draw_task(&d, 0, 1000);
    uint32_t e = draw_task(&d, 0, 5);

    draw_send(&d, 0, a, (struct wf_task_send){.offset = 30, .bytes = 99999, .pe = 0, .id = b});
    draw_next(&d, 0, a, c);
    draw_send(&d, 0, b, (struct wf_task_send){.offset = 10, .bytes = 1, .pe = 0, .id = e});
    /* a, b (ready at 30), c (at 100), e (at 110). */
    check_finish(on_plain(&d.graph), 100 + 10 + 1000 + 5, 100 + 10 + 1000 + 5);
}

/* Overheads are spent around a task: before it for what it needs, in it for what it sends. */
static void overheads(void)
{
    static const struct wf_net_loggp_params params = {.latency = 1000 * NS,
                                                      .overhead = 50 * NS,
                                                      .eager_max = WF_PARAM_WORD,
                                                      .bandwidth = 1000000000 * WF_RATE_BYTE};
    struct drawing d = new_drawing(2);
    uint32_t a = draw_task(&d, 0, 300 * NS), b = draw_task(&d, 1, 20 * NS);
    struct pe_setup setup = on_plain(&d.graph);

    draw_send(&d, 0, a,
              (struct wf_task_send){.offset = 100 * NS, .bytes = 1, .pe = 1, .id = b});
    setup.net_ops = &wf_net_loggp_ops;
    setup.net_params = &params;
    check_finish(setup, 300 * NS + 50 * NS, 100 * NS + 50 * NS + 1000 * NS + 50 * NS + 20 * NS);
}

/* PEs of a node whose messages leave in another order than their tasks begin: an interface that
 * wants them in the order of time gets them so. */
static void two_senders_on_a_node(void)
{
    static const struct wf_net_loggp_params params = {.latency = 1000 * NS,
                                                      .gap = 30 * NS,
                                                      .eager_max = WF_PARAM_WORD,
                                                      .bandwidth = 1000000000 * WF_RATE_BYTE};
    struct drawing d = new_drawing(4);
    struct pe_setup setup = on_plain(&d.graph);

    for (uint32_t pe = 0; pe < 2; pe++) {
        uint32_t task = draw_task(&d, pe, 900 * NS), sink = draw_task(&d, 2, 1 * NS);
        int64_t offset = pe == 0 ? 900 * NS : 100 * NS;
        draw_send(&d, pe, task,
                  (struct wf_task_send){.offset = offset, .bytes = 1, .pe = 2, .id = sink});
    }
    uint32_t sink = draw_task(&d, 3, 1 * NS);
    draw_send(&d, 2, 1, (struct wf_task_send){.bytes = 1, .pe = 3, .id = sink});
    setup.net_ops = &wf_net_loggp_ops;
    setup.net_params = &params;
    setup.pes_per_node = 2;
    /* PE 3 hears of the second message, which leaves first. */
    check_finish(setup, 900 * NS, (100 + 1000 + 1000 + 1) * NS);
    struct wf_pe_tally tally;
    setup.in_step = false;
    CHECK(run_in_order(&setup, &tally).status == WF_OK);
    CHECK_U64(tally.replay.all.finish.sum_low,
              2 * 900 * NS + 1901 * NS + (100 + 1000 + 1000 + 1) * NS);
}

/* More tasks that need nothing than are started in one event: PE 0 has many of 10 ns; then
 * comes one for which PE 1 has sent a message long before. */
enum { ROOTS = 1000 };

static uint32_t many_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    return pe == 0 ? ROOTS + 1 : 1;
}

static uint32_t many_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    return (pe == 0 && from < ROOTS) || (pe == 1 && from == 0) ? from : WF_NO_TASK;
}

static struct wf_task_needs many_needs(const struct wf_graph *graph, uint32_t pe, uint32_t task)
{
    return (struct wf_task_needs){.messages = (pe == 0 && task == ROOTS) || pe == 2};
}

static void many_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                      struct wf_task *out)
{
    *out = (struct wf_task){
        .pe = pe, .number = task, .duration = 10 * NS, .n_sends = pe < 2 && task % ROOTS == 0};
    if (pe == 0 && task == 0) {
        out->n_sends = 0;
    }
}

static void many_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                      struct wf_task_send *out)
{
    *out = (struct wf_task_send){.pe = task->pe == 0 ? 2 : 0, .id = task->pe == 0 ? 0 : ROOTS};
}

static void many_roots(void)
{
    static const struct wf_graph_ops ops = {.n_tasks = many_n_tasks,
                                            .root = many_root,
                                            .needs = many_needs,
                                            .task = many_task,
                                            .send = many_send};
    static const struct wf_graph graph = {.ops = &ops, .n_pes = 3};

    /* The message comes at 1 us, its task starts at 10 us, and PE 2 has it 1 us later. */
    check_finish(on_plain(&graph), 10 * NS, ROOTS * 10 * NS + MESSAGE(0) + 10 * NS);
}

static void faster_processors(void)
{
    static const struct wf_cpu half = {.scale = WF_CPU_SCALE_ONE / 2};
    struct drawing d = new_drawing(2);
    uint32_t a = draw_task(&d, 0, 300 * NS), b = draw_task(&d, 1, 20 * NS);
    struct pe_setup setup = on_plain(&d.graph);

    draw_send(&d, 0, a,
              (struct wf_task_send){.offset = 100 * NS, .bytes = 1, .pe = 1, .id = b});
    setup.cpu = &half;
    check_finish(setup, 150 * NS, 50 * NS + MESSAGE(1) + 10 * NS);
}

static void statistics(void)
{
    struct drawing d = new_drawing(2);
    uint32_t a = draw_task(&d, 0, 300 * NS), b = draw_task(&d, 1, 20 * NS);
    struct pe_setup setup = on_plain(&d.graph);
    struct wf_pe_tally tally;

    draw_send(&d, 0, a,
              (struct wf_task_send){.offset = 100 * NS, .bytes = 5, .pe = 1, .id = b});
    CHECK(run_in_order(&setup, &tally).status == WF_OK);
    const struct wf_job_tally *job = &tally.replay.all;
    CHECK_U64(tally.tasks, 2);
    CHECK_U64(job->messages, 1);
    CHECK_U64(job->bytes, 5);
    CHECK_U64((uint64_t)job->compute.max, 300 * NS);
    CHECK_U64(job->compute.sum_low, 320 * NS);
    CHECK_U64((uint64_t)job->wait[WF_IN_RECV].max, 100 * NS + MESSAGE(5));
    CHECK_U64((uint64_t)job->wait[WF_IN_RECV].min, 0);
    CHECK_U64(tally.replay.latency.n, 1);
    CHECK_U64((uint64_t)tally.replay.latency.max, MESSAGE(5));
}

static void deadlocks_are_named(void)
{
    struct drawing d = new_drawing(3);
    uint32_t a = draw_task(&d, 0, 10), b = draw_task(&d, 0, 10), c = draw_task(&d, 0, 10);
    uint32_t e = draw_task(&d, 1, 10);
    struct pe_setup setup = on_plain(&d.graph);
    struct wf_pe_tally tally;

    draw_next(&d, 0, a, b);
    draw_next(&d, 0, b, c);
    /* b and e wait for each other. */
    draw_send(&d, 0, b, (struct wf_task_send){.pe = 1, .id = e});
    draw_send(&d, 1, e, (struct wf_task_send){.pe = 0, .id = b});
    for (int i = 0; i < 2; i++) {
        setup.granularity = i == 0 ? WF_PE_SINGLE : WF_PE_MULTI;
        CHECK(run_in_order(&setup, &tally).status == WF_OK);
        CHECK_U64(tally.replay.unfinished, 2);
        CHECK_U64(tally.n_blocked, 2);
        CHECK_U64(tally.blocked[0].pe, 0);
        CHECK_U64(tally.blocked[0].task, b);
        CHECK_U64(tally.blocked[0].missing_tasks, 0);
        CHECK_U64(tally.blocked[0].tasks, 1);
        CHECK_U64(tally.blocked[0].missing_messages, 1);
        CHECK_U64(tally.blocked[0].started, 1);
        CHECK_U64(tally.blocked[0].n_tasks, 3);
        CHECK_U64(tally.blocked[1].pe, 1);
        CHECK_U64(tally.blocked[1].task, e);
        CHECK_U64(tally.blocked[1].missing_messages, 1);
        CHECK_U64(tally.replay.all.finish.n, 1); /* the PE without tasks */
    }
}

int main(void)
{
    RUN(a_chain);
    RUN(fork_and_join);
    RUN(ping_pong_with_offsets);
    RUN(ready_tasks_wait_in_order);
    RUN(message_before_and_after_the_task);
    RUN(message_that_is_on_its_way);
    RUN(messages_to_oneself);
    RUN(overheads);
    RUN(two_senders_on_a_node);
    RUN(many_roots);
    RUN(faster_processors);
    RUN(statistics);
    RUN(deadlocks_are_named);
    return wf_test_done();
}
