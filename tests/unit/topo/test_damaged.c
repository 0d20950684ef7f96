/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/damaged.h"

#include "base/rng.h"
#include "model/topo/damage.h"
#include "model/topo/nested.h"

#include "harness/topo_check.h"
#include "harness/topo_walk.h"

/* Counts the cables that the damaged network has lost; compares each remaining cable with the
 * intact network. */
static uint64_t count_lost(const struct wf_topo *topo)
{
    const struct wf_topo *whole = wf_topo_damaged_whole(topo);
    uint64_t kept = 0;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t old = wf_topo_damaged_vertex(topo, v);
        if (wf_topo_ports(topo, v) != wf_topo_ports(whole, old)) {
            abort();
        }
        for (uint32_t port = 0; port < wf_topo_ports(topo, v); port++) {
            uint32_t to = topo->ops->neighbor(topo, v, port);
            if (to == WF_TOPO_NO_VERTEX) {
                continue;
            }
            kept++;
            if (whole->ops->neighbor(whole, old, port) != wf_topo_damaged_vertex(topo, to)) {
                abort();
            }
        }
    }
    return whole->n_links - (topo->oneway ? kept : kept / 2);
}

static void damaged_networks_keep_the_contract(void)
{
    static const struct {
        const char *spec, *damage;
        uint64_t lost;
    } cases[] = {
        {"torus:4x4", "link:0-1", 1},
        {"torus:4x4", "link:1-0,link:0-1,link:5-6", 2},
        {"torus:6x5", "links:10%", 6},
        {"torus:6x5", "links:0%", 0},
        {"torus:6x5", "links:3,seed:9", 3},
        {"mesh:5x4", "links:2,seed:3", 2},
        {"fattree:2x4x2,up=1x2x4", "routers:1", 8},
        {"fattree:4x4", "router:20,links:2", 6},
        {"dragonfly:2", "links:12.5%,seed:2", 11},
        {"hyperx:4x3,p=2", "links:5,link:24-27", 6},
        {"torus:4x4/star:2", "links:4", 4},
        {"ring:5", "link:2-3", 1},
        {"full:6", "links:4", 4},
        {"star:5", "links:100%", 0}, /* none may fail */
        {"full:1", "links:50%", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *whole = topo_make(cases[i].spec), *topo = NULL;
        struct wf_err err = {.status = WF_OK};
        enum wf_status status = wf_topo_damaged_create(whole, cases[i].damage, &topo, &err);
        if (status != WF_OK) {
            printf("# %s %s: %s\n", cases[i].spec, cases[i].damage, err.text);
        }
        CHECK_U64(status, WF_OK);
        CHECK_U64(topo->n_nodes, whole->n_nodes);
        topo_check(topo);
        if (wf_test_failed) {
            printf("# that was %s %s\n", cases[i].spec, cases[i].damage);
            return;
        }
        CHECK_U64(count_lost(topo), cases[i].lost);
        CHECK(wf_topo_damaged_whole(whole) == whole && wf_topo_damaged_vertex(whole, 3) == 3);
        wf_topo_free(topo);
        wf_topo_free(whole);
    }
}

/* So large that distances are no table. */
static void a_large_network_is_searched_too(void)
{
    struct wf_topo *whole = topo_make("torus:100x90"), *topo = NULL;
    struct topo_oracle oracle;
    struct wf_err err;
    uint32_t ports[8];

    CHECK_U64(wf_topo_damaged_create(whole, "links:20,link:0-1", &topo, &err), WF_OK);
    CHECK_U64(count_lost(topo), 21);
    topo_oracle_init(&oracle, topo);
    for (uint32_t dst = 0; dst < topo->n_nodes && !wf_test_failed; dst += 2999) {
        topo_oracle_search(&oracle, dst);
        for (uint32_t at = 0; at < topo->n_nodes && !wf_test_failed; at++) {
            topo_check_route(&oracle, at, dst, ports);
        }
    }
    topo_oracle_fini(&oracle);
    wf_topo_free(topo);
    wf_topo_free(whole);
}

/* Questions about ever new destinations, which are answered from the whole network: the first of each
 * by its routes or by a search. */
static void detours_are_shortest(void)
{
    static const char *const specs[] = {
        "torus:20x20x5",
        "mesh:40x30",
        "fattree:8x8x4,up=1x4x4",
        "dragonfly:3",
        "ttorus:16x8,jump=4x0",
        "cascade:1,columns=6,rows=4,p=2",
        "hyperx:9x9",
        "slimfly:7",
        "torus:12x12/star:3",
    };
    uint32_t ports[128];

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *whole = topo_make(specs[i]), *topo = NULL;
        struct topo_oracle oracle;
        struct wf_err err;

        CHECK_U64(wf_topo_damaged_create(whole, "links:8%,seed:4", &topo, &err), WF_OK);
        CHECK(topo->n_ports <= sizeof(ports) / sizeof(ports[0]));
        topo_oracle_init(&oracle, topo);
        for (uint32_t k = 0; k < 60 && !wf_test_failed; k++) {
            uint32_t dst = (uint32_t)(wf_test_rand(i, 0, k) % topo->n_nodes);
            topo_oracle_search(&oracle, dst);
            for (uint32_t n = 0; n < 4; n++) {
                uint32_t at = (uint32_t)(wf_test_rand(i, n + 1, k) % topo->n_vertices);
                topo_check_route(&oracle, at, dst, ports);
            }
        }
        topo_oracle_fini(&oracle);
        wf_topo_free(topo);
        wf_topo_free(whole);
    }
}

