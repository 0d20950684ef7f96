/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include "harness/wf_test.h"

enum { CASES = 200000, SEED = 4 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int is_near(double a, double b, double tolerance)
{
    return a - b <= tolerance && b - a <= tolerance;
}

/* A change of these numbers changes every result that was ever published. */
static void draws_are_the_same_for_ever(void)
{
    CHECK_U64(wf_rng_draw(0, 0, 0), 0xa706dd2f4d197e6f);
    CHECK_U64(wf_rng_draw(1, 2, 3), 0x0ee3bb459e9e297b);
    CHECK_U64(wf_rng_draw(UINT64_MAX, UINT64_MAX, UINT64_MAX), 0x4bffd802ebfb15e4);
}

static void neighbouring_draws_differ_in_half_of_their_bits(void)
{
    enum { N = 20000 };
    int64_t by_draw = 0, by_stream = 0, by_seed = 0;

    for (uint64_t i = 0; i < N; i++) {
        uint64_t base = wf_rng_draw(i, i, i);
        by_draw += __builtin_popcountll(base ^ wf_rng_draw(i, i, i + 1));
        by_stream += __builtin_popcountll(base ^ wf_rng_draw(i, i + 1, i));
        by_seed += __builtin_popcountll(base ^ wf_rng_draw(i + 1, i, i));
    }
    /* 32 bits of 64 each; the standard error of the mean is 4 / sqrt(N) = 0.03. */
    CHECK(is_near((double)by_draw / N, 32.0, 0.15));
    CHECK(is_near((double)by_stream / N, 32.0, 0.15));
    CHECK(is_near((double)by_seed / N, 32.0, 0.15));
}

static void below_is_uniform_and_in_range(void)
{
    enum { N = 10 };
    uint64_t seen[N] = {0};

    for (uint64_t i = 0; i < CASES; i++) {
        uint64_t draw = wf_rng_below(wf_rng_draw(SEED, 0, i), N);
        CHECK(draw < N);
        seen[draw]++;
    }
    for (size_t k = 0; k < N; k++) {
        CHECK(seen[k] > CASES / N * 96 / 100 && seen[k] < CASES / N * 104 / 100);
    }
    CHECK_U64(wf_rng_below(0, 7), 0);
    CHECK_U64(wf_rng_below(UINT64_MAX, 7), 6);
    CHECK_U64(wf_rng_below(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    CHECK_U64(wf_rng_below(UINT64_C(1) << 63, 7), 3);
    CHECK_U64(wf_rng_below(UINT64_MAX, 0), 0);
}

static void chance_compares_the_upper_half(void)
{
    CHECK(!wf_rng_chance(0, 0));
    CHECK(wf_rng_chance(0, 1));
    CHECK(wf_rng_chance(UINT64_C(0xffffffff), 1));
    CHECK(!wf_rng_chance(UINT64_C(0x100000000), 1));
    CHECK(!wf_rng_chance(UINT64_MAX, UINT32_MAX));
    CHECK(wf_rng_chance(UINT64_C(0xfffffffeffffffff), UINT32_MAX));
}

/* From 40-digit decimal arithmetic. */
static void exponentials_have_known_values(void)
{
    static const struct {
        uint64_t random;
        double value;
    } cases[] = {
        {0, 44.3614195558365},
        {1, 43.66827237527655},
        {2, 43.26280726716839},
        {0x7fffffffffffffff, 0.6931471805599453},
        {0xb504f333f9de6000, 0.34657359027997275}, /* either side of sqrt(1/2) */
        {0xb504f333f9de6484, 0.34657359027997264},
        {0xb504f333f9deffff, 0.3465735902799696},
        {0x123456789abcdef0, 2.643511679964639},
        {0xdeadbeefcafef00d, 0.13944754289916653},
        {0xfffffffffffff7ff, 1.1102230246251565e-16},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        double value = wf_rng_exponential(cases[i].random);
        CHECK(is_near(value, cases[i].value, 1e-13));
    }
    CHECK(wf_rng_exponential(UINT64_MAX) == 0.0);
    CHECK(wf_rng_exponential(UINT64_MAX - 1) > 0.0);
}

/* -ln(xy) = -ln x - ln y, and -ln 1/2 as above: only the logarithm does that. */
static void exponentials_are_logarithms(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        uint64_t x = (wf_test_rand(SEED, i, 0) >> 32 >> i % 32) + 1;
        uint64_t y = (wf_test_rand(SEED, i, 1) >> 32) + 1;
        double of_x = wf_rng_exponential((x << 32) - 1);
        double of_y = wf_rng_exponential((y << 32) - 1);
        double of_xy = wf_rng_exponential(x * y - 1);
        CHECK(is_near(of_xy, of_x + of_y, 1e-13));
    }
}

static void exponentials_never_rise_with_the_random_number(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        uint64_t random = wf_test_rand(SEED, i, 2) >> i % 64;
        uint64_t step = wf_test_rand(SEED, i, 3) >> (i / 64) % 64;
        uint64_t larger = random + step < random ? UINT64_MAX : random + step;
        CHECK(wf_rng_exponential(random) >= wf_rng_exponential(larger) - 1e-14);
        CHECK(wf_rng_exponential(larger) >= 0.0);
    }
}

static void exponentials_have_mean_and_variance_one(void)
{
    double sum = 0.0, squares = 0.0;

    for (uint64_t i = 0; i < CASES; i++) {
        double value = wf_rng_exponential(wf_rng_draw(SEED, 1, i));
        sum += value;
        squares += value * value;
    }
    double mean = sum / CASES;
    CHECK(is_near(mean, 1.0, 0.01));
    CHECK(is_near(squares / CASES - mean * mean, 1.0, 0.04));
}

/* From 40-digit arithmetic. */
static void normals_have_known_values(void)
{
    static const struct {
        uint64_t random;
        double value;
    } cases[] = {
        {0x123456789abcdef0, -1.467565731313296936},
        {0x4000000000000000, -0.674489750196081743},
        {0x0ccccccccccccccc, -1.644853626951472715},
        {0xdeadbeefcafef00d, 1.125628740696371682},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        CHECK(is_near(wf_rng_normal(cases[i].random), cases[i].value, 1e-13));
    }
    CHECK(is_near(wf_rng_normal(0xfffffffffffff7ff), 8.209506839397479, 1e-4));
    CHECK(is_near(wf_rng_normal(0), -9.08, 0.01));
    CHECK(is_near(wf_rng_normal(UINT64_MAX), 9.08, 0.01));
}

static void normals_rise_and_are_symmetric(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        uint64_t random = wf_test_rand(SEED, i, 4) >> i % 64;
        uint64_t larger = random + (wf_test_rand(SEED, i, 5) >> (i / 64) % 64);
        larger = larger < random ? UINT64_MAX : larger;
        CHECK(wf_rng_normal(random) <= wf_rng_normal(larger) + 1e-13);
        CHECK(is_near(wf_rng_normal(random), -wf_rng_normal(UINT64_MAX - random), 1e-13));
    }
}

