/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/resample.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "base/rng.h"

#include "harness/wf_test.h"

#include <math.h>

/* With 19 replicas the interval is from the smallest to the largest: a further draw of the same
 * distribution is inside with probability 18/20. */
enum { REPLICAS = 19, TRIALS = 400 / WF_TEST_ONE_IN, RANKS_MAX = 64 };

/* A program with one place: `n` spans in each of `ranks` ranks. */
struct shape {
    uint32_t ranks, n;
    double (*span)(uint64_t random, uint32_t rank, uint32_t i); /* in picoseconds */
};

static struct wf_places make(const struct shape *shape, uint64_t seed)
{
    uint64_t n = (uint64_t)shape->ranks * shape->n;
    struct wf_places places = {.n_ranks = shape->ranks, .n_places = 1, .n_spans = n};

    places.first = wf_xcalloc(shape->ranks + 1, sizeof(uint64_t));
    places.place_of = wf_xcalloc(n, sizeof(uint32_t));
    places.durations = wf_xcalloc(n, sizeof(int64_t));
    places.members_first = wf_xcalloc(2, sizeof(uint64_t));
    places.members = wf_xcalloc(n, sizeof(uint64_t));
    places.members_first[1] = n;
    for (uint64_t s = 0; s < n; s++) {
        uint32_t rank = (uint32_t)(s / shape->n), i = (uint32_t)(s % shape->n);
        places.first[rank + 1] = s + 1;
        places.members[s] = s;
        places.durations[s] = (int64_t)shape->span(wf_rng_draw(seed, rank, i), rank, i);
    }
    return places;
}

/* What a program makes of its spans. */
typedef double combine(const int64_t *durations, uint32_t ranks, uint32_t n);

static double sum(const int64_t *durations, uint32_t ranks, uint32_t n)
{
    double all = 0;

    for (uint32_t i = 0; i < ranks * n; i++) {
        all += (double)durations[i];
    }
    return all;
}

/* The ranks wait for each other in every iteration. */
static double sum_of_maxima(const int64_t *durations, uint32_t ranks, uint32_t n)
{
    double all = 0;

    for (uint32_t i = 0; i < n; i++) {
        int64_t most = 0;
        for (uint32_t r = 0; r < ranks; r++) {
            most = durations[r * n + i] > most ? durations[r * n + i] : most;
        }
        all += (double)most;
    }
    return all;
}

/* They wait for each other at the end only. */
static double longest_rank(const int64_t *durations, uint32_t ranks, uint32_t n)
{
    double most = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        double own = sum(durations + r * n, 1, n);
        most = own > most ? own : most;
    }
    return most;
}

static int64_t replay(const struct wf_resample *resample, const struct shape *shape,
                      combine *how, uint64_t seed)
{
    const struct wf_resample_draw draw = {resample, seed};
    int64_t *durations = wf_xcalloc(resample->places->n_spans, sizeof(*durations));

    for (uint64_t s = 0; s < resample->places->n_spans; s++) {
        durations[s] =
            wf_resample_duration(&draw, (uint32_t)(s / shape->n), (uint32_t)(s % shape->n),
                                 resample->places->durations[s]);
    }
    int64_t time = (int64_t)how(durations, shape->ranks, shape->n);
    free(durations);
    return time;
}

/* How often, in percent, another run of the same program is inside the interval that the
 * recorded run gives. */
static double coverage(const struct shape *shape, combine *how)
{
    uint64_t inside = 0;

    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct wf_places places = make(shape, 2 * trial), other = make(shape, 2 * trial + 1);
        int64_t times[REPLICAS], truth;
        struct wf_resample resample;

        wf_resample_init(&resample, &places);
        for (uint64_t k = 0; k < REPLICAS; k++) {
            times[k] = replay(&resample, shape, how, wf_rng_draw(77, trial, k));
        }
        wf_quantile_sort(times, REPLICAS);
        truth = (int64_t)how(other.durations, shape->ranks, shape->n);
        inside += truth >= wf_quantile(times, REPLICAS, 5) &&
                  truth <= wf_quantile(times, REPLICAS, 95);
        wf_resample_fini(&resample);
        wf_places_fini(&places);
        wf_places_fini(&other);
    }
    return 100.0 * (double)inside / TRIALS;
}

/* ---- distributions of a span ---- */

static double normal(uint64_t random, uint32_t rank, uint32_t i)
{
    return 1e9 * (1 + 0.1 * wf_rng_normal(random));
}

