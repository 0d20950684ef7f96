/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the router model with results worked out by hand. */
#include "harness/router_traffic.h"
#include "harness/wf_test.h"

enum { SENDS_MAX = 8192, PHITS = 16 };

/* Breadth-first search, so that the topology's own formula is not asked. */
static uint32_t hops_between(const struct wf_topo *topo, uint32_t from, uint32_t to)
{
    uint32_t *hops = wf_xcalloc(topo->n_vertices, sizeof(*hops));
    uint32_t *queue = wf_xcalloc(topo->n_vertices, sizeof(*queue));
    uint32_t head = 0, tail = 0;

    queue[tail++] = from;
    hops[from] = 1;
    while (head < tail && hops[to] == 0) {
        uint32_t v = queue[head++];
        for (uint32_t port = 0; port < wf_topo_ports(topo, v); port++) {
            uint32_t w = topo->ops->neighbor(topo, v, port);
            if (w != WF_TOPO_NO_VERTEX && hops[w] == 0) {
                hops[w] = hops[v] + 1;
                queue[tail++] = w;
            }
        }
    }
    uint32_t found = hops[to] - 1;
    free(hops);
    free(queue);
    return found;
}

/* With wormhole switching there is a router at the source and a link on either side of the
 * node, also for messages to oneself. */
static int64_t idle_cycles(const struct wf_topo *topo, const struct wf_router_params *params,
                           uint32_t hops)
{
    int64_t hop = (int64_t)(params->pipeline + params->link_delay);

    if (params->switching == WF_ROUTER_CUT_THROUGH) {
        return hops * hop + PHITS - 1;
    }
    hop += (int64_t)params->routing_delay + (params->speculative ? 1 : 2);
    hops -= wf_topo_is_direct(topo) || hops == 0 ? 0 : 2;
    return 1 + (int64_t)params->link_delay + (hops + 1) * hop + PHITS - 1;
}

/* All pairs, one message at a time. */
static void check_idle(const char *spec, const struct wf_router_params *params)
{
    static struct router_send sends[SENDS_MAX];
    static int64_t arrival[SENDS_MAX];
    struct wf_topo *topo = router_topo(spec);
    uint32_t n = 0;

    for (uint32_t a = 0; a < topo->n_nodes; a++) {
        for (uint32_t b = 0; b < topo->n_nodes; b++, n++) {
            sends[n] = (struct router_send){(int64_t)n * 500, a, b, 64};
        }
    }
    router_simulate(topo, params, sends, n, arrival, NULL);
    for (uint32_t i = 0; i < n; i++) {
        int64_t least =
            idle_cycles(topo, params, hops_between(topo, sends[i].src, sends[i].dst));
        CHECK_U64((uint64_t)(arrival[i] - sends[i].cycle), (uint64_t)least);
    }
    wf_topo_free(topo);
}

