/* SPDX-License-Identifier: Apache-2.0 */
/* Transports: on an idle network they change no time, whatever is lost arrives in the end and in
 * order, and every scheduler gives the same result. */
#include "harness/packet_traffic.h"
#include "harness/wf_test.h"

enum { CASES = WF_TEST_ONE_IN > 1 ? 12 : 40, MESSAGES_MAX = 30 };

static const char *const topos[] = {"star:6",   "fattree:4,2,2", "torus:3x2",
                                    "mesh:4x3", "full:5",        "dragonfly:1"};
static const char *const queues[] = {"1KiB", "2KiB", "8KiB"};
static const char *const repairs[] = {"auto", "go_back_n", "selective"};
static const char *const fulls[] = {"auto", "drop", "trim", "credits"};

#define PICK(array, r) (array)[(r) % (sizeof(array) / sizeof((array)[0]))]

/* Small queues, low thresholds: all that transports do happens. */
static struct wf_packet_params random_params(uint64_t seed)
{
    struct wf_packet_params params = packet_defaults();
    size_t n = 0;

    while (wf_transport_names[n] != NULL) {
        n++;
    }
    packet_set(&params, "transport", wf_transport_names[1 + seed % (n - 1)]);
    packet_set(&params, "full_queue", PICK(fulls, wf_test_rand(seed, 7, 0)));
    packet_set(&params, "queue", PICK(queues, wf_test_rand(seed, 7, 1)));
    if (params.transport.full == WF_TRANSPORT_DROP) {
        packet_set(&params, "retransmit", PICK(repairs, wf_test_rand(seed, 7, 2)));
    }
    packet_set(&params, "timing",
               wf_test_rand(seed, 7, 3) % 2 == 0 ? "cut_through" : "store_and_forward");
    packet_set(&params, "ejection", wf_test_rand(seed, 7, 4) % 3 == 0 ? "5GB/s" : "unlimited");
    packet_set(&params, "timeout", "20us");
    packet_set(&params, "ecn_min", "600B");
    packet_set(&params, "ecn_max", "3KiB");
    packet_set(&params, "pause_at", "2KiB");
    packet_set(&params, "resume_at", "1KiB");
    packet_set(&params, "pressure_at", "1KiB");
    packet_set(&params, "swift_target", "500ns");
    packet_set(&params, "swift_range", "2us");
    packet_set(&params, "hpcc_flows", wf_test_rand(seed, 7, 12) % 2 == 0 ? "1" : "100");
    packet_set(&params, "flowlet_gap", wf_test_rand(seed, 7, 7) % 3 == 0 ? "200ns" : "0");
    packet_set(&params, "paths", wf_test_rand(seed, 7, 8) % 2 == 0 ? "3" : "0");
    if (wf_test_rand(seed, 7, 9) % 2 == 0) {
        packet_set(&params, "classes",
                   "small:max=1KiB,priority=1,odd:share=3,last=2,rest:share=1");
    }
    packet_set(&params, "delivery",
               wf_test_rand(seed, 7, 10) % 3 == 0 ? "any_order" : "in_order");
    packet_set(&params, "avoid_paths", wf_test_rand(seed, 7, 11) % 2 == 0 ? "on" : "off");
    if ((params.transport.full == WF_TRANSPORT_DROP ||
         params.transport.full == WF_TRANSPORT_TRIM) &&
        wf_test_rand(seed, 7, 13) % 2 == 0) {
        packet_set(&params, "fail", "links:20%@2us-30us");
    }
    packet_set(&params, "dcqcn_interval", "2us");
    packet_set(&params, "dcqcn_timer", "3us");
    packet_set(&params, "dcqcn_bytes", "10kB");
    if (wf_test_rand(seed, 7, 5) % 3 == 0) {
        packet_set(&params, "routing", "ecmp");
        packet_set(&params, "ecmp", wf_test_rand(seed, 7, 6) % 2 == 0 ? "packet" : "message");
    }
    return params;
}

/* One message at a time, with a window that is large enough. */
static void an_idle_network_is_that_of_the_packet_model(void)
{
    for (uint64_t seed = 0; seed < 4 * sizeof(topos) / sizeof(topos[0]); seed++) {
        struct wf_packet_params params = packet_defaults();
        const char *topo = PICK(topos, seed);
        struct message messages[8];
        uint32_t n_nodes = traffic_nodes(topo);
        const struct traffic traffic = {
            .topo = topo, .messages = messages, .n_messages = 8, .params = &params};

        for (uint32_t i = 0; i < 8; i++) {
            messages[i] = (struct message){
                .at = i * INT64_C(100000000),
                .src = (uint32_t)(wf_test_rand(seed, 1, i) % n_nodes),
                .bytes = wf_test_rand(seed, 2, i) % 30000,
            };
            messages[i].dst = (messages[i].src + 1 + i % (n_nodes - 1)) % n_nodes;
        }
        packet_set(&params, "timing", seed % 2 == 0 ? "cut_through" : "store_and_forward");
        packet_set(&params, "nic", "rr");
        params.trains = false;
        struct traffic_result without = run_traffic(&traffic);
        packet_set(&params, "transport", seed / 6 % 2 == 0 ? "fixed" : "dcqcn");
        struct traffic_result with = run_traffic(&traffic);
        CHECK_U64(with.n_facts, without.n_facts);
        for (size_t i = 0; i < with.n_facts && i < without.n_facts; i++) {
            CHECK_U64((uint64_t)with.facts[i].at, (uint64_t)without.facts[i].at);
        }
        CHECK(memcmp(with.left, without.left, 8 * sizeof(with.left[0])) == 0);
        release_traffic(&with);
        release_traffic(&without);
        packet_release(&params);
    }
}

