/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "model/topo/topo.h"

#include "harness/topo_walk.h"
#include "harness/wf_test.h"

#include <stdbool.h>

enum { DIMS_MAX = 8 };

/* ---- an independent definition of the topology, on coordinates ---- */

struct box {
    uint32_t n_dims, n_nodes, degree;
    uint32_t size[DIMS_MAX], jump[DIMS_MAX];
    bool wrap[DIMS_MAX];
};

/* The node one step away, or the node itself if there is none. */
static uint32_t step(const struct box *box, uint32_t node, uint32_t dim, bool up)
{
    uint32_t coord[DIMS_MAX] = {0}, rest = node, target = (dim + box->degree) % box->n_dims;

    for (uint32_t d = 0; d < box->n_dims; d++) {
        coord[d] = rest % box->size[d];
        rest /= box->size[d];
    }
    uint32_t size = box->size[dim], last = size - 1;
    uint32_t jump = box->jump[dim] % box->size[target];
    if (coord[dim] == (up ? last : 0) && !box->wrap[dim]) {
        return node;
    }
    if (coord[dim] == (up ? last : 0)) {
        uint32_t by = up ? jump : box->size[target] - jump;
        coord[target] = (coord[target] + by) % box->size[target];
        coord[dim] = up ? 0 : last;
    } else {
        coord[dim] += up ? 1 : UINT32_MAX;
    }
    uint32_t to = 0;
    for (uint32_t d = box->n_dims; d-- > 0;) {
        to = to * box->size[d] + coord[d];
    }
    return to;
}

/* Distances from `src` by breadth-first search: the oracle. */
static void search(const struct box *box, uint32_t src, uint32_t *dist, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    memset(dist, 0xff, box->n_nodes * sizeof(*dist));
    dist[src] = 0;
    queue[tail++] = src;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t port = 0; port < 2 * box->n_dims; port++) {
            uint32_t to = step(box, at, port / 2, port % 2 == 0);
            if (dist[to] == UINT32_MAX) {
                dist[to] = dist[at] + 1;
                queue[tail++] = to;
            }
        }
    }
}

static void print_list(char *text, size_t room, const uint32_t *values, uint32_t n,
                       const char *between)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, room - used, "%s%u", i > 0 ? between : "", values[i]);
    }
}

static struct wf_topo *make_box(const struct box *box)
{
    char size[100], wrap[100], jump[100], spec[400];
    uint32_t flags[DIMS_MAX];

    for (uint32_t d = 0; d < box->n_dims; d++) {
        flags[d] = box->wrap[d] ? 1 : 0;
    }
    print_list(size, sizeof(size), box->size, box->n_dims, "x");
    print_list(wrap, sizeof(wrap), flags, box->n_dims, ",");
    print_list(jump, sizeof(jump), box->jump, box->n_dims, "/");
    (void)snprintf(spec, sizeof(spec), "ttorus:%s,wrap=%s,degree=%u,jump=%s", size, wrap,
                   box->degree, jump);
    printf("# %s\n", spec);
    return topo_make(spec);
}

/* ---- Comparison with the oracle ---- */

/* Whether each step of the definition has exactly one cable, and there are no others. */
static bool links_are_right(const struct wf_topo *topo, const struct box *box)
{
    uint64_t ends = 0;

    for (uint32_t node = 0; node < box->n_nodes; node++) {
        for (uint32_t port = 0; port < topo->n_ports; port++) {
            uint32_t to = step(box, node, port / 2, port % 2 == 0), n = 0;
            for (uint32_t p = 0; p < topo->n_ports; p++) {
                n += topo->ops->neighbor(topo, node, p) == to;
            }
            uint32_t cable = topo->ops->neighbor(topo, node, port);
            if (n != (to == node ? 0 : 1) || (cable != WF_TOPO_NO_VERTEX && cable != to)) {
                return false;
            }
            /* A cable is in opposite ports at its two ends. */
            if (cable != WF_TOPO_NO_VERTEX &&
                topo->ops->neighbor(topo, cable, port ^ 1) != node) {
                return false;
            }
            ends += cable != WF_TOPO_NO_VERTEX;
        }
    }
    return ends == 2 * topo->n_links;
}

static bool route_is_right(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                           const uint32_t *to_dst)
{
    uint32_t expected = WF_TOPO_NO_PORT;

    for (uint32_t port = topo->n_ports; port-- > 0;) {
        uint32_t to = topo->ops->neighbor(topo, at, port);
        if (to != WF_TOPO_NO_VERTEX && to_dst[to] < to_dst[at]) {
            expected = port;
        }
    }
    return topo->ops->next_port(topo, at, dst) == expected;
}

