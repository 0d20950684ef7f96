/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks a learnt guard holds for in a grid that no example has. */
#include "program/extrapolate/guard.h"

#include "harness/wf_test.h"

enum { EXAMPLES_MAX = 128 };

static struct wf_ext_grid grid_of(uint32_t n)
{
    const struct wf_ext_rule rule = {.n_dims = 2, .small_first = true};
    struct wf_ext_grid grid;

    if (!wf_ext_grid_make(&rule, n, &grid)) {
        grid.n = 0;
    }
    return grid;
}

typedef bool wanted_fn(const struct wf_ext_grid *grid, uint32_t x, uint32_t y);

/* Learns from the ranks of grids of 4x4 and 4x8, and compares in one of 8x8. */
static bool goes_on(wanted_fn *wanted)
{
    struct wf_ext_grid grids[] = {grid_of(16), grid_of(32), grid_of(64)};
    struct wf_ext_example examples[EXAMPLES_MAX];
    struct wf_ext_guard guard;
    uint32_t n = 0;

    for (uint32_t g = 0; g < 2; g++) {
        for (uint32_t r = 0; r < grids[g].n; r++) {
            examples[n++] = (struct wf_ext_example){
                .where = {.grid = &grids[g], .rank = r},
                .holds = wanted(&grids[g], wf_ext_coord(&grids[g], 0, r),
                                wf_ext_coord(&grids[g], 1, r))};
        }
    }
    if (grids[2].size[0] != 8 || !wf_ext_guard_learn(examples, n, &guard)) {
        return false;
    }
    for (uint32_t r = 0; r < grids[2].n; r++) {
        const struct wf_ext_where where = {.grid = &grids[2], .rank = r};
        bool want =
            wanted(&grids[2], wf_ext_coord(&grids[2], 0, r), wf_ext_coord(&grids[2], 1, r));
        if (wf_ext_guard_holds(&guard, &where) != want) {
            return false;
        }
    }
    return true;
}

static bool is_last(const struct wf_ext_grid *grid, uint32_t x, uint32_t y)
{
    return x == grid->size[0] - 1;
}

static bool is_not_last(const struct wf_ext_grid *grid, uint32_t x, uint32_t y)
{
    return x != grid->size[0] - 1;
}

static bool is_second(const struct wf_ext_grid *grid, uint32_t x, uint32_t y)
{
    return x == 1;
}

static bool is_second_but_one(const struct wf_ext_grid *grid, uint32_t x, uint32_t y)
{
    return x == grid->size[0] - 2;
}

static bool is_corner(const struct wf_ext_grid *grid, uint32_t x, uint32_t y)
{
    return x == grid->size[0] - 1 && y == grid->size[1] - 1;
}

/* All examples have x from 0 to 3. */
static void coordinates_count_from_the_nearer_end(void)
{
    CHECK(goes_on(is_last));
    CHECK(goes_on(is_not_last));
    CHECK(goes_on(is_second));
    CHECK(goes_on(is_second_but_one));
    CHECK(goes_on(is_corner));
}

int main(void)
{
    RUN(coordinates_count_from_the_nearer_end);
    return wf_test_done();
}