static void normals_have_mean_zero_and_variance_one(void)
{
    double sum = 0.0, squares = 0.0, fourth = 0.0;

    for (uint64_t i = 0; i < CASES; i++) {
        double value = wf_rng_normal(wf_rng_draw(SEED, 3, i));
        sum += value;
        squares += value * value;
        fourth += value * value * value * value;
    }
    CHECK(is_near(sum / CASES, 0.0, 0.01));
    CHECK(is_near(squares / CASES, 1.0, 0.02));
    CHECK(is_near(fourth / CASES, 3.0, 0.15));
}

static void powers_of_e_multiply(void)
{
    CHECK(wf_rng_exp(0) == 1.0);
    CHECK(is_near(wf_rng_exp(1), 2.718281828459045, 1e-14));
    CHECK(is_near(wf_rng_exp(-1), 0.36787944117144233, 1e-15));
    CHECK(is_near(wf_rng_exp(10) / 22026.465794806718, 1.0, 1e-14));
    for (uint64_t i = 0; i < CASES; i++) {
        double x = (double)(wf_test_rand(SEED, i, 6) % 10000) / 500 - 10;
        double y = (double)(wf_test_rand(SEED, i, 7) % 10000) / 500 - 10;
        CHECK(is_near(wf_rng_exp(x) * wf_rng_exp(y) / wf_rng_exp(x + y), 1.0, 1e-13));
    }
}

int main(void)
{
    RUN(draws_are_the_same_for_ever);
    RUN(neighbouring_draws_differ_in_half_of_their_bits);
    RUN(below_is_uniform_and_in_range);
    RUN(chance_compares_the_upper_half);
    RUN(normals_have_known_values);
    RUN(normals_rise_and_are_symmetric);
    RUN(normals_have_mean_zero_and_variance_one);
    RUN(powers_of_e_multiply);
    RUN(exponentials_have_known_values);
    RUN(exponentials_are_logarithms);
    RUN(exponentials_never_rise_with_the_random_number);
    RUN(exponentials_have_mean_and_variance_one);
    return wf_test_done();
}
