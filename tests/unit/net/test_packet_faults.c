/* SPDX-License-Identifier: Apache-2.0 */
/* Failures in time on the packet model: times to the picosecond before, during and after a
 * failure, what is sent again or lost, nodes that are cut off, and bad inputs. */
#include "harness/packet_traffic.h"
#include "harness/wf_test.h"
#include "model/net/fault/fault.h"

enum { CASES = 40, MESSAGES_MAX = 80 };

/* A hop of a packet, a full packet, and the time until a packet is sent again. */
static const int64_t HOP = 100000, FULL = 51200, RESEND = 7000000;

/* Sends messages over a network whose parts fail; the caller releases the result. */
static struct traffic_result run_failing(const char *topo, const char *fail, const char *action,
                                         const struct message *messages, size_t n)
{
    struct wf_packet_params params = packet_defaults();
    const struct traffic traffic = {
        .topo = topo, .messages = messages, .n_messages = n, .params = &params};

    packet_set(&params, "fail", fail);
    packet_set(&params, "fail_action", action);
    params.resend_delay = RESEND;
    struct traffic_result result = run_traffic(&traffic);
    packet_release(&params);
    return result;
}

/* When a message of one full packet, sent at `at`, arrives; 0: never. */
static int64_t arrival_of(const char *topo, const char *fail, const char *action, uint32_t src,
                          uint32_t dst, int64_t at)
{
    const struct message message = {.at = at, .src = src, .dst = dst, .bytes = 512};
    struct traffic_result result = run_failing(topo, fail, action, &message, 1);
    int64_t arrival = result.arrivals[0];

    release_traffic(&result);
    return arrival;
}

/* The link from 0 to 1 of a ring of four works until 3 us and from 9 us on. The other way has
 * three hops. */
