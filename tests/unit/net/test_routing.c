/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of the policies, and how many virtual channels they need. The conformance test
 * checks that they are sound. */
#include "model/net/route/route.h"
#include "model/net/vc/kind.h"
#include "model/topo/damaged.h"

#include "harness/route_check.h"
#include "harness/wf_test.h"

#include <unistd.h>

static struct wf_topo *make(const char *spec)
{
    struct wf_topo *topo = NULL;
    struct wf_err err;

    if (wf_topo_create(spec, &topo, &err) != WF_OK) {
        (void)fprintf(stderr, "%s: %s\n", spec, err.text);
        abort();
    }
    return topo;
}

static struct wf_route *make_route(const struct wf_topo *topo, const char *name,
                                   const char *file)
{
    const struct wf_route_ops *ops = NULL;
    struct wf_route *route = NULL;
    struct wf_err err;

    if (wf_route_find(name, &ops, &err) != WF_OK ||
        wf_route_create(ops, topo, file, &route, &err) != WF_OK) {
        (void)fprintf(stderr, "%s: %s\n", name, err.text);
        abort();
    }
    return route;
}

static void channels_are_as_few_as_the_literature_says(void)
{
    static const struct {
        const char *spec, *policy;
        uint32_t n_vcs;
    } cases[] = {
        {"mesh:8x8", "minimal", 1},
        {"torus:8x8x8", "minimal", 2},
        {"ring:9,oneway", "minimal", 2},
        {"torus:8x8x8", "valiant", 4},
        {"torus:8x8x8", "adaptive", 9},
        {"fattree:4x4x4", "minimal", 1},
        {"fattree:4x4x4", "updown", 1},
        {"fattree:4x4x4", "ecmp", 1},
        {"fattree:4x4x4", "valiant", 2},
        {"dragonfly:2", "minimal", 3},
        {"dragonfly:2", "ugal_l", 6},
        {"dragonfly:2", "par", 7},
        {"slimfly:5", "minimal", 2},
        {"slimfly:5", "ugal_g", 4},
        {"hyperx:4x4x4", "minimal", 1},
        {"hyperx:4x4x4", "adaptive", 3},
        {"hyperx:4x4x4", "valiant", 2},
        {"full:9", "valiant", 2},
        {"torus:8x8/star:4", "minimal", 2},
        {"star:4/torus:8x8", "minimal", 4},
        {"dragonfly+:h=2,spines=2,leaves=2,p=1", "ugal_l", 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = make(cases[i].spec);
        struct wf_route *route = make_route(topo, cases[i].policy, "");
        if (route->vcs.n_vcs != cases[i].n_vcs) {
            printf("# %s on %s\n", cases[i].policy, cases[i].spec);
        }
        CHECK_U64(route->vcs.n_vcs, cases[i].n_vcs);
        wf_route_free(route);
        wf_topo_free(topo);
    }
}

/* A route over 2^31 links times vertices is planned without visiting them. */
static void large_networks_are_planned_quickly(void)
{
    static const struct {
        const char *spec;
        uint32_t n_vcs;
    } cases[] = {
        {"torus:128x64x64", 2},
        {"ttorus:64x64x64,jump=32/0/0", 5},
        {"fattree:64x64x64", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = make(cases[i].spec);
        struct wf_route *route = make_route(topo, "minimal", "");
        CHECK_U64(route->vcs.n_vcs, cases[i].n_vcs);
        wf_route_free(route);
        wf_topo_free(topo);
    }
}

/* The bound for large twisted tori holds for all small ones for which it claims to. */
static void the_bound_of_twisted_tori_holds(void)
{
    uint32_t n_bounds = 0;

    for (uint32_t i = 0; i < 1500; i++) {
        uint32_t a = 3 + i % 5, b = 3 + i / 5 % 6, c = 3 + i / 30 % 2;
        uint32_t twisted = i / 60 % 3, jump = 1 + i / 180 % 8;
        char spec[96];

        (void)snprintf(spec, sizeof(spec), "ttorus:%ux%ux%u,degree=%u,jump=%u/%u/%u",
                       (unsigned)a, (unsigned)b, (unsigned)c, (unsigned)(1 + i % 2),
                       (unsigned)(twisted != 1 ? jump : 0), (unsigned)(twisted == 1 ? jump : 0),
                       (unsigned)(twisted == 2 ? 1 : 0));
        struct wf_topo *topo = make(spec);
        struct wf_vc_level level = {.topo = topo, .kind = wf_vc_kind_of(topo)};
        uint32_t bound = wf_vc_bound_twist(topo);
        if (bound != 0) {
            bool is_guess = false;
            uint32_t count = wf_vc_count_lowest(&level, &is_guess);
            if (count > bound) {
                printf("# %s: %u classes, bound %u\n", spec, (unsigned)count, (unsigned)bound);
            }
            CHECK(count <= bound);
            n_bounds++;
        }
        wf_topo_free(topo);
    }
    CHECK(n_bounds > 200);
}

static uint64_t first_draw(const struct wf_route_query *query)
{
    return wf_rng_draw(3, query->at, query->dst);
}

/* The hops of a packet from `src` to `dst`; 0 if it takes a channel that is not there. */
static uint32_t hops_between(const struct wf_route *route, uint32_t src, uint32_t dst)
{
    const struct wf_topo *topo = route->vcs.topo;
    struct wf_route_state state = {.via = 0};
    uint32_t hops = 0;

    for (uint32_t at = src; at != dst && hops < 1000; hops++) {
        const struct wf_route_query query = {
            .topo = topo, .route = route, .at = at, .dst = dst, .random = first_draw};
        uint32_t port = route->ops->next(&query, &state);
        at = topo->ops->neighbor(topo, at, port);
        if (state.vcs.vc >= route->vcs.n_vcs && !route->vcs.is_unlimited) {
            return 0;
        }
    }
    return hops;
}

/* Networks that are too large to count the classes of all routes, or whose routes have more
 * classes than there are channels. */
static void channels_are_bounded(void)
{
    static const struct {
        const char *spec, *fail, *policy;
        bool minimal;
    } cases[] = {
        {WF_TEST_ONE_IN > 1 ? "torus:9x27" : "torus:27x27x27", "link:100-101", "minimal", true},
        {"ttorus:1x400,jump=20/0", "", "minimal", false},
        {"ttorus:1x400,jump=20/0", "", "valiant", false},
        {"ttorus:1x400,jump=20/0", "", "ugal_l", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *whole = make(cases[i].spec), *topo = whole;
        struct wf_err err;
        if (cases[i].fail[0] != '\0') {
            CHECK_U64(wf_topo_damaged_create(whole, cases[i].fail, &topo, &err), WF_OK);
        }
        struct wf_route *route = make_route(topo, cases[i].policy, "");
        CHECK(route->vcs.n_vcs <= WF_VC_MAX);
        for (uint32_t k = 0; k < 300 && strcmp(cases[i].policy, "minimal") == 0; k++) {
            uint32_t src = (uint32_t)wf_rng_below(wf_rng_draw(1, i, k), topo->n_nodes);
            uint32_t dst = (uint32_t)wf_rng_below(wf_rng_draw(2, i, k), topo->n_nodes);
            uint32_t least = topo->ops->distance(topo, src, dst);
            route->vcs.is_unlimited = false;
            uint32_t hops = hops_between(route, src, dst);
            CHECK(hops >= least && hops <= route->vcs.hops_max);
            CHECK(hops == least || !cases[i].minimal);
            route->vcs.is_unlimited = true; /* then there is no need for a longer route */
            CHECK_U64(hops_between(route, src, dst), least);
        }
        wf_route_free(route);
        wf_topo_free(topo != whole ? topo : NULL);
        wf_topo_free(whole);
    }
}

/* ---- Choices ---- */

struct queues {
    uint32_t vertex, port;
    uint64_t there, elsewhere, random;
};

static uint64_t queues_ask(const struct wf_route_query *query, uint32_t vertex, uint32_t port)
{
    const struct queues *queues = query->arg;

    return vertex == queues->vertex && port == queues->port ? queues->there : queues->elsewhere;
}

static uint64_t queues_random(const struct wf_route_query *query)
{
    return ((const struct queues *)query->arg)->random;
}

static uint32_t ask(const struct wf_route *route, uint32_t at, uint32_t dst,
                    const struct queues *queues, struct wf_route_state *state)
{
    struct queues copy = *queues;
    const struct wf_route_query query = {
        .topo = route->vcs.topo,
        .route = route,
        .at = at,
        .dst = dst,
        .in_port = WF_TOPO_NO_PORT,
        .flow = 7,
        .queue = queues_ask,
        .random = queues_random,
        .arg = &copy,
    };

    return route->ops->next(&query, state);
}

/* The number that draws node `node` of `n`. */
static uint64_t draw_of(uint32_t node, uint32_t n)
{
    return UINT64_MAX / n * node + UINT64_MAX / n / 2;
}

static void adaptive_takes_the_shortest_queue(void)
{
    struct wf_topo *topo = make("torus:8x8");
    struct wf_route *route = make_route(topo, "adaptive", "");

    /* From (0,0) to (2,2): up in either dimension. */
    for (uint32_t port = 0; port < 4; port += 2) {
        struct wf_route_state state = {0}, other = {0};
        struct queues empty = {.port = port, .there = 0, .elsewhere = 9};
        struct queues full = {.port = port, .there = 9, .elsewhere = 0};
        CHECK_U64(ask(route, 0, 18, &empty, &state), port);
        CHECK_U64(ask(route, 0, 18, &full, &other), 2 - port);
    }
    wf_route_free(route);
    wf_topo_free(topo);
}

/* On a ring of 10 from 0 to 2: up is 2 hops; over 8, down, 2 + 4. */
static void ugal_weighs_queues_by_hops(void)
{
    static const struct {
        const char *policy;
        uint64_t up, down;
        uint32_t port;
        uint64_t threshold;
    } cases[] = {
        {"ugal_l", 0, 0, 0, 0},       {"ugal_l", 100, 100, 0, 0},
        {"ugal_l", 300, 100, 0, 0},   {"ugal_l", 301, 100, 1, 0},
        {"ugal_g", 150, 50, 0, 0},    {"ugal_g", 900, 100, 1, 0},
        {"ugal_l", 301, 100, 0, 2},   {"ugal_l", 302, 100, 1, 2},
        {"ugal_g", 450, 100, 0, 300}, {"ugal_l", 1, 0, 0, 1 << 20},
        {"ugal_g", 900, 100, 1, 300},
    };
    struct wf_topo *topo = make("ring:10");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_route *route = make_route(topo, cases[i].policy, "");
        struct wf_route_state state = {0};
        route->threshold = cases[i].threshold;
        struct queues queues = {.port = 0,
                                .there = cases[i].up,
                                .elsewhere = cases[i].down,
                                .random = draw_of(8, 10)};
        CHECK_U64(ask(route, 0, 2, &queues, &state), cases[i].port);
        CHECK_U64(state.via, cases[i].port == 1 ? 9 : 0);
        wf_route_free(route);
    }
    wf_topo_free(topo);
}

/* The global version sees the queue at the next vertex, and the local one does not. */
static void ugal_g_looks_further(void)
{
    struct wf_topo *topo = make("ring:10");

    for (int global = 0; global < 2; global++) {
        struct wf_route *route = make_route(topo, global ? "ugal_g" : "ugal_l", "");
        struct wf_route_state state = {0};
        struct queues queues = {
            .vertex = 1, .port = 0, .there = 1000, .elsewhere = 1, .random = draw_of(8, 10)};
        CHECK_U64(ask(route, 0, 2, &queues, &state), global ? 1 : 0);
        wf_route_free(route);
    }
    wf_topo_free(topo);
}

static void valiant_goes_over_the_node_it_drew(void)
{
    struct wf_topo *topo = make("torus:6x6");
    struct wf_route *route = make_route(topo, "valiant", "");
    struct queues queues = {.random = draw_of(21, 36)};
    struct wf_route_state state = {0};
    uint32_t at = 0, hops = 0;
    bool seen = false;

    for (; at != 31 && hops < 20; hops++) {
        at = topo->ops->neighbor(topo, at, ask(route, at, 31, &queues, &state));
        seen = seen || at == 21;
    }
    CHECK(seen && at == 31);
    CHECK_U64(hops, topo->ops->distance(topo, 0, 21) + topo->ops->distance(topo, 21, 31));
    wf_route_free(route);
    wf_topo_free(topo);
}

static void ecmp_spreads_flows_and_keeps_each_on_its_way(void)
{
    struct wf_topo *topo = make("fattree:4x4");
    struct wf_route *route = make_route(topo, "ecmp", "");
    uint32_t count[8] = {0};

    for (uint64_t flow = 0; flow < 400; flow++) {
        struct wf_route_query query = {
            .topo = topo, .route = route, .at = 16, .dst = 9, .flow = flow};
        struct wf_route_state state = {.vcs = {.turn = 32}}, again = state;
        uint32_t port = route->ops->next(&query, &state);
        CHECK_U64(route->ops->next(&query, &again), port);
        CHECK(port >= 4 && port < 8);
        count[port]++;
    }
    for (uint32_t port = 4; port < 8; port++) {
        CHECK(count[port] > 60);
    }
    wf_route_free(route);
    wf_topo_free(topo);
}

/* ---- Tables ---- */

static char path[] = "/tmp/weft-routes-XXXXXX";

static enum wf_status read_table(const struct wf_topo *topo, const char *text,
                                 struct wf_route **route, struct wf_err *err)
{
    const struct wf_route_ops *ops = NULL;
    FILE *file = fopen(path, "w");

    (void)fputs(text, file);
    (void)fclose(file);
    return wf_route_find("table", &ops, err) == WF_OK
               ? wf_route_create(ops, topo, path, route, err)
               : WF_EINTERNAL;
}

static void tables_are_followed(void)
{
    static const struct {
        const char *spec, *text;
        uint32_t n_vcs, hops_max;
    } cases[] = {
        {"torus:4x4", "* * minimal\n", 2, 4},
        /* Around the ring, but one way back. */
        {"ring:5", "* * 0 # up\n3 2 1\n", 2, 4},
        {"ring:6,oneway", "0-5 0-5 0\n", 2, 5},
        {"mesh:3x3", "\n# all\n*\t* minimal\n4 8 2\n", 2, 4},
        {"full:4", "* * minimal\n0 3 0\n", 1, 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = make(cases[i].spec);
        struct wf_route *route = NULL;
        struct wf_err err = {.status = WF_OK};
        enum wf_status status = read_table(topo, cases[i].text, &route, &err);
        if (status != WF_OK) {
            printf("# case %zu: %s\n", i, err.text);
        }
        CHECK_U64(status, WF_OK);
        CHECK_U64(route->vcs.hops_max, cases[i].hops_max);
        CHECK(route->vcs.n_vcs <= cases[i].n_vcs + 2);
        CHECK_U64(route_check(route, false), ROUTE_SOUND);
        wf_route_free(route);
        wf_topo_free(topo);
    }
}

static void mistakes_in_tables_have_a_line(void)
{
    static const struct {
        const char *spec, *text, *words;
    } cases[] = {
        {"ring:5", "* * minimal\n3 2\n", ":2: '3': expected three fields"},
        {"ring:5", "* * minimal 1\n", ":1: '*': expected three fields"},
        {"ring:5", "7 0 1\n", ":1: '7': expected a vertex from 0 to 4"},
        {"ring:5", "0 3-1 1\n", ":1: '3-1': expected a node from 0 to 4"},
        {"ring:5", "0 0 2\n", ":1: '2': expected a port from 0 to 1"},
        {"ring:5", "0 0 x\n", "a port from 0 to 1, or minimal"},
        {"ring:5", "", ": no entry for packets at vertex 1 to node 0"},
        {"ring:5", "\n* * 0\n3 1 1\n4 1 1\n2 1 0\n", " to node 1 come back to vertex "},
        {"mesh:3", "* * minimal\n2 0 0\n", ":2: port 0 of vertex 2 has no cable"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_topo *topo = make(cases[i].spec);
        struct wf_route *route = NULL;
        struct wf_err err = {.status = WF_OK};
        CHECK_U64(read_table(topo, cases[i].text, &route, &err), WF_EINVAL);
        if (strstr(err.text, cases[i].words) == NULL) {
            printf("# '%s' lacks '%s'\n", err.text, cases[i].words);
        }
        CHECK(strstr(err.text, cases[i].words) != NULL);
        wf_topo_free(topo);
    }
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        abort();
    }
    (void)close(fd);
    RUN(channels_are_as_few_as_the_literature_says);
    RUN(large_networks_are_planned_quickly);
    RUN(the_bound_of_twisted_tori_holds);
    RUN(channels_are_bounded);
    RUN(adaptive_takes_the_shortest_queue);
    RUN(ugal_weighs_queues_by_hops);
    RUN(ugal_g_looks_further);
    RUN(valiant_goes_over_the_node_it_drew);
    RUN(ecmp_spreads_flows_and_keeps_each_on_its_way);
    RUN(tables_are_followed);
    RUN(mistakes_in_tables_have_a_line);
    (void)unlink(path);
    return wf_test_done();
}
