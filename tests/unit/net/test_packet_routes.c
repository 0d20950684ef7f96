/* SPDX-License-Identifier: Apache-2.0 */
/* The packet model with every routing policy: no packet is lost, deadlocked or overtaken,
 * whatever routes packets take, and every scheduler gives the same result. */
#include "harness/packet_traffic.h"
#include "harness/wf_test.h"
#include "model/net/route/route.h"

enum { PARCELS = 150 / WF_TEST_ONE_IN };

static const char *const topos[] = {"torus:4x3",  "dragonfly:1",      "fattree:4,2,2",
                                    "hyperx:3x3", "star:3/torus:3x2", "ring:6"};

static const char *const flows[] = {"flow", "message", "packet"};
static const char *const units[] = {"packet", "message"};

static int by_time(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    return a->at < b->at ? -1 : a->at > b->at;
}

/* Heavy traffic between a few nodes, so that there is much to overtake. */
static void make_messages(uint64_t seed, uint32_t n_nodes, struct message *messages)
{
    for (size_t i = 0; i < PARCELS; i++) {
        messages[i] = (struct message){
            .at = (int64_t)(wf_test_rand(seed, 2, i) % 20 * 25600),
            .src = (uint32_t)(wf_test_rand(seed, 3, i) % n_nodes),
            .dst = (uint32_t)(wf_test_rand(seed, 4, i) % 2 == 0
                                  ? n_nodes - 1
                                  : wf_test_rand(seed, 5, i) % n_nodes),
            .bytes = wf_test_rand(seed, 6, i) % 3 == 0 ? 8 : wf_test_rand(seed, 7, i) % 8000,
        };
    }
    qsort(messages, PARCELS, sizeof(messages[0]), by_time);
}

/* Messages between two nodes in the order in which they were sent. */
static bool in_order(const struct traffic *traffic, const struct traffic_result *result)
{
    for (size_t i = 0; i < PARCELS; i++) {
        for (size_t j = i + 1; j < PARCELS; j++) {
            const struct message *a = &traffic->messages[i], *b = &traffic->messages[j];
            if (a->src == b->src && a->dst == b->dst && a->at < b->at &&
                result->order[i] > result->order[j]) {
                return false;
            }
        }
    }
    return result->n_arrived == PARCELS;
}

static bool works_on(const struct wf_route_ops *ops, const struct wf_topo *topo)
{
    struct wf_route *route = NULL;
    bool works = wf_route_create(ops, topo, "", &route, NULL) == WF_OK;

    wf_route_free(works ? route : NULL);
    return works;
}

/* `unit` is what net.ecmp is for policies that go by flows, and net.adapt for others. */
static bool is_right(const char *spec, const struct wf_route_ops *ops, const char *unit,
                     uint32_t n_nodes, bool credits)
{
    struct message messages[PARCELS];
    struct wf_packet_params params = packet_defaults();
    struct traffic traffic = {
        .topo = spec, .messages = messages, .n_messages = PARCELS, .params = &params};

    make_messages(n_nodes + (credits ? 100 : 0), n_nodes, messages);
    packet_set(&params, "routing", ops->name);
    packet_set(&params, ops->is_by_flow ? "ecmp" : "adapt", unit);
    packet_set(&params, "buffers", credits ? "credits" : "unbounded");
    packet_set(&params, "vc_bytes", "1KiB");
    struct traffic_result result = run_traffic(&traffic);
    bool right = result.totals.packets_sent == result.totals.packets_received &&
                 result.totals.bytes_sent == result.totals.bytes_received &&
                 in_order(&traffic, &result) && traffic_agrees(&traffic, &result);
    if (!right) {
        printf("# %s, %s by %s, %s\n", spec, ops->name, unit,
               credits ? "credits" : "unbounded");
    }
    release_traffic(&result);
    packet_release(&params);
    return right;
}

static void every_policy_delivers_in_order(void)
{
    for (size_t i = 0; i < sizeof(topos) / sizeof(topos[0]); i++) {
        struct wf_topo *topo = NULL;
        struct wf_err err = {.status = WF_OK};
        must(wf_topo_create(topos[i], &topo, &err), &err);
        for (const struct wf_route_ops *const *ops = wf_route_table(); *ops != NULL; ops++) {
            size_t n = (*ops)->is_by_flow ? 3 : (*ops)->is_oblivious ? 1 : 2;
            for (size_t k = 0; k < n && works_on(*ops, topo); k++) {
                const char *unit = (*ops)->is_by_flow ? flows[k] : units[k];
                CHECK(is_right(topos[i], *ops, unit, topo->n_nodes, false));
                CHECK(is_right(topos[i], *ops, unit, topo->n_nodes, true));
            }
        }
        wf_topo_free(topo);
    }
}

