/* SPDX-License-Identifier: Apache-2.0 */
/* Times of NCCL's collectives, against sums by hand of the rows of its table, and against bus
 * bandwidths that its maintainers give. */
#include "model/coll/nccl.h"

#include "base/units.h"
#include "harness/wf_test.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

static struct wf_coll_args call(enum wf_coll_kind kind, uint32_t size, uint32_t node_size)
{
    return (struct wf_coll_args){.kind = kind, .size = size, .node_size = node_size};
}

/* Bus bandwidth of an allreduce in MB/s. */
static uint64_t bus(uint64_t bytes, uint32_t n, int64_t time)
{
    return (uint64_t)((double)bytes * 2 * (n - 1) / n / (double)time * 1e6);
}

/* 17.4 + 14 * 1.9 us, and 7/4 MiB at 55 % of 240 GB/s: a ring of 8 A100 with LL128. */
static void a_row_is_latency_and_bandwidth(void)
{
    struct wf_coll_nccl machine = wf_coll_nccl_default;
    struct wf_coll_args args = call(WF_COLL_ALLREDUCE, 8, 8);

    machine.gpu = WF_COLL_NCCL_AMPERE;
    machine.nvlink = UINT64_C(240000000000) * WF_RATE_BYTE;
    args.nccl = &machine;
    struct wf_coll_nccl_choice choice = wf_coll_nccl_choose(&args, 4 * MIB, false);
    CHECK(choice.algorithm == WF_COLL_NCCL_RING && choice.protocol == WF_COLL_LL128);
    CHECK_U64((uint64_t)choice.time / 1000, 44000 + 4 * MIB * 7 / 4 / 132);
    /* 92 + 14 * 3.4 us; half of the data is no faster than its bandwidth. */
    choice = wf_coll_nccl_choose(&args, GIB, false);
    CHECK(choice.protocol == WF_COLL_SIMPLE);
    CHECK_U64(bus(GIB, 8, choice.time) / 1000, 229);
}

static void switches_that_reduce_are_faster_than_links(void)
{
    struct wf_coll_nccl machine = wf_coll_nccl_default;
    struct wf_coll_args args = call(WF_COLL_ALLREDUCE, 8, 8);
    struct wf_coll_nccl_choice choice = wf_coll_nccl_choose(&args, 8 * GIB, false);

    CHECK(choice.algorithm == WF_COLL_NCCL_NVLS && choice.protocol == WF_COLL_SIMPLE);
    CHECK_U64(bus(8 * GIB, 8, choice.time) / 1000, 476);
    args.nccl = &machine;
    machine.nvls = false;
    choice = wf_coll_nccl_choose(&args, 8 * GIB, false);
    CHECK(choice.algorithm == WF_COLL_NCCL_RING);
    CHECK_U64(bus(8 * GIB, 8, choice.time) / 1000, 365);
}

/* Interfaces limit several nodes: half as many give half of the bandwidth. */
static void nodes_share_their_interfaces(void)
{
    struct wf_coll_nccl machine = wf_coll_nccl_default;
    struct wf_coll_args args = call(WF_COLL_ALLGATHER, 32, 8);

    args.nccl = &machine;
    machine.nic = UINT64_C(20000000000) * WF_RATE_BYTE;
    machine.nics = 8;
    int64_t eight = wf_coll_nccl_choose(&args, 64 * GIB, false).time;
    machine.nics = 4;
    int64_t four = wf_coll_nccl_choose(&args, 64 * GIB, false).time;
    CHECK(four > eight * 19 / 10 && four <= eight * 2);
    machine.nics = 16;
    CHECK(wf_coll_nccl_choose(&args, 64 * GIB, false).time == eight);
    machine.nics_per_gpu = 2;
    CHECK(wf_coll_nccl_choose(&args, 64 * GIB, false).time < eight * 6 / 10);
    CHECK_U64(wf_coll_traffic_bytes(&args, 32 * MIB), 3 * MIB);
    args.kind = WF_COLL_ALLREDUCE;
    CHECK_U64(wf_coll_traffic_bytes(&args, 32 * MIB), 6 * MIB);
    args.size = 16;
    CHECK_U64(wf_coll_traffic_bytes(&args, 32 * MIB), 4 * MIB);
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
    CHECK(wf_coll_nccl_choose(&args, 1024, false).protocol == WF_COLL_LL);
    CHECK(wf_coll_nccl_choose(&args, GIB, false).protocol == WF_COLL_SIMPLE);
    CHECK(!wf_coll_nccl_has(WF_COLL_SCAN) && !wf_coll_nccl_has(WF_COLL_BARRIER));
}

/* More bytes never take less time, and numbers do not overflow. */
static void times_grow_with_the_data(void)
{
    static const uint32_t sizes[][2] = {{2, 1},  {2, 2},  {8, 8},    {16, 8},   {24, 8},
                                        {64, 8}, {64, 1}, {1024, 8}, {16384, 8}};
    struct wf_coll_nccl machine = wf_coll_nccl_default;

    for (int i = 0; i < WF_COLL_NCCL_GPUS * WF_COLL_KINDS * 4 * 9; i++) {
        machine.gpu = i % WF_COLL_NCCL_GPUS;
        machine.nvls = i / WF_COLL_NCCL_GPUS % 2 != 0;
        machine.sharp = i / WF_COLL_NCCL_GPUS / 2 % 2 != 0;
        const uint32_t *size = sizes[i / WF_COLL_NCCL_GPUS / 4 % 9];
        struct wf_coll_args args =
            call((enum wf_coll_kind)(i / WF_COLL_NCCL_GPUS / 36), size[0], size[1]);
        int64_t before = 0;

        args.nccl = &machine;
        for (uint64_t bytes = 1024; wf_coll_nccl_has(args.kind) && bytes <= 64 * GIB;
             bytes += bytes / 4) {
            int64_t time = wf_coll_nccl_choose(&args, bytes, false).time;
            CHECK(time >= before && time > 0);
            before = time;
        }
        if (wf_coll_nccl_has(args.kind)) {
            CHECK(wf_coll_nccl_choose(&args, UINT64_MAX, false).time >= before);
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
    RUN(a_row_is_latency_and_bandwidth);
    RUN(switches_that_reduce_are_faster_than_links);
    RUN(nodes_share_their_interfaces);
    RUN(the_choice_depends_on_the_size);
    RUN(times_grow_with_the_data);
    RUN(protocols_add_flags);
    return wf_test_done();
}
