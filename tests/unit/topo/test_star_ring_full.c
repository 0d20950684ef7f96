/* SPDX-License-Identifier: Apache-2.0 */
/* Stars, rings and full networks: checks beyond those of conformance/topo on their examples. */
#include "harness/topo_check.h"
#include "harness/topo_walk.h"

/* Sums of distances and links of stars and rings are from an independent breadth-first search;
 * those of one-way rings and full networks are sums that fit on an envelope. */
static void known_networks_have_the_known_sizes(void)
{
    static const struct {
        const char *spec;
        uint64_t nodes, vertices, links, ports, diameter, sum;
    } cases[] = {
        {"star:8", 8, 9, 8, 8, 2, 112},
        {"star:4096", 4096, 4097, 4096, 4096, 2, 33546240},
        {"star:4000000", 4000000, 4000001, 4000000, 4000000, 2, UINT64_C(31999992000000)},
        {"ring:1", 1, 1, 0, 2, 0, 0},
        {"ring:2", 2, 2, 1, 2, 1, 2},
        {"ring:64", 64, 64, 64, 2, 32, 65536},
        {"ring:512", 512, 512, 512, 2, 256, 33554432},
        {"ring:1,oneway", 1, 1, 0, 1, 0, 0},
        {"ring:2,oneway", 2, 2, 2, 1, 1, 2},
        {"ring:100,oneway", 100, 100, 100, 1, 99, 495000},
        {"full:1", 1, 1, 0, 0, 0, 0},
        {"full:100", 100, 100, 4950, 99, 1, 9900},
        {"full:65536", 65536, 65536, UINT64_C(2147450880), 65535, 1, UINT64_C(4294901760)},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        struct wf_topo_measure measure;

        wf_topo_measure(topo, &measure);
        CHECK_U64(topo->n_nodes, cases[i].nodes);
        CHECK_U64(topo->n_vertices, cases[i].vertices);
        CHECK_U64(topo->n_links, cases[i].links);
        CHECK_U64(topo->n_ports, cases[i].ports);
        CHECK_U64(measure.diameter, cases[i].diameter);
        CHECK_U64(measure.sum_low, cases[i].sum);
        wf_topo_measure_release(&measure);
        wf_topo_free(topo);
    }
}

static void large_networks_are_as_good_as_small_ones(void)
{
    static const char *const specs[] = {
        "star:4000000", "star:2147483647", "ring:4000000", "ring:9999,oneway", "full:65536",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        topo_check_walks(topo, 5);
        topo_check_walk(topo, topo->gate, topo->n_nodes - 1);
        topo_check_walk(topo, topo->n_nodes - 1, topo->gate);
        CHECK_U64(wf_topo_first_link(topo, topo->n_vertices),
                  topo->n_links * (topo->oneway ? 1 : 2));
        wf_topo_free(topo);
    }
}

static void only_one_way_rings_are_one_way(void)
{
    struct wf_topo *both = topo_make("ring:8"), *up = topo_make("ring:8,oneway");

    CHECK(!both->oneway && up->oneway);
    CHECK_U64(both->ops->distance(both, 5, 2), 3);
    CHECK_U64(up->ops->distance(up, 5, 2), 5);
    CHECK_U64(up->ops->neighbor(up, 7, 0), 0);
    wf_topo_free(both);
    wf_topo_free(up);
}

static void bad_networks_are_refused_with_a_reason(void)
{
    static const struct {
        const char *spec, *says;
    } cases[] = {
        {"star", "needs its size"},
        {"star:0", "out of range; expected 1"},
        {"star:2147483648", "out of range"},
        {"star:-1", "star: size"},
        {"ring:0", "out of range"},
        {"ring:4x4", "ring: size"},
        {"ring:4,onway=1", "did you mean 'oneway'"},
        {"full:65537", "expected 1 to 65536"},
        {"full:x", "full: size"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        topo_check_refused(cases[i].spec, cases[i].says);
    }
}

int main(void)
{
    RUN(known_networks_have_the_known_sizes);
    RUN(large_networks_are_as_good_as_small_ones);
    RUN(only_one_way_rings_are_one_way);
    RUN(bad_networks_are_refused_with_a_reason);
    return wf_test_done();
}
