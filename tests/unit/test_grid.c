/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/grid.h"

#include "wf_test.h"

static uint64_t surface(uint64_t a, uint64_t b, uint64_t c)
{
    return a * b + b * c + a * c;
}

static void known_numbers_give_the_known_grids(void)
{
    static const struct {
        uint32_t n, size[3];
    } cases[] = {
        {1, {1, 1, 1}},
        {2, {2, 1, 1}},
        {7, {7, 1, 1}},
        {8, {2, 2, 2}},
        {12, {3, 2, 2}},
        {100, {5, 5, 4}},
        {512, {8, 8, 8}},
        {4096, {16, 16, 16}},
        {32768, {32, 32, 32}},
        {524288, {128, 64, 64}},
        {1048576, {128, 128, 64}},
        {4294967291U, {4294967291U, 1, 1}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t size[3];
        wf_grid_factor3(cases[i].n, size);
        CHECK_U64(size[0], cases[i].size[0]);
        CHECK_U64(size[1], cases[i].size[1]);
        CHECK_U64(size[2], cases[i].size[2]);
    }
}

/* Against all ways to write n as a product of three. */
static void no_grid_has_less_surface(void)
{
    for (uint32_t n = 1; n <= 600; n++) {
        uint32_t size[3];
        wf_grid_factor3(n, size);
        CHECK_U64((uint64_t)size[0] * size[1] * size[2], n);
        CHECK(size[0] >= size[1] && size[1] >= size[2]);
        for (uint32_t a = 1; a <= n; a++) {
            for (uint32_t b = 1; n % a == 0 && b <= n / a; b++) {
                if (n / a % b == 0) {
                    CHECK(surface(size[0], size[1], size[2]) <= surface(a, b, n / a / b));
                }
            }
        }
    }
}

int main(void)
{
    RUN(known_numbers_give_the_known_grids);
    RUN(no_grid_has_less_surface);
    return wf_test_done();
}