static double skewed(uint64_t random, uint32_t rank, uint32_t i)
{
    return 1e9 * (1 + 0.3 * wf_rng_exponential(random));
}

/* Every rank has its own load, and iterations become shorter. */
static double unbalanced(uint64_t random, uint32_t rank, uint32_t i)
{
    return normal(random, rank, i) * (1 + 0.3 * rank) * (1 - 0.01 * i);
}

static double constant(uint64_t random, uint32_t rank, uint32_t i)
{
    return 1e6 * (1 + rank);
}

/* One rank does what the others do not. */
static double special(uint64_t random, uint32_t rank, uint32_t i)
{
    return rank == 3 ? 5e10 : normal(random, rank, i);
}

static double uniform(uint64_t random, uint32_t rank, uint32_t i)
{
    return 1e9 + (double)(random >> 40) * 10;
}

/* ---- tests ---- */

static void check_coverage(const struct shape *shape, const char *what, combine *how,
                           double least)
{
    double percent = coverage(shape, how);

    printf("# %u ranks, %u spans, %s: %.1f %% inside\n", shape->ranks, shape->n, what, percent);
    /* The standard error is 1.5 %, and 3.4 % under sanitizers. */
    double tolerance = WF_TEST_ONE_IN > 1 ? 8 : 0;
    CHECK(percent >= least - tolerance);
    CHECK(percent <= 97 + tolerance);
}

static void another_run_is_inside_the_interval(void)
{
    static const struct shape one = {1, 50, normal}, many = {8, 25, normal},
                              tails = {8, 25, skewed}, loads = {8, 25, unbalanced},
                              few = {16, 3, normal};

    check_coverage(&one, "sum", sum, 85);
    check_coverage(&many, "sum", sum, 85);
    check_coverage(&many, "sum of maxima", sum_of_maxima, 83);
    check_coverage(&many, "longest rank", longest_rank, 83);
    check_coverage(&tails, "sum", sum, 83);
    check_coverage(&tails, "sum of maxima", sum_of_maxima, 80);
    check_coverage(&loads, "sum", sum, 83);
    check_coverage(&loads, "sum of maxima", sum_of_maxima, 83);
    check_coverage(&loads, "longest rank", longest_rank, 83);
    check_coverage(&few, "sum", sum, 83);
    check_coverage(&few, "sum of maxima", sum_of_maxima, 75);
    check_coverage(&few, "longest rank", longest_rank, 75);
}

/* The tail beyond the largest of a few spans is not known: fewer are inside. */
static void ranks_stand_for_each_other_if_there_is_nothing_else(void)
{
    static const struct shape singles = {64, 1, normal}, eight = {8, 1, normal};

    check_coverage(&singles, "sum", sum, 83);
    check_coverage(&singles, "maximum", sum_of_maxima, 72);
    check_coverage(&eight, "sum", sum, 75);
    check_coverage(&eight, "maximum", sum_of_maxima, 65);
}

/* The variance of a sum is that of a new run plus that of the recorded one. */
static void sums_have_twice_the_variance_of_a_run(void)
{
    enum { N = 100, DRAWS = 2000 };
    static const struct shape shape = {1, N, normal};
    struct wf_places places = make(&shape, 5);
    struct wf_resample resample;
    double recorded = sum(places.durations, 1, N), mean = 0, squares = 0, own = 0;

    for (uint32_t i = 0; i < N; i++) {
        double x = (double)places.durations[i] - recorded / N;
        own += x * x;
    }
    wf_resample_init(&resample, &places);
    for (uint64_t k = 0; k < DRAWS; k++) {
        double x = (double)replay(&resample, &shape, sum, wf_rng_draw(9, 9, k)) - recorded;
        mean += x / DRAWS;
        squares += x * x / DRAWS;
    }
    double deviation = sqrt(squares - mean * mean);
    CHECK(fabs(mean) < 0.2 * sqrt(own));
    CHECK(deviation > 1.25 * sqrt(own) && deviation < 1.55 * sqrt(own));
    CHECK_U64(resample.n_varied, N);
    CHECK_U64(resample.varied_percent, 100);
    wf_resample_fini(&resample);
    wf_places_fini(&places);
}

/* Ranks that differ by chance draw from each other: levels that are moved would make the slowest
 * of many ranks slower than any that was recorded. */