/* When the last of `n` messages is there, from a corner of a square to the opposite one: there
 * are two routes. */
static int64_t last_across(const char *routing, const char *unit, size_t n)
{
    struct message messages[16];
    struct wf_packet_params params = packet_defaults();
    const struct traffic traffic = {
        .topo = "mesh:2x2", .messages = messages, .n_messages = n, .params = &params};
    int64_t last = 0;

    for (size_t i = 0; i < n; i++) {
        messages[i] = (struct message){.src = 0, .dst = 3, .bytes = 64000};
    }
    packet_set(&params, "routing", routing);
    packet_set(&params, strcmp(routing, "ecmp") == 0 ? "ecmp" : "adapt", unit);
    packet_set(&params, "injection", "unlimited");
    struct traffic_result result = run_traffic(&traffic);
    for (size_t i = 0; i < n; i++) {
        last = result.arrivals[i] > last ? result.arrivals[i] : last;
    }
    release_traffic(&result);
    packet_release(&params);
    return last;
}

static void policies_spread_what_they_are_told_to(void)
{
    const int64_t link_ps = 64000 * 100; /* of a message on one link; else 200 ns at most */

    CHECK(last_across("ecmp", "flow", 1) >= link_ps);
    CHECK(last_across("ecmp", "message", 1) >= link_ps);
    CHECK(last_across("ecmp", "packet", 1) < link_ps * 7 / 10);
    CHECK(last_across("ecmp", "flow", 16) >= 16 * link_ps);
    CHECK(last_across("ecmp", "message", 16) < 13 * link_ps);
    CHECK(last_across("ecmp", "packet", 16) < 10 * link_ps);
    CHECK(last_across("adaptive", "packet", 1) < link_ps * 6 / 10);
    CHECK(last_across("adaptive", "message", 1) >= link_ps);
    CHECK(last_across("adaptive", "message", 16) < 9 * link_ps);
}

enum { GROUP = 4, GROUPS = 9, BURST = 8 };

/* The worst for minimal routes in a dragonfly: every node of a group sends to the next group
 * but one, to which there is one link, and it is that of another router for most: their own
 * links are never the bottleneck. When all is there. */
static int64_t time_of_adversary(const char *routing, bool credits)
{
    static struct message messages[GROUP * GROUPS * BURST];
    struct wf_packet_params params = packet_defaults();
    const struct traffic traffic = {.topo = "dragonfly:2,p=1",
                                    .messages = messages,
                                    .n_messages = GROUP * GROUPS * BURST,
                                    .params = &params};
    int64_t last = 0;

    for (uint32_t i = 0; i < GROUP * GROUPS * BURST; i++) {
        uint32_t src = i % (GROUP * GROUPS);
        messages[i] = (struct message){.at = i / (GROUP * GROUPS),
                                       .src = src,
                                       .dst = (src + 2 * GROUP) % (GROUP * GROUPS),
                                       .bytes = 16384};
    }
    packet_set(&params, "routing", routing);
    packet_set(&params, "buffers", credits ? "credits" : "unbounded");
    struct traffic_result result = run_traffic(&traffic);
    for (size_t i = 0; i < traffic.n_messages; i++) {
        last = result.arrivals[i] > last ? result.arrivals[i] : last;
    }
    release_traffic(&result);
    packet_release(&params);
    printf("# %s, %s: %lld ps\n", routing, credits ? "credits" : "unbounded", (long long)last);
    return last;
}

static void global_information_helps(void)
{
    int64_t minimal = time_of_adversary("minimal", false);
    int64_t blind = time_of_adversary("ugal_l", false),
            seeing = time_of_adversary("ugal_g", false);

    CHECK(seeing < blind * 7 / 10 && seeing < minimal / 2);
    blind = time_of_adversary("ugal_l", true);
    seeing = time_of_adversary("ugal_g", true);
    CHECK(seeing < blind * 8 / 10);
}

int main(void)
{
    RUN(global_information_helps);
    RUN(policies_spread_what_they_are_told_to);
    RUN(every_policy_delivers_in_order);
    return wf_test_done();
}
