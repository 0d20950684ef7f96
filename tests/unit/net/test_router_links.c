/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of links on the router model: cycles against formulas, flow between links of
 * different speed, and mistakes. */
#include "harness/router_traffic.h"
#include "harness/wf_test.h"
#include "model/net/links.h"
#include "model/topo/classes.h"

enum { SENDS_MAX = 8192, PHITS = 16, CLASSES_MAX = 8 };

/* The properties of a class, in cycles and phits. */
struct property {
    uint32_t delay, latency, pace;
};

/* Random properties for every class of the topology, and the text that sets them. */
static void draw_classes(const struct wf_topo *topo, uint64_t seed, struct property *of,
                         char *buf, size_t size)
{
    size_t used = 0;

    for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
        uint64_t draw = wf_test_rand(seed, i, 0);
        of[i] = (struct property){(uint32_t)(draw % 5), (uint32_t)(draw / 10 % 30 + 1),
                                  (uint32_t)(draw / 1000 % 3)};
        of[i].pace = UINT32_C(1) << of[i].pace;
        /* Times are rounded up to cycles of 1 ns; a phit of 4 bytes is 4 GB/s. */
        used += (size_t)snprintf(
            buf + used, size - used, "%s%s:delay=%ups,latency=%ups,bandwidth=%uGB/s",
            i > 0 ? "," : "", wf_topo_class_name(topo, i), of[i].delay * 1000,
            of[i].latency * 1000 - (i % 2 == 0 ? 0 : 999), 4 / of[i].pace);
    }
}

/* Cycles from the head at the first link to the tail, along the route by next_port(). A link
 * moves a packet without gaps, so a packet from a slower link waits for its own tail. */
static int64_t cut_through_cycles(const struct wf_topo *topo, const struct property *of,
                                  uint32_t src, uint32_t dst)
{
    int64_t cycles = 0;
    uint32_t last = 0;

    for (uint32_t at = src; at != dst;) {
        uint32_t port = topo->ops->next_port(topo, at, dst);
        const struct property *link = &of[wf_topo_link_class(topo, at, port)];
        cycles += last > link->pace ? (PHITS - 1) * (int64_t)(last - link->pace) : 0;
        cycles += link->delay + link->latency;
        last = link->pace;
        at = topo->ops->neighbor(topo, at, port);
    }
    return cycles + (PHITS - 1) * (int64_t)(last > 0 ? last : 1);
}

/* Flits at a router: each may leave in the cycle in which it arrives, but not before the head
 * was routed and had a channel, and not before the link has moved the flit before it. */
static void pass_router(int64_t flits[PHITS], const struct property *link, int64_t head_stages)
{
    for (int i = 0; i < PHITS; i++) {
        int64_t leaves = flits[i] + (i == 0 ? head_stages : 0);
        int64_t free = i == 0 ? 0 : flits[i - 1] - 1 - link->delay - link->latency + link->pace;
        flits[i] = (leaves > free ? leaves : free) + 1 + link->delay + link->latency;
    }
}

/* Follows all flits. The links between a node of a direct network and its router have the
 * properties of the parameters; a node has no stages. */
static int64_t wormhole_cycles(const struct wf_topo *topo, const struct property *of,
                               const struct wf_router_params *params, uint32_t src,
                               uint32_t dst)
{
    const struct property own = {(uint32_t)params->pipeline, (uint32_t)params->link_delay, 1};
    const struct property in = {0, own.latency, 1};
    int64_t stages = (int64_t)params->routing_delay + 1, flits[PHITS] = {0};

    if (wf_topo_is_direct(topo)) {
        pass_router(flits, &in, 0);
    }
    for (uint32_t at = src; at != dst;) {
        uint32_t port = topo->ops->next_port(topo, at, dst);
        struct property link = of[wf_topo_link_class(topo, at, port)];
        bool from_node = !wf_topo_is_direct(topo) && at == src;
        link.delay = from_node ? 0 : link.delay;
        pass_router(flits, &link, from_node ? 0 : stages);
        at = topo->ops->neighbor(topo, at, port);
    }
    if (wf_topo_is_direct(topo)) {
        pass_router(flits, &own, stages);
    }
    return flits[PHITS - 1];
}

