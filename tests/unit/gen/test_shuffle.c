/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/shuffle.h"

#include "harness/wf_test.h"

#include <stdbool.h>

enum { SEED = 11, N_MAX = 300 };

static void every_number_has_a_place_of_its_own(void)
{
    for (uint32_t n = 1; n <= N_MAX; n++) {
        struct wf_gen_shuffle shuffle;
        wf_gen_shuffle_init(&shuffle, n);
        for (uint64_t k = 0; k < 5; k++) {
            bool taken[N_MAX] = {false};
            uint64_t key = wf_test_rand(SEED, n, k);
            for (uint32_t x = 0; x < n; x++) {
                uint32_t y = wf_gen_shuffle_place(&shuffle, key, x);
                CHECK(y < n && !taken[y]);
                taken[y] = true;
                CHECK_U64(wf_gen_shuffle_number(&shuffle, key, y), x);
            }
        }
    }
}

static void large_permutations_can_be_undone(void)
{
    static const uint32_t sizes[] = {1048576, 1048583, 4000000000U, 4294836225U, UINT32_MAX};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct wf_gen_shuffle shuffle;
        wf_gen_shuffle_init(&shuffle, sizes[i]);
        for (uint64_t c = 0; c < 1000; c++) {
            uint64_t key = wf_test_rand(SEED, i, 2 * c);
            uint32_t x = (uint32_t)(wf_test_rand(SEED, i, 2 * c + 1) % sizes[i]);
            x = c == 0 ? 0 : c == 1 ? sizes[i] - 1 : x;
            uint32_t y = wf_gen_shuffle_place(&shuffle, key, x);
            CHECK(y < sizes[i]);
            CHECK_U64(wf_gen_shuffle_number(&shuffle, key, y), x);
        }
    }
}

/* All positions are equally likely. */
static void a_number_is_everywhere_equally_often(void)
{
    enum { LARGEST = 70, EXPECTED = 2000 };

    for (uint32_t n = 2; n <= LARGEST; n++) {
        uint32_t count[LARGEST] = {0};
        struct wf_gen_shuffle shuffle;
        wf_gen_shuffle_init(&shuffle, n);
        for (uint64_t k = 0; k < (uint64_t)n * EXPECTED; k++) {
            count[wf_gen_shuffle_place(&shuffle, wf_test_rand(SEED, n, k), n / 2)]++;
        }
        for (uint32_t y = 0; y < n; y++) {
            CHECK(count[y] > EXPECTED * 3 / 4 && count[y] < EXPECTED * 5 / 4);
        }
    }
}

int main(void)
{
    RUN(every_number_has_a_place_of_its_own);
    RUN(large_permutations_can_be_undone);
    RUN(a_number_is_everywhere_equally_often);
    return wf_test_done();
}
