/* SPDX-License-Identifier: Apache-2.0 */
/* Task graphs inside a node: messages between its PEs, to the picosecond, under every
 * scheduler. The equations are in docs/models/node.md. */
#include "harness/pe_harness.h"
#include "model/net/alphabeta.h"
#include "model/net/loggp.h"
#include "model/ranks/node_params.h"
#include "model/ranks/noise.h"

enum { LATENCY = 1000000, BYTES = 5000, PASS = 10 * BYTES };

/* Pairs of PEs on one node exchange messages of the same size at the start. */
static struct drawing pairs(uint32_t k)
{
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 2 * k}};

    for (uint32_t pe = 0; pe < 2 * k; pe++) {
        uint32_t send = draw_task(&d, pe, 0), receive = draw_task(&d, pe, 0);

        draw_send(&d, pe, send,
                  (struct wf_task_send){.bytes = BYTES, .pe = pe ^ 1, .id = receive});
    }
    return d;
}

enum { SEED = 5 };

static struct wf_job_tally last_outcome; /* of the last run */

/* The time of a run under every scheduler; -1 if they differ. */
static int64_t time_on(const struct wf_net_ops *net, uint32_t pes_per_node,
                       const struct drawing *d, const char *const *settings)
{
    struct wf_pe_tally tally;
    struct pe_setup setup = {
        .graph = &d->graph,
        .net_ops = net,
        .mpi = {.local = true,
                .local_latency = LATENCY,
                .local_bandwidth = UINT64_C(100000000000) * WF_RATE_BYTE},
        .pes_per_node = pes_per_node,
        .seed = SEED,
    };

    bool same = run_every_way(setup, settings, &tally);
    last_outcome = tally.replay.all;
    return same ? last_outcome.finish.max : -1;
}

/* Likewise with all PEs on one node. */
static int64_t time_of(const struct drawing *d, const char *const *settings)
{
    return time_on(&wf_net_alphabeta_ops, d->graph.n_pes, d, settings);
}

/* Two PEs a node send to the other node at once. With one network interface the second message
 * waits until the first one and the gap of loggp (100 ns) are over. */
static void pes_have_network_interfaces(void)
{
    static const char *const one[] = {"nics", "1", NULL};
    static const char *const two[] = {"nics", "2", NULL};
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 4}};

    for (uint32_t pe = 0; pe < 4; pe++) {
        uint32_t send = draw_task(&d, pe, 0), receive = draw_task(&d, pe, 0);

        draw_send(&d, pe, send,
                  (struct wf_task_send){.bytes = BYTES, .pe = (pe + 2) % 4, .id = receive});
    }
    int64_t alone = time_on(&wf_net_loggp_ops, 2, &d, two);
    CHECK(alone > 0);
    CHECK_U64((uint64_t)time_on(&wf_net_loggp_ops, 2, &d, one),
              (uint64_t)alone + (BYTES - 1) * 100 + 100000);
}

static void messages_take_longer_the_less_the_pes_share(void)
{
    static const char *const inside[] = {"domains", "2", "local_latency", "1us,2us,4us", NULL};
    static const char *const apart[] = {"domains",       "2",           "bind", "spread",
                                        "local_latency", "1us,2us,4us", NULL};
    static const char *const far[] = {
        "sockets", "2", "domains", "2", "bind", "spread", "local_latency", "1us,2us,4us", NULL};
    const struct drawing d = pairs(2);

    CHECK_U64((uint64_t)time_of(&d, inside), LATENCY + PASS);
    CHECK_U64((uint64_t)time_of(&d, apart), 2 * LATENCY + PASS);
    CHECK_U64((uint64_t)time_of(&d, far), 4 * LATENCY + PASS);
}

static void k_pairs_in_a_domain_exchange_k_times_slower(void)
{
    static const char *const one[] = {"memory_bandwidth", "100GB/s", NULL};
    static const char *const two[] = {"domains", "2", "memory_bandwidth", "100GB/s", NULL};

    for (uint32_t k = 1; k <= PES_MAX / 2; k++) {
        const struct drawing d = pairs(k);

        CHECK_U64((uint64_t)time_of(&d, one), LATENCY + 2 * k * PASS);
    }
    const struct drawing d = pairs(4);
    CHECK_U64((uint64_t)time_of(&d, two), LATENCY + 4 * PASS);
}