static void check_idle(const char *spec, struct wf_router_params params, uint64_t seed)
{
    static struct router_send sends[SENDS_MAX];
    static int64_t arrival[SENDS_MAX];
    struct wf_topo *topo = router_topo(spec);
    struct property of[CLASSES_MAX] = {{0}};
    char links[1024] = "";
    uint32_t n = 0;

    CHECK(wf_topo_n_classes(topo) <= CLASSES_MAX);
    draw_classes(topo, seed, of, links, sizeof(links));
    params.links = links;
    for (uint32_t a = 0; a < topo->n_nodes; a++) {
        for (uint32_t b = 0; b < topo->n_nodes; b++, n++) {
            sends[n] = (struct router_send){(int64_t)n * 2000, a, b, 64};
        }
    }
    router_simulate(topo, &params, sends, n, arrival, NULL);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = sends[i].src, b = sends[i].dst;
        bool cut_through = params.switching == WF_ROUTER_CUT_THROUGH;
        int64_t expected = cut_through ? cut_through_cycles(topo, of, a, b)
                                       : wormhole_cycles(topo, of, &params, a, b);
        if (a == b && !cut_through) {
            continue; /* inside the router */
        }
        if (arrival[i] - sends[i].cycle != expected) {
            printf("# %s, %s: %u to %u takes %lld cycles, expected %lld\n", spec, links, a, b,
                   (long long)(arrival[i] - sends[i].cycle), (long long)expected);
        }
        CHECK(arrival[i] - sends[i].cycle == expected);
    }
    wf_topo_free(topo);
}

static void idle_links_of_different_classes(void)
{
    static const char *const specs[] = {
        "torus:4x3x2",  "mesh:4x3",         "fattree:k=2,n=3", "dragonfly:1",
        "hyperx:3x3",   "torus:3x2/star:3", "slimfly:3,p=1",   "tree:7,degree=2",
        "dragonfly+:1", "star:5",           "ring:5",
    };
    uint64_t seed = 0;

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        for (int k = 0; k < 3; k++) {
            check_idle(specs[i], router_defaults(), seed++);
        }
    }
    for (size_t i = 0; i < 5; i++) {
        struct wf_router_params params = router_defaults();
        params.switching = WF_ROUTER_WORMHOLE;
        params.pipeline = 1;
        check_idle(specs[i], params, seed++);
        params.hold_switch = true;
        check_idle(specs[i], params, seed++);
    }
}

/* A message of ten packets over links of full, half and a quarter of the speed. */
static void a_message_takes_the_speed_of_the_slowest_link(void)
{
    static const struct {
        char links[64];
        int64_t pace, ends; /* cycles per phit, and what the ends add */
    } rows[] = {
        {"x:bandwidth=4GB/s,y:bandwidth=4GB/s", 1, 0},
        {"x:bandwidth=2GB/s,y:bandwidth=4GB/s", 2, 0},
        {"x:bandwidth=4GB/s,y:bandwidth=1GB/s", 4, 0},
        {"x:bandwidth=1GB/s,y:bandwidth=2GB/s", 4, 0},
        {"y:bandwidth=1.33GB/s", 3, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int switching = 0; switching < 2; switching++) {
            struct wf_router_params params = router_defaults();
            struct wf_topo *topo = router_topo("mesh:3x3");
            const struct router_send send = {0, 0, 8, 640};
            int64_t arrival = 0, left = 0, idle = 0;
            const struct router_send one = {0, 0, 8, 64};
            char links[64];

            memcpy(links, rows[i].links, sizeof(links));
            params.links = links;
            params.switching = switching;
            router_simulate(topo, &params, &one, 1, &idle, NULL);
            router_simulate(topo, &params, &send, 1, &arrival, &left);
            int64_t more = arrival - idle;
            if (switching == WF_ROUTER_CUT_THROUGH) {
                CHECK_U64((uint64_t)more, (uint64_t)(9 * PHITS * rows[i].pace));
            } else { /* the next packet of a queue is routed when the last has left */
                CHECK(more >= 9 * PHITS * rows[i].pace &&
                      more <= 9 * (PHITS * rows[i].pace + 3));
            }
            wf_topo_free(topo);
        }
    }
}

/* Many messages between links of different speeds, with small and large buffers, arrive under
 * bubble, dateline and policies, in both kinds of switching. */
