/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the packet model with results that can be computed without it: formulas for an idle
 * network, shares of a bottleneck, the queue of one link. */
#include "base/rng.h"
#include "harness/packet_traffic.h"
#include "harness/wf_test.h"
#include "model/topo/nested.h"

enum { PACKET = 512 };

static const int64_t PS_PER_BYTE = 100; /* 10 GB/s */
static const int64_t FULL = INT64_C(51200);
static const int64_t LATENCY = 50000, DELAY = 50000;

/* What an idle network makes of a message: found by walking over the topology. */
struct path {
    uint32_t hops, routers;
};

static struct path walk(const struct wf_topo *topo, uint32_t src, uint32_t dst)
{
    struct path path = {0, 0};

    for (uint32_t at = src; at != dst; path.hops++) {
        path.routers += at >= topo->n_nodes || wf_topo_is_direct(topo) ? 1 : 0;
        at = topo->ops->neighbor(topo, at, topo->ops->next_port(topo, at, dst));
    }
    return path;
}

static int64_t idle_time(const struct wf_topo *topo, uint32_t src, uint32_t dst, uint64_t bytes,
                         int timing)
{
    struct path path = walk(topo, src, dst);
    int64_t travel = path.hops * LATENCY + path.routers * DELAY;
    int64_t before = bytes <= PACKET ? 0 : ((int64_t)bytes - 1) / PACKET; /* full packets */
    int64_t rest = ((int64_t)bytes - before * PACKET) * PS_PER_BYTE;
    int64_t stores = path.hops + (wf_topo_is_direct(topo) ? 1 : 0);

    rest = bytes == 0 ? PS_PER_BYTE : rest;
    if (timing == WF_PACKET_CUT_THROUGH) {
        return travel + before * FULL + rest;
    }
    /* The last packet stays behind the full one before it at every server. */
    return travel + (before == 0 ? stores * rest : (before + stores - 1) * FULL + rest);
}

static bool is_idle_time(const char *spec, const struct wf_topo *topo,
                         const struct wf_packet_params *params, uint64_t random)
{
    static const uint64_t sizes[] = {0, 1, 511, 512, 513, 1024, 5000, 65536};
    const struct message message = {
        .at = (int64_t)(random % 1000),
        .src = (uint32_t)(random / 1000 % topo->n_nodes),
        .dst = (uint32_t)(random / 1000000 % topo->n_nodes),
        .bytes = sizes[random / 10000000 % 8],
    };
    const struct traffic traffic = {
        .topo = spec, .messages = &message, .n_messages = 1, .params = params};

    if (message.src == message.dst) {
        return true;
    }
    struct traffic_result result = run_traffic(&traffic);
    int64_t expected =
        message.at + idle_time(topo, message.src, message.dst, message.bytes, params->timing);
    bool equal = result.arrivals[0] == expected;
    if (!equal) {
        printf("# %s: %llu bytes from %u to %u at %lld arrive at %lld, expected %lld\n", spec,
               (unsigned long long)message.bytes, message.src, message.dst,
               (long long)message.at, (long long)result.arrivals[0], (long long)expected);
    }
    release_traffic(&result);
    return equal;
}

static void an_idle_network_is_its_formula(void)
{
    struct wf_packet_params params = packet_defaults();
    uint64_t draw = 0;

    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            struct wf_topo *topo = NULL;
            struct wf_err err = {.status = WF_OK};
            must(wf_topo_create(*spec, &topo, &err), &err);
            for (int i = 0; i < 12 && topo->n_nodes > 1; i++) {
                params.timing = i % 2;
                params.trains = i % 4 < 2;
                CHECK(is_idle_time(*spec, topo, &params, wf_test_rand(1, 2, draw++)));
            }
            wf_topo_free(topo);
        }
    }
    packet_release(&params);
}

