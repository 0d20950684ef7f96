/* SPDX-License-Identifier: Apache-2.0 */
/* Dragonfly, cascade and dragonfly+: checks beyond those of conformance/topo on their examples. */
#include "harness/topo_check.h"
#include "harness/topo_walk.h"

static const char *const arrangements[] = {"absolute", "relative", "circulant"};

enum { N_ARRANGEMENTS = sizeof(arrangements) / sizeof(arrangements[0]) };

/* A balanced dragonfly has 4h^4 + 2h^2 nodes; routers of 64 ports make more than 256 thousand
 * (Kim, Dally, Scott and Abts 2008). A dragonfly+ of routers with 2h ports has (h^2 + 1) h^2.
 */
static void sizes_are_the_published_ones(void)
{
    static const struct {
        const char *spec;
        uint32_t nodes, routers, ports, diameter;
        uint64_t links;
    } cases[] = {
        {"dragonfly:2", 72, 36, 7, 5, 162},
        {"dragonfly:a=4,p=2,h=2,g=9", 72, 36, 7, 5, 162},
        {"dragonfly:3", 342, 114, 11, 5, 798},
        {"dragonfly:4", 1056, 264, 15, 5, 1056 + 264 * 7 / 2 + 264 * 4 / 2},
        {"dragonfly:16", 262656, 16416, 63, 5, 262656 + 16416 * 47 / 2},
        {"dragonfly:22", 937992, 42636, 87, 5, 937992 + 42636 * 65 / 2},
        {"cascade:4,g=15", 5760, 1440, 28, 6, 5760 + 1440 * 20 / 2 + 15 * 384 / 2},
        {"cascade:10,g=34", 13056, 3264, 34, 6, 13056 + 3264 * 30 / 2},
        {"dragonfly+:4", 272, 136, 8, 5, 272 + 17 * 16 + 17 * 16 / 2},
        {"dragonfly+:18", 105300, 11700, 36, 5, 105300 + 105300 + 105300 / 2},
        {"dragonfly+:h=2,spines=4,leaves=6,p=3", 162, 90, 8, 5, 162 + 9 * 24 + 36},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        CHECK_U64(topo->n_nodes, cases[i].nodes);
        CHECK_U64(wf_topo_n_routers(topo), cases[i].routers);
        CHECK_U64(topo->n_ports, cases[i].ports);
        CHECK_U64(topo->n_links, cases[i].links);
        CHECK_U64(topo->ops->diameter(topo), cases[i].diameter);
        CHECK_U64(topo->gate, 0);
        wf_topo_free(topo);
    }
}

