/* SPDX-License-Identifier: Apache-2.0 */
/* Failures in time on the router model: cycles before, during and after a failure, what is sent
 * again or lost, nodes that are cut off, and that changes of the network leave no deadlock. */
#include "model/net/router/events/model.h"

#include "harness/router_traffic.h"
#include "harness/wf_test.h"

enum { PHITS = 16, RESEND = 7000, SENDS_MAX = 400 }; /* RESEND in cycles */

static struct wf_router_params failing(const char *fail, int action)
{
    struct wf_router_params params = router_defaults();

    params.fail = wf_unconst(fail);
    params.fail_action = action;
    params.resend_delay = (int64_t)RESEND * CYCLE_PS;
    return params;
}

/* When a message of one packet, sent in the cycle `at`, arrives; -1: never. */
static int64_t arrival_of(const char *spec, const char *fail, int action, uint32_t src,
                          uint32_t dst, int64_t at)
{
    const struct router_send send = {at, src, dst, 64};
    const struct wf_router_params params = failing(fail, action);
    struct wf_topo *topo = router_topo(spec);
    int64_t arrival;

    router_simulate(topo, &params, &send, 1, &arrival, NULL);
    wf_topo_free(topo);
    return arrival;
}

static int64_t cycles(int64_t hops)
{
    return hops + PHITS - 1;
}

/* The link from 0 to 1 of a ring of four works until 3 us and from 9 us on. The other way has
 * three hops. */
static void before_during_and_after_a_failure(void)
{
    static const char fail[] = "link:0-1@3us-9us";
    const int64_t down = 3000, up = 9000;
    const struct {
        int64_t at, arrival;
    } cases[] = {
        {0, cycles(1)},
        {down - cycles(1), down},                          /* just through */
        {down - cycles(1) + 1, down + RESEND + cycles(1)}, /* cut at its end */
        {down - 1, down + RESEND + cycles(1)},             /* its head is through */
        {down, down + cycles(3)},                          /* avoids the link */
        {up - 1, up - 1 + cycles(3)},
        {up, up + cycles(1)},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_U64((uint64_t)arrival_of("torus:4", fail, WF_FAULT_RESEND, 0, 1, cases[i].at),
                  (uint64_t)cases[i].arrival);
        CHECK_U64((uint64_t)arrival_of("torus:4", fail, WF_FAULT_RESEND, 1, 0, cases[i].at),
                  (uint64_t)cases[i].arrival);
        CHECK_U64((uint64_t)arrival_of("torus:4", fail, WF_FAULT_RESEND, 2, 3, cases[i].at),
                  (uint64_t)(cases[i].at + cycles(1)));
    }
    CHECK(arrival_of("torus:4", fail, WF_FAULT_LOSE, 0, 1, down - cycles(1)) == down);
    CHECK(arrival_of("torus:4", fail, WF_FAULT_LOSE, 0, 1, down - 1) == -1);
    CHECK(arrival_of("torus:4", "link:0-1@3us", WF_FAULT_RESEND, 0, 1, down - 1) ==
          down + RESEND + cycles(3));
}

/* A failure within a cycle: routers notice it at the beginning of the next one. */
static void a_failure_within_a_cycle(void)
{
    static const char fail[] = "link:0-1@2999500ps";

    CHECK(arrival_of("torus:4", fail, WF_FAULT_RESEND, 0, 1, 2999 - cycles(1)) == 2999);
    CHECK(arrival_of("torus:4", fail, WF_FAULT_RESEND, 0, 1, 3000) == 3000 + cycles(3));
    /* Lost at 2999.5 ns and sent again from the beginning of a cycle on. */
    CHECK(arrival_of("torus:4", fail, WF_FAULT_RESEND, 0, 1, 2999) ==
          3000 + RESEND + cycles(3));
}

/* From 0 over 1 to 2 in a ring of five: see test_packet_faults.c. */
static void a_failure_ahead_of_a_packet(void)
{
    CHECK(arrival_of("torus:5", "link:1-2@1ns", WF_FAULT_RESEND, 0, 2, 0) == cycles(5));
    CHECK(arrival_of("torus:5", "link:1-2@2ns", WF_FAULT_RESEND, 0, 2, 0) ==
          2 + RESEND + cycles(3));
    CHECK(arrival_of("torus:5", "link:1-2@16ns", WF_FAULT_RESEND, 0, 2, 0) ==
          16 + RESEND + cycles(3));
    CHECK(arrival_of("torus:5", "link:1-2@17ns", WF_FAULT_RESEND, 0, 2, 0) == cycles(2));
    CHECK(arrival_of("torus:5", "router:1@1ns", WF_FAULT_RESEND, 0, 2, 0) ==
          1 + RESEND + cycles(3));
    CHECK(arrival_of("torus:5", "router:1@1ns", WF_FAULT_LOSE, 0, 2, 0) == -1);
}

