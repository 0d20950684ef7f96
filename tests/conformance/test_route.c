/* SPDX-License-Identifier: Apache-2.0 */
/* What every routing policy promises on every topology; and that the check would notice if one
 * did not. */
#include "model/net/route/route.h"
#include "model/topo/damage.h"
#include "model/topo/damaged.h"
#include "model/topo/graph.h"
#include "model/topo/grid.h"

#include "harness/route_check.h"
#include "harness/topo_walk.h"
#include "harness/wf_test.h"

/* What a policy promises besides what all do. A policy that is not listed may refuse any
 * topology, and its routes may be longer than necessary. */
struct expectation {
    const char *name;
    bool minimal;
    bool (*refuses)(const struct wf_topo *topo); /* null: it accepts all of this test */
};

static bool is_no_tree(const struct wf_topo *topo)
{
    static const char *const trees[] = {"star", "tree", "fattree"};

    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        if (strcmp(topo->ops->name, trees[i]) == 0) {
            return false;
        }
    }
    return true;
}

static bool is_no_dragonfly(const struct wf_topo *topo)
{
    return strcmp(topo->ops->name, "dragonfly") != 0;
}

static bool is_anything(const struct wf_topo *topo)
{
    return true;
}

static const struct expectation expectations[] = {
    {"minimal", true, NULL},      {"adaptive", true, NULL},        {"ecmp", true, NULL},
    {"updown", true, is_no_tree}, {"valiant", false, NULL},        {"ugal_l", false, NULL},
    {"ugal_g", false, NULL},      {"par", false, is_no_dragonfly}, {NULL, false, is_anything},
};

static const struct expectation *expect(const struct wf_route_ops *ops)
{
    const struct expectation *row = expectations;

    while (row->name != NULL && strcmp(row->name, ops->name) != 0) {
        row++;
    }
    return row;
}

static void check_policy(const struct wf_topo *topo, const struct wf_route_ops *ops,
                         const char *label)
{
    const struct expectation *expected = expect(ops);
    struct wf_route *route = NULL;
    struct wf_err err;

    enum wf_status status = wf_route_create(ops, topo, "", &route, &err);
    if (expected->refuses != NULL && expected->refuses(topo)) {
        /* A hierarchy may have a level on which it works. */
        if (status != WF_OK) {
            CHECK_U64(status, WF_EINVAL);
            CHECK(strlen(err.text) > 20);
            return;
        }
    } else if (status != WF_OK) {
        printf("# %s on %s: %s\n", ops->name, label, err.text);
        CHECK_U64(status, WF_OK);
    }
    CHECK(route->ops == ops && route->vcs.topo == topo);
    CHECK(route->vcs.n_vcs >= 1 && route->vcs.n_vcs <= WF_VC_MAX);
    enum route_fault fault = route_check(route, expected->minimal);
    if (fault != ROUTE_SOUND) {
        printf("# %s on %s, %u channels, at most %u hops: %s\n", ops->name, label,
               (unsigned)route->vcs.n_vcs, (unsigned)route->vcs.hops_max,
               route_fault_names[fault]);
    }
    wf_route_free(route);
    CHECK_U64(fault, ROUTE_SOUND);
}

static void check_policies(const struct wf_topo *topo, const char *label)
{
    static uint32_t n;

    for (const struct wf_route_ops *const *ops = wf_route_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        if (!wf_test_failed && n++ % WF_TEST_ONE_IN == 0) {
            check_policy(topo, *ops, label);
        }
    }
}

static void policies_describe_themselves(void)
{
    for (const struct wf_route_ops *const *ops = wf_route_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        const struct wf_route_ops *found = NULL;
        struct wf_err err;
        CHECK((*ops)->name != NULL && (*ops)->summary != NULL && (*ops)->next != NULL);
        CHECK(!(*ops)->is_oblivious || !(*ops)->asks_queues);
        CHECK_U64(wf_route_find((*ops)->name, &found, &err), WF_OK);
        CHECK(found == *ops);
    }
    const struct wf_route_ops *none = NULL;
    struct wf_err err;
    CHECK_U64(wf_route_find("valient", &none, &err), WF_EUSAGE);
    CHECK(strstr(err.text, "valiant") != NULL);
}

static void every_topology_is_routed(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            struct wf_topo *topo = topo_make(*spec);
            check_policies(topo, *spec);
            wf_topo_free(topo);
        }
    }
}

