/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/grid.h"

#include "harness/wf_test.h"

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
        wf_gen_grid_factor(cases[i].n, 3, size);
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
        wf_gen_grid_factor(n, 3, size);
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

/* Against all ways to write n as a product of two and of four. */
static void nor_in_two_or_four_dimensions(void)
{
    for (uint32_t n = 1; n <= 120; n++) {
        uint32_t two[2], four[4];
        uint64_t surface2 = 0, surface4 = 0;
        wf_gen_grid_factor(n, 2, two);
        wf_gen_grid_factor(n, 4, four);
        CHECK_U64((uint64_t)two[0] * two[1], n);
        CHECK_U64((uint64_t)four[0] * four[1] * four[2] * four[3], n);
        CHECK(two[0] >= two[1]);
        for (uint32_t d = 0; d < 4; d++) {
            surface2 += d < 2 ? n / two[d] : 0;
            surface4 += n / four[d];
            CHECK(d == 0 || four[d - 1] >= four[d]);
        }
        for (uint32_t code = 0; code < n * n * n; code++) {
            uint32_t a = code % n + 1, b = code / n % n + 1, c = code / n / n + 1;
            if ((uint64_t)a * b * c <= n && n % (a * b * c) == 0) {
                CHECK(surface4 <= (uint64_t)n / a + n / b + n / c + (uint64_t)a * b * c);
                CHECK(b * c != 1 || surface2 <= (uint64_t)a + n / a);
            }
        }
    }
}

static void a_grid_can_be_given(void)
{
    uint32_t size[4] = {9, 9, 9, 9};
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_gen_grid_read("g", "2x3x4", 24, 3, size, &err) == WF_OK);
    CHECK(size[0] == 2 && size[1] == 3 && size[2] == 4 && size[3] == 9);
    CHECK(wf_gen_grid_read("g", "", 24, 2, size, &err) == WF_OK);
    CHECK(size[0] == 6 && size[1] == 4);
    CHECK(wf_gen_grid_read("g", "2x3x5", 24, 3, size, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "gen:g: size: a grid of '2x3x5' has 30 ranks, but there are 24");
    CHECK(wf_gen_grid_read("g", "65536x65536x2", 8, 3, size, &err) == WF_EUSAGE);
    CHECK(strstr(err.text, "more than 4294967295 ranks") != NULL);
    static const char *const bad[] = {"2x3",    "2x3x4x1", "2x3x",          "x2x3",
                                      "2 x3x4", "0x3x4",   "-2x3x4",        "2x3x4 ",
                                      "2X3X4",  "24",      "4294967296x1x1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(wf_gen_grid_read("g", bad[i], 24, 3, size, &err) == WF_EUSAGE);
        CHECK(strstr(err.text, "write AxBxC") != NULL);
    }
    CHECK(size[0] == 6 && size[1] == 4);
}

int main(void)
{
    RUN(known_numbers_give_the_known_grids);
    RUN(no_grid_has_less_surface);
    RUN(nor_in_two_or_four_dimensions);
    RUN(a_grid_can_be_given);
    return wf_test_done();
}
