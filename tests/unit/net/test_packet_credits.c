/* SPDX-License-Identifier: Apache-2.0 */
/* Finite buffers: buffers that hold everything change nothing, buffers that are too small limit
 * the rate as expected, nothing is lost, and every scheduler gives the same result. */
#include "harness/packet_traffic.h"
#include "harness/wf_test.h"

enum { CASES = WF_TEST_ONE_IN > 1 ? 20 : 60, PARCELS_MAX = 60 };

static const int64_t FULL = 51200, LATENCY = 50000, DELAY = 50000;

/* Without rings: their routes need only one channel. */
static const char *const topos[] = {"mesh:4x3", "star:6", "mesh:3x3x2",
                                    "full:5",   "mesh:6", "fattree:4,2,2"};
static const char *const rooms[] = {"512B", "1KiB", "4KiB"};

#define PICK(array, r) (array)[(r) % (sizeof(array) / sizeof((array)[0]))]

static struct wf_packet_params random_params(uint64_t seed)
{
    struct wf_packet_params params = packet_defaults();

    packet_set(&params, "buffers", "credits");
    packet_set(&params, "vc_bytes", PICK(rooms, wf_test_rand(seed, 7, 0)));
    packet_set(&params, "n_vcs", wf_test_rand(seed, 7, 1) % 2 == 0 ? "0" : "2");
    packet_set(&params, "nic", wf_test_rand(seed, 7, 2) % 2 == 0 ? "fcfs" : "rr");
    packet_set(&params, "timing",
               wf_test_rand(seed, 7, 3) % 2 == 0 ? "cut_through" : "store_and_forward");
    packet_set(&params, "ejection", wf_test_rand(seed, 7, 4) % 2 == 0 ? "unlimited" : "5GB/s");
    return params;
}

static void room_for_all_changes_nothing(void)
{
    struct message messages[PARCELS_MAX];

    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct wf_packet_params params = random_params(seed);
        struct traffic traffic = {
            .topo = PICK(topos, seed), .messages = messages, .params = &params};
        traffic.n_messages =
            traffic_random(seed, traffic.topo, messages, 20, PARCELS_MAX, 20000);

        packet_set(&params, "nic", "rr");
        packet_set(&params, "vc_bytes", "1MiB");
        struct traffic_result with = run_traffic(&traffic);
        packet_set(&params, "buffers", "unbounded");
        params.trains = false;
        struct traffic_result without = run_traffic(&traffic);
        CHECK_U64(with.n_facts, without.n_facts);
        CHECK(memcmp(with.facts, without.facts, with.n_facts * sizeof(with.facts[0])) == 0);
        release_traffic(&with);
        release_traffic(&without);
        packet_release(&params);
    }
}

/* From a packet's credit to the credit's coming back: router, link, the packet itself, and link
 * and router again. With room for n packets, n can go in that time. */
static void too_little_room_limits_the_rate(void)
{
    enum { PACKETS = 50 };
    const int64_t round = 2 * (DELAY + LATENCY) + FULL;
    const struct message message = {.src = 0, .dst = 1, .bytes = UINT64_C(512) * PACKETS};

    for (int64_t slots = 1; slots <= 8; slots++) {
        struct wf_packet_params params = packet_defaults();
        const struct traffic traffic = {
            .topo = "mesh:2", .messages = &message, .n_messages = 1, .params = &params};
        int64_t granted[PACKETS] = {0}, free = 0;

        packet_set(&params, "buffers", "credits");
        params.vc_bytes = (uint64_t)slots * 512;
        for (int64_t k = 0; k < PACKETS; k++) {
            int64_t turn = k == 0 ? 0 : granted[k - 1] > free ? granted[k - 1] : free;
            int64_t credit = k < slots ? 0 : granted[k - slots] + round;
            granted[k] = turn > credit ? turn : credit;
            free = turn + FULL; /* the interface's next packet */
        }
        struct traffic_result result = run_traffic(&traffic);
        CHECK_U64((uint64_t)result.arrivals[0],
                  (uint64_t)(granted[PACKETS - 1] + DELAY + LATENCY + FULL));
        CHECK(slots < 5 || result.arrivals[0] == DELAY + LATENCY + PACKETS * FULL);
        release_traffic(&result);
        packet_release(&params);
    }
}

static bool agree(struct traffic *traffic, const struct traffic_result *expected)
{
    static const struct {
        enum wf_scheduler scheduler;
        uint64_t threads;
    } schedules[] = {
        {WF_CHECK_UNDO, 1}, {WF_CONSERVATIVE, 2}, {WF_OPTIMISTIC, 2}, {WF_PERTURB, 2}};
    bool equal = true;

    for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
        traffic->scheduler = schedules[i].scheduler;
        traffic->threads = schedules[i].threads;
        traffic->perturb_seed = i + 1;
        struct traffic_result found = run_traffic(traffic);
        equal = equal && found.run.digest == expected->run.digest &&
                memcmp(&found.totals, &expected->totals, sizeof(found.totals)) == 0;
        release_traffic(&found);
    }
    return equal;
}

static void nothing_is_lost_and_schedulers_agree(void)
{
    struct message messages[PARCELS_MAX];

    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct wf_packet_params params = random_params(100 + seed);
        struct traffic traffic = {
            .topo = PICK(topos, seed), .messages = messages, .params = &params};
        traffic.n_messages =
            traffic_random(100 + seed, traffic.topo, messages, 20, PARCELS_MAX, 20000);

        struct traffic_result result = run_traffic(&traffic);
        CHECK_U64(result.totals.packets_received, result.totals.packets_sent);
        CHECK_U64(result.totals.bytes_received, result.totals.bytes_sent);
        for (size_t i = 0; i < traffic.n_messages; i++) {
            CHECK(result.arrivals[i] > 0 && result.left[i] > 0);
        }
        CHECK(seed >= CASES / 3 || agree(&traffic, &result));
        release_traffic(&result);
        packet_release(&params);
    }
}

/* With statistics all packets and credits take the general handlers, without them most take the lean
 * ones. The conservative scheduler runs without a probe, which needs the general handlers, too. */
static void lean_handlers_are_like_the_general_ones(void)
{
    static const char *const with_rings[] = {"torus:4x3", "torus:5", "mesh:3x3x2",
                                             "fattree:4,2,2"};
    struct message messages[PARCELS_MAX];

    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct wf_packet_params params = random_params(seed);
        struct traffic traffic = {.topo = PICK(with_rings, seed),
                                  .messages = messages,
                                  .params = &params,
                                  .scheduler = WF_CONSERVATIVE,
                                  .threads = 1};
        struct traffic_result results[2];

        traffic.n_messages =
            traffic_random(seed, traffic.topo, messages, 20, PARCELS_MAX, 20000);
        packet_set(&params, "timing", "cut_through");
        packet_set(&params, "n_vcs", seed % 3 == 0 ? "4" : "0");
        for (int i = 0; i < 2; i++) {
            packet_set(&params, "stats", i == 0 ? "off" : "summary");
            results[i] = run_traffic(&traffic);
        }
        CHECK(results[0].run.digest == results[1].run.digest);
        CHECK(memcmp(&results[0].totals, &results[1].totals, sizeof(results[0].totals)) == 0);
        release_traffic(&results[0]);
        release_traffic(&results[1]);
        packet_release(&params);
    }
}

int main(void)
{
    RUN(room_for_all_changes_nothing);
    RUN(too_little_room_limits_the_rate);
    RUN(nothing_is_lost_and_schedulers_agree);
    RUN(lean_handlers_are_like_the_general_ones);
    return wf_test_done();
}