static void the_slowest_of_many_ranks_stays(void)
{
    static const struct shape shape = {512, 20, uniform};
    struct wf_places places = make(&shape, 8);
    double recorded = sum_of_maxima(places.durations, shape.ranks, shape.n);
    struct wf_resample resample;

    wf_resample_init(&resample, &places);
    for (uint64_t k = 0; k < 3; k++) {
        double drawn = (double)replay(&resample, &shape, sum_of_maxima, k);
        CHECK(fabs(drawn / recorded - 1) < 0.001);
    }
    wf_resample_fini(&resample);
    wf_places_fini(&places);
}

static void what_never_varied_is_kept(void)
{
    static const struct shape shapes[] = {{4, 20, constant}, {4, 3, constant}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct wf_places places = make(&shapes[i], 1);
        struct wf_resample resample;
        wf_resample_init(&resample, &places);
        CHECK_U64(resample.n_varied, 0);
        CHECK_U64(resample.varied_percent, 0);
        CHECK(replay(&resample, &shapes[i], sum, 4) ==
              (int64_t)sum(places.durations, shapes[i].ranks, shapes[i].n));
        wf_resample_fini(&resample);
        wf_places_fini(&places);
    }
}

static void a_span_unlike_all_others_is_kept(void)
{
    static const struct shape shape = {RANKS_MAX, 1, special};
    struct wf_places places = make(&shape, 1);
    struct wf_resample resample;

    wf_resample_init(&resample, &places);
    for (uint64_t k = 0; k < 100; k++) {
        const struct wf_resample_draw draw = {&resample, k};
        for (uint32_t rank = 0; rank < RANKS_MAX; rank++) {
            int64_t drawn = wf_resample_duration(&draw, rank, 0, places.durations[rank]);
            CHECK(rank == 3 ? drawn == places.durations[3] : drawn < 3000000000);
        }
    }
    CHECK_U64(resample.n_varied, RANKS_MAX - 1);
    wf_resample_fini(&resample);
    wf_places_fini(&places);
}

static void draws_are_functions_of_seed_rank_and_span(void)
{
    static const struct shape shape = {8, 25, skewed};
    struct wf_places places = make(&shape, 3);
    struct wf_resample resample;

    wf_resample_init(&resample, &places);
    CHECK(replay(&resample, &shape, sum, 1) == replay(&resample, &shape, sum, 1));
    CHECK(replay(&resample, &shape, sum, 1) != replay(&resample, &shape, sum, 2));
    wf_resample_fini(&resample);
    wf_places_fini(&places);
}

static void odd_programs_are_harmless(void)
{
    struct wf_places places = {.n_ranks = 1};
    struct wf_resample resample;

    places.first = wf_xcalloc(2, sizeof(uint64_t));
    places.members_first = wf_xcalloc(1, sizeof(uint64_t));
    wf_resample_init(&resample, &places);
    const struct wf_resample_draw draw = {&resample, 1}, none = {NULL, 1};
    CHECK(wf_resample_duration(&draw, 0, 0, 17) == 17);
    CHECK(wf_resample_duration(&draw, 9, 0, 17) == 17);
    CHECK(wf_resample_duration(&none, 0, 0, 17) == 17);
    wf_resample_fini(&resample);
    wf_places_fini(&places);
}

static void quantiles_are_those_of_the_definition(void)
{
    int64_t values[39];

    for (int i = 0; i < 39; i++) {
        values[i] = (i * 17 % 39 + 1) * 10; /* 10 to 390 in some order */
    }
    wf_quantile_sort(values, 39);
    CHECK(wf_quantile(values, 39, 5) == 20);
    CHECK(wf_quantile(values, 39, 50) == 200);
    CHECK(wf_quantile(values, 39, 95) == 380);
    CHECK(wf_quantile(values, 39, 0) == 10);
    CHECK(wf_quantile(values, 39, 100) == 390);
    CHECK(wf_quantile(values, 2, 50) == 15);
    CHECK(wf_quantile(values, 1, 95) == 10);
    int64_t wide[] = {INT64_MIN, INT64_MAX};
    CHECK(wf_quantile(wide, 2, 50) == -1);
}

int main(void)
{
    RUN(another_run_is_inside_the_interval);
    RUN(ranks_stand_for_each_other_if_there_is_nothing_else);
    RUN(sums_have_twice_the_variance_of_a_run);
    RUN(the_slowest_of_many_ranks_stays);
    RUN(what_never_varied_is_kept);
    RUN(a_span_unlike_all_others_is_kept);
    RUN(draws_are_functions_of_seed_rank_and_span);
    RUN(odd_programs_are_harmless);
    RUN(quantiles_are_those_of_the_definition);
    return wf_test_done();
}