/* Levels with their own links: by hand. */
static void a_hierarchy_pays_for_every_level(void)
{
    struct wf_packet_params params = packet_defaults();
    const struct message messages[] = {
        {.at = 0, .src = 1, .dst = 2, .bytes = 512},          /* within a star */
        {.at = 1000000000, .src = 1, .dst = 5, .bytes = 512}, /* to the next one */
    };
    const struct traffic traffic = {
        .topo = "ring:4/star:3", .messages = messages, .n_messages = 2, .params = &params};

    packet_set(&params, "link_latency", "1us,10ns");
    packet_set(&params, "bandwidth", "1GB/s,10GB/s");
    packet_set(&params, "router_delay", "100ns");
    struct traffic_result result = run_traffic(&traffic);
    int64_t within = result.arrivals[0], between = result.arrivals[1] - 1000000000;
    release_traffic(&result);
    packet_release(&params);
    CHECK_U64((uint64_t)within, 10000 + 100000 + 10000 + 51200);
    /* Node, hub, next hub, node; the slow link in the middle decides how long the packet is. */
    CHECK_U64((uint64_t)between, 10000 + 100000 + 1000000 + 100000 + 10000 + 512000);
}

/* All senders of a star but the first send to that; they share its link without a gap. */
static void senders_share_a_bottleneck(void)
{
    enum { SENDERS = 7, PACKETS = 40 };
    struct wf_packet_params params = packet_defaults();
    struct message messages[SENDERS];

    for (uint32_t i = 0; i < SENDERS; i++) {
        messages[i] =
            (struct message){.src = i + 1, .dst = 0, .bytes = UINT64_C(1) * PACKETS * PACKET};
    }
    for (int trains = 0; trains < 2; trains++) {
        struct traffic traffic = {
            .topo = "star:8", .messages = messages, .n_messages = SENDERS, .params = &params};
        params.trains = trains != 0;
        struct traffic_result result = run_traffic(&traffic);
        int64_t end = 2 * LATENCY + DELAY + FULL * SENDERS * PACKETS;
        for (uint32_t i = 0; i < SENDERS; i++) { /* in turn, the lowest number first */
            CHECK_U64((uint64_t)result.arrivals[i],
                      (uint64_t)(end - (int64_t)(SENDERS - 1 - i) * FULL));
        }
        release_traffic(&result);

        packet_set(&params, "ejection", "link");
        traffic.topo = "full:8";
        result = run_traffic(&traffic);
        end = LATENCY + DELAY + FULL * SENDERS * PACKETS;
        for (uint32_t i = 0; i < SENDERS; i++) {
            CHECK_U64((uint64_t)result.arrivals[i],
                      (uint64_t)(end - (int64_t)(SENDERS - 1 - i) * FULL));
        }
        release_traffic(&result);
        packet_set(&params, "ejection", "unlimited");
    }
    packet_release(&params);
}

/* When the last byte of a message of `bytes` arrives on an idle star of token buckets. */
static int64_t arrival_of_burst(const char *burst, uint64_t bytes)
{
    struct wf_packet_params params = packet_defaults();
    const struct message message = {.at = 0, .src = 0, .dst = 1, .bytes = bytes};
    const struct traffic traffic = {
        .topo = "star:2", .messages = &message, .n_messages = 1, .params = &params};

    packet_set(&params, "burst", burst);
    struct traffic_result result = run_traffic(&traffic);
    int64_t at = result.arrivals[0] - 2 * LATENCY - DELAY;
    release_traffic(&result);
    packet_release(&params);
    return at;
}

/* What is in the bucket passes at once; the rest comes at the bandwidth. */
static void a_burst_passes_at_once(void)
{
    CHECK(arrival_of_burst("1536B", 1) == 0);
    CHECK(arrival_of_burst("1536B", 1536) == 0);
    CHECK(arrival_of_burst("1536B", 1537) == PS_PER_BYTE);
    CHECK(arrival_of_burst("1536B", 10240) == (10240 - 1536) * PS_PER_BYTE);
    /* A packet that is longer than the bucket waits until it is full. */
    CHECK(arrival_of_burst("100B", 512) == 0);
    CHECK(arrival_of_burst("100B", 5120) == 9 * FULL);
}

