/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's tuning model, against times that were computed by hand from its tables, and against bus
 * bandwidths that its maintainers give. */
#include "model/coll/nccl.h"

#include "base/units.h"
#include "harness/wf_test.h"

#define GIB (UINT64_C(1) << 30)
#define US  INT64_C(1000000)

static struct wf_coll_args call(enum wf_coll_kind kind, uint32_t size, uint32_t node_size)
{
    return (struct wf_coll_args){.kind = kind, .size = size, .node_size = node_size};
}

/* Bus bandwidth of an allreduce in MB/s. */
static uint64_t bus(uint64_t bytes, uint32_t n, int64_t time)
{
    return (uint64_t)((double)bytes * 2 * (n - 1) / n / (double)time * 1e6);
}

/* 8.4 + 14 * 3.4 us, and 1 GiB at 370.8 * 8/14 GB/s. */
static void a_ring_in_a_node_is_latency_and_bandwidth(void)
{
    const struct wf_coll_args args = call(WF_COLL_ALLREDUCE, 8, 8);
    int64_t time = wf_coll_nccl_time(&args, GIB, WF_COLL_NCCL_RING, WF_COLL_SIMPLE);

    CHECK(time > 56 * US + 5067 * US - US && time < 56 * US + 5068 * US + US);
    CHECK_U64(bus(GIB, 8, time) / 1000, 366);
    time = wf_coll_nccl_time(&args, 0, WF_COLL_NCCL_RING, WF_COLL_LL);
    CHECK(time == 6600000 + 14 * 600000);
    time = wf_coll_nccl_time(&args, 0, WF_COLL_NCCL_TREE, WF_COLL_LL128);
    CHECK(time == 14000000 + 2 * 7 * 1250000);
}

/* 480 GB/s were measured, 370 without the switches; 6 % more is predicted. */
static void switches_that_reduce_are_faster_than_links(void)
{
    struct wf_coll_nccl machine = wf_coll_nccl_default;
    struct wf_coll_args args = call(WF_COLL_ALLREDUCE, 8, 8);
    struct wf_coll_nccl_choice choice = wf_coll_nccl_choose(&args, 8 * GIB, false);

    CHECK(choice.algorithm == WF_COLL_NCCL_NVLS && choice.protocol == WF_COLL_SIMPLE);
    CHECK_U64(bus(8 * GIB, 8, choice.time) / 1000, 509);
    args.nccl = &machine;
    machine.nvls = false;
    choice = wf_coll_nccl_choose(&args, 8 * GIB, false);
    CHECK(choice.algorithm == WF_COLL_NCCL_RING);
    CHECK_U64(bus(8 * GIB, 8, choice.time) / 1000, 370);
}

/* Two nodes of eight: 2 hops between nodes of 14 us, 28 within of 3.4 us, and 8.4; times 1.4. 16 KiB
 * take 82 ns. */
static void rings_of_several_nodes_pay_for_the_network(void)
{
    const struct wf_coll_args args = call(WF_COLL_ALLREDUCE, 16, 8);
    int64_t small = wf_coll_nccl_time(&args, 16, WF_COLL_NCCL_RING, WF_COLL_SIMPLE);
    int64_t large = wf_coll_nccl_time(&args, 16 * 16 * 64, WF_COLL_NCCL_RING, WF_COLL_SIMPLE);
    int64_t gather = wf_coll_nccl_time(
        &(struct wf_coll_args){.kind = WF_COLL_ALLGATHER, .size = 16, .node_size = 8}, 0,
        WF_COLL_NCCL_RING, WF_COLL_LL);

    CHECK(small / 1000 == 8400 + 28 * 3400 + 2 * 14000);
    CHECK(large / 1000 == (8400 + 28 * 3400 + 2 * 14000) * 14 / 10 + 82);
    /* Posting takes longer than a hop within a node. */
    CHECK(gather == 6600000 + 14 * 1000000 + 2700000);
}

