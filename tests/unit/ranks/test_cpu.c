/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/cpu/cpu.h"

#include "harness/wf_test.h"

static void a_scale_of_one_changes_nothing(void)
{
    uint64_t one = wf_cpu_scale(1);

    CHECK_U64(one, WF_CPU_SCALE_ONE);
    for (uint64_t i = 0; i < 1000; i++) {
        int64_t time = (int64_t)(wf_test_rand(1, 2, i) >> (1 + i % 63));
        CHECK(wf_cpu_time(one, time) == time);
    }
    CHECK(wf_cpu_time(one, 0) == 0);
    CHECK(wf_cpu_time(one, WF_TIME_MAX) == WF_TIME_MAX);
}

static void other_scales_multiply_and_round(void)
{
    CHECK(wf_cpu_time(wf_cpu_scale(2), 21) == 42);
    CHECK(wf_cpu_time(wf_cpu_scale(0.5), 42) == 21);
    CHECK(wf_cpu_time(wf_cpu_scale(0.5), 43) == 22);
    CHECK(wf_cpu_time(wf_cpu_scale(1.5), 3) == 5);
    CHECK(wf_cpu_time(wf_cpu_scale(0.1), INT64_C(1000000000)) == 100000000);
    CHECK(wf_cpu_time(wf_cpu_scale(1e6), 7) == 7000000);
    CHECK(wf_cpu_time(wf_cpu_scale(1e-6), INT64_C(1000000000000)) / 1000 == 1000);
}

static void more_than_a_time_is_the_greatest_time(void)
{
    CHECK(wf_cpu_time(wf_cpu_scale(2), WF_TIME_MAX) == WF_TIME_MAX);
    CHECK(wf_cpu_time(wf_cpu_scale(2), WF_TIME_MAX / 2) == WF_TIME_MAX - 1);
    CHECK(wf_cpu_time(wf_cpu_scale(1e6), WF_TIME_MAX) == WF_TIME_MAX);
}

/* 3 operations per picosecond with 16 bits, 8 with 8 bits, 2 bytes, 500 ps for a kernel. Three
 * jobs count their work, one of them kernels too. */
static uint8_t counted[101] = {[0] = 3, [2] = 4, [99] = 3};
static const struct wf_cpu device = {.scale = WF_CPU_SCALE_ONE,
                                     .roofline = {.flops16 = UINT64_C(3000000000000),
                                                  .flops8 = UINT64_C(8000000000000),
                                                  .memory = 2000000000000 * WF_RATE_BYTE,
                                                  .dispatch = 500,
                                                  .counted = counted}};

static int64_t time_of_kernels(uint64_t flops16, uint64_t flops8, uint64_t bytes,
                               uint64_t kernels, uint32_t job)
{
    const uint64_t counters[WF_CPU_COUNTERS] = {flops16, flops8, bytes, kernels};

    return wf_cpu_duration(&device, &(struct wf_cpu_work){.duration = 7,
                                                          .region = WF_CPU_NO_REGION,
                                                          .counters = counters,
                                                          .n_counters = WF_CPU_COUNTERS,
                                                          .job = job});
}

static int64_t time_of(uint64_t flops16, uint64_t flops8, uint64_t bytes, uint32_t job)
{
    return time_of_kernels(flops16, flops8, bytes, 9, job);
}

static void kernels_run_one_after_another_and_are_launched(void)
{
    CHECK(time_of_kernels(3000, 800, 2200, 0, 2) == 1100);
    CHECK(time_of_kernels(3000, 800, 2200, 1, 2) == 2200);
    CHECK(time_of_kernels(3000, 800, 2200, 5, 2) == 2500);
    CHECK(time_of_kernels(0, 0, 0, 5, 2) == 2500);
    CHECK(time_of_kernels(0, 0, 0, UINT64_MAX, 2) == WF_TIME_MAX);
}

static void counted_work_takes_operations_or_memory(void)
{
    CHECK(time_of(3000, 0, 0, 0) == 1000);
    CHECK(time_of(3001, 0, 0, 0) == 1001);
    CHECK(time_of(3000, 800, 2200, 0) == 1100);
    CHECK(time_of(3000, 800, 2202, 0) == 1101);
    CHECK(time_of(0, 0, 0, 0) == 0);
    CHECK(time_of(UINT64_MAX, UINT64_MAX, UINT64_MAX, 0) > INT64_C(1) << 61);
    /* Another job has times of its own. */
    CHECK(time_of(3000, 0, 0, 1) == 7);
    CHECK(time_of(3000, 0, 0, 99) == 1000);
    CHECK(time_of(3000, 0, 0, 100) == 7);
}

static void shares_of_peaks_make_the_roofline(void)
{
    struct wf_cpu_params cpu = {.tflops16 = 100, .memory_bandwidth = UINT64_MAX};
    struct wf_cpu_roofline roofline = wf_cpu_roofline(&cpu, NULL, 0);

    CHECK_U64(roofline.flops16, UINT64_C(100000000000000));
    CHECK_U64(roofline.flops8, UINT64_C(100000000000000));
    CHECK(roofline.counted == NULL);
    cpu.tflops8 = 200;
    cpu.efficiency = 0.5;
    cpu.efficiency8 = 0.25;
    roofline = wf_cpu_roofline(&cpu, NULL, 0);
    CHECK_U64(roofline.flops16, UINT64_C(50000000000000));
    CHECK_U64(roofline.flops8, UINT64_C(50000000000000));
}

int main(void)
{
    RUN(a_scale_of_one_changes_nothing);
    RUN(other_scales_multiply_and_round);
    RUN(more_than_a_time_is_the_greatest_time);
    RUN(counted_work_takes_operations_or_memory);
    RUN(kernels_run_one_after_another_and_are_launched);
    RUN(shares_of_peaks_make_the_roofline);
    return wf_test_done();
}