/* Random messages on one link, against a count of tokens. */
static void bursts_are_token_buckets(void)
{
    enum { MESSAGES = 2000, BUCKET = 2000 };
    struct wf_packet_params params = packet_defaults();
    struct message *messages = wf_xcalloc(MESSAGES, sizeof(*messages));
    int64_t at = 0, tokens = BUCKET * PS_PER_BYTE, filled = 0; /* tokens are picoseconds */

    for (uint32_t i = 0; i < MESSAGES; i++) {
        at += (int64_t)(wf_test_rand(5, 1, i) % 60000);
        messages[i] = (struct message){
            .at = at, .src = 0, .dst = 1, .bytes = 1 + wf_test_rand(5, 2, i) % PACKET};
    }
    packet_set(&params, "burst", "2000B");
    const struct traffic traffic = {
        .topo = "full:2", .messages = messages, .n_messages = MESSAGES, .params = &params};
    struct traffic_result result = run_traffic(&traffic);
    bool equal = true;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        int64_t cost = (int64_t)messages[i].bytes * PS_PER_BYTE;
        int64_t now = messages[i].at + DELAY > filled ? messages[i].at + DELAY : filled;
        tokens += now - filled;
        tokens = tokens > BUCKET * PS_PER_BYTE ? BUCKET * PS_PER_BYTE : tokens;
        now += tokens < cost ? cost - tokens : 0;
        tokens = tokens < cost ? 0 : tokens - cost;
        filled = now;
        equal = equal && result.arrivals[i] == now + LATENCY;
    }
    release_traffic(&result);
    packet_release(&params);
    free(messages);
    CHECK(equal);
}

/* Every node sends to its neighbour in the first dimension: nobody waits. */
static void a_permutation_runs_at_full_rate(void)
{
    enum { NODES = 60, BYTES = 100 * PACKET };
    struct wf_packet_params params = packet_defaults();
    struct message messages[NODES];

    for (uint32_t i = 0; i < NODES; i++) {
        messages[i] =
            (struct message){.src = i, .dst = i / 5 * 5 + (i + 1) % 5, .bytes = BYTES};
    }
    const struct traffic traffic = {
        .topo = "torus:5x4x3", .messages = messages, .n_messages = NODES, .params = &params};
    struct traffic_result result = run_traffic(&traffic);
    for (uint32_t i = 0; i < NODES; i++) {
        CHECK(result.arrivals[i] == LATENCY + DELAY + BYTES * PS_PER_BYTE);
        CHECK(result.left[i] == BYTES * PS_PER_BYTE);
    }
    CHECK_U64(result.run.events_committed,
              UINT64_C(4) * NODES); /* sent, last injected, body, last */
    release_traffic(&result);
    packet_release(&params);
}

/* Packets that come at random to one link wait for rho / (2 (1 - rho)) of a packet's time on
 * average: the Pollaczek-Khinchine formula for constant service times. */
static void one_link_is_an_md1_queue(void)
{
    enum { MESSAGES = 200000 };
    static const double loads[] = {0.3, 0.7, 0.9};
    static const double errors[] = {0.02, 0.03, 0.08}; /* several standard deviations */
    struct wf_packet_params params = packet_defaults();
    struct message *messages = wf_xcalloc(MESSAGES, sizeof(*messages));

    packet_set(&params, "injection", "unlimited");
    for (size_t k = 0; k < 3; k++) {
        double at = 0, sum = 0;
        for (uint32_t i = 0; i < MESSAGES; i++) {
            at += wf_rng_exponential(wf_test_rand(3, k, i)) * (double)FULL / loads[k];
            messages[i] =
                (struct message){.at = (int64_t)at, .src = 0, .dst = 1, .bytes = PACKET};
        }
        const struct traffic traffic = {
            .topo = "mesh:2", .messages = messages, .n_messages = MESSAGES, .params = &params};
        struct traffic_result result = run_traffic(&traffic);
        for (uint32_t i = 0; i < MESSAGES; i++) {
            sum += (double)(result.arrivals[i] - messages[i].at - LATENCY - DELAY - FULL);
        }
        release_traffic(&result);
        double mean = sum / MESSAGES / (double)FULL, known = loads[k] / (2 * (1 - loads[k]));
        printf("# load %.1f: mean wait %.4f packets, M/D/1 %.4f\n", loads[k], mean, known);
        CHECK(mean > known * (1 - errors[k]) && mean < known * (1 + errors[k]));
    }
    free(messages);
    packet_release(&params);
}

