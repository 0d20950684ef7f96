/* SPDX-License-Identifier: Apache-2.0 */
/* Fat trees: checks beyond those of conformance/topo on their examples. */
#include "harness/topo_check.h"
#include "harness/topo_walk.h"

/* k-ary n-trees have k^n nodes and n * k^(n-1) switches; the largest trees of switches of radix
 * r have r * r / 2 nodes in two levels and r * r * r / 4 in three (as in any vendor's guide).
 * The sums of distances are from an independent breadth-first search; 0 is not known. */
static void known_trees_have_the_known_sizes(void)
{
    static const struct {
        const char *spec;
        uint64_t nodes, switches, links, ports, diameter, bisection, sum;
    } cases[] = {
        {"fattree:k=4,n=3", 64, 48, 192, 8, 6, 32, 21888},
        {"fattree:k=4,n=2", 16, 8, 32, 8, 4, 8, 864},
        {"fattree:k=2,n=6", 64, 192, 384, 4, 12, 32, 41088},
        {"fattree:k=8,n=3", 512, 192, 1536, 16, 6, 256, 1498112},
        {"fattree:radix=36,levels=2", 648, 54, 1296, 36, 4, 324, 0},
        {"fattree:radix=36,levels=3", 11664, 1620, 34992, 36, 6, 5832, 0},
        {"fattree:radix=48,levels=3", 27648, 2880, 82944, 48, 6, 13824, 0},
        {"fattree:radix=7,levels=1", 7, 1, 7, 7, 2, 0, 84},
        {"fattree:24x36,up=1x12", 864, 48, 1296, 36, 4, 216, 0},
        {"fattree:18x36,taper=2", 648, 45, 972, 36, 4, 162, 0},
        {"fattree:4x4x4,taper=2x1", 64, 32, 128, 8, 6, 16, 21888},
        {"fattree:4x4x4,taper=4x2", 64, 22, 88, 6, 6, 4, 21888},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        struct wf_topo_measure measure;

        wf_topo_measure(topo, &measure);
        CHECK_U64(topo->n_nodes, cases[i].nodes);
        CHECK_U64(wf_topo_n_routers(topo), cases[i].switches);
        CHECK_U64(topo->n_links, cases[i].links);
        CHECK_U64(topo->n_ports, cases[i].ports);
        CHECK_U64(topo->bisection, cases[i].bisection);
        CHECK_U64(measure.diameter, cases[i].diameter);
        CHECK(cases[i].sum == 0 || measure.sum_low == cases[i].sum);
        wf_topo_measure_release(&measure);
        wf_topo_free(topo);
    }
}

static void check_same(const struct wf_topo *a, const struct wf_topo *b)
{
    CHECK_U64(a->n_vertices, b->n_vertices);
    for (uint32_t v = 0; v < a->n_vertices; v++) {
        CHECK_U64(wf_topo_ports(a, v), wf_topo_ports(b, v));
        for (uint32_t p = 0; p < wf_topo_ports(a, v); p++) {
            CHECK_U64(a->ops->neighbor(a, v, p), b->ops->neighbor(b, v, p));
        }
    }
}

static void names_of_the_same_tree_give_the_same_tree(void)
{
    static const char *const pairs[][2] = {
        {"fattree:4x4x4", "fattree:k=4,n=3"},
        {"fattree:4x4x4", "fattree:down=4x4x4,up=1x4x4"},
        {"fattree:4x4x8", "fattree:radix=8,levels=3"},
        {"fattree:4x4x4,taper=2", "fattree:4x4x4,up=1x2x2"},
        {"fattree:4x4x4,taper=4x2", "fattree:up=1/1/2,down=4/4/4"},
        {"fattree:9", "star:9"},
        {"fattree:2x2x2,up=1x1x1", "tree:8"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct wf_topo *a = topo_make(pairs[i][0]), *b = topo_make(pairs[i][1]);
        check_same(a, b);
        wf_topo_free(a);
        wf_topo_free(b);
    }
}

/* Over all ways to put half of the nodes and any of the switches on one side. */
static uint64_t least_cut(const struct wf_topo *topo)
{
    uint32_t from[256], to[256], n_links = 0;
    uint64_t least = UINT64_MAX;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        for (uint32_t p = 0; p < wf_topo_ports(topo, v); p++) {
            uint32_t other = topo->ops->neighbor(topo, v, p);
            if (v < other) {
                from[n_links] = v;
                to[n_links++] = other;
            }
        }
    }
    for (uint32_t side = 0; side < UINT32_C(1) << topo->n_vertices; side++) {
        uint32_t nodes = 0;
        for (uint32_t v = 0; v < topo->n_nodes; v++) {
            nodes += side >> v & 1;
        }
        if (nodes != topo->n_nodes / 2) {
            continue;
        }
        uint64_t cut = 0;
        for (uint32_t i = 0; i < n_links; i++) {
            cut += (side >> from[i] ^ side >> to[i]) & 1;
        }
        least = cut < least ? cut : least;
    }
    return least;
}