/* Two routes to each switch of a large network. By a search for each, it takes minutes. */
static void one_failure_in_a_large_network_costs_little(void)
{
    struct wf_topo *whole = topo_make("cascade:2"), *topo = NULL;
    uint64_t hops[2] = {0};
    struct wf_err err;

    CHECK_U64(wf_topo_damaged_create(whole, "link:74112-74113", &topo, &err), WF_OK);
    CHECK_U64(count_lost(topo), 1);
    for (uint32_t dst = 0; dst < topo->n_nodes; dst += 4) {
        const struct wf_topo *const both[] = {whole, topo};
        uint32_t from = (dst + 9000) % topo->n_nodes;
        for (size_t i = 0; i < 2; i++) {
            for (uint32_t at = from; at != dst; hops[i]++) {
                uint32_t port = both[i]->ops->next_port(both[i], at, dst);
                at = both[i]->ops->neighbor(both[i], at, port);
            }
        }
    }
    CHECK(hops[1] >= hops[0] && hops[1] < hops[0] + hops[0] / 100);
    wf_topo_free(topo);
    wf_topo_free(whole);
}

static void seeds_choose_other_links_and_always_the_same(void)
{
    static const char *const damages[] = {"links:6,seed:1", "links:6", "links:6,seed:2"};
    struct wf_topo *whole = topo_make("torus:6x6"), *topo[3] = {NULL};
    uint32_t differ[3] = {0};

    for (size_t i = 0; i < 3; i++) {
        struct wf_err err;
        CHECK_U64(wf_topo_damaged_create(whole, damages[i], &topo[i], &err), WF_OK);
        for (uint32_t v = 0; v < whole->n_nodes; v++) {
            for (uint32_t port = 0; port < 4; port++) {
                differ[i] += topo[i]->ops->neighbor(topo[i], v, port) !=
                             topo[0]->ops->neighbor(topo[0], v, port);
            }
        }
    }
    CHECK_U64(differ[1], 0);
    CHECK(differ[2] > 0);
    for (size_t i = 0; i < 3; i++) {
        wf_topo_free(topo[i]);
    }
    wf_topo_free(whole);
}

/* With all vertices, numbers stay and parts may be cut off from each other: distances are those of
 * a search, whether they are in a table or in labels. */
