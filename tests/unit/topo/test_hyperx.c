/* SPDX-License-Identifier: Apache-2.0 */
/* HyperX: checks beyond those of conformance/topo on its examples. */
#include "model/topo/measure.h"

#include "harness/topo_walk.h"

/* Sizes are products, ports sums; a HyperX of twos is a hypercube, one of one dimension is
 * fully connected. */
static void sizes_are_those_of_the_definition(void)
{
    static const struct {
        const char *spec;
        uint32_t nodes, routers, ports, diameter;
        uint64_t links;
    } cases[] = {
        {"hyperx:4x4x4,p=2", 128, 64, 11, 5, 128 + 64 * 9 / 2},
        {"hyperx:8,p=8", 64, 8, 15, 3, 64 + 28},
        {"hyperx:2x2x2x2x2x2", 64, 64, 7, 8, 64 + 192},
        {"hyperx:16x12,p=3", 576, 192, 29, 4, 576 + 192 * 26 / 2},
        {"hyperx:1x1,p=4", 4, 1, 4, 2, 4},
        {"hyperx:32x32x32,p=32", 1048576, 32768, 125, 5, 1048576 + 32768 * 93 / 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        CHECK_U64(topo->n_nodes, cases[i].nodes);
        CHECK_U64(wf_topo_n_routers(topo), cases[i].routers);
        CHECK_U64(topo->n_ports, cases[i].ports);
        CHECK_U64(topo->n_links, cases[i].links);
        CHECK_U64(topo->ops->diameter(topo), cases[i].diameter);
        wf_topo_free(topo);
    }
}

/* Cables between the routers whose bit is set and the others. */
static uint64_t cut_of(const struct wf_topo *topo, uint32_t set)
{
    uint64_t cut = 0;

    for (uint32_t r = 0; r < wf_topo_n_routers(topo); r++) {
        uint32_t vertex = topo->n_nodes + r;
        for (uint32_t p = 0; p < wf_topo_ports(topo, vertex) && (set >> r & 1) != 0; p++) {
            uint32_t to = topo->ops->neighbor(topo, vertex, p);
            cut += to >= topo->n_nodes && (set >> (to - topo->n_nodes) & 1) == 0 ? 1 : 0;
        }
    }
    return cut;
}

/* Against all ways to halve the routers. */
static void bisection_is_the_least_cut(void)
{
    static const char *const specs[] = {
        "hyperx:2",   "hyperx:6",     "hyperx:10",  "hyperx:2x2x2", "hyperx:4x3",
        "hyperx:5x2", "hyperx:2x3x2", "hyperx:4x4", "hyperx:1x7x2", "hyperx:8x2,p=3",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        uint32_t routers = wf_topo_n_routers(topo);
        uint64_t least = UINT64_MAX;
        CHECK(routers >= 2 && routers <= 20);
        for (uint32_t set = 0; set < UINT32_C(1) << (routers - 1); set++) {
            if ((uint32_t)__builtin_popcount(set) == routers / 2) {
                uint64_t cut = cut_of(topo, set);
                least = cut < least ? cut : least;
            }
        }
        CHECK_U64(topo->bisection, least);
        wf_topo_free(topo);
    }
}

/* The published figure for even widths: (S/2)^2 cables in each row of the narrowest dimension.
 */
static void bisection_of_even_widths_is_the_published_one(void)
{
    struct wf_topo *topo = topo_make("hyperx:8x4x16,p=4");

    CHECK_U64(topo->bisection, UINT64_C(2) * 2 * (8 * 4 * 16 / 4));
    wf_topo_free(topo);
}

static void dimensions_are_resolved_in_order(void)
{
    struct wf_topo *topo = topo_make("hyperx:5x4x3,p=2");
    uint32_t at = topo->n_nodes + (1 + 2 * 5 + 0 * 20), dst = (4 + 0 * 5 + 2 * 20) * 2 + 1;
    static const uint32_t way[3][3] = {{4, 2, 0}, {4, 0, 0}, {4, 0, 2}};

    for (int hop = 0; hop < 3; hop++) {
        uint32_t coord[WF_TOPO_COORDS_MAX];
        at = topo->ops->neighbor(topo, at, topo->ops->next_port(topo, at, dst));
        CHECK_U64(topo->ops->coords(topo, at, coord), 3);
        CHECK(memcmp(coord, way[hop], sizeof(way[hop])) == 0);
    }
    CHECK_U64(topo->ops->neighbor(topo, at, topo->ops->next_port(topo, at, dst)), dst);
    wf_topo_free(topo);
}

static void large_ones_work(void)
{
    static const char *const specs[] = {"hyperx:32x32x32,p=32", "hyperx:1000x1000",
                                        "hyperx:6x6x6x6x6x6x6x2"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        topo_check_large(topo, 300);
        wf_topo_free(topo);
    }
}

static void nonsense_is_refused(void)
{
    topo_check_refused("hyperx:", "size");
    topo_check_refused("hyperx:4x", "number");
    topo_check_refused("hyperx:0", "size of 0");
    topo_check_refused("hyperx:4x0x4", "size of 0");
    topo_check_refused("hyperx:2x2x2x2x2x2x2x2x2", "more than 8");
    topo_check_refused("hyperx:4x4,p=0", "p");
    topo_check_refused("hyperx:100000x100000", "too large");
    topo_check_refused("hyperx:4294967295", "too large");
    topo_check_refused("hyperx:4x4,p=18446744073709551615", "too large");
    topo_check_refused("hyperx:4x4,p=9223372036854775807", "too large");
    topo_check_refused("hyperx:4x4,q=2", "q");
}

int main(void)
{
    RUN(sizes_are_those_of_the_definition);
    RUN(bisection_is_the_least_cut);
    RUN(bisection_of_even_widths_is_the_published_one);
    RUN(dimensions_are_resolved_in_order);
    RUN(large_ones_work);
    RUN(nonsense_is_refused);
    return wf_test_done();
}
