/* SPDX-License-Identifier: Apache-2.0 */
/* Every routing of the router model on every kind of network, with small queues and heavy
 * traffic: it is refused, or every message arrives and all schedulers agree. */
#include "model/net/router/events/model.h"

#include "harness/router_traffic.h"
#include "harness/wf_test.h"

enum { BURST = 6, SENDS_MAX = 40 * BURST };

static const struct {
    const char *topo;
    const char *fail;
    bool works; /* with all policies but par, updown and table */
} cases[] = {
    {"torus:4x3", "", true},
    {"dragonfly:1", "", true},
    {"fattree:4,2,2", "", true},
    {"hyperx:3x3", "", true},
    {"star:3/torus:3x2", "", true},
    {"ring:6,oneway", "", true},
    {"full:3/ring:3,oneway", "", true},
    {"torus:4x3", "link:0-1,link:4-8", true},
    {"dragonfly:2,p=1", "links:10%", true},
    {"fattree:4,2,2", "routers:1", true},
};

/* Nodes send to each other and, every other time, to the last of them, at once. */
static uint32_t make_sends(uint32_t n_nodes, struct router_send *sends)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < BURST; i++) {
        for (uint32_t src = 0; src < n_nodes; src++, n++) {
            uint64_t r = wf_test_rand(n_nodes, src, i);
            sends[n] = (struct router_send){
                .cycle = i,
                .src = src,
                .dst = i % 2 == 0 ? n_nodes - 1 : (uint32_t)(r % n_nodes),
                .bytes = 1 + (r >> 32) % 192,
            };
        }
    }
    return n;
}

static bool agree(const struct wf_topo *topo, const struct wf_router_params *params,
                  const struct router_send *sends, uint32_t n, uint64_t digest)
{
    static const struct setup setups[] = {
        {.scheduler = WF_CHECK_UNDO},
        {.scheduler = WF_CONSERVATIVE, .threads = 2},
        {.scheduler = WF_PERTURB, .threads = 2, .perturb_seed = 3},
    };
    const struct router_traffic traffic = {.sends = sends, .n = n};
    bool equal = true;

    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        equal = equal && router_run(topo, params, &setups[i], &traffic).digest == digest;
    }
    return equal;
}

enum verdict { ACCEPTED, REFUSED, BADLY_REFUSED };

static enum verdict judge(const struct wf_topo *topo, const struct wf_router_params *params)
{
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};
    struct wf_net *net = NULL;
    struct wf_err err = {.status = WF_OK};
    enum wf_status status = wf_net_router_ops.create(params, &env, &net, &err);

    if (status != WF_OK) {
        bool is_named = strncmp(err.text, "net.", 4) == 0 && strlen(err.text) > 30;
        return status == WF_EINVAL && is_named ? REFUSED : BADLY_REFUSED;
    }
    wf_net_free(net);
    return ACCEPTED;
}

/* Every third combination also runs under the other schedulers, fewer under sanitizers. */
static bool all_arrive(const struct wf_topo *topo, const struct wf_router_params *params)
{
    static struct router_send sends[SENDS_MAX];
    static int64_t arrival[SENDS_MAX];
    static uint32_t turn;
    uint32_t n = make_sends(topo->n_nodes, sends), there = 0;
    uint64_t digest = router_run(topo, params, &(struct setup){.scheduler = WF_SEQUENTIAL},
                                 &(struct router_traffic){sends, n, arrival, NULL})
                          .digest;

    for (uint32_t i = 0; i < n; i++) {
        there += arrival[i] >= 0;
    }
    return there == n &&
           (turn++ % (3 * WF_TEST_ONE_IN) != 0 || agree(topo, params, sends, n, digest));
}

static bool is_for_some(int routing)
{
    return routing == WF_ROUTER_PAR || routing == WF_ROUTER_UPDOWN ||
           routing == WF_ROUTER_TABLE;
}

static void check_all(size_t at, int switching)
{
    struct wf_topo *topo = router_topo(cases[at].topo);

    for (int routing = WF_ROUTER_ADAPTIVE; routing <= WF_ROUTER_AUTO_ROUTING; routing++) {
        struct wf_router_params params = router_defaults();

        params.switching = switching;
        params.routing = routing;
        params.phit = 16;
        params.queue = 2;
        params.ecmp = (int)(at % 3);
        params.fail = wf_unconst(cases[at].fail);
        enum verdict verdict = judge(topo, &params);
        CHECK(verdict != BADLY_REFUSED);
        if (verdict == REFUSED) {
            /* On grids adaptive routing is a scheme of cut-through routers. */
            CHECK(!cases[at].works || switching == WF_ROUTER_WORMHOLE || is_for_some(routing) ||
                  routing == WF_ROUTER_DATELINE || routing == WF_ROUTER_DATELINE_FREE);
            continue;
        }
        bool right = all_arrive(topo, &params);
        if (!right) {
            printf("# %s, fail=%s, %s, switching %d\n", cases[at].topo, cases[at].fail,
                   wf_router_routings[routing], switching);
        }
        CHECK(right);
    }
    wf_topo_free(topo);
}

static void every_routing_delivers(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_all(i, WF_ROUTER_CUT_THROUGH);
        check_all(i, WF_ROUTER_WORMHOLE);
    }
}

enum { GROUP = 4, GROUPS = 9 };

/* The worst for minimal routes in a dragonfly, as in test_packet_routes.c: every node of a group
 * sends to the next group but one, to which there is one link. When all is there. */
static int64_t cycles_of_adversary(int routing)
{
    static struct router_send sends[GROUP * GROUPS * BURST];
    static int64_t arrival[GROUP * GROUPS * BURST];
    struct wf_topo *topo = router_topo("dragonfly:2,p=1");
    struct wf_router_params params = router_defaults();
    uint32_t n = GROUP * GROUPS * BURST;
    int64_t last = 0;

    params.routing = routing;
    params.queue = 32;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = i % (GROUP * GROUPS);
        sends[i] = (struct router_send){0, src, (src + 2 * GROUP) % (GROUP * GROUPS), 512};
    }
    router_simulate(topo, &params, sends, n, arrival, NULL);
    for (uint32_t i = 0; i < n; i++) {
        last = arrival[i] > last ? arrival[i] : last;
    }
    wf_topo_free(topo);
    printf("# %s: %lld cycles\n", wf_router_routings[routing], (long long)last);
    return last;
}

static void detours_avoid_the_one_link(void)
{
    int64_t minimal = cycles_of_adversary(WF_ROUTER_MINIMAL);
    int64_t blind = cycles_of_adversary(WF_ROUTER_UGAL_L);
    int64_t seeing = cycles_of_adversary(WF_ROUTER_UGAL_G);
    int64_t revised = cycles_of_adversary(WF_ROUTER_PAR);

    CHECK(cycles_of_adversary(WF_ROUTER_UGAL) == blind);
    /* A router's queue includes what its neighbour has not sent on, so ugal_l is not blind. */
    CHECK(seeing != blind && seeing < minimal * 6 / 10);
    CHECK(blind < minimal * 6 / 10 && revised < minimal * 6 / 10);
}

int main(void)
{
    RUN_ONE_THREAD(detours_avoid_the_one_link);
    RUN(every_routing_delivers);
    return wf_test_done();
}
