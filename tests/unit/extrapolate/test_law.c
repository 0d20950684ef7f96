/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/law.h"

#include "harness/wf_test.h"

#include <math.h>

enum { COUNTS = 4 };

static const uint32_t counts[COUNTS] = {64, 128, 256, 512};
static const uint32_t target = 4096;

/* Grids as square as possible, and values that a function gives. */
struct points {
    struct wf_ext_grid grids[COUNTS], target;
    struct wf_ext_point all[COUNTS];
};

static void make(struct points *points, double (*value)(const struct wf_ext_grid *grid))
{
    const struct wf_ext_rule rule = {.n_dims = 2};

    for (uint32_t i = 0; i < COUNTS; i++) {
        wf_test_failed |= !wf_ext_grid_make(&rule, counts[i], &points->grids[i]);
        points->all[i] = (struct wf_ext_point){&points->grids[i], value(&points->grids[i])};
    }
    wf_test_failed |= !wf_ext_grid_make(&rule, target, &points->target);
}

static double linear(const struct wf_ext_grid *grid)
{
    return 2.0 * grid->n - 1;
}

static double logarithm(const struct wf_ext_grid *grid)
{
    return 3 * log2(grid->n);
}

static double side(const struct wf_ext_grid *grid)
{
    return 1048576.0 / grid->size[0];
}

static double uneven(const struct wf_ext_grid *grid)
{
    return 8 * ceil(900.0 / grid->n);
}

/* Counts that are no powers of two. */
static double levels(const struct wf_ext_grid *grid)
{
    return 1 + ceil(log2(grid->n));
}

static double rows_of_four(const struct wf_ext_grid *grid)
{
    return 32 * floor(512.0 / grid->size[1]);
}

static void rounded_laws(void)
{
    static const uint32_t uneven_counts[] = {24, 60, 120, 240};
    static double (*const values[])(const struct wf_ext_grid *) = {levels, rows_of_four};
    const struct wf_ext_rule rule = {.n_dims = 2};

    for (uint32_t i = 0; i < 2; i++) {
        struct wf_ext_grid grids[COUNTS], wanted;
        struct wf_ext_point all[COUNTS];
        struct wf_ext_law law = {.form = 0};

        CHECK(wf_ext_grid_make(&rule, 1000, &wanted));
        for (uint32_t k = 0; k < COUNTS; k++) {
            CHECK(wf_ext_grid_make(&rule, uneven_counts[k], &grids[k]));
            all[k] = (struct wf_ext_point){&grids[k], values[i](&grids[k])};
        }
        const struct wf_ext_hint hint = {.target = &wanted, .across = WF_EXT_WHOLE};
        CHECK(wf_ext_law_exact(all, COUNTS, &hint, &law));
        CHECK(fabs(wf_ext_law_at(&law, &wanted) - values[i](&wanted)) < 0.01);
    }
}

static void integers_are_met_exactly(void)
{
    double (*const values[])(const struct wf_ext_grid *) = {linear, logarithm, side, uneven};
    struct points points;

    for (uint32_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct wf_ext_law law = {.form = 0};
        make(&points, values[i]);
        const struct wf_ext_hint hint = {.target = &points.target, .across = WF_EXT_WHOLE};
        CHECK(wf_ext_law_exact(points.all, COUNTS, &hint, &law));
        CHECK(fabs(wf_ext_law_at(&law, &points.target) - values[i](&points.target)) < 0.01);
    }
}

/* Each count is off by some percent, up or down. */
static double noise(const struct wf_ext_grid *grid)
{
    static const double off[] = {0.06, -0.05, 0.08, -0.04};
    uint32_t i = grid->n == 64 ? 0 : grid->n == 128 ? 1 : grid->n == 256 ? 2 : 3;

    return 1 + off[i];
}

static double constant_with_noise(const struct wf_ext_grid *grid)
{
    return 1e6 * noise(grid);
}

static double divided_with_noise(const struct wf_ext_grid *grid)
{
    return 1e9 / grid->n * noise(grid);
}

/* Rising noise at three counts: many laws of growth would fit it. */
static double rising(const struct wf_ext_grid *grid)
{
    return 1e6 * (grid->n == 64 ? 1 : grid->n == 128 ? 1.01 : 1.05);
}

static void noise_is_not_a_law(void)
{
    struct points points;
    struct wf_ext_law law;

    make(&points, constant_with_noise);
    wf_ext_law_fit(points.all, COUNTS, true, &law);
    CHECK(fabs(wf_ext_law_at(&law, &points.target) / 1e6 - 1) < 0.1);
    make(&points, rising);
    wf_ext_law_fit(points.all, 3, true, &law);
    CHECK(fabs(wf_ext_law_at(&law, &points.target) / 1e6 - 1) < 0.2);
}

static void divided_work_is_seen_through_noise(void)
{
    struct points points;
    struct wf_ext_law law;

    make(&points, divided_with_noise);
    wf_ext_law_fit(points.all, COUNTS, true, &law);
    CHECK(fabs(wf_ext_law_at(&law, &points.target) / (1e9 / target) - 1) < 0.1);
    wf_ext_law_fit(points.all, 3, true, &law);
    CHECK(fabs(wf_ext_law_at(&law, &points.target) / (1e9 / target) - 1) < 0.1);
}

int main(void)
{
    RUN(integers_are_met_exactly);
    RUN(rounded_laws);
    RUN(noise_is_not_a_law);
    RUN(divided_work_is_seen_through_noise);
    return wf_test_done();
}
