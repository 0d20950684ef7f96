/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of process grids, and communicators that follow from them. */
#include "program/extrapolate/comms.h"
#include "program/extrapolate/grid.h"

#include "harness/wf_test.h"

#include <string.h>

static void rules_make_grids(void)
{
    static const struct {
        struct wf_ext_rule rule;
        uint32_t n;
        const char *grid; /* null: n ranks do not fit */
    } cases[] = {
        {{.n_dims = 1}, 12, "12"},
        {{.n_dims = 2}, 12, "4x3"},
        {{.n_dims = 2, .small_first = true}, 12, "3x4"},
        {{.n_dims = 3}, 64, "4x4x4"},
        {{.n_dims = 1, .fixed = 4, .fixed_inside = true}, 24, "4x6"},
        {{.n_dims = 1, .fixed = 4}, 24, "6x4"},
        {{.n_dims = 1, .fixed = 5}, 24, NULL},
        {{.n_dims = 1, .fixed = 4, .fixed_inside = true, .outer = 2}, 64, "4x8x2"},
        {{.n_dims = 1, .fixed = 4, .fixed_inside = true, .outer = 3}, 64, NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_ext_grid grid;
        char text[64];
        bool fits = wf_ext_grid_make(&cases[i].rule, cases[i].n, &grid);

        CHECK(fits == (cases[i].grid != NULL));
        if (fits && cases[i].grid != NULL) {
            uint32_t product = 1;
            CHECK(strcmp(wf_ext_grid_text(&grid, text, sizeof(text)), cases[i].grid) == 0);
            for (uint32_t d = 0; d < grid.n_dims; d++) {
                CHECK_U64(grid.stride[d], product);
                product *= grid.size[d];
            }
            CHECK_U64(product, cases[i].n);
        }
    }
}

/* All rules to try differ, fit the divisor, and the simplest comes first. */
static void rules_are_listed_once(void)
{
    struct wf_ext_rule rule, others[256];
    uint32_t n = 0;

    while (n < 256 && wf_ext_rule_at(n, 48, &rule)) {
        struct wf_ext_grid grid;
        CHECK(wf_ext_grid_make(&rule, 48, &grid));
        for (uint32_t i = 0; i < n; i++) {
            CHECK(memcmp(&others[i], &rule, sizeof(rule)) != 0);
        }
        CHECK(n > 0 || rule.n_dims == 1);
        others[n++] = rule;
    }
    CHECK(n > 20 && n < 256);
}

/* The ranks of a pipeline stage with the same part of each layer. */
static void groups_follow_dimensions(void)
{
    const struct wf_ext_rule rule = {.n_dims = 1, .fixed = 4, .fixed_inside = true, .outer = 2};
    const struct wf_ext_group replicas = {.type = WF_EXT_GROUP_DIMS, .k = 2};
    struct wf_ext_grid grid;
    uint32_t members[32] = {0}, own = 0;

    CHECK(wf_ext_grid_make(&rule, 32, &grid));
    CHECK_U64(wf_ext_group_members(&grid, &replicas, 21, members, &own), 4);
    CHECK_U64(members[0], 17);
    CHECK_U64(members[3], 29);
    CHECK_U64(own, 1);
}

int main(void)
{
    RUN(rules_make_grids);
    RUN(rules_are_listed_once);
    RUN(groups_follow_dimensions);
    return wf_test_done();
}