static void no_cut_is_smaller_than_the_bisection(void)
{
    static const char *const specs[] = {
        "fattree:2",          "fattree:6",
        "fattree:2x2",        "fattree:2x2x2,taper=2",
        "fattree:2x4,up=1x1", "fattree:2x2,up=1x4",
        "fattree:2x3,up=1x4", "fattree:4x2,up=1x2",
        "fattree:4x2,up=2x1", "fattree:2x4,up=2x2",
        "fattree:3x2,up=1x2", "fattree:1x4,up=3x1",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        CHECK(topo->n_vertices <= 20);
        CHECK_U64(topo->bisection, least_cut(topo));
        wf_topo_free(topo);
    }
}

/* Counts the routes over each directed link if all nodes send to the node `shift` after them;
 * returns the largest count. */
static uint32_t busiest_link(const struct wf_topo *topo, uint32_t shift)
{
    uint32_t *load = calloc(wf_topo_first_link(topo, topo->n_vertices), sizeof(*load));
    uint32_t most = 0;

    for (uint32_t src = 0; src < topo->n_nodes; src++) {
        uint32_t dst = (src + shift) % topo->n_nodes;
        for (uint32_t at = src; at != dst;) {
            uint32_t port = topo->ops->next_port(topo, at, dst);
            uint32_t n = ++load[wf_topo_first_link(topo, at) + port];
            most = n > most ? n : most;
            at = topo->ops->neighbor(topo, at, port);
        }
    }
    free(load);
    return most;
}

/* What the rule for ways up was made for: in a tree of full bandwidth, shifts share no link; in
 * a tapered one they share it as the taper says. */
static void shifts_share_no_links(void)
{
    static const struct {
        const char *spec;
        uint32_t most;
    } cases[] = {
        {"fattree:4x4x4", 1}, {"fattree:k=2,n=5", 1},         {"fattree:radix=8,levels=2", 1},
        {"fattree:4x4x8", 1}, {"fattree:4x4x4,taper=2x1", 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        for (uint32_t shift = 1; shift < topo->n_nodes; shift++) {
            CHECK(busiest_link(topo, shift) <= cases[i].most);
        }
        CHECK_U64(busiest_link(topo, topo->n_nodes / 2), cases[i].most);
        wf_topo_free(topo);
    }
}

static void large_trees_are_as_good_as_small_ones(void)
{
    static const char *const specs[] = {
        "fattree:k=2,n=20",
        "fattree:k=16,n=5",
        "fattree:radix=128,levels=3",
        "fattree:radix=64,levels=4,taper=2",
        "fattree:1000000",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        topo_check_large(topo, 1000);
        CHECK_U64(wf_topo_first_link(topo, topo->n_vertices), 2 * topo->n_links);
        wf_topo_free(topo);
    }
}

static void bad_trees_are_refused_with_a_reason(void)
{
    static const struct {
        const char *spec, *says;
    } cases[] = {
        {"fattree", "needs one of down"},
        {"fattree:", "needs one of down"},
        {"fattree:4x4,k=4,n=2", "needs only one of down"},
        {"fattree:k=4,n=2,radix=8", "needs only one of down"},
        {"fattree:k=4", "k and n need each other"},
        {"fattree:n=4", "k and n need each other"},
        {"fattree:radix=8", "radix and levels need each other"},
        {"fattree:radix=7,levels=2", "expected an even number"},
        {"fattree:up=1x4", "up needs down"},
        {"fattree:4x4,up=1x4x4", "expected 2 numbers"},
        {"fattree:4x0x4", "a size of 0"},
        {"fattree:4x4,up=1x0", "a size of 0"},
        {"fattree:4x4x", "character 5"},
        {"fattree:4y4", "expected 'x'"},
        {"fattree:4,taper=2", "taper '2': the only level of switches has no parents"},
        {"fattree:4x4,taper=3", "3 does not divide the 4 parents of a switch of level 1"},
        {"fattree:4x4,taper=0", "0 does not divide"},
        {"fattree:4x4,taper=2x2", "one for each of 1 levels"},
        {"fattree:k=2,n=33", "too large"},
        {"fattree:k=2,n=32", "too large"},
        {"fattree:k=2,n=28", "too large"},
        {"fattree:65536x65536", "too large"},
        {"fattree:2,up=4294967295", "too large"},
        {"fattree:65536,up=65536", "too large"},
        {"fattree:1x1,up=65535x65537", "too large"},
        {"fattree:4x4,tapper=2", "did you mean 'taper'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        topo_check_refused(cases[i].spec, cases[i].says);
    }
}

int main(void)
{
    RUN(known_trees_have_the_known_sizes);
    RUN(names_of_the_same_tree_give_the_same_tree);
    RUN(no_cut_is_smaller_than_the_bisection);
    RUN(shifts_share_no_links);
    RUN(large_trees_are_as_good_as_small_ones);
    RUN(bad_trees_are_refused_with_a_reason);
    return wf_test_done();
}