/* Compares all pairs; every `stride`-th node is a destination. */
static void check_box(const struct box *box, uint32_t stride)
{
    struct wf_topo *topo = make_box(box);
    uint32_t *dist = malloc(box->n_nodes * sizeof(*dist));
    uint32_t *queue = malloc(box->n_nodes * sizeof(*queue));
    uint64_t *counts = calloc(box->n_nodes, sizeof(*counts));
    uint32_t most = 0;

    CHECK(links_are_right(topo, box));
    for (uint32_t dst = 0; dst < box->n_nodes; dst += stride) {
        search(box, dst, dist, queue);
        for (uint32_t at = 0; at < box->n_nodes; at++) {
            CHECK_U64(topo->ops->distance(topo, at, dst), dist[at]);
            CHECK(route_is_right(topo, at, dst, dist));
            counts[dist[at]]++;
            most = dist[at] > most ? dist[at] : most;
        }
    }
    if (stride == 1) {
        CHECK_U64(topo->ops->diameter(topo), most);
        uint64_t *told = malloc(((size_t)most + 1) * sizeof(*told));
        topo->ops->histogram(topo, told);
        CHECK(memcmp(told, counts, ((size_t)most + 1) * sizeof(*told)) == 0);
        free(told);
    }
    free(counts);
    free(queue);
    free(dist);
    wf_topo_free(topo);
}

static uint32_t draw(uint64_t *n, uint32_t below)
{
    return (uint32_t)wf_rng_below(wf_rng_draw(11, 0, (*n)++), below);
}

static void random_boxes_agree_with_search(void)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < 300; i += WF_TEST_ONE_IN) {
        struct box box = {.n_dims = 1 + draw(&n, 4), .n_nodes = 1};
        bool lines = draw(&n, 3) == 0;
        box.degree = draw(&n, 6);
        for (uint32_t d = 0; d < box.n_dims; d++) {
            box.size[d] = 1 + draw(&n, box.n_nodes > 60 ? 3 : 6);
            box.n_nodes *= box.size[d];
            box.wrap[d] = !lines || draw(&n, 2) == 0;
            box.jump[d] = box.degree % box.n_dims == 0 || !box.wrap[d] ? 0 : draw(&n, 8);
        }
        check_box(&box, 1);
    }
}

static void larger_boxes_agree_with_search(void)
{
    static const struct box boxes[] = {
        {3, 512, 1, {8, 8, 8}, {2, 2, 2}, {true, true, true}},
        {3, 512, 2, {8, 8, 8}, {4, 4, 4}, {true, true, true}},
        {2, 512, 1, {32, 16}, {5, 9}, {true, true}},
        {3, 600, 1, {2, 20, 15}, {7, 3, 1}, {true, true, true}},
        {5, 486, 1, {3, 3, 3, 3, 6}, {1, 2, 1, 2, 1}, {true, true, true, true, true}},
        {8,
         256,
         3,
         {2, 2, 2, 2, 2, 2, 2, 2},
         {1, 1, 1, 1, 0, 1, 1, 1},
         {true, true, true, true, true, true, true, true}},
    };
    static const struct box reference = {
        3, 4096, 1, {16, 16, 16}, {8, 8, 8}, {true, true, true}};

    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i += WF_TEST_ONE_IN) {
        check_box(&boxes[i], 1);
    }
    check_box(&reference, 97 * WF_TEST_ONE_IN);
}

/* Too many words: distances are searched. */
static void what_is_not_covered_by_words_is_searched(void)
{
    static const struct box box = {3, 100000, 1, {2, 10000, 5}, {7, 2, 1}, {true, true, true}};

    struct wf_topo *topo = make_box(&box);
    uint32_t *dist = malloc(box.n_nodes * sizeof(*dist));
    uint32_t *queue = malloc(box.n_nodes * sizeof(*queue));
    search(&box, 777, dist, queue);
    for (uint32_t at = 1; at < box.n_nodes; at += 9973) {
        CHECK_U64(topo->ops->distance(topo, at, 777), dist[at]);
    }
    free(queue);
    free(dist);
    wf_topo_free(topo);
}

/* ---- Known instances ---- */

