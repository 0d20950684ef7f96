/* SPDX-License-Identifier: Apache-2.0 */
/* Task graphs inside a node: messages between its PEs, to the picosecond, under every
 * scheduler. The equations are in docs/models/node.md. */
#include "harness/pe_harness.h"
#include "net/alphabeta.h"
#include "ranks/node_params.h"

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

/* The time of a run under every scheduler; -1 if they differ. */
static int64_t time_of(const struct drawing *d, const char *const *settings)
{
    struct wf_node_params node = {.sockets = 0};
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct wf_err err = {.status = WF_OK};
    struct pe_setup setup = {
        .graph = &d->graph,
        .net_ops = &wf_net_alphabeta_ops,
        .mpi = {.local = true,
                .local_latency = LATENCY,
                .local_bandwidth = UINT64_C(100000000000) * WF_RATE_BYTE},
        .pes_per_node = d->graph.n_pes,
        .node = &node,
    };
    struct outcome expected = {.status = WF_OK};
    int64_t time = -1;

    must(wf_param_defaults(wf_node_params, &node, &err), &err);
    for (; *settings != NULL; settings += 2) {
        must(wf_param_set(wf_node_params, &node, "", settings[0], settings[1], &err), &err);
    }
    for (size_t i = 0; way_to_run(i, &config); i++) {
        struct wf_pe_tally tally;
        struct outcome out = run_pes(setup, &config, &tally);

        expected = i == 0 ? out : expected;
        time = i == 0 ? tally.replay.jobs[0].finish.max : time;
        if (out.status != WF_OK || tally.replay.unfinished > 0 ||
            tally.replay.jobs[0].finish.max != time ||
            !same_outcome(&config, &expected, &out)) {
            time = -1;
            break;
        }
    }
    wf_param_release(wf_node_params, &node);
    return time;
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

int main(void)
{
    RUN(messages_take_longer_the_less_the_pes_share);
    RUN(k_pairs_in_a_domain_exchange_k_times_slower);
    return wf_test_done();
}