static void an_idle_network_takes_hops_and_the_tail(void)
{
    static const struct {
        const char *topo;
        int routing;
        uint64_t pipeline;
    } cases[] = {
        {"torus:4x4", WF_ROUTER_OBLIVIOUS_1VC, 0},
        {"torus:5x3", WF_ROUTER_OBLIVIOUS_3VC, 0},
        {"torus:4x4", WF_ROUTER_ADAPTIVE_3VC, 0},
        {"torus:3x2x2", WF_ROUTER_ADAPTIVE_3VC, 4},
        {"torus:6", WF_ROUTER_DATELINE, 4},
        {"torus:4x4", WF_ROUTER_DATELINE_FREE, 0},
        {"mesh:4x3", WF_ROUTER_DOR, 0},
        {"fattree:k=2,n=3", WF_ROUTER_UPDOWN, 0},
        {"dragonfly:1", WF_ROUTER_MINIMAL, 0},
        {"hyperx:3x3", WF_ROUTER_MINIMAL, 2},
        {"dragonfly:1", WF_ROUTER_UGAL, 0},
        {"star:5", WF_ROUTER_MINIMAL, 0},
        {"torus:5x4", WF_ROUTER_MINIMAL, 0},
        {"torus:4x3", WF_ROUTER_UGAL, 0},
        {"dragonfly:2", WF_ROUTER_ADAPTIVE, 3},
        {"torus:3x2/star:3", WF_ROUTER_MINIMAL, 0},
        {"mesh:2x2/torus:3/star:2", WF_ROUTER_UGAL, 1},
        {"star:3/tree:4", WF_ROUTER_UPDOWN, 0},
        {"full:5", WF_ROUTER_AUTO_ROUTING, 0},
        {"fattree:4x3", WF_ROUTER_AUTO_ROUTING, 0},
        {"dragonfly:1", WF_ROUTER_UGAL_L, 0},
        {"dragonfly:1", WF_ROUTER_UGAL_G, 0},
        {"dragonfly:2", WF_ROUTER_PAR, 1},
        {"fattree:4x3x2", WF_ROUTER_ECMP, 0},
        {"torus:4x4", WF_ROUTER_ECMP, 0},
        {"ring:7,oneway", WF_ROUTER_AUTO_ROUTING, 0},
        {"full:3/ring:4,oneway", WF_ROUTER_UGAL_G, 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_router_params params = router_defaults();
        params.routing = cases[i].routing;
        params.pipeline = cases[i].pipeline;
        check_idle(cases[i].topo, &params);
    }
}

/* 10 packets on one link: the link is never idle between them. */
static void a_message_follows_itself_without_gaps(void)
{
    struct wf_router_params params = router_defaults();
    struct wf_topo *topo = router_topo("torus:8");
    const struct router_send send = {7, 0, 3, 640};
    int64_t arrival, left = -1;

    router_simulate(topo, &params, &send, 1, &arrival, &left);
    CHECK_U64((uint64_t)(left - 7), 10 * PHITS);
    CHECK_U64((uint64_t)(arrival - 7), 3 + 10 * PHITS - 1);
    wf_topo_free(topo);
}

/* Two packets want one link: one waits until the tail of the other has gone. */
static void a_link_takes_one_packet_at_a_time(void)
{
    struct wf_router_params params = router_defaults();
    struct wf_topo *topo = router_topo("mesh:3x2");
    /* (0,0) to (2,0) and (1,0) to (2,0) share the link from (1,0) to (2,0). */
    const struct router_send sends[] = {{0, 0, 2, 64}, {1, 1, 2, 64}};
    int64_t arrival[2];

    router_simulate(topo, &params, sends, 2, arrival, NULL);
    int64_t first = arrival[0] < arrival[1] ? arrival[0] : arrival[1];
    int64_t last = arrival[0] < arrival[1] ? arrival[1] : arrival[0];
    CHECK_U64((uint64_t)first, 1 + 1 + PHITS - 1);
    CHECK_U64((uint64_t)last, (uint64_t)first + PHITS);
    wf_topo_free(topo);
}

/* A ring in which everybody sends far, at once: without the bubble it locks up, with it or with
 * a dateline everything arrives. */
static uint32_t count_arrivals(int routing, int flow)
{
    static struct router_send sends[SENDS_MAX];
    static int64_t arrival[SENDS_MAX];
    struct wf_router_params params = router_defaults();
    struct wf_topo *topo = router_topo("torus:7");
    uint32_t n = 0, there = 0;

    params.routing = routing;
    params.flow = flow;
    params.queue = 2;
    for (uint32_t a = 0; a < 7; a++) {
        for (uint32_t i = 0; i < 30; i++) {
            sends[n++] = (struct router_send){0, a, (a + 3) % 7, 64};
        }
    }
    router_simulate(topo, &params, sends, n, arrival, NULL);
    for (uint32_t i = 0; i < n; i++) {
        there += arrival[i] >= 0;
    }
    wf_topo_free(topo);
    return there;
}

static void the_bubble_keeps_a_ring_moving(void)
{
    CHECK(count_arrivals(WF_ROUTER_OBLIVIOUS_1VC, WF_ROUTER_PLAIN) < 210);
    CHECK_U64(count_arrivals(WF_ROUTER_OBLIVIOUS_1VC, WF_ROUTER_AUTO), 210);
    CHECK_U64(count_arrivals(WF_ROUTER_DATELINE, WF_ROUTER_AUTO), 210);
    CHECK_U64(count_arrivals(WF_ROUTER_ADAPTIVE_3VC, WF_ROUTER_AUTO), 210);
}

static void check_refused(const char *spec, const struct wf_router_params *params,
                          const char *words)
{
    struct wf_topo *topo = router_topo(spec);
    struct wf_net *net = NULL;
    struct wf_err err = {.status = WF_OK};
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};

    CHECK(wf_net_router_ops.create(params, &env, &net, &err) == WF_EINVAL);
    CHECK(net == NULL);
    CHECK_STR(err.text, words);
    wf_topo_free(topo);
}