/* Distances that an independent breadth-first search found in balanced dragonflies. */
static void distances_are_those_of_others(void)
{
    static const struct {
        const char *spec;
        uint64_t counts[6];
    } cases[] = {
        {"dragonfly:2", {72, 0, 72, 720, 1872, 2448}},
        {"dragonfly:3", {342, 0, 684, 8208, 33516, 74214}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        uint64_t counts[6];
        topo->ops->histogram(topo, counts);
        CHECK(memcmp(counts, cases[i].counts, sizeof(counts)) == 0);
        wf_topo_free(topo);
    }
}

/* The group to which port j of group i leads when there are n groups, one link to each. */
static uint32_t defined_group(int arrangement, uint32_t i, uint32_t j, uint32_t n)
{
    if (arrangement == 0) {
        return j < i ? j : j + 1;
    }
    if (arrangement == 1) {
        return (i + j + 1) % n;
    }
    return j % 2 == 0 ? (i + j / 2 + 1) % n : (i + n - (j / 2 + 1)) % n;
}

/* Router x of group i is joined to just the groups of the definition. */
static void check_definition(int arrangement, uint32_t a, uint32_t h)
{
    char spec[64];
    uint32_t n = a * h + 1;

    (void)snprintf(spec, sizeof(spec), "dragonfly:a=%u,h=%u,p=1,global=%s", a, h,
                   arrangements[arrangement]);
    struct wf_topo *topo = topo_make(spec);
    for (uint32_t router = 0; router < n * a; router++) {
        uint8_t joined[64] = {0};
        for (uint32_t k = 0; k < h; k++) {
            uint32_t far = topo->ops->neighbor(topo, topo->n_nodes + router, a + k);
            joined[(far - topo->n_nodes) / a]++;
        }
        for (uint32_t k = 0; k < h; k++) {
            CHECK_U64(joined[defined_group(arrangement, router / a, router % a * h + k, n)], 1);
        }
    }
    wf_topo_free(topo);
}

static void arrangements_are_as_defined(void)
{
    for (int arrangement = 0; arrangement < N_ARRANGEMENTS; arrangement++) {
        check_definition(arrangement, 4, 2);
        check_definition(arrangement, 6, 3);
        check_definition(arrangement, 3, 3);
        check_definition(arrangement, 5, 1);
        check_definition(arrangement, 1, 4);
    }
}

/* Cables between each two groups and at each router: as even as they can be. */
static void check_evenness(const struct wf_topo *topo, uint32_t a, uint32_t h, uint32_t groups)
{
    uint32_t between[32][32] = {{0}}, low = UINT32_MAX, high = 0, open = 0;

    for (uint32_t router = 0; router < groups * a; router++) {
        for (uint32_t k = 0; k < h; k++) {
            uint32_t far = topo->ops->neighbor(topo, topo->n_nodes + router, a + k);
            if (far == WF_TOPO_NO_VERTEX) {
                open++;
            } else {
                between[router / a][(far - topo->n_nodes) / a]++;
            }
        }
    }
    for (uint32_t i = 0; i < groups * groups; i++) {
        uint32_t from = i / groups, to = i % groups, n = between[from][to];
        CHECK_U64(n, between[to][from]);
        CHECK(from != to || n == 0);
        low = from != to && n < low ? n : low;
        high = n > high ? n : high;
    }
    CHECK(groups == 1 || (low >= 1 && high <= low + 1));
    /* Ports stay open where all routers are joined already; or one per group where the number
     * of ports of all groups is odd, since a cable takes two. */
    bool all_joined = groups == 1 || low == a * a;
    CHECK(all_joined || open == (groups * a * h % 2 == 1 ? groups : 0));
}

/* All small ones, with as many groups as can be joined and with fewer. */
static void any_number_of_groups_can_be_joined(void)
{
    for (uint32_t i = 0; i < N_ARRANGEMENTS * 5 * 5; i++) {
        uint32_t a = i % 5 + 1, h = i / 5 % 5 + 1;
        for (uint32_t groups = 1; groups <= a * h + 1; groups++) {
            char spec[64];
            (void)snprintf(spec, sizeof(spec), "dragonfly:a=%u,h=%u,p=1,g=%u,global=%s", a, h,
                           groups, arrangements[i / 25]);
            struct wf_topo *topo = topo_make(spec);
            check_evenness(topo, a, h, groups);
            if (a * groups <= 40) {
                topo_check(topo);
            }
            wf_topo_free(topo);
        }
    }
}

static void groups_of_leaves_and_spines_can_be_joined(void)
{
    for (uint32_t i = 0; i < N_ARRANGEMENTS * 3 * 4; i++) {
        uint32_t spines = i % 3 + 1, h = i / 3 % 4 + 1;
        for (uint32_t groups = 1; groups <= spines * h + 1; groups++) {
            char spec[80];
            (void)snprintf(spec, sizeof(spec),
                           "dragonfly+:%u,spines=%u,leaves=2,p=1,g=%u,global=%s", h, spines,
                           groups, arrangements[i / 12]);
            struct wf_topo *topo = topo_make(spec);
            topo_check(topo);
            wf_topo_free(topo);
        }
    }
}

/* The links between two groups share the ways that could take any of them. */
static void destinations_spread_over_links(void)
{
    struct wf_topo *topo = topo_make("dragonfly:a=8,h=2,p=4,g=5");
    uint32_t from = topo->n_nodes, used = 0;

    for (uint32_t dst = 2 * 32; dst < 3 * 32; dst++) {
        if (topo->ops->distance(topo, from, dst) == 4) {
            used |= UINT32_C(1) << topo->ops->next_port(topo, from, dst);
        }
    }
    CHECK(__builtin_popcount(used) >= 3);
    wf_topo_free(topo);
}

static void large_ones_work(void)
{
    static const char *const specs[] = {
        "dragonfly:22",
        "dragonfly:22,global=absolute",
        "dragonfly:22,global=circulant",
        "dragonfly:h=20,a=60,p=20,g=800",
        "dragonfly:h=40,a=80,p=1000,g=13,global=absolute",
        "dragonfly+:31",
        "dragonfly+:h=16,spines=32,leaves=40,p=20,g=300,global=circulant",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        topo_check_large(topo, 100);
        wf_topo_free(topo);
    }
}

static void nonsense_is_refused(void)
{
    topo_check_refused("dragonfly:", "h");
    topo_check_refused("dragonfly:0", "h");
    topo_check_refused("dragonfly:a=4,p=2", "h");
    topo_check_refused("dragonfly:2,g=10", "at most 9 groups");
    topo_check_refused("dragonfly:2,global=palm", "absolute");
    topo_check_refused("dragonfly:2,p=4294967295", "too large");
    topo_check_refused("dragonfly:2,p=18446744073709551615", "too large");
    topo_check_refused("dragonfly:500", "more than");
    topo_check_refused("dragonfly:9223372036854775808", "more than");
    topo_check_refused("dragonfly:1,a=18446744073709551615", "more than");
    topo_check_refused("dragonfly:1,a=100000,g=2", "too large");
    topo_check_refused("cascade:0", "h");
    topo_check_refused("cascade:1,columns=2,rows=2,g=6", "at most 5 groups");
    topo_check_refused("cascade:1,columns=0", "columns");
    topo_check_refused("cascade:1,global=absolute", "relative");
    topo_check_refused("cascade:1,columns=100000,rows=100000", "too large");
    topo_check_refused("cascade:9,columns=1000,rows=1000,g=2", "too large");
    topo_check_refused("cascade:2,p=18446744073709551615", "too large");
    topo_check_refused("dragonfly+:0", "h");
    topo_check_refused("dragonfly+:2,g=6", "at most 5 groups");
    topo_check_refused("dragonfly+:2,leaves=18446744073709551615", "too large");
    topo_check_refused("dragonfly+:2,leaves=100000000,spines=100", "too large");
    topo_check_refused("dragonfly+:18446744073709551615", "more than");
}

int main(void)
{
    RUN(sizes_are_the_published_ones);
    RUN(distances_are_those_of_others);
    RUN(arrangements_are_as_defined);
    RUN(any_number_of_groups_can_be_joined);
    RUN(groups_of_leaves_and_spines_can_be_joined);
    RUN(destinations_spread_over_links);
    RUN(large_ones_work);
    RUN(nonsense_is_refused);
    return wf_test_done();
}
