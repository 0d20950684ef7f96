/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered topology promises, whoever wrote it, and hierarchies of them. */
#include "model/topo/nested.h"

#include "harness/topo_check.h"
#include "harness/topo_walk.h"

static void check_spec(const char *spec)
{
    struct wf_topo *topo = topo_make(spec);
    int before = wf_test_failed;

    topo_check(topo);
    wf_topo_free(topo);
    if (wf_test_failed && !before) {
        printf("# that was %s\n", spec);
    }
}

static void every_kind_describes_itself(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        CHECK((*ops)->args != NULL && (*ops)->summary != NULL);
        CHECK((*ops)->params[0].name != NULL);
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            size_t len = strlen((*ops)->name);
            CHECK(strncmp(*spec, (*ops)->name, len) == 0 && (*spec)[len] == ':');
        }
    }
}

static void every_example_keeps_the_contract(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            check_spec(*spec);
        }
    }
}

/* A hierarchy is a topology like any other: direct and indirect networks, gates that are nodes
 * and gates that are switches, in and around each other. */
#define EIGHT_LEVELS "star:1/mesh:1/star:1/torus:1/star:1/mesh:1/star:1/mesh:1/"
static const char *const hierarchies[] = {
    "torus:3x2/mesh:2x2",
    "torus:4/star:3",
    "star:3/torus:2x3",
    "star:2/star:3/star:2",
    "mesh:2x2/torus:3/mesh:2x2",
    "torus:1/mesh:2x3",
    "mesh:5/torus:1",
    "tree:4/tree:3,nodes=all",
    "ring:4/tree:5,degree=3",
    "full:3/ring:5,oneway",
    "mesh:2/torus:2/star:2/mesh:2/ring:3",
    "ring:3,oneway/star:2/ring:3,oneway",
    "full:6/mesh:2",
    /* As deep as can be: work that doubles with each level would not end. */
    EIGHT_LEVELS EIGHT_LEVELS EIGHT_LEVELS "star:1/mesh:1/ring:3/star:1/mesh:2/star:1/mesh:1/"
                                           "star:2",
};

enum { N_HIERARCHIES = sizeof(hierarchies) / sizeof(hierarchies[0]) };

static void hierarchies_keep_the_contract(void)
{
    for (size_t i = 0; i < N_HIERARCHIES; i++) {
        check_spec(hierarchies[i]);
    }
}

/* The legs of every way are connected, stay in one level each and add up to the distance. */
static void legs_add_up(void)
{
    for (size_t i = 0; i < N_HIERARCHIES; i++) {
        struct wf_topo *topo = topo_make(hierarchies[i]);
        struct wf_topo_leg legs[WF_TOPO_LEGS_MAX];

        for (uint32_t src = 0; src < topo->n_nodes; src++) {
            for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
                uint32_t n = wf_topo_legs(topo, src, dst, legs), hops = 0;
                for (uint32_t leg = 0; leg < n; leg++) {
                    const struct wf_topo *level = legs[leg].topo;
                    CHECK(legs[leg].level < wf_topo_n_levels(topo));
                    CHECK(level == wf_topo_level(topo, legs[leg].level));
                    CHECK(legs[leg].from != legs[leg].to);
                    hops += level->ops->distance(level, legs[leg].from, legs[leg].to);
                }
                CHECK_U64(hops, topo->ops->distance(topo, src, dst));
            }
        }
        wf_topo_free(topo);
    }
}

int main(void)
{
    RUN(every_kind_describes_itself);
    RUN(every_example_keeps_the_contract);
    RUN(hierarchies_keep_the_contract);
    RUN(legs_add_up);
    return wf_test_done();
}