/* Short data goes in lines with flags, up trees where there are many ranks. */
static void the_choice_depends_on_the_size(void)
{
    struct wf_coll_args args = call(WF_COLL_ALLREDUCE, 1024, 8);
    struct wf_coll_nccl_choice choice = wf_coll_nccl_choose(&args, 1024, true);

    CHECK(choice.algorithm == WF_COLL_NCCL_TREE && choice.protocol == WF_COLL_LL);
    choice = wf_coll_nccl_choose(&args, 64 * GIB, true);
    CHECK(choice.algorithm == WF_COLL_NCCL_RING && choice.protocol == WF_COLL_SIMPLE);
    args.kind = WF_COLL_ALLTOALL;
    CHECK(wf_coll_nccl_choose(&args, 1024 * 1024, false).protocol == WF_COLL_LL);
    CHECK(wf_coll_nccl_choose(&args, GIB, false).protocol == WF_COLL_SIMPLE);
    CHECK(!wf_coll_nccl_has(WF_COLL_SCAN) && !wf_coll_nccl_has(WF_COLL_BARRIER));
    CHECK(wf_coll_nccl_time(&args, 1, WF_COLL_NCCL_TREE, WF_COLL_LL) < 0);
}

/* Of 128 KiB of an alltoall 15 blocks of 8 KiB, doubled by LL: 7 over links, 8 over the network. */
static void pairs_share_links_and_network(void)
{
    const struct wf_coll_args args = call(WF_COLL_ALLTOALL, 16, 8);
    int64_t time = wf_coll_nccl_time(&args, 131072, WF_COLL_NCCL_PAIRS, WF_COLL_LL);

    CHECK(time == 6600000 + 2700000 + 8 * INT64_C(16384) * 1000 / 48);
}

/* More bytes never take less time, and numbers do not overflow. */
static void times_grow_with_the_data(void)
{
    static const uint32_t sizes[][2] = {{2, 1}, {2, 2}, {8, 8}, {24, 8}, {1024, 8}, {16384, 8}};
    struct wf_coll_nccl machine = wf_coll_nccl_default;

    for (int gpu = 0; gpu < WF_COLL_NCCL_GPUS; gpu++) {
        machine.gpu = gpu;
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
                struct wf_coll_args args =
                    call((enum wf_coll_kind)kind, sizes[i][0], sizes[i][1]);
                args.nccl = &machine;
                if (!wf_coll_nccl_has(args.kind)) {
                    continue;
                }
                CHECK(wf_coll_nccl_choose(&args, UINT64_MAX, false).time > 0);
                CHECK(wf_coll_nccl_choose(&args, 64 * GIB, false).time >
                      wf_coll_nccl_choose(&args, GIB, false).time);
            }
        }
    }
}

static void protocols_add_flags(void)
{
    CHECK_U64(wf_coll_wire_bytes(WF_COLL_PLAIN, 1000), 1000);
    CHECK_U64(wf_coll_wire_bytes(WF_COLL_LL, 1000), 2000);
    CHECK_U64(wf_coll_wire_bytes(WF_COLL_LL128, 1200), 1280);
    CHECK_U64(wf_coll_wire_bytes(WF_COLL_SIMPLE, 1000), 1000);
    CHECK(wf_coll_nccl_step_ps(WF_COLL_SIMPLE, false) == 11300000);
    CHECK(wf_coll_nccl_step_ps(WF_COLL_LL, true) == 0);
}

int main(void)
{
    RUN(a_ring_in_a_node_is_latency_and_bandwidth);
    RUN(switches_that_reduce_are_faster_than_links);
    RUN(rings_of_several_nodes_pay_for_the_network);
    RUN(the_choice_depends_on_the_size);
    RUN(pairs_share_links_and_network);
    RUN(times_grow_with_the_data);
    RUN(protocols_add_flags);
    return wf_test_done();
}