/* Large enough for routes with more turns than there are classes for free choices. */
static void classes_may_run_out(void)
{
    static const char *const specs[] = {
        "mesh:7x6",    "torus:9x9",           "mesh:4x4x4",
        "torus:5x5x3", "ttorus:9x7,jump=3/0", "star:1/torus:6x7",
    };
    static const char *const names[] = {"adaptive", "ecmp"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        for (size_t k = 0; k < 2; k++) {
            const struct wf_route_ops *ops = NULL;
            struct wf_err err;
            CHECK_U64(wf_route_find(names[k], &ops, &err), WF_OK);
            check_policy(topo, ops, specs[i]);
        }
        wf_topo_free(topo);
    }
}

static void hierarchies_are_routed(void)
{
    static const char *const specs[] = {
        "torus:3x2/mesh:2x2",
        "torus:4/star:3",
        "star:3/torus:4x3",
        "star:2/star:3/star:2",
        "mesh:2x2/torus:3/mesh:2x2",
        "torus:1/mesh:2x3",
        "mesh:5/torus:1",
        "torus:4x4/ring:4",
        "ring:5/ring:5",
        "tree:4/tree:3,nodes=all",
        "ring:4/tree:5,degree=3",
        "full:3/ring:5,oneway",
        "ring:3,oneway/star:2/ring:3,oneway",
        "full:6/mesh:2",
        "dragonfly:1/star:2",
        "star:2/dragonfly:1",
        "fattree:2x3/ttorus:4x3,jump=1/0",
        "hyperx:3x2/torus:5",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = topo_make(specs[i]);
        check_policies(topo, specs[i]);
        wf_topo_free(topo);
    }
}

/* A random connected graph; `oneway` adds links that lead one way only. */
static struct wf_topo *make_graph(uint64_t seed, uint32_t n, uint32_t more, bool oneway)
{
    char *text = malloc(64 * (size_t)(2 * n + more + 1));
    struct wf_topo *topo = NULL;
    struct wf_err err;
    size_t len = (size_t)sprintf(text, "%s {", oneway ? "digraph" : "graph");

    for (uint32_t v = 1; v < n; v++) {
        unsigned to = (unsigned)wf_rng_below(wf_rng_draw(seed, 1, v), v), from = v;
        len +=
            (size_t)(oneway ? sprintf(text + len, "v%u->v%u; v%u->v%u;\n", to, from, from, to)
                            : sprintf(text + len, "v%u--v%u;\n", to, from));
    }
    for (uint32_t i = 0; i < more; i++) {
        uint64_t a = wf_rng_below(wf_rng_draw(seed, 2, i), n);
        uint64_t b = (a + 1 + wf_rng_below(wf_rng_draw(seed, 3, i), n - 1)) % n;
        len += (size_t)sprintf(text + len, "v%u%sv%u;\n", (unsigned)a, oneway ? "->" : "--",
                               (unsigned)b);
    }
    len += (size_t)sprintf(text + len, "}\n");
    enum wf_status status = wf_topo_graph_create_text("test", text, len, &topo, &err);
    free(text);
    return status == WF_OK ? topo : NULL; /* two cables may join the same vertices */
}

static void graphs_are_routed(void)
{
    uint32_t n_graphs = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct wf_topo *topo =
            make_graph(seed, 6 + (uint32_t)(seed % 20), (uint32_t)(seed % 7), seed % 3 == 0);
        char label[32];

        (void)snprintf(label, sizeof(label), "graph %u", (unsigned)seed);
        if (topo != NULL) {
            n_graphs++;
            check_policies(topo, label);
        }
        wf_topo_free(topo);
    }
    CHECK(n_graphs > 20);
}

