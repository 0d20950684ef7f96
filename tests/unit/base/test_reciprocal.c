/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reciprocal.h"

#include "harness/wf_test.h"

enum { SEED = 7, RANDOM = 20000 };

static void check_quotient(uint32_t n, uint32_t divisor)
{
    CHECK_U64(wf_reciprocal_divide(n, wf_reciprocal_of(divisor)), n / divisor);
}

/* There an inexact reciprocal fails first. */
static void multiples_and_their_neighbours_are_exact(void)
{
    const uint32_t divisors[] = {1, 2, 3, 7, 164, 20972, 65535, 65536, 1U << 31, UINT32_MAX};

    for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++) {
        uint32_t d = divisors[i], last = UINT32_MAX / d * d;
        check_quotient(0, d);
        check_quotient(d - 1, d);
        check_quotient(d, d);
        check_quotient(last - 1, d);
        check_quotient(last, d);
        check_quotient(UINT32_MAX, d);
    }
}

static void random_quotients_are_exact(void)
{
    for (uint64_t i = 0; i < RANDOM; i++) {
        uint32_t divisor = (uint32_t)wf_test_rand(SEED, i, 0) >> (i % 32);
        check_quotient((uint32_t)wf_test_rand(SEED, i, 1), divisor == 0 ? 1 : divisor);
    }
}

int main(void)
{
    RUN(multiples_and_their_neighbours_are_exact);
    RUN(random_quotients_are_exact);
    return wf_test_done();
}