/* A task of 10 us that sends at 2 us and at 7 us to a task of 3 us on the other PE, which needs
 * both messages. */
static struct drawing two_messages(void)
{
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 2}};
    uint32_t send = draw_task(&d, 0, 10000000), receive = draw_task(&d, 1, 3000000);

    draw_send(&d, 0, send, (struct wf_task_send){.offset = 2000000, .pe = 1, .id = receive});
    draw_send(&d, 0, send, (struct wf_task_send){.offset = 7000000, .pe = 1, .id = receive});
    return d;
}

static void tasks_are_interrupted(void)
{
    static const char *const noisy[] = {
        "noise", "uniform", "noise_period", "1us", "noise_duration", "100ns", NULL};
    const struct wf_node_params params = {
        .noise = WF_NODE_NOISE_UNIFORM, .noise_period = 1000000, .noise_duration = 100000};
    const struct wf_noise noise = wf_noise_init(&params, SEED);
    const struct drawing d = two_messages();
    int64_t sent = wf_noise_end(&noise, (struct wf_noise_core){0, 0}, 0, 7000000);
    int64_t end = wf_noise_end(&noise, (struct wf_noise_core){0, 0}, 0, 10000000);
    int64_t received =
        wf_noise_end(&noise, (struct wf_noise_core){0, 1}, sent + LATENCY, 3000000);

    CHECK_U64((uint64_t)time_of(&d, noisy), (uint64_t)(end > received ? end : received));
    CHECK(end > 10500000 && received > 7000000 + LATENCY + 3000000);
}

/* Two cores of 75 GB/s draw 1.5 times of what the domain has. */
static void tasks_share_memory_bandwidth(void)
{
    static const char *const bound[] = {
        "memory_bound", "1", "core_bandwidth", "75GB/s", "memory_bandwidth", "100GB/s", NULL};
    const struct drawing d = two_messages();

    CHECK_U64((uint64_t)time_of(&d, bound), 10500000 + LATENCY + 4500000);
}

/* Two PEs on one core: their tasks need nothing. */
static void pes_of_a_core_take_turns(void)
{
    static const char *const one[] = {"cores", "1", NULL};
    static const char *const costly[] = {"cores", "1", "switch_cost", "10ps", NULL};
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 2}};

    (void)draw_task(&d, 0, 500);
    (void)draw_task(&d, 0, 200);
    (void)draw_task(&d, 1, 30);
    CHECK_U64((uint64_t)time_of(&d, one), 730);
    CHECK_U64((uint64_t)last_outcome.finish.min, 700);
    CHECK_U64((uint64_t)last_outcome.wait[WF_IN_CORE].max, 700);
    CHECK_U64((uint64_t)last_outcome.wait[WF_IN_RECV].max, 0);
    CHECK_U64((uint64_t)time_of(&d, costly), 740);
}

/* PE 0 runs a task of 10 us. Meanwhile messages from the other node make a task of PE 0 ready,
 * and later one of PE 1: both wait for the core and run in this order. */
static void ready_tasks_of_a_core_run_in_order(void)
{
    static const char *const one[] = {"cores", "1", NULL};
    struct drawing d = {.graph = {.ops = &drawing_ops, .n_pes = 4}};
    uint32_t send = draw_task(&d, 2, 2000);

    (void)draw_task(&d, 0, 10000000);
    uint32_t own = draw_task(&d, 0, 3000000), other = draw_task(&d, 1, 500000);
    draw_send(&d, 2, send, (struct wf_task_send){.offset = 1000, .pe = 0, .id = own});
    draw_send(&d, 2, send, (struct wf_task_send){.offset = 2000, .pe = 1, .id = other});
    CHECK_U64((uint64_t)time_on(&wf_net_alphabeta_ops, 2, &d, one), 13500000);
    CHECK_U64((uint64_t)last_outcome.wait[WF_IN_CORE].max, 13000000 - 2002000);
    CHECK_U64((uint64_t)last_outcome.wait[WF_IN_RECV].max, 2002000);
}

int main(void)
{
    RUN(pes_of_a_core_take_turns);
    RUN(ready_tasks_of_a_core_run_in_order);
    RUN(tasks_are_interrupted);
    RUN(tasks_share_memory_bandwidth);
    RUN(messages_take_longer_the_less_the_pes_share);
    RUN(k_pairs_in_a_domain_exchange_k_times_slower);
    RUN(pes_have_network_interfaces);
    return wf_test_done();
}