static void damaged_networks_are_routed(void)
{
    static const char *const cases[][2] = {
        {"torus:5x5", "links:20%"},
        {"torus:4x4x2", "links:5,seed:3"},
        {"mesh:5x4", "link:0-1,link:6-7"},
        {"fattree:4x4x2", "routers:2,links:10%"},
        {"dragonfly:2", "links:10%,seed:2"},
        {"hyperx:4x4", "links:25%"},
        {"slimfly:3", "links:20%,seed:4"},
        {"ring:9", "link:8-0"},
        {"torus:4x4/star:2", "links:15%"},
        {"dragonfly+:h=2,spines=2,leaves=2,p=1", "links:10%"},
        {"ttorus:8x4,jump=4/0", "links:4"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *whole = topo_make(cases[i][0]), *topo = NULL;
        struct wf_err err;
        enum wf_status status = wf_topo_damaged_create(whole, cases[i][1], &topo, &err);
        if (status != WF_OK) {
            printf("# %s: %s\n", cases[i][0], err.text);
        }
        CHECK_U64(status, WF_OK);
        check_policies(topo, cases[i][0]);
        wf_topo_free(topo);
        wf_topo_free(whole);
    }
}

/* Whether all policies that work on a network are sound with at most `n_vcs` channels. */
static bool are_sound_within(const struct wf_topo *topo, uint32_t n_vcs)
{
    bool sound = true;

    for (const struct wf_route_ops *const *ops = wf_route_table(); *ops != NULL; ops++) {
        struct wf_route *route = NULL;
        struct wf_err err;
        if (wf_route_create_within(*ops, topo, "", n_vcs, &route, &err) == WF_OK) {
            sound =
                sound && route->vcs.n_vcs <= n_vcs && route_check(route, false) == ROUTE_SOUND;
            wf_route_free(route);
        }
    }
    return sound;
}

/* Networks that failures have cut into parts, as they may be during a run, with all channels, with
 * half of them, and with so few that routes lead over trees. */
static void networks_in_parts_are_routed(void)
{
    static const char *const cases[][2] = {
        {"mesh:6x3", "link:2-3,link:8-9,link:14-15"},
        {"torus:4x4", "router:5,router:10"},
        {"dragonfly:1", "links:100%"},
        {"fattree:4x4x2", "router:32,router:40"},
        {"star:3/ring:5", "router:15"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *whole = topo_make(cases[i][0]), *topo = NULL;
        struct wf_topo_damage damage;
        struct wf_err err;

        CHECK_U64(wf_topo_damage_read(&damage, whole, cases[i][1], &err), WF_OK);
        topo = wf_topo_damaged_create_all(&damage);
        wf_topo_damage_fini(&damage);
        check_policies(topo, cases[i][0]);
        CHECK(are_sound_within(topo, WF_VC_MAX / 2));
        CHECK(are_sound_within(topo, 2));
        wf_topo_free(topo);
        wf_topo_free(whole);
    }
}

/* A comb: a path of `n` hops whose every other vertex has a path of half its length to vertex
 * 0. The shortest route along it turns at every vertex, and the route over vertex 0 is as long. */
static struct wf_topo *make_comb(uint32_t n)
{
    char *text = malloc(32 * (size_t)(n * n + 4));
    struct wf_topo *topo = NULL;
    struct wf_err err;
    size_t len = (size_t)sprintf(text, "graph { root;");

    for (uint32_t i = 0; i < n; i++) {
        len += (size_t)sprintf(text + len, "p%u--p%u;\n", (unsigned)i, (unsigned)i + 1);
    }
    for (uint32_t i = 0; i <= n; i += 2) {
        len += (size_t)sprintf(text + len, "root--t%u_1;\n", (unsigned)i);
        for (uint32_t k = 1; k < n / 2; k++) {
            len += (size_t)sprintf(text + len, "t%u_%u--t%u_%u;\n", (unsigned)i, (unsigned)k,
                                   (unsigned)i, (unsigned)k + 1);
        }
        len += (size_t)sprintf(text + len, "t%u_%u--p%u;\n", (unsigned)i, (unsigned)n / 2,
                               (unsigned)i);
    }
    len += (size_t)sprintf(text + len, "}\n");
    if (wf_topo_graph_create_text("comb", text, len, &topo, &err) != WF_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        abort();
    }
    free(text);
    return topo;
}

/* Routes with more classes than there are channels go on over a tree, which is no shortest route:
 * that they do so is part of the test. */
static void what_turns_too_often_takes_a_tree(void)
{
    static const struct {
        const char *policy;
        uint32_t size;
        bool minimal; /* but for the tree */
    } cases[] = {{"minimal", 36, true},
                 {"adaptive", 34, true},
                 {"ecmp", 34, true},
                 {"valiant", 18, false},
                 {"ugal_g", 18, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = make_comb(cases[i].size);
        const struct wf_route_ops *ops = NULL;
        struct wf_route *route = NULL;
        struct wf_err err;

        CHECK_U64(wf_route_find(cases[i].policy, &ops, &err), WF_OK);
        CHECK_U64(wf_route_create(ops, topo, "", &route, &err), WF_OK);
        CHECK_U64(route->vcs.n_vcs, WF_VC_MAX);
        enum route_fault fault = route_check(route, false);
        if (fault != ROUTE_SOUND) {
            printf("# %s: %s\n", cases[i].policy, route_fault_names[fault]);
        }
        CHECK_U64(fault, ROUTE_SOUND);
        CHECK(!cases[i].minimal || route_check(route, true) == ROUTE_NOT_MINIMAL);
        wf_route_free(route);
        wf_topo_free(topo);
    }
}

/* ---- Policies with faults, each of which must be found ---- */

static uint32_t one_channel_next(const struct wf_route_query *query,
                                 struct wf_route_state *state)
{
    state->vcs.vc = 0;
    return query->topo->ops->next_port(query->topo, query->at, query->dst);
}

static uint32_t any_minimal_next(const struct wf_route_query *query,
                                 struct wf_route_state *state)
{
    uint32_t ports[16], n;

    n = wf_topo_minimal_ports(query->topo, query->at, query->dst, ports);
    state->vcs.vc = 0;
    return ports[wf_rng_below(query->random(query), n)];
}

static uint32_t around_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    state->vcs.hop = 1;
    return query->at % 2 == 0 ? 0 : 1;
}

static uint32_t long_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    state->vcs.vc = 0;
    return 0;
}

static uint32_t high_channel_next(const struct wf_route_query *query,
                                  struct wf_route_state *state)
{
    state->vcs.vc = 2;
    return query->topo->ops->next_port(query->topo, query->at, query->dst);
}

static uint32_t no_port_next(const struct wf_route_query *query, struct wf_route_state *state)
{
    return 99;
}

static void faults_are_found(void)
{
    static const struct {
        const char *spec;
        uint32_t (*next)(const struct wf_route_query *query, struct wf_route_state *state);
        uint32_t n_vcs, hops_max;
        bool minimal;
        enum route_fault fault;
    } cases[] = {
        {"torus:5x5", one_channel_next, 1, 4, true, ROUTE_CYCLE},
        {"mesh:4x4", one_channel_next, 1, 6, true, ROUTE_SOUND},
        {"ring:5", one_channel_next, 1, 2, true, ROUTE_CYCLE},
        {"ring:3", one_channel_next, 1, 1, true, ROUTE_SOUND},
        {"dragonfly:2", one_channel_next, 1, 5, true, ROUTE_CYCLE},
        {"mesh:3x3", any_minimal_next, 1, 4, true, ROUTE_CYCLE},
        {"fattree:3x3", any_minimal_next, 1, 4, true, ROUTE_SOUND},
        {"hyperx:3x3", any_minimal_next, 1, 4, true, ROUTE_CYCLE},
        {"ring:6", around_next, 1, 9, false, ROUTE_LOOPS},
        {"ring:6", long_next, 1, 4, false, ROUTE_TOO_LONG},
        {"ring:6", long_next, 1, 5, true, ROUTE_NOT_MINIMAL},
        {"ring:6", high_channel_next, 2, 9, true, ROUTE_BAD_CHANNEL},
        {"ring:6", no_port_next, 2, 9, true, ROUTE_BAD_PORT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = topo_make(cases[i].spec);
        const struct wf_route_ops ops = {.name = "faulty", .next = cases[i].next};
        const struct wf_route route = {
            .ops = &ops,
            .vcs = {.topo = topo, .n_vcs = cases[i].n_vcs, .hops_max = cases[i].hops_max}};
        enum route_fault fault = route_check(&route, cases[i].minimal);
        if (fault != cases[i].fault) {
            printf("# case %zu\n", i);
        }
        CHECK_U64(fault, cases[i].fault);
        wf_topo_free(topo);
    }
}

int main(void)
{
    RUN(policies_describe_themselves);
    RUN(faults_are_found);
    RUN(every_topology_is_routed);
    RUN(classes_may_run_out);
    RUN(hierarchies_are_routed);
    RUN(graphs_are_routed);
    RUN(damaged_networks_are_routed);
    RUN(networks_in_parts_are_routed);
    RUN(what_turns_too_often_takes_a_tree);
    return wf_test_done();
}