static struct wf_router_params wormhole(int routing)
{
    struct wf_router_params params = router_defaults();

    params.switching = WF_ROUTER_WORMHOLE;
    params.routing = routing;
    params.pipeline = 1;
    return params;
}

/* BookSim2's 5 hops + 22, and what its options make of that. */
static void an_idle_wormhole_network_takes_its_pipelines(void)
{
    struct wf_router_params params = wormhole(WF_ROUTER_DATELINE);

    check_idle("torus:5x4", &params);
    struct wf_topo *ring = router_topo("torus:4");
    CHECK_U64((uint64_t)idle_cycles(ring, &params, 2), 5 * 2 + 22);
    wf_topo_free(ring);
    params.vcs = 4;
    params.pipeline = 3;
    params.link_delay = 2;
    check_idle("torus:4x3", &params);
    params = wormhole(WF_ROUTER_DATELINE);
    params.routing_delay = 0;
    params.speculative = true;
    check_idle("torus:4x2x2", &params);
    params.hold_switch = true;
    params.queue = 1;
    check_idle("mesh:4x3", &params);
    params = wormhole(WF_ROUTER_UPDOWN);
    check_idle("fattree:k=2,n=3", &params);
    params.routing = WF_ROUTER_MINIMAL;
    check_idle("dragonfly:1", &params);
    check_idle("hyperx:3x3", &params);
    params.routing = WF_ROUTER_AUTO_ROUTING;
    check_idle("full:5", &params);
    check_idle("torus:4x3", &params);
    check_idle("ring:5,oneway", &params);
    params.routing = WF_ROUTER_PAR;
    check_idle("dragonfly:2,p=1", &params);
    params.routing = WF_ROUTER_UGAL_G;
    check_idle("hyperx:3x3", &params);
    params.routing = WF_ROUTER_ECMP;
    check_idle("fattree:k=2,n=3", &params);
}

/* Two nodes send to the one between them at once: their flits come in turn, so that both tails
 * are late, unless a packet keeps the switch. */
static void flits_of_two_packets_take_turns(void)
{
    static const struct router_send sends[] = {{0, 0, 1, 64}, {0, 2, 1, 64}};
    struct wf_topo *topo = router_topo("mesh:3");
    struct wf_router_params params = wormhole(WF_ROUTER_DOR);
    int64_t arrival[2], idle = 5 + 22;

    params.vcs = 2;
    router_simulate(topo, &params, sends, 2, arrival, NULL);
    CHECK_U64((uint64_t)(arrival[0] + arrival[1]), (uint64_t)(2 * idle + PHITS - 1 + PHITS));
    CHECK(arrival[0] - arrival[1] == 1 || arrival[1] - arrival[0] == 1);
    params.hold_switch = true;
    router_simulate(topo, &params, sends, 2, arrival, NULL);
    CHECK_U64((uint64_t)(arrival[0] + arrival[1]), (uint64_t)(2 * idle + PHITS));
    CHECK(arrival[0] == idle || arrival[1] == idle);
    wf_topo_free(topo);
}

/* With one channel the second packet waits until the tail of the first one has left, and a
 * cycle more for the channel. */
