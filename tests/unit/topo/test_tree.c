/* SPDX-License-Identifier: Apache-2.0 */
/* Trees: checks beyond those of conformance/topo on their examples. */
#include "harness/topo_check.h"
#include "harness/topo_walk.h"

static struct wf_topo *make_tree(uint32_t size, uint32_t degree, const char *nodes)
{
    char spec[64];

    (void)snprintf(spec, sizeof(spec), "tree:%u,degree=%u,nodes=%s", size, degree, nodes);
    return topo_make(spec);
}

/* The least number of cables between `x` nodes on the side of v and the rest of those below it,
 * for all x, into cost[0 .. n_nodes]: children one after the other. */
static void cut_below(const struct wf_topo *topo, uint32_t v, uint32_t from, uint32_t *cost)
{
    uint32_t n = topo->n_nodes;
    uint32_t *below = calloc(n + 1, sizeof(*below)), *sum = calloc(n + 1, sizeof(*sum));

    for (uint32_t x = 0; x <= n; x++) {
        cost[x] = x == (v < n ? 1U : 0U) ? 0 : 1000;
    }
    for (uint32_t p = 0; p < wf_topo_ports(topo, v); p++) {
        uint32_t child = topo->ops->neighbor(topo, v, p);
        if (child == from) {
            continue;
        }
        cut_below(topo, child, v, below);
        uint32_t under = 0; /* nodes below the child, all on its side */
        for (uint32_t x = 0; x <= n; x++) {
            under = below[x] == 0 ? x : under;
        }
        memset(sum, 0x3f, (n + 1) * sizeof(*sum));
        for (uint32_t x = 0; x <= n; x++) {
            for (uint32_t y = 0; y <= under && x + y <= n; y++) {
                uint32_t same = below[y], other = below[under - y] + 1;
                uint32_t total = cost[x] + (same < other ? same : other);
                sum[x + y] = total < sum[x + y] ? total : sum[x + y];
            }
        }
        memcpy(cost, sum, (n + 1) * sizeof(*sum));
    }
    free(below);
    free(sum);
}

static void check_bisection(const struct wf_topo *topo)
{
    uint32_t *cost = malloc((topo->n_nodes + 1) * sizeof(*cost));

    cut_below(topo, topo->gate, WF_TOPO_NO_VERTEX, cost);
    uint32_t least = cost[topo->n_nodes / 2], other = cost[topo->n_nodes - topo->n_nodes / 2];
    free(cost);
    CHECK_U64(topo->bisection, least < other ? least : other);
}

static void trees_of_all_sizes_keep_the_contract(void)
{
    static const char *const nodes[] = {"leaves", "all"};

    for (uint32_t size = 1; size <= 34; size++) {
        for (uint32_t degree = 2; degree <= 5; degree++) {
            for (int i = 0; i < 2; i++) {
                struct wf_topo *topo = make_tree(size, degree, nodes[i]);
                topo_check(topo);
                if (topo->bisection != 0 && !wf_test_failed) {
                    check_bisection(topo);
                }
                if (wf_test_failed) {
                    printf("# that was tree:%u,degree=%u,nodes=%s\n", size, degree, nodes[i]);
                    return;
                }
                wf_topo_free(topo);
            }
        }
    }
}

static void complete_trees_have_the_known_bisection(void)
{
    static const struct {
        const char *spec;
        uint64_t cables;
    } cases[] = {
        {"tree:8", 1},
        {"tree:64,degree=4", 2},
        {"tree:1", 0},
        {"tree:24", 0},
        {"tree:96,degree=8", 0},
        {"tree:6,degree=8", 3},
        {"tree:15,nodes=all", 1},
        {"tree:13,degree=3,nodes=all", 0},
        {"tree:2,nodes=all", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        CHECK_U64(topo->bisection, cases[i].cables);
        wf_topo_free(topo);
    }
}

/* Sizes and sums of distances of binary trees from an independent breadth-first search. */
static void known_trees_have_the_known_distances(void)
{
    static const struct {
        const char *spec;
        uint64_t vertices, links, ports, diameter, sum;
    } cases[] = {
        {"tree:4", 7, 6, 3, 4, 40},
        {"tree:64", 127, 126, 3, 12, 41088},
        {"tree:1024", 2047, 2046, 3, 20, 18876416},
        {"tree:7,nodes=all", 7, 6, 3, 4, 96},
        {"tree:64,nodes=all", 64, 63, 3, 11, 26772},
        {"tree:1023,nodes=all", 1023, 1022, 3, 18, 14706688},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        struct wf_topo_measure measure;

        wf_topo_measure(topo, &measure);
        CHECK_U64(topo->n_vertices, cases[i].vertices);
        CHECK_U64(topo->n_links, cases[i].links);
        CHECK_U64(topo->n_ports, cases[i].ports);
        CHECK_U64(measure.diameter, cases[i].diameter);
        CHECK_U64(measure.sum_low, cases[i].sum);
        wf_topo_measure_release(&measure);
        wf_topo_free(topo);
    }
}

/* Each cable is on the ways between the nodes below it and the others: adds up all distances
 * by a visit to every vertex. Those of a lower level have higher numbers in a heap, lower ones
 * above leaves. */
static uint64_t sum_by_cables(const struct wf_topo *topo)
{
    uint32_t n = topo->n_vertices, root = topo->gate;
    uint32_t *below = calloc(n, sizeof(*below));
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = root == 0 ? n - 1 - i : i;
        below[v] += v < topo->n_nodes ? 1 : 0;
        if (v != root) {
            uint32_t up = topo->ops->neighbor(topo, v, wf_topo_ports(topo, v) - 1);
            below[up] += below[v];
            sum += 2 * (uint64_t)below[v] * (topo->n_nodes - below[v]);
        }
    }
    free(below);
    return sum;
}

static void large_trees_are_as_good_as_small_ones(void)
{
    static const char *const specs[] = {
        "tree:1000003",
        "tree:1000003,nodes=all",
        "tree:4000000,degree=36",
        "tree:4000000,degree=36,nodes=all",
        "tree:3000000,degree=2147483647",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        topo_check_large(topo, 1000);
        topo_check_sum(topo, sum_by_cables(topo));
        CHECK_U64(wf_topo_first_link(topo, topo->n_vertices), 2 * topo->n_links);
        wf_topo_free(topo);
    }
}

static void bad_trees_are_refused_with_a_reason(void)
{
    static const struct {
        const char *spec, *says;
    } cases[] = {
        {"tree", "needs its size"},
        {"tree:0", "out of range"},
        {"tree:2147483647", "too large"},
        {"tree:8,degree=1", "out of range; expected 2"},
        {"tree:8,nodes=leafs", "did you mean 'leaves'"},
        {"tree:8,degre=3", "did you mean 'degree'"},
        {"tree:8x8", "8x8"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        topo_check_refused(cases[i].spec, cases[i].says);
    }
}

int main(void)
{
    RUN(trees_of_all_sizes_keep_the_contract);
    RUN(complete_trees_have_the_known_bisection);
    RUN(known_trees_have_the_known_distances);
    RUN(large_trees_are_as_good_as_small_ones);
    RUN(bad_trees_are_refused_with_a_reason);
    return wf_test_done();
}