static void parts_may_be_cut_off(void)
{
    static const struct {
        const char *spec, *damage;
        uint32_t step; /* every how many vertices are compared */
    } cases[] = {
        {"mesh:5", "link:1-2", 1},
        {"torus:4x4", "router:5,link:0-1", 1},
        {"star:5", "router:5", 1},
        {"ring:6,oneway", "link:2-3", 1},
        {"fattree:4x4", "router:16,router:20", 1},
        {"mesh:9000", "link:10-11,router:5000", 811},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *whole = topo_make(cases[i].spec), *topo = NULL;
        struct wf_topo_damage damage;
        struct wf_err err;
        struct topo_oracle oracle;
        uint32_t n_cut = 0;

        CHECK_U64(wf_topo_damage_read(&damage, whole, cases[i].damage, &err), WF_OK);
        topo = wf_topo_damaged_create_all(&damage);
        wf_topo_damage_fini(&damage);
        CHECK_U64(topo->n_vertices, whole->n_vertices);
        topo_oracle_init(&oracle, topo);
        for (uint32_t dst = 0; dst < topo->n_nodes; dst += cases[i].step) {
            topo_oracle_search(&oracle, dst);
            for (uint32_t at = 0; at < topo->n_vertices; at += cases[i].step) {
                uint32_t found = topo->ops->distance(topo, at, dst);
                CHECK_U64(found, oracle.dist[at]);
                n_cut += found == WF_TOPO_UNREACHED;
                CHECK((topo->ops->next_port(topo, at, dst) == WF_TOPO_NO_PORT) ==
                      (at == dst || found == WF_TOPO_UNREACHED));
            }
        }
        CHECK(n_cut > 0);
        topo_oracle_fini(&oracle);
        wf_topo_free(topo);
        wf_topo_free(whole);
    }
}

/* Levels of links are those of the whole network. */
static void levels_are_kept(void)
{
    struct wf_topo *whole = topo_make("fattree:2x2,up=1x2/star:3"), *topo = NULL;
    struct wf_err err;

    CHECK_U64(wf_topo_damaged_create(whole, "routers:1", &topo, &err), WF_OK);
    CHECK(topo->n_vertices + 1 == whole->n_vertices);
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        for (uint32_t port = 0; port < wf_topo_ports(topo, v); port++) {
            CHECK_U64(wf_topo_port_level(topo, v, port),
                      wf_topo_port_level(whole, wf_topo_damaged_vertex(topo, v), port));
        }
    }
    wf_topo_free(topo);
    wf_topo_free(whole);
}

static void mistakes_are_named(void)
{
    static const struct {
        const char *spec, *damage, *words;
    } cases[] = {
        {"torus:4x4", "", "damage '': expected link:<a>-<b>"},
        {"torus:4x4", "lnk:0-1", "did you mean 'link'?"},
        {"torus:4x4", "link:0", "two vertices, as link:12-13"},
        {"torus:4x4", "link:0-16", "vertices are 0 to 15"},
        {"torus:4x4", "link:0-99999999999", "two vertices"},
        {"torus:4x4", "link:0-5", "'link:0-5': there is no cable between these vertices"},
        {"torus:4x4", "router:16", "a vertex from 0 to 15"},
        {"torus:4x4", "router:5", "node 5 is cut off"},
        {"torus:4x4", "router:0", "node 0 is cut off"},
        {"mesh:3", "link:0-1", "node 0 is cut off"},
        {"mesh:5", "link:3-4", "node 4 is cut off"},
        {"ring:4,oneway", "link:1-2", "cut off"},
        {"star:4", "router:4", "is cut off"},
        {"torus:4x4", "routers:2", "every router of a torus is a compute node"},
        {"torus:4x4", "links:101%", "at most 100%"},
        {"torus:4x4", "links:5.1234%", "at most three decimals"},
        {"torus:4x4", "links:x", "a number or a percentage"},
        {"torus:4x4", "links:2,seed:x", "'seed:x': expected a number"},
        {"torus:4x4", "links:100%", "cut off"},
        {"torus:4x4", "link:0-1,", "damage '': expected"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *whole = topo_make(cases[i].spec), *topo = NULL;
        struct wf_err err = {.status = WF_OK};
        enum wf_status status = wf_topo_damaged_create(whole, cases[i].damage, &topo, &err);
        CHECK_U64(status, WF_EINVAL);
        if (strstr(err.text, cases[i].words) == NULL) {
            printf("# '%s' lacks '%s'\n", err.text, cases[i].words);
        }
        CHECK(strstr(err.text, cases[i].words) != NULL);
        wf_topo_free(whole);
    }
}

int main(void)
{
    RUN(damaged_networks_keep_the_contract);
    RUN(a_large_network_is_searched_too);
    RUN(detours_are_shortest);
    RUN(one_failure_in_a_large_network_costs_little);
    RUN(seeds_choose_other_links_and_always_the_same);
    RUN(parts_may_be_cut_off);
    RUN(levels_are_kept);
    RUN(mistakes_are_named);
    return wf_test_done();
}