/* Two packets want the link from 1 to 2. The second waits at router 1 when that link fails, and
 * is not lost: it turns back. */
static void a_packet_in_a_queue_takes_another_route(void)
{
    const struct wf_router_params params = failing("link:1-2@18ns", WF_FAULT_RESEND);
    const struct router_send sends[] = {{0, 1, 2, 64}, {1, 0, 2, 64}};
    struct wf_topo *topo = router_topo("torus:5");
    int64_t arrival[2];

    struct router_result result =
        router_run(topo, &params, &(struct setup){.scheduler = WF_SEQUENTIAL},
                   &(struct router_traffic){sends, 2, arrival, NULL});
    CHECK_U64((uint64_t)arrival[0], (uint64_t)cycles(1));
    CHECK_U64(result.totals.losses.resent, 1);
    /* It would have left at 16, when the tail before it had gone: lost at 18. */
    CHECK_U64((uint64_t)arrival[1], (uint64_t)(18 + RESEND + cycles(3)));
    const struct wf_router_params sooner = failing("link:1-2@16ns", WF_FAULT_RESEND);
    result = router_run(topo, &sooner, &(struct setup){.scheduler = WF_SEQUENTIAL},
                        &(struct router_traffic){sends, 2, arrival, NULL});
    /* The first is on the link, and the second goes back in the same cycle: four hops. */
    CHECK_U64(result.totals.losses.resent, 0);
    CHECK_U64((uint64_t)arrival[0], (uint64_t)cycles(1));
    CHECK_U64((uint64_t)arrival[1], (uint64_t)(16 + cycles(4)));
    wf_topo_free(topo);
}

static void a_node_is_cut_off(void)
{
    static const char fail[] = "link:1-2@3us-50us";
    const struct router_send sends[] = {
        {0, 0, 2, 64}, {4000, 0, 2, 300}, {5000, 1, 0, 64}, {9000, 2, 2, 64}};
    const struct wf_router_params params = failing("link:1-2@3us", WF_FAULT_RESEND);
    struct wf_topo *topo = router_topo("mesh:3");
    int64_t arrival[4], left[4] = {0};

    /* Sent at 10 us: at 17, 24, 31, 38, 45 and 52 us. */
    CHECK(arrival_of("mesh:3", fail, WF_FAULT_RESEND, 0, 2, 10000) == 52000 + cycles(2));
    CHECK(arrival_of("mesh:3", "router:2@3us-52001ns", WF_FAULT_RESEND, 2, 0, 10000) ==
          59000 + cycles(2));
    CHECK(arrival_of("mesh:3", fail, WF_FAULT_LOSE, 0, 2, 10000) == -1);
    struct router_result result =
        router_run(topo, &params, &(struct setup){.scheduler = WF_SEQUENTIAL},
                   &(struct router_traffic){sends, 4, arrival, left});
    CHECK(arrival[0] == cycles(2) && arrival[1] == -1 && arrival[2] == 5000 + cycles(1));
    CHECK(arrival[3] == 9000 + cycles(0));
    CHECK(left[1] > 4000); /* the source is rid of its message */
    CHECK_U64(result.totals.losses.n_packets, 5);
    CHECK_U64(result.totals.losses.n_cut_off, 5);
    CHECK_U64(result.totals.losses.first.dst, 2);
    wf_topo_free(topo);
}