/* Nodes that nobody uses still pass packets on. */
static void unused_nodes_are_routers(void)
{
    struct wf_packet_params params = packet_defaults();
    const struct message message = {.src = 1, .dst = 0, .bytes = PACKET};
    const struct traffic some = {.topo = "torus:4x4",
                                 .n_nodes = 9,
                                 .messages = &message,
                                 .n_messages = 1,
                                 .params = &params};
    const struct message far = {.src = 2, .dst = 8, .bytes = PACKET};
    struct traffic_result result = run_traffic(&some);
    CHECK(result.arrivals[0] == LATENCY + DELAY + FULL);
    release_traffic(&result);
    const struct traffic through = {.topo = "torus:3x8",
                                    .n_nodes = 24 - 3,
                                    .messages = &far,
                                    .n_messages = 1,
                                    .params = &params};
    result = run_traffic(&through);
    CHECK(result.arrivals[0] == 2 * (LATENCY + DELAY) + FULL);
    release_traffic(&result);
    packet_release(&params);
}

/* A node's messages to itself pass its interface, and arrive in an event of their own. */
static void a_node_may_send_to_itself(void)
{
    struct wf_packet_params params = packet_defaults();
    const struct message messages[] = {{.src = 1, .dst = 1, .bytes = 0},
                                       {.src = 1, .dst = 1, .bytes = UINT64_C(3) * PACKET}};
    const struct traffic traffic = {
        .topo = "ring:3", .messages = messages, .n_messages = 2, .params = &params};
    struct traffic_result result = run_traffic(&traffic);

    CHECK(result.arrivals[0] == PS_PER_BYTE);
    CHECK(result.arrivals[1] == PS_PER_BYTE + 3 * FULL);
    CHECK_U64(result.totals.packets_received, 4);
    release_traffic(&result);
    packet_release(&params);
}

static void errors_say_what_is_wrong(void)
{
    static const struct {
        const char *name, *value, *text;
    } wrong[] = {
        {"injection", "fast",
         "net.injection: 'fast': expected link, unlimited or a rate such as 10GB/s"},
        {"ejection", "0",
         "net.ejection: '0': expected link, unlimited or a rate such as 10GB/s"},
        {"routing", "minimum", "unknown routing policy 'minimum'; did you mean 'minimal'?"},
        {"bandwidth", "1GB/s,2GB/s",
         "net.bandwidth: 2 values for a network of 1 level; expected one, or one per level, "
         "outermost first"},
    };
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    must(wf_topo_create("torus:3x3", &topo, &err), &err);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wf_packet_params params = packet_defaults();
        struct wf_net *net = NULL;
        const struct wf_net_env env = {.topo = topo, .n_nodes = 9};
        packet_set(&params, wrong[i].name, wrong[i].value);
        CHECK(wf_net_packet_ops.create(&params, &env, &net, &err) != WF_OK && net == NULL);
        CHECK_STR(err.text, wrong[i].text);
        packet_release(&params);
    }
    wf_topo_free(topo);
}

int main(void)
{
    RUN(an_idle_network_is_its_formula);
    RUN(a_hierarchy_pays_for_every_level);
    RUN(senders_share_a_bottleneck);
    RUN(a_burst_passes_at_once);
    RUN(bursts_are_token_buckets);
    RUN(a_permutation_runs_at_full_rate);
    RUN(one_link_is_an_md1_queue);
    RUN(unused_nodes_are_routers);
    RUN(a_node_may_send_to_itself);
    RUN(errors_say_what_is_wrong);
    return wf_test_done();
}