/* Sums over all ordered pairs, from a breadth-first search that is not ours. */
static void known_networks_have_the_known_distances(void)
{
    static const struct {
        const char *spec;
        uint64_t links, diameter, sum;
    } known[] = {
        {"ttorus:8x4,degree=1,jump=4/0", 64, 6, 3072},
        {"ttorus:8x4,degree=1,jump=0/4", 64, 4, 2688},
        {"ttorus:32x16,degree=1,jump=0/16", 1024, 16, 2793472},
        {"ttorus:8x8,degree=1,jump=0/1", 128, 7, 16128},
        {"ttorus:8x8,degree=1,jump=2/2", 128, 7, 15620},
        {"ttorus:8x8,degree=1,jump=4/4", 128, 6, 15328},
        {"ttorus:4x4x4,degree=2,jump=1/1/1", 192, 4, 10696},
        {"ttorus:8x8x8,degree=1,jump=1/1/1", 1536, 10, 1500834},
        {"ttorus:8x8x8,degree=2,jump=4/4/4", 1536, 9, 1373792},
        {"ttorus:8x8x8,degree=1,jump=4/0/0", 1536, 10, 1523712},
        {"ttorus:8x4x4,degree=2,jump=0/4/0", 384, 6, 59392},
        {"ttorus:16x8x8,degree=1,jump=0/0/8", 3072, 12, 7667712},
        {"ttorus:16x16x16,degree=1,jump=8/8/8", 12288, 18, 171628528},
        {"ttorus:5x5,degree=1,jump=2/2", 50, 4, 1448},
        {"ttorus:10x5,degree=1,jump=0/5", 100, 5, 8250},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (WF_TEST_ONE_IN > 1 && known[i].links > 2000) {
            continue;
        }
        struct wf_topo *topo = topo_make(known[i].spec);
        uint64_t sum = 0;
        for (uint32_t a = 0; a < topo->n_nodes; a++) {
            for (uint32_t b = 0; b < topo->n_nodes; b++) {
                sum += topo->ops->distance(topo, a, b);
            }
        }
        CHECK_U64(sum, known[i].sum);
        CHECK_U64(topo->n_links, known[i].links);
        CHECK_U64(topo->ops->diameter(topo), known[i].diameter);
        wf_topo_free(topo);
    }
}

static void routes_in_large_networks_arrive(void)
{
    static const char *const specs[] = {
        "ttorus:100x100x100,jump=50/50/50",
        "ttorus:64x64x32,degree=2,jump=3/0/7",
        "ttorus:1000x1000,jump=31/0",
        "ttorus:20x100x50,wrap=1,0,1,jump=5/0/1",
    };
    uint64_t n = 0;

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        for (int pair = 0; pair < 100; pair++) {
            uint32_t at = draw(&n, topo->n_nodes), dst = draw(&n, topo->n_nodes);
            for (uint32_t left = topo->ops->distance(topo, at, dst); left > 0; left--) {
                CHECK_U64(topo->ops->distance(topo, at, dst), left);
                at = topo->ops->neighbor(topo, at, topo->ops->next_port(topo, at, dst));
                CHECK(at < topo->n_nodes);
            }
            CHECK_U64(at, dst);
        }
        wf_topo_free(topo);
    }
}

static void bad_jumps_are_refused(void)
{
    static const struct {
        const char *spec, *message;
    } bad[] = {
        {"ttorus:8x8,jump=4", "1 values for 2 dimensions"},
        {"ttorus:8x8,jump=4/0/0", "3 values for 2 dimensions"},
        {"ttorus:8x8,jump=4/-1", "expected a number"},
        {"ttorus:8x8,degree=2,jump=4/0", "would shift itself"},
        {"ttorus:8,jump=3", "would shift itself"},
        {"ttorus:8x8,wrap=1,0,jump=4/1", "dimension 1 is no ring"},
        {"ttorus:8x8", "without jump this is a torus: use torus:8x8"},
        {"ttorus:8x0", "size of 0"},
        {"ttorus:8x8,wrap=1", "1 values for 2 dimensions"},
        {"ttorus:70000x70000,jump=1/1", "too large"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wf_topo *topo = NULL;
        struct wf_err err = {0};
        CHECK(wf_topo_create(bad[i].spec, &topo, &err) == WF_EINVAL);
        printf("# %s\n", err.text);
        CHECK(strstr(err.text, bad[i].message) != NULL);
        CHECK(topo == NULL);
    }
}

int main(void)
{
    RUN(random_boxes_agree_with_search);
    RUN(larger_boxes_agree_with_search);
    RUN(what_is_not_covered_by_words_is_searched);
    RUN(known_networks_have_the_known_distances);
    RUN(routes_in_large_networks_arrive);
    RUN(bad_jumps_are_refused);
    return wf_test_done();
}
