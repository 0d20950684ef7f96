/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/torus.h"

#include "wf_test.h"

enum { CASES = 2000, SEED = 1 };

/* Hops on the shortest path, by breadth-first search over neighbor(): the oracle. */
static uint32_t bfs_distance(const struct wf_topo *topo, uint32_t src, uint32_t dst)
{
    uint32_t *dist = malloc(topo->n_nodes * sizeof(*dist));
    uint32_t *queue = malloc(topo->n_nodes * sizeof(*queue));
    uint32_t head = 0, tail = 0;

    memset(dist, 0xff, topo->n_nodes * sizeof(*dist));
    dist[src] = 0;
    queue[tail++] = src;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t p = 0; p < topo->n_ports; p++) {
            uint32_t to = topo->ops->neighbor(topo, at, p);
            if (dist[to] == UINT32_MAX) {
                dist[to] = dist[at] + 1;
                queue[tail++] = to;
            }
        }
    }
    uint32_t result = dist[dst];
    free(dist);
    free(queue);
    return result;
}

/* A torus of 1 to 4 dimensions of 1 to 7, from case i. */
static void random_torus(struct wf_torus *torus, uint64_t i)
{
    uint32_t sizes[4];
    uint32_t n = 1 + (uint32_t)(wf_test_rand(SEED, i, 0) % 4);

    for (uint32_t d = 0; d < n; d++) {
        sizes[d] = 1 + (uint32_t)(wf_test_rand(SEED, i, 1 + d) % 7);
    }
    if (wf_torus_init(torus, sizes, n, NULL) != WF_OK) {
        abort();
    }
}

static uint32_t random_node(const struct wf_topo *topo, uint64_t i, uint64_t draw)
{
    return (uint32_t)(wf_test_rand(SEED, i, 100 + draw) % topo->n_nodes);
}

static void neighbors_are_mutual(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        struct wf_torus t;
        random_torus(&t, i);
        uint32_t node = random_node(&t.topo, i, 0);
        for (uint32_t p = 0; p < t.topo.n_ports; p++) {
            uint32_t to = wf_torus_ops.neighbor(&t.topo, node, p);
            CHECK(to < t.topo.n_nodes);
            CHECK_U64(wf_torus_ops.neighbor(&t.topo, to, p ^ 1), node);
        }
    }
}

static void walks_are_minimal_connected_and_agree_with_next_port(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        struct wf_torus t;
        struct wf_torus_walk walk;
        struct wf_hop hop;
        uint32_t hops = 0;

        random_torus(&t, i);
        uint32_t src = random_node(&t.topo, i, 0);
        uint32_t dst = random_node(&t.topo, i, 1);
        uint32_t at = src;

        wf_torus_walk_begin(&walk, &t, src, dst);
        while (wf_torus_walk_next(&walk, &hop)) {
            CHECK_U64(hop.from, at);
            CHECK_U64(hop.port, wf_torus_ops.next_port(&t.topo, at, dst));
            CHECK_U64(hop.to, wf_torus_ops.neighbor(&t.topo, at, hop.port));
            at = hop.to;
            hops++;
        }
        CHECK_U64(at, dst);
        CHECK_U64(wf_torus_ops.next_port(&t.topo, at, dst), WF_TOPO_NO_PORT);
        CHECK_U64(hops, wf_torus_ops.distance(&t.topo, src, dst));
        CHECK_U64(hops, bfs_distance(&t.topo, src, dst));
    }
}

static void distance_is_symmetric_even_where_routes_are_not(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        struct wf_torus t;
        random_torus(&t, i);
        uint32_t a = random_node(&t.topo, i, 0);
        uint32_t b = random_node(&t.topo, i, 1);
        CHECK_U64(wf_torus_ops.distance(&t.topo, a, b), wf_torus_ops.distance(&t.topo, b, a));
    }
}

static void opposite_pairs_load_both_directions_alike(void)
{
    struct wf_torus t;
    const uint32_t sizes[] = {8};
    uint32_t load[2] = {0, 0};

    CHECK(wf_torus_init(&t, sizes, 1, NULL) == WF_OK);
    for (uint32_t src = 0; src < 8; src++) {
        struct wf_torus_walk walk;
        struct wf_hop hop;
        wf_torus_walk_begin(&walk, &t, src, (src + 4) % 8);
        while (wf_torus_walk_next(&walk, &hop)) {
            load[hop.port]++;
        }
    }
    CHECK_U64(load[0], 16);
    CHECK_U64(load[1], 16);
}

static void an_arrived_walk_leaves_the_hop_alone(void)
{
    struct wf_torus t;
    const uint32_t sizes[] = {3, 3};
    struct wf_torus_walk walk;
    struct wf_hop hop = {7, 7, 7};

    CHECK(wf_torus_init(&t, sizes, 2, NULL) == WF_OK);
    wf_torus_walk_begin(&walk, &t, 4, 4);
    CHECK(!wf_torus_walk_next(&walk, &hop));
    CHECK(!wf_torus_walk_next(&walk, &hop));
    CHECK_U64(hop.from, 7);
}

static void bad_specs_are_refused_with_the_place(void)
{
    static const struct {
        const char *spec;
        enum wf_status status;
        const char *words;
    } cases[] = {
        {"torus:", WF_EINVAL, "character 1"},
        {"torus", WF_EINVAL, "character 1"},
        {"torus:4x", WF_EINVAL, "character 3"},
        {"torus:4xx4", WF_EINVAL, "character 3"},
        {"torus:4x-1", WF_EINVAL, "character 3"},
        {"torus:4,4", WF_EINVAL, "expected 'x' at character 2"},
        {"torus:4x0", WF_EINVAL, "dimension 1 has size 0"},
        {"torus:1x1x1x1x1x1x1x1x1", WF_EINVAL, "more than 8 dimensions"},
        {"torus:99999999999999999999", WF_EINVAL, "no valid size"},
        {"torus:65536x65536", WF_ELIMIT, "more than 1073741823 nodes"},
        {"tours:4x4", WF_EINVAL, "unknown topology 'tours'; did you mean 'torus'?"},
        {"", WF_EINVAL, "unknown topology ''"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = NULL;
        struct wf_err err = {.status = WF_OK};
        CHECK(wf_topo_create(cases[i].spec, &topo, &err) == cases[i].status);
        CHECK(err.status == cases[i].status);
        CHECK(strstr(err.text, cases[i].words) != NULL);
        CHECK(topo == NULL);
    }
}

static void a_spec_makes_what_it_says(void)
{
    struct wf_topo *topo = NULL;
    CHECK(wf_topo_create("torus:4x3x2", &topo, NULL) == WF_OK);
    CHECK_U64(topo->n_nodes, 24);
    CHECK_U64(topo->n_ports, 6);
    CHECK_U64(wf_topo_link(topo, 23, 5), 23 * 6 + 5);
    wf_topo_free(topo);
}

int main(void)
{
    RUN(neighbors_are_mutual);
    RUN(walks_are_minimal_connected_and_agree_with_next_port);
    RUN(distance_is_symmetric_even_where_routes_are_not);
    RUN(opposite_pairs_load_both_directions_alike);
    RUN(an_arrived_walk_leaves_the_hop_alone);
    RUN(bad_specs_are_refused_with_the_place);
    RUN(a_spec_makes_what_it_says);
    return wf_test_done();
}