static void saturated_networks_deliver_everything(void)
{
    static const struct {
        const char *spec;
        int routing, switching;
        char links[96];
    } rows[] = {
        {"torus:4x4", WF_ROUTER_OBLIVIOUS_1VC, WF_ROUTER_CUT_THROUGH,
         "x:bandwidth=1GB/s,buffer=128B,y:latency=40ns"},
        {"torus:4x4", WF_ROUTER_ADAPTIVE_3VC, WF_ROUTER_CUT_THROUGH,
         "x:bandwidth=2GB/s,y:buffer=512B,delay=2ns"},
        {"torus:5x3", WF_ROUTER_DATELINE, WF_ROUTER_WORMHOLE,
         "y:bandwidth=1GB/s,buffer=64B,latency=9ns"},
        {"dragonfly:1", WF_ROUTER_UGAL, WF_ROUTER_CUT_THROUGH,
         "global:latency=90ns,bandwidth=1GB/s,buffer=64B,local:buffer=1KiB"},
        {"dragonfly:1", WF_ROUTER_MINIMAL, WF_ROUTER_WORMHOLE,
         "global:latency=90ns,bandwidth=2GB/s,terminal:bandwidth=1GB/s"},
        {"fattree:k=2,n=3", WF_ROUTER_UPDOWN, WF_ROUTER_CUT_THROUGH,
         "terminal:bandwidth=1GB/s,level2:buffer=64B,latency=30ns"},
    };
    static struct router_send sends[SENDS_MAX];
    static int64_t arrival[SENDS_MAX];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_router_params params = router_defaults();
        struct wf_topo *topo = router_topo(rows[i].spec);
        char links[96];
        uint32_t n = 0, there = 0;

        memcpy(links, rows[i].links, sizeof(links));
        params.links = links;
        params.routing = rows[i].routing;
        params.switching = rows[i].switching;
        for (uint32_t a = 0; a < topo->n_nodes; a++) {
            for (uint32_t k = 0; k < 20; k++) {
                uint32_t b = (uint32_t)(wf_test_rand(7, a, k) % topo->n_nodes);
                sends[n++] = (struct router_send){k, a, b, 64 + 64 * (k % 3)};
            }
        }
        router_simulate(topo, &params, sends, n, arrival, NULL);
        for (uint32_t k = 0; k < n; k++) {
            there += arrival[k] >= 0;
        }
        CHECK_U64(there, n);
        wf_topo_free(topo);
    }
}

static void what_cycles_cannot_express_is_refused(void)
{
    static const struct {
        char links[64];
        const char *text;
    } wrong[] = {
        {"x:bandwidth=3GB/s",
         "net.links.x.bandwidth: a bandwidth of 3GB/s is not a whole fraction, down to "
         "1/65535, "
         "of the 4GB/s that a link moves with a phit of 4 bytes in each cycle"},
        {"x:bandwidth=8GB/s", "net.links.x.bandwidth: a bandwidth of 8GB/s is not a whole"},
        {"x:bandwidth=1kB/s", "net.links.x.bandwidth: a bandwidth of 1kB/s is not a whole"},
        {"x:buffer=63B", "net.links.x.buffer: a buffer of 63 bytes has room for 0 packets of "
                         "64 bytes; expected "
                         "2 to 1024"},
        {"x:buffer=64B", "net.links.x.buffer: a buffer of 64 bytes has room for 1 packets"},
        {"x:buffer=1MiB", "net.links.x.buffer: a buffer of 1048576 bytes has room for 16384"},
        {"x:latency=1s",
         "net.links.x.latency: latency and delay take 1000000000 cycles; at most"},
        {"z:latency=1us",
         "net.links.z.latency: the topology has no links of class 'z'; it has"},
    };
    struct wf_topo *topo = router_topo("torus:4x4");

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wf_router_params params = router_defaults();
        struct wf_net *net = NULL;
        struct wf_err err = {.text = ""};
        const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};
        char links[64];

        memcpy(links, wrong[i].links, sizeof(links));
        params.links = links;
        CHECK(wf_net_router_ops.create(&params, &env, &net, &err) == WF_EINVAL);
        if (strncmp(err.text, wrong[i].text, strlen(wrong[i].text)) != 0) {
            printf("# '%s', expected '%s'\n", err.text, wrong[i].text);
            CHECK(false);
        }
    }
    wf_topo_free(topo);
}

/* The result tells the values in effect: times rounded up to cycles, buffers down to packets. */
static void rounded_values_are_known(void)
{
    char links[] = "x:latency=1500ps,delay=1ps,bandwidth=1.33GB/s,buffer=200B";
    struct wf_router_params params = router_defaults();
    struct wf_topo *topo = router_topo("torus:4x4");
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};
    struct wf_net *net = NULL;
    struct wf_err err = {.text = ""};

    params.links = links;
    must(wf_net_router_ops.create(&params, &env, &net, &err), &err);
    CHECK(net->link_classes[0].latency == 2000 && net->link_classes[0].delay == 1000);
    CHECK_U64(net->link_classes[0].bandwidth, UINT64_C(4000000000) * 8000 / 3);
    CHECK_U64(net->link_classes[0].buffer, 192);
    CHECK(wf_net_link_is_same(&net->link_classes[1], &wf_net_link_unset));
    wf_net_free(net);
    wf_topo_free(topo);
}

int main(void)
{
    RUN(idle_links_of_different_classes);
    RUN(a_message_takes_the_speed_of_the_slowest_link);
    RUN(saturated_networks_deliver_everything);
    RUN(what_cycles_cannot_express_is_refused);
    RUN(rounded_values_are_known);
    return wf_test_done();
}
