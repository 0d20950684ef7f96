/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/cpu/cpu.h"

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

int main(void)
{
    RUN(a_scale_of_one_changes_nothing);
    RUN(other_scales_multiply_and_round);
    RUN(more_than_a_time_is_the_greatest_time);
    return wf_test_done();
}