static void lost_messages_do_not_hold_up_others(void)
{
    const struct router_send sends[] = {{0, 0, 1, 64},
                                        {2990, 0, 1, 640},
                                        {2990, 0, 1, 64},
                                        {3500, 0, 1, 200},
                                        {9500, 0, 1, 64}};
    const struct wf_router_params params = failing("link:0-1@3us-9us", WF_FAULT_LOSE);
    struct wf_topo *topo = router_topo("torus:4");
    int64_t arrival[5];

    struct router_result result =
        router_run(topo, &params, &(struct setup){.scheduler = WF_SEQUENTIAL},
                   &(struct router_traffic){sends, 5, arrival, NULL});
    CHECK(arrival[0] == cycles(1) && arrival[1] == -1 && arrival[2] > 3000);
    CHECK_U64((uint64_t)arrival[3], (uint64_t)(3500 + 3 + 4 * PHITS - 1));
    CHECK_U64((uint64_t)arrival[4], (uint64_t)(9500 + cycles(1)));
    CHECK_U64(result.totals.losses.n_packets, 1);
    CHECK_U64((uint64_t)result.totals.losses.first.at, 3000001);
    wf_topo_free(topo);
}

/* ---- Random traffic ---- */

static const struct {
    const char *topo, *fail;
    int routing;
} networks[] = {
    {"torus:4x3", "link:0-1@200ns-600ns,links:2@400ns", WF_ROUTER_MINIMAL},
    {"torus:4x3", "link:0-1@200ns-400ns,link:0-4@300ns-900ns,link:0-3@350ns",
     WF_ROUTER_ADAPTIVE},
    {"dragonfly:2,p=1", "links:4@100ns-300ns,links:4@310ns-320ns,links:4@400ns",
     WF_ROUTER_UGAL_G},
    {"fattree:4x4x2", "routers:1@200ns-500ns,links:10%@300ns-700ns", WF_ROUTER_ECMP},
    {"star:3/torus:3x2", "router:2@200ns-900ns", WF_ROUTER_VALIANT},
    {"ring:6,oneway", "link:2-3@200ns-900ns", WF_ROUTER_MINIMAL},
    {"hyperx:3x3", "links:3@100ns,link:9-10@150ns-152ns,link:16-17@153ns-154ns",
     WF_ROUTER_UGAL_L},
    {"mesh:4x3", "links:100%@300ns-400ns", WF_ROUTER_MINIMAL},
    {"torus:4x3", "links:2@10ns-11ns,links:3@12ns-13ns,links:2@14ns-15ns,router:5@100ns-101ns",
     WF_ROUTER_VALIANT},
};

enum { N_NETWORKS = sizeof(networks) / sizeof(networks[0]), PER_NODE = 10 };

static uint32_t make_sends(uint64_t seed, uint32_t n_nodes, struct router_send *sends)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < PER_NODE; i++) {
        for (uint32_t src = 0; src < n_nodes; src++, n++) {
            uint64_t r = wf_test_rand(seed, src, i);
            sends[n] = (struct router_send){
                .cycle = i * 40,
                .src = src,
                .dst = i % 2 == 0 ? n_nodes - 1 : (uint32_t)(r % n_nodes),
                .bytes = 1 + (r >> 32) % 192,
            };
        }
    }
    return n;
}

static bool agree(const struct wf_topo *topo, const struct wf_router_params *params,
                  const struct router_send *sends, uint32_t n,
                  const struct router_result *expected)
{
    static const struct setup setups[] = {
        {.scheduler = WF_CHECK_UNDO},
        {.scheduler = WF_CONSERVATIVE, .threads = 2},
        {.scheduler = WF_OPTIMISTIC, .threads = 2, .batch = 4},
        {.scheduler = WF_PERTURB, .threads = 2, .perturb_seed = 3},
    };
    bool equal = true;

    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        struct router_result found = router_run(topo, params, &setups[i],
                                                &(struct router_traffic){sends, n, NULL, NULL});
        equal = equal && found.digest == expected->digest &&
                memcmp(&found.totals, &expected->totals, sizeof(found.totals)) == 0;
    }
    return equal;
}