static void before_during_and_after_a_failure(void)
{
    static const char fail[] = "link:0-1@3us-9us";
    const int64_t down = 3000000, up = 9000000;
    const struct {
        int64_t at, arrival;
    } cases[] = {
        {0, HOP + FULL},
        {down - HOP - FULL, down},                           /* just through */
        {down - HOP - FULL + 1, down + RESEND + HOP + FULL}, /* cut at its end */
        {down - 1, down + RESEND + HOP + FULL},              /* in the queue */
        {down, down + 3 * HOP + FULL},                       /* avoids the link */
        {up - 1, up - 1 + 3 * HOP + FULL},
        {up, up + HOP + FULL},
        {up + 12345, up + 12345 + HOP + FULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_U64((uint64_t)arrival_of("torus:4", fail, "resend", 0, 1, cases[i].at),
                  (uint64_t)cases[i].arrival);
        /* In the other direction the cable fails too. */
        CHECK_U64((uint64_t)arrival_of("torus:4", fail, "resend", 1, 0, cases[i].at),
                  (uint64_t)cases[i].arrival);
        /* Far from the failure nothing changes. */
        CHECK_U64((uint64_t)arrival_of("torus:4", fail, "resend", 2, 3, cases[i].at),
                  (uint64_t)(cases[i].at + HOP + FULL));
    }
    CHECK_U64((uint64_t)arrival_of("torus:4", fail, "lose", 0, 1, down - HOP - FULL),
              (uint64_t)down);
    CHECK_U64((uint64_t)arrival_of("torus:4", fail, "lose", 0, 1, down - HOP - FULL + 1), 0);
    CHECK_U64((uint64_t)arrival_of("torus:4", fail, "lose", 0, 1, down),
              (uint64_t)(down + 3 * HOP + FULL));
}

/* For good: what is sent again takes the other way, too. */
static void without_a_repair(void)
{
    CHECK_U64((uint64_t)arrival_of("torus:4", "link:0-1@3us", "resend", 0, 1, 2999999),
              (uint64_t)(3000000 + RESEND + 3 * HOP + FULL));
}

/* From 0 over 1 to 2 in a ring of five. The second link fails when the packet has left node 0:
 * before it is at node 1 it goes back and around, four hops; after that it is lost and sent
 * again from node 0, three hops. */
static void a_failure_ahead_of_a_packet(void)
{
    CHECK_U64((uint64_t)arrival_of("torus:5", "link:1-2@99ns", "resend", 0, 2, 0),
              (uint64_t)(5 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("torus:5", "link:1-2@100ns", "resend", 0, 2, 0),
              (uint64_t)(5 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("torus:5", "link:1-2@101ns", "resend", 0, 2, 0),
              (uint64_t)(101000 + RESEND + 3 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("torus:5", "link:1-2@251200ps", "resend", 0, 2, 0),
              (uint64_t)(2 * HOP + FULL));
    /* The router fails with the packet in it. */
    CHECK_U64((uint64_t)arrival_of("torus:5", "router:1@120ns", "resend", 0, 2, 0),
              (uint64_t)(120000 + RESEND + 3 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("torus:5", "router:1@120ns", "lose", 0, 2, 0), 0);
}

/* Packets leave one every FULL. Those whose end has not passed when the link fails are sent
 * again together, those that leave later take the other way. */
static void a_long_message_is_cut(void)
{
    enum { PACKETS = 40 };
    const int64_t down = 1000000;
    const struct message message = {.src = 0, .dst = 1, .bytes = UINT64_C(512) * PACKETS};
    struct traffic_result result =
        run_failing("torus:4", "link:0-1@1us", "resend", &message, 1);
    uint64_t through = 0, before = 0;

    while (HOP + (int64_t)(through + 1) * FULL <= down) {
        through++;
    }
    while ((int64_t)before * FULL < down) {
        before++;
    }
    CHECK(through > 10 && before > through + 2 && before < PACKETS - 10);
    CHECK_U64(result.totals.losses.resent, before - through);
    CHECK_U64(result.n_facts, PACKETS);
    for (uint64_t k = 0; k < PACKETS; k++) {
        int64_t at = k < through  ? HOP + (int64_t)(k + 1) * FULL
                     : k < before ? down + RESEND + 3 * HOP + (int64_t)(k - through + 1) * FULL
                                  : (int64_t)(k + 1) * FULL + 3 * HOP;
        CHECK_U64(result.facts[k].packet, k);
        CHECK_U64((uint64_t)result.facts[k].at, (uint64_t)at);
    }
    CHECK_U64((uint64_t)result.arrivals[0], (uint64_t)result.facts[before - 1].at);
    release_traffic(&result);
}

/* A message that lost a packet does not hold up the next ones, which arrive in order. */
static void lost_messages_do_not_hold_up_others(void)
{
    const struct message messages[] = {
        {.at = 0, .src = 0, .dst = 1, .bytes = 512},
        {.at = 900000, .src = 0, .dst = 1, .bytes = 20480},
        {.at = 900000, .src = 0, .dst = 1, .bytes = 100},
        {.at = 4000000, .src = 0, .dst = 1, .bytes = 512},
        {.at = 9000000, .src = 0, .dst = 1, .bytes = 512},
    };
    struct traffic_result result =
        run_failing("torus:4", "link:0-1@1us-5us", "lose", messages, 5);

    CHECK_U64((uint64_t)result.arrivals[0], (uint64_t)(HOP + FULL));
    CHECK_U64((uint64_t)result.arrivals[1], 0);
    CHECK(result.arrivals[2] > 900000 && result.order[2] == 2);
    CHECK_U64((uint64_t)result.arrivals[3], (uint64_t)(4000000 + 3 * HOP + FULL));
    CHECK_U64((uint64_t)result.arrivals[4], (uint64_t)(9000000 + HOP + FULL));
    CHECK_U64(result.totals.losses.n_packets, 2);
    CHECK_U64(result.totals.losses.n_bytes, 1024);
    CHECK_U64((uint64_t)result.totals.losses.first.at, 1000001);
    CHECK_U64(result.totals.losses.first.dst, 1);
    release_traffic(&result);
}

/* A line: there is no other way. */
static void a_node_is_cut_off_for_a_while(void)
{
    static const char fail[] = "link:1-2@3us-50us";

    /* Sent at 10 us: at 17, 24, 31, 38, 45 and 52 us. */
    CHECK_U64((uint64_t)arrival_of("mesh:3", fail, "resend", 0, 2, 10000000),
              (uint64_t)(52000000 + 2 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("mesh:3", "router:2@3us-52us", "resend", 0, 2, 10000000),
              (uint64_t)(52000000 + 2 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("mesh:3", "router:2@3us-52001ns", "resend", 2, 0, 10000000),
              (uint64_t)(59000000 + 2 * HOP + FULL));
    CHECK_U64((uint64_t)arrival_of("mesh:3", fail, "lose", 0, 2, 10000000), 0);
    CHECK_U64((uint64_t)arrival_of("mesh:3", fail, "resend", 0, 1, 10000000),
              (uint64_t)(10000000 + HOP + FULL));
    /* A message to itself needs no network. */
    CHECK(arrival_of("mesh:3", "router:2@3us", "resend", 2, 2, 10000000) > 0);
}

static void a_node_is_cut_off_for_good(void)
{
    const struct message messages[] = {
        {.at = 0, .src = 0, .dst = 2, .bytes = 512},
        {.at = 4000000, .src = 0, .dst = 2, .bytes = 5000},
        {.at = 5000000, .src = 1, .dst = 0, .bytes = 512},
    };
    struct traffic_result result = run_failing("mesh:3", "link:1-2@3us", "resend", messages, 3);

    CHECK(result.arrivals[0] > 0 && result.arrivals[1] == 0 && result.arrivals[2] > 0);
    CHECK_U64(result.totals.losses.n_packets, 10);
    CHECK_U64(result.totals.losses.n_cut_off, 10);
    CHECK_U64(result.totals.losses.n_bytes, 5000);
    CHECK_U64(result.totals.losses.first.dst, 2);
    release_traffic(&result);
}

/* A queue that is lost leaves the port idle when the link works again. */
static void a_repaired_link_is_idle(void)
{
    struct message messages[21];
    struct wf_packet_params params = packet_defaults();
    const struct traffic traffic = {
        .topo = "mesh:2", .messages = messages, .n_messages = 21, .params = &params};

    for (size_t i = 0; i < 20; i++) {
        messages[i] = (struct message){.src = 0, .dst = 1, .bytes = 10240};
    }
    messages[20] = (struct message){.at = 1500000, .src = 0, .dst = 1, .bytes = 512};
    packet_set(&params, "injection", "unlimited");
    packet_set(&params, "fail", "link:0-1@1us-1500ns");
    packet_set(&params, "fail_action", "lose");
    struct traffic_result result = run_traffic(&traffic);
    CHECK_U64((uint64_t)result.arrivals[20], (uint64_t)(1500000 + HOP + FULL));
    release_traffic(&result);
    packet_release(&params);
}

/* With credits: buffers for all change nothing; a packet that waits for a credit of a link that
 * fails is lost, and one that waits elsewhere goes on by the new routes. */
static void credits_wait_and_are_lost(void)
{
    enum { PACKETS = 10 };
    struct wf_packet_params params = packet_defaults();
    const struct message message = {.src = 0, .dst = 1, .bytes = UINT64_C(512) * PACKETS};
    const struct traffic traffic = {
        .topo = "torus:4", .messages = &message, .n_messages = 1, .params = &params};

    packet_set(&params, "buffers", "credits");
    packet_set(&params, "fail", "link:0-1@300ns");
    packet_set(&params, "vc_bytes", "64KiB");
    params.resend_delay = RESEND;
    struct traffic_result result = run_traffic(&traffic);
    /* Three packets are through at 300 ns; of the others, those that have left their interface
     * are sent again, and four take the other route. */
    CHECK_U64(result.totals.losses.resent, 3);
    CHECK_U64((uint64_t)result.arrivals[0], (uint64_t)(300000 + RESEND + 3 * HOP + 3 * FULL));
    release_traffic(&result);
    /* One buffer: a packet every 2 * HOP + FULL. The first is through, the second waits. */
    packet_set(&params, "vc_bytes", "512B");
    packet_set(&params, "fail", "link:0-1@240ns");
    result = run_traffic(&traffic);
    CHECK_U64(result.totals.losses.resent, 1);
    CHECK_U64((uint64_t)result.facts[0].at, (uint64_t)(HOP + FULL));
    CHECK_U64((uint64_t)result.facts[1].at, (uint64_t)(240000 + RESEND + 3 * HOP + FULL));
    /* The interface goes on when the packet is gone. */
    CHECK_U64((uint64_t)result.facts[2].at, (uint64_t)(240000 + 3 * HOP + FULL));
    release_traffic(&result);
    packet_release(&params);
}

/* A slow first link delays the end of the packet on the second one, which fails then. */
static void the_end_of_a_packet_counts(void)
{
    struct wf_packet_params params = packet_defaults();
    const struct message message = {.src = 0, .dst = 1, .bytes = 512};
    const struct traffic traffic = {
        .topo = "star:2", .messages = &message, .n_messages = 1, .params = &params};
    int64_t found[2];

    params.resend_delay = RESEND;
    for (int i = 0; i < 2; i++) {
        packet_set(&params, "timing", i == 0 ? "cut_through" : "store_and_forward");
        packet_set(&params, "fail", "link:1-2@201ns-300ns");
        struct traffic_result result = run_traffic(&traffic);
        found[i] = result.arrivals[0];
        release_traffic(&result);
    }
    /* Node, link, switch, link: 150 ns and the packet. */
    CHECK_U64((uint64_t)found[0], (uint64_t)(201000 + RESEND + 150000 + FULL));
    CHECK_U64((uint64_t)found[1], (uint64_t)(201000 + RESEND + 150000 + 2 * FULL));
    packet_release(&params);
}

/* ---- Random traffic ---- */

static const struct {
    const char *topo, *fail, *routing;
} networks[] = {
    {"torus:4x3", "link:0-1@2us-6us,links:2@4us", "minimal"},
    {"torus:4x3", "link:0-1@2us-6us,link:0-4@3us-5us,link:0-3@3us", "adaptive"},
    {"dragonfly:1", "links:1@3us-8us", "ugal_g"},
    {"fattree:4x4x2", "routers:1@2us-5us,links:10%@4us-9us", "ecmp"},
    {"star:3/torus:3x2", "router:2@2us-9us", "valiant"},
    {"ring:6,oneway", "link:2-3@2us-9us", "minimal"},
    {"hyperx:3x3", "links:3@1us,seed:4", "ugal_l"},
    {"mesh:4x3", "links:100%@3us-4us", "minimal"},
};

/* With buffers of one or two packets; a deadlock would keep messages from arriving. */
static const char *const buffers[] = {"unbounded", "512B", "1KiB"};

enum { N_NETWORKS = sizeof(networks) / sizeof(networks[0]) };

static size_t make_messages(uint64_t seed, uint32_t n_nodes, struct message *messages)
{
    size_t n = 30 + wf_test_rand(seed, 1, 0) % (MESSAGES_MAX - 30);

    for (size_t i = 0; i < n; i++) {
        messages[i] = (struct message){
            .at = (int64_t)(i * 100000),
            .src = (uint32_t)(wf_test_rand(seed, 3, i) % n_nodes),
            .dst = (uint32_t)(wf_test_rand(seed, 4, i) % n_nodes),
            .bytes = wf_test_rand(seed, 6, i) % 20000,
        };
    }
    return n;
}

static void nothing_is_forgotten_and_schedulers_agree(void)
{
    struct message messages[MESSAGES_MAX];
    uint64_t resent = 0, lost = 0;

    for (uint64_t seed = 0; seed < CASES / WF_TEST_ONE_IN; seed++) {
        size_t at = seed % N_NETWORKS;
        bool loses = (seed + seed / N_NETWORKS) % 2 == 1;
        struct wf_packet_params params = packet_defaults();
        struct traffic traffic = {
            .topo = networks[at].topo, .messages = messages, .params = &params};

        traffic.n_messages = make_messages(seed, traffic_nodes(traffic.topo), messages);
        packet_set(&params, "fail", networks[at].fail);
        packet_set(&params, "routing", networks[at].routing);
        packet_set(&params, "adapt", seed % 4 < 2 ? "packet" : "message");
        packet_set(&params, "fail_action", loses ? "lose" : "resend");
        packet_set(&params, "nic", seed % 3 == 0 ? "rr" : "fcfs");
        packet_set(&params, "timing", seed % 5 == 0 ? "store_and_forward" : "cut_through");
        packet_set(&params, "stats", seed % 2 == 0 ? "off" : "links");
        if (seed % 3 != 0 && strstr(networks[at].topo, "oneway") == NULL) {
            packet_set(&params, "buffers", "credits");
            packet_set(&params, "vc_bytes", buffers[seed % 3]);
            packet_set(&params, "n_vcs", seed % 4 == 0 ? "32" : "0");
        }
        struct traffic_result result = run_traffic(&traffic);
        const struct wf_net_losses *losses = &result.totals.losses;
        CHECK_U64(result.totals.packets_received + losses->n_packets,
                  result.totals.packets_sent);
        CHECK_U64(result.totals.bytes_received + losses->n_bytes, result.totals.bytes_sent);
        CHECK(loses ? losses->resent == 0 : losses->n_packets == 0);
        for (size_t i = 0; i < traffic.n_messages && !loses; i++) {
            CHECK(result.arrivals[i] >= messages[i].at);
        }
        resent += losses->resent;
        lost += losses->n_packets;
        CHECK(traffic_agrees(&traffic, &result));
        release_traffic(&result);
        packet_release(&params);
    }
    CHECK(WF_TEST_ONE_IN > 1 || (resent > 0 && lost > 0));
}

/* ---- Bad inputs ---- */

static void bad_inputs_are_refused(void)
{
    static const struct {
        const char *fail, *words;
    } cases[] = {
        {"link:0-5@2ms",
         "net.fail: damage 'link:0-5': there is no cable between these vertices"},
        {"link:0-99@2ms", "net.fail: damage 'link:0-99': vertices are 0 to 15"},
        {"router:16@2ms", "net.fail: damage 'router:16': expected a vertex from 0 to 15"},
        {"link:0-1@", "net.fail: 'link:0-1@': expected a time"},
        {"link:0-1@2", "net.fail: 'link:0-1@2': expected a time"},
        {"link:0-1@soon", "net.fail: 'link:0-1@soon': expected a time"},
        {"link:0-1@2ms-", "net.fail: 'link:0-1@2ms-': expected a time"},
        {"link:0-1@2ms-1ms", "net.fail: 'link:0-1@2ms-1ms': expected a time"},
        {"link:0-1@2ms-2ms", "net.fail: 'link:0-1@2ms-2ms': expected a time"},
        {"link:0-1@-2ms", "net.fail: 'link:0-1@-2ms': expected a time"},
        {"link:0-1@1ms@2ms", "net.fail: 'link:0-1@1ms@2ms': expected a time"},
        {"@2ms", "net.fail: damage '': expected link:<a>-<b>"},
        {"link:0-1@1ms,", "net.fail: damage '': expected link:<a>-<b>"},
        {"lnk:0-1@1ms", "did you mean 'link'?"},
        {"links:2@1ms,seed:2@1ms", "net.fail: 'seed:2@1ms': a seed has no time"},
        {"routers:1@1ms", "every router of a torus is a compute node"},
        {"link:0-1@1ms-3ms,link:1-0@2ms",
         "net.fail: 'link:0-1@1ms-3ms' and 'link:1-0@2ms' name the same part at the same time"},
        {"link:0-1,link:0-1@2ms",
         "net.fail: 'link:0-1' and 'link:0-1@2ms' name the same part at the same time"},
        {"links:2@1ms,links:3@2ms", "name the same part at the same time"},
        {"router:3,link:8-9@1ms", "net.fail: damage 'router:3': node 3 is cut off from others"},
        {"link:0-1@1111111111111111111111111111111111111111111111111111111111ms",
         "the item is too long"},
    };
    static const struct {
        const char *name, *value, *words;
    } others[] = {
        {"resend_delay", "10ns", "net.resend_delay: expected at least 100ns"},
        {"routing", "table", "net.fail: routing 'table' has fixed routes"},
        {"routing", "updown", "routing 'updown' needs a tree, fattree or star, not a torus"},
        {"n_vcs", "3", "routing 'minimal' needs 6 virtual channels on this topology"},
    };
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    must(wf_topo_create("torus:4x4", &topo, &err), &err);
    const struct wf_net_env env = {.topo = topo, .n_nodes = 16};
    for (size_t i = 0;
         i < sizeof(cases) / sizeof(cases[0]) + sizeof(others) / sizeof(others[0]); i++) {
        size_t k = i - sizeof(cases) / sizeof(cases[0]);
        bool is_case = i < sizeof(cases) / sizeof(cases[0]);
        struct wf_packet_params params = packet_defaults();
        struct wf_net *net = NULL;

        packet_set(&params, "fail", is_case ? cases[i].fail : "link:0-1@1ms");
        if (!is_case) {
            packet_set(&params, others[k].name, others[k].value);
            packet_set(&params, "buffers", k == 3 ? "credits" : "unbounded");
        }
        CHECK_U64(wf_net_packet_ops.create(&params, &env, &net, &err), WF_EINVAL);
        if (strstr(err.text, is_case ? cases[i].words : others[k].words) == NULL) {
            printf("# %s: %s\n", is_case ? cases[i].fail : others[k].value, err.text);
            CHECK(false);
        }
        packet_release(&params);
    }
    struct wf_packet_params params = packet_defaults();
    struct wf_net *net = NULL;
    packet_set(&params, "fail_action", "lose");
    CHECK_U64(wf_net_packet_ops.create(&params, &env, &net, &err), WF_EINVAL);
    CHECK(strstr(err.text, "net.fail_action: has no effect") != NULL);
    packet_release(&params);
    wf_topo_free(topo);
}

int main(void)
{
    RUN(before_during_and_after_a_failure);
    RUN(without_a_repair);
    RUN(a_failure_ahead_of_a_packet);
    RUN(a_long_message_is_cut);
    RUN(lost_messages_do_not_hold_up_others);
    RUN(a_node_is_cut_off_for_a_while);
    RUN(a_node_is_cut_off_for_good);
    RUN(a_repaired_link_is_idle);
    RUN(credits_wait_and_are_lost);
    RUN(the_end_of_a_packet_counts);
    RUN(nothing_is_forgotten_and_schedulers_agree);
    RUN(bad_inputs_are_refused);
    return wf_test_done();
}