static void a_packet_keeps_its_channel(void)
{
    static const struct router_send sends[] = {{0, 0, 1, 64}, {0, 2, 1, 64}};
    struct wf_topo *topo = router_topo("mesh:3");
    struct wf_router_params params = wormhole(WF_ROUTER_DOR);
    int64_t arrival[2], idle = 5 + 22;

    params.vcs = 1;
    router_simulate(topo, &params, sends, 2, arrival, NULL);
    CHECK_U64((uint64_t)(arrival[0] + arrival[1]), (uint64_t)(2 * idle + PHITS + 1));
    CHECK(arrival[0] == idle || arrival[1] == idle);
    wf_topo_free(topo);
}

static void what_cannot_work_is_refused(void)
{
    struct wf_router_params params = wormhole(WF_ROUTER_OBLIVIOUS_3VC);

    check_refused(
        "torus:4", &params,
        "net.switching: wormhole switching works with dateline and adaptive routing on grids "
        "(dor on meshes), updown on trees and the routing policies, such as minimal, without "
        "bubble flow control and restrictions; not with oblivious-3vc");
    params = wormhole(WF_ROUTER_ADAPTIVE);
    params.vcs = 2;
    check_refused("torus:4x4", &params,
                  "net.vcs: 2 virtual channels do not work with adaptive routing, which needs "
                  "at least 3");
    params = wormhole(WF_ROUTER_MINIMAL);
    check_refused("star:3/ring:4", &params,
                  "net.switching: wormhole switching needs nodes that are all routers, or have "
                  "one link each; this nested has both switches and nodes with several links");
    params = router_defaults();

    params.routing = WF_ROUTER_DATELINE;
    params.vcs = 3;
    check_refused("torus:4", &params,
                  "net.vcs: 3 virtual channels cannot be halved, as dateline routing needs");
    params.vcs = 1;
    check_refused("torus:4", &params,
                  "net.vcs: 1 virtual channels do not work with dateline routing, which needs "
                  "at least 2");
    params = router_defaults();
    params.queue = 1;
    check_refused("torus:4", &params,
                  "net.queue: bubble flow control needs room for 2 packets");
    params = router_defaults();
    params.packet = 30;
    check_refused("torus:4", &params,
                  "net.packet: 30 bytes are not 1 to 65536 phits of 4 bytes");
    params = router_defaults();
    params.routing = WF_ROUTER_DOR;
    check_refused("star:4", &params,
                  "net.routing: dor routing works on grids, not on a star; minimal works "
                  "everywhere");
    check_refused("dragonfly:2", &params,
                  "net.routing: dor routing works on grids, not on a dragonfly; minimal works "
                  "everywhere");
    params.routing = WF_ROUTER_VALIANT;
    params.vcs = 1;
    check_refused("dragonfly:2", &params,
                  "net.vcs: 1 virtual channels do not work with valiant routing, which needs "
                  "at least 6");
    params.routing = WF_ROUTER_UPDOWN;
    check_refused("torus:4", &params,
                  "net.routing: routing 'updown' needs a tree, fattree or star, not a torus; "
                  "'adaptive' does the same elsewhere");
    params = router_defaults();
    params.routing = WF_ROUTER_MINIMAL;
    params.flow = WF_ROUTER_BUBBLE;
    check_refused("torus:4", &params,
                  "net.flow: bubble works on the rings of a grid in dimension order, not with "
                  "this routing on a torus");
    params = router_defaults();
    params.restriction = 5;
    check_refused("torus:4", &params,
                  "net.restriction: expected at most the 4 packets of net.queue, on a grid");
}

int main(void)
{
    RUN(an_idle_network_takes_hops_and_the_tail);
    RUN(a_message_follows_itself_without_gaps);
    RUN(a_link_takes_one_packet_at_a_time);
    RUN(the_bubble_keeps_a_ring_moving);
    RUN(an_idle_wormhole_network_takes_its_pipelines);
    RUN(flits_of_two_packets_take_turns);
    RUN(a_packet_keeps_its_channel);
    RUN(what_cannot_work_is_refused);
    return wf_test_done();
}