/* Queues of one packet and heavy traffic: a deadlock would keep messages from arriving. */
static void nothing_is_forgotten_and_schedulers_agree(void)
{
    static struct router_send sends[SENDS_MAX];
    static int64_t arrival[SENDS_MAX], left[SENDS_MAX];
    uint64_t resent = 0, lost = 0;

    for (size_t i = 0; i < 2 * N_NETWORKS; i++) {
        size_t at = i % N_NETWORKS;
        bool loses = i / N_NETWORKS % 2 == 1;
        struct wf_router_params params =
            failing(networks[at].fail, loses ? WF_FAULT_LOSE : WF_FAULT_RESEND);
        struct wf_topo *topo = router_topo(networks[at].topo);
        uint32_t n = make_sends(i, topo->n_nodes, sends), there = 0, gone = 0;

        params.routing = networks[at].routing;
        params.queue = 1 + i % 2;
        params.resend_delay = 500000;
        params.global_restriction = i % 3 == 0 ? 0.5 : 0;
        struct router_result result =
            router_run(topo, &params, &(struct setup){.scheduler = WF_SEQUENTIAL},
                       &(struct router_traffic){sends, n, arrival, left});
        for (uint32_t k = 0; k < n; k++) {
            there += arrival[k] >= 0;
            gone += left[k] > 0;
        }
        const struct wf_net_losses *losses = &result.totals.losses;
        if (there + (loses ? losses->n_packets : 0) < n || gone < n) {
            printf("# case %zu: %u of %u, %u left\n", i, (unsigned)there, (unsigned)n,
                   (unsigned)gone);
        }
        CHECK(loses ? there + losses->n_packets >= n && losses->resent == 0
                    : there == n && losses->n_packets == 0);
        CHECK_U64(gone, n);
        CHECK_U64(result.totals.deadlock.n, 0);
        CHECK((there == n) == (losses->n_packets == 0));
        resent += losses->resent;
        lost += losses->n_packets;
        if (i % WF_TEST_ONE_IN == 0) {
            CHECK(agree(topo, &params, sends, n, &result));
        }
        wf_topo_free(topo);
    }
    CHECK(resent > 0 && lost > 0);
}

static void what_cannot_work_is_refused(void)
{
    static const struct {
        int routing, switching;
        uint64_t vcs;
        int64_t resend;
        const char *words;
    } cases[] = {
        {WF_ROUTER_DOR, WF_ROUTER_CUT_THROUGH, 0, 1000000,
         "net.fail: failures in time need cut-through switching and a routing policy, such as "
         "minimal; not dor"},
        {WF_ROUTER_MINIMAL, WF_ROUTER_WORMHOLE, 0, 1000000,
         "net.fail: failures in time need cut-through switching and a routing policy, such as "
         "minimal; not wormhole switching"},
        {WF_ROUTER_TABLE, WF_ROUTER_CUT_THROUGH, 0, 1000000,
         "net.fail: routing 'table' has fixed routes, which cannot avoid parts that fail "
         "during "
         "a run; choose another policy"},
        {WF_ROUTER_MINIMAL, WF_ROUTER_CUT_THROUGH, 2, 1000000,
         "net.vcs: 2 virtual channels do not work with minimal routing, which needs at least "
         "6"},
        {WF_ROUTER_MINIMAL, WF_ROUTER_CUT_THROUGH, 7, 1000000,
         "net.vcs: 7 virtual channels cannot be halved, as failures in time need"},
        {WF_ROUTER_MINIMAL, WF_ROUTER_CUT_THROUGH, 0, 999,
         "net.resend_delay: expected at least 1ns, the least time from one router to another"},
        {WF_ROUTER_PAR, WF_ROUTER_CUT_THROUGH, 0, 1000000,
         "routing 'par' needs a dragonfly, not a torus; 'ugal_l' is the nearest elsewhere"},
    };
    struct wf_topo *topo = router_topo("torus:4x4");
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_router_params params = failing("link:0-1@1us", WF_FAULT_RESEND);
        struct wf_net *net = NULL;
        struct wf_err err = {.status = WF_OK};

        params.routing = cases[i].routing;
        params.switching = cases[i].switching;
        params.vcs = cases[i].vcs;
        params.resend_delay = cases[i].resend;
        CHECK_U64(wf_net_router_ops.create(&params, &env, &net, &err), WF_EINVAL);
        CHECK_STR(err.text, cases[i].words);
    }
    wf_topo_free(topo);
}

int main(void)
{
    RUN_ONE_THREAD(before_during_and_after_a_failure);
    RUN_ONE_THREAD(a_failure_within_a_cycle);
    RUN_ONE_THREAD(a_failure_ahead_of_a_packet);
    RUN_ONE_THREAD(a_packet_in_a_queue_takes_another_route);
    RUN_ONE_THREAD(a_node_is_cut_off);
    RUN_ONE_THREAD(lost_messages_do_not_hold_up_others);
    RUN(nothing_is_forgotten_and_schedulers_agree);
    RUN_ONE_THREAD(what_cannot_work_is_refused);
    return wf_test_done();
}
