/* SPDX-License-Identifier: Apache-2.0 */
/* One task graph on one network: every scheduler, with any number of threads, gives one digest
 * and one tally; and both granularities give one tally. */
#include "harness/gen_make.h"
#include "harness/pe_random.h"
#include "model/net/alphabeta.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/ranks/node_params.h"

/* Runs `setup` in every way and compares with the first. */
static void compare_all(const struct pe_setup *setup)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct wf_pe_tally expected, tally;
    struct outcome first = run_in_order(setup, &expected);

    CHECK(first.status == WF_OK);
    for (size_t i = 0; way_to_run(i, &config); i++) {
        struct outcome out = run_pes(*setup, &config, &tally);
        CHECK(same_outcome(&config, &first, &out));
        CHECK(memcmp(&expected, &tally, sizeof(tally)) == 0);
    }
}

static void compare_granularities(struct pe_setup setup)
{
    struct wf_pe_tally single, multi;

    setup.granularity = WF_PE_SINGLE;
    CHECK(run_in_order(&setup, &single).status == WF_OK);
    setup.granularity = WF_PE_MULTI;
    CHECK(run_in_order(&setup, &multi).status == WF_OK);
    CHECK(memcmp(&single, &multi, sizeof(multi)) == 0);
}

static void compare(struct pe_setup setup, bool exact)
{
    setup.granularity = WF_PE_SINGLE;
    compare_all(&setup);
    setup.granularity = WF_PE_MULTI;
    compare_all(&setup);
    if (exact) {
        compare_granularities(setup);
    }
}

static void random_graphs(void)
{
    static const struct wf_net_alphabeta_params params = {
        .alpha = 1000, .bandwidth = 1000000000 * WF_RATE_BYTE};
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct pe_setup setup = {.graph = &drawing->graph, .net_ops = &wf_net_alphabeta_ops};

    for (uint64_t seed = 0; seed < 40 / WF_TEST_ONE_IN; seed++) {
        draw_random(drawing, 1000 + seed, seed % 3 == 0 ? 100000 : 1000);
        setup.net_params = seed % 2 == 0 ? &params : NULL;
        setup.pes_per_node = 1 + (uint32_t)seed % 3;
        setup.in_step = seed % 5 == 0;
        compare(setup, true);
        CHECK(wf_test_failed == 0);
    }
    free(drawing);
}

/* Several streams, on networks that take messages ahead of time or in order, with several
 * interfaces, costs of messages and shared cores. */
static void random_graphs_with_streams(void)
{
    static const struct wf_net_ops *const nets[] = {&wf_net_alphabeta_ops, &wf_net_loggp_ops,
                                                    &wf_net_latency_ops};
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct wf_node_params node = wf_node_free;
    struct pe_setup setup = {.graph = &drawing->graph, .node = &node, .seed = 3};

    node.o_send = 700;
    node.o_recv = 900;
    node.noise_period = 1000000;
    node.noise_duration = 90000;
    for (uint64_t seed = 0; seed < 15 / WF_TEST_ONE_IN; seed++) {
        int64_t unit = seed % 2 == 0 ? 100000 : 1000;
        draw_random(drawing, 6000 + seed, unit);
        draw_streams(drawing, seed, unit, 2 + (uint32_t)seed % 4);
        setup.net_ops = nets[seed % 3];
        setup.topology = seed % 3 == 2 ? "torus:16" : NULL;
        setup.pes_per_node = 1 + (uint32_t)seed % 2;
        node.nics = 1 + seed % 2;
        node.cores = seed % 5 == 0 ? 1 : WF_PARAM_WORD;
        node.noise = (int)(seed % 4);
        draw_nics(drawing, 2);
        compare_all(&setup);
        compare_granularities(setup);
        CHECK(wf_test_failed == 0);
    }
    free(drawing);
}

/* Messages that take no time, interfaces that contend. */
static void random_graphs_on_other_networks(void)
{
    static const struct wf_net_ops *const nets[] = {&wf_net_none_ops, &wf_net_loggp_ops};
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct pe_setup setup = {.graph = &drawing->graph};

    for (uint64_t seed = 0; seed < 30 / WF_TEST_ONE_IN; seed++) {
        draw_random(drawing, 2000 + seed, 100000);
        setup.net_ops = nets[seed % 2];
        setup.pes_per_node = 1 + (uint32_t)seed % 4;
        compare(setup, seed % 2 == 1 && setup.pes_per_node == 1);
        CHECK(wf_test_failed == 0);
    }
    free(drawing);
}

/* All PEs are one process; messages are eager, long, or both. */
static void random_graphs_by_the_rules_of_loggopsim(void)
{
    struct wf_net_loggp_params params = {.latency = 700,
                                         .overhead = 200,
                                         .gap = 300,
                                         .bandwidth = 1000000000000 * WF_RATE_BYTE,
                                         .per_byte = 1,
                                         .preset = WF_NET_LOGGP_LOGGOPSIM};
    static const uint64_t limits[] = {0, 100, WF_PARAM_WORD};
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    const struct pe_setup setup = {
        .graph = &drawing->graph, .net_ops = &wf_net_loggp_ops, .net_params = &params};

    for (uint64_t seed = 0; seed < 6; seed++) {
        draw_random(drawing, 3000 + seed, 1000);
        params.eager_max = limits[seed % 3];
        compare_all(&setup);
        compare_granularities(setup);
        CHECK(wf_test_failed == 0);
    }
    free(drawing);
}