/* Whether messages between two nodes arrive in the order in which they were sent. */
static bool is_in_order(const struct traffic *traffic, const struct traffic_result *result)
{
    for (size_t i = 0; i < traffic->n_messages; i++) {
        for (size_t j = i + 1; j < traffic->n_messages; j++) {
            const struct message *a = &traffic->messages[i], *b = &traffic->messages[j];
            if (a->src == b->src && a->dst == b->dst && a->at < b->at &&
                result->order[i] > result->order[j]) {
                return false;
            }
        }
    }
    return true;
}

static void everything_arrives_and_schedulers_agree(void)
{
    struct message messages[MESSAGES_MAX];

    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct wf_packet_params params = random_params(seed);
        struct traffic traffic = {
            .topo = PICK(topos, seed / 2), .messages = messages, .params = &params};
        traffic.n_messages =
            traffic_random(seed, traffic.topo, messages, 10, MESSAGES_MAX, 8000);

        struct traffic_result result = run_traffic(&traffic);
        CHECK_U64(result.totals.packets_received, result.totals.packets_sent);
        CHECK_U64(result.totals.bytes_received, result.totals.bytes_sent);
        for (size_t i = 0; i < traffic.n_messages; i++) {
            CHECK(result.arrivals[i] > 0 && result.left[i] > 0);
        }
        CHECK(params.transport.delivery == WF_TRANSPORT_ANY_ORDER ||
              is_in_order(&traffic, &result));
        CHECK(seed >= CASES / 4 || traffic_agrees(&traffic, &result));
        release_traffic(&result);
        packet_release(&params);
    }
}

/* Whatever is lost, short messages do not wait for the long one before them if they may
 * overtake it; in order they do. */
static void messages_overtake_where_they_may(void)
{
    static const char *const transports[] = {"fixed", "swift"};
    enum { MESSAGES = 12 };
    struct message messages[MESSAGES];

    for (uint32_t i = 0; i < MESSAGES; i++) { /* incast: pairs of a long and a short one */
        messages[i] = (struct message){
            .at = i % 2, .src = 1 + i / 2 % 5, .dst = 0, .bytes = i % 2 == 0 ? 60000 : 100};
    }
    for (uint32_t i = 0; i < 2 * sizeof(transports) / sizeof(transports[0]); i++) {
        struct wf_packet_params params = packet_defaults();
        struct traffic traffic = {
            .topo = "star:6", .messages = messages, .n_messages = MESSAGES, .params = &params};

        packet_set(&params, "transport", transports[i / 2]);
        packet_set(&params, "queue", "4KiB");
        packet_set(&params, "window", "64KiB");
        packet_set(&params, "timeout", "20us");
        packet_set(&params, "delivery", i % 2 == 0 ? "in_order" : "any_order");
        struct traffic_result result = run_traffic(&traffic);
        CHECK(is_in_order(&traffic, &result) == (i % 2 == 0));
        CHECK(traffic_agrees(&traffic, &result));
        release_traffic(&result);
        packet_release(&params);
    }
}

/* Ports with credits never have more behind a link than fits there. */
static void credits_lose_nothing(void)
{
    enum { MESSAGES = 20 };
    struct message messages[MESSAGES];
    struct wf_packet_params params = packet_defaults();
    struct traffic traffic = {.topo = "fattree:4,2,2",
                              .messages = messages,
                              .n_messages = MESSAGES,
                              .params = &params};

    for (uint32_t i = 0; i < MESSAGES; i++) {
        messages[i] = (struct message){.at = i, .src = 1 + i % 7, .dst = 0, .bytes = 30000};
    }
    packet_set(&params, "transport", "fixed");
    packet_set(&params, "full_queue", "credits");
    packet_set(&params, "queue", "4KiB");
    struct traffic_result result = run_traffic(&traffic);
    CHECK_U64(result.totals.packets_received, result.totals.packets_sent);
    CHECK_U64(result.totals.bytes_received, MESSAGES * UINT64_C(30000));
    CHECK(is_in_order(&traffic, &result));
    CHECK(traffic_agrees(&traffic, &result));
    release_traffic(&result);
    packet_release(&params);
}

int main(void)
{
    RUN(messages_overtake_where_they_may);
    RUN(credits_lose_nothing);
    RUN(an_idle_network_is_that_of_the_packet_model);
    RUN(everything_arrives_and_schedulers_agree);
    return wf_test_done();
}