/* All costs of messages, with and without a gap. */
static void random_graphs_with_node_costs(void)
{
    static const struct wf_net_ops *const nets[] = {&wf_net_latency_ops, &wf_net_loggp_ops,
                                                    &wf_net_alphabeta_ops};
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct wf_node_params node = wf_node_free;
    struct pe_setup setup = {.graph = &drawing->graph, .node = &node};

    node.o_send = 700;
    node.o_recv = 900;
    node.copy_send = UINT64_C(3000000000) * WF_RATE_BYTE;
    node.copy_recv = UINT64_C(2000000000) * WF_RATE_BYTE;
    node.injection_delay = 1100;
    node.ejection_delay = 600;
    for (uint64_t seed = 0; seed < 12 / WF_TEST_ONE_IN; seed++) {
        draw_random(drawing, 5000 + seed, 100000);
        setup.net_ops = nets[seed % 3];
        setup.topology = seed % 3 == 0 ? "torus:8" : NULL;
        setup.pes_per_node = 1 + (uint32_t)seed % 2;
        setup.in_step = seed % 5 == 0;
        node.gap = seed % 4 < 2 ? 0 : 1500;
        /* Messages of several PEs at the same time may delay each other in another order. */
        compare(setup, setup.pes_per_node == 1 || (node.gap == 0 && seed % 3 != 1));
        CHECK(wf_test_failed == 0);
    }
    free(drawing);
}

static void random_graphs_on_shared_cores(void)
{
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct wf_node_params node = wf_node_free;
    struct pe_setup setup = {
        .graph = &drawing->graph, .net_ops = &wf_net_loggp_ops, .node = &node, .seed = 3};

    node.memory_bandwidth = UINT64_C(1000000000) * WF_RATE_BYTE;
    node.switch_cost = 70;
    node.noise_period = 1000000;
    node.noise_duration = 90000;
    for (uint64_t seed = 0; seed < 15 / WF_TEST_ONE_IN; seed++) {
        draw_random(drawing, 3000 + seed, 100000);
        setup.pes_per_node = 3 + (uint32_t)seed % 3;
        node.cores = 1 + seed % 2;
        node.noise = (int)(seed % 4);
        compare(setup, true);
        CHECK(wf_test_failed == 0);
    }
    free(drawing);
}

/* There are as many cores as PEs, but more slots: PEs acquire cores that nobody else wants. */
static void a_core_that_nobody_else_wants_changes_no_time(void)
{
    struct drawing *drawing = wf_xmalloc(sizeof(*drawing));
    struct wf_node_params node = wf_node_free;
    struct pe_setup setup = {
        .graph = &drawing->graph, .net_ops = &wf_net_loggp_ops, .node = &node};

    for (uint64_t seed = 0; seed < 40 / WF_TEST_ONE_IN; seed++) {
        struct wf_pe_tally alone, shared;

        draw_random(drawing, 4000 + seed, 100000);
        setup.pes_per_node = PES_MAX + 1;
        node.cores = WF_PARAM_WORD;
        CHECK(run_in_order(&setup, &alone).status == WF_OK);
        node.cores = PES_MAX;
        CHECK(run_in_order(&setup, &shared).status == WF_OK);
        struct wf_stat *wait = &shared.replay.all.wait[WF_IN_CORE];
        CHECK(wait->n == drawing->graph.n_pes && wait->max == 0);
        memset(wait, 0, sizeof(*wait));
        CHECK(memcmp(&alone, &shared, sizeof(alone)) == 0);
    }
    free(drawing);
}

static void leanmd(void)
{
    static const struct {
        uint32_t n_pes, pes_per_node;
        const char *cells;
        const struct wf_net_ops *net;
        const char *topology;
        const char *map;
    } cases[] = {
        {1, 1, "3x3x3", &wf_net_alphabeta_ops, NULL, "block"},
        {7, 1, "3x3x4", &wf_net_alphabeta_ops, NULL, "round_robin"},
        {27, 1, "3x3x3", &wf_net_latency_ops, "torus:3x3x3", "block"},
        {60, 4, "3x3x3", &wf_net_latency_ops, "torus:5x3", "round_robin"},
        {20, 1, "3x3x3", &wf_net_loggp_ops, NULL, "block"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_graph *graph =
            gen_make_graph(&wf_gen_leanmd_ops, cases[i].n_pes, "cells=%s map=%s",
                           cases[i].cells, cases[i].map);
        struct pe_setup setup = {.graph = graph,
                                 .net_ops = cases[i].net,
                                 .topology = cases[i].topology,
                                 .pes_per_node = cases[i].pes_per_node};

        compare(setup, true);
        wf_graph_free(graph);
        CHECK(wf_test_failed == 0);
    }
}

/* A run that ends in a deadlock ends in the same one everywhere. */
static void a_deadlock(void)
{
    struct drawing drawing = {.graph = {.ops = &drawing_ops, .n_pes = 4}};
    struct pe_setup setup = {.graph = &drawing.graph, .net_ops = &wf_net_alphabeta_ops};

    for (uint32_t pe = 0; pe < 4; pe++) {
        uint32_t a = draw_task(&drawing, pe, 100), b = draw_task(&drawing, pe, 50);
        draw_next(&drawing, pe, a, b);
    }
    for (uint32_t pe = 0; pe < 4; pe++) {
        draw_send(&drawing, pe, 1, (struct wf_task_send){.pe = (pe + 1) % 4, .id = 1});
    }
    compare(setup, true);
}

int main(void)
{
    RUN(random_graphs);
    RUN(random_graphs_with_streams);
    RUN(random_graphs_on_other_networks);
    RUN(random_graphs_by_the_rules_of_loggopsim);
    RUN(random_graphs_with_node_costs);
    RUN(random_graphs_on_shared_cores);
    RUN(a_core_that_nobody_else_wants_changes_no_time);
    RUN(leanmd);
    RUN(a_deadlock);
    return wf_test_done();
}
