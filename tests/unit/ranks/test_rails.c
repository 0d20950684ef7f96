/* SPDX-License-Identifier: Apache-2.0 */
/* Several network interfaces a node: which ranks use which, and what they gain. */
#include "model/ranks/rails.h"

#include "harness/gen_make.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"

enum { RANKS_MAX = 32, MESSAGES_MAX = 8, VALUE_MAX = 24 };

static const char *const rendezvous[] = {"eager_max", "16KiB", NULL};
static const char *const by_read[] = {"eager_max", "16KiB", "rendezvous", "read", NULL};

static const struct wf_net_ops *net_named(const char *name)
{
    const struct wf_net_ops *ops = NULL;
    struct wf_err err = {.status = WF_OK};

    must(wf_net_find(name, &ops, &err), &err);
    return ops;
}

/* ---- interfaces of slots ---- */

/* The interface of each of `n` slots as a text: "0 0 1"; or an error message. */
static const char *nics_text(const char *const *pairs, uint32_t n)
{
    static char text[512];
    struct wf_node_params *node = make_params(wf_node_params, sizeof(*node));
    const struct wf_place place = wf_place_linear(n, n);
    struct wf_err err = {.status = WF_OK};
    struct wf_rails rails;
    size_t length = 0;

    set_params(wf_node_params, node, pairs);
    const struct wf_net_env env = {.n_nodes = 1, .nics = (uint32_t)node->nics};
    struct wf_net *net = make_net(&wf_net_loggp_ops, NULL, &env);
    if (wf_rails_init(&rails, &place, net, node, &err) == WF_OK) {
        for (uint32_t slot = 0; slot < n; slot++) {
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u",
                                       slot > 0 ? " " : "", wf_rails_nic(&rails, slot));
        }
        (void)snprintf(text + length, sizeof(text) - length, "; %u", rails.ranks_per_nic);
        wf_rails_fini(&rails);
    } else {
        (void)snprintf(text, sizeof(text), "%s", err.text);
    }
    wf_net_free(net);
    free_params(wf_node_params, node);
    return text;
}

#define NICS(n, ...) nics_text((const char *const[]){__VA_ARGS__, NULL}, n)

static void slots_are_spread_evenly_over_interfaces(void)
{
    CHECK_STR(NICS(3, "nics", "1"), "0 0 0; 3");
    CHECK_STR(NICS(8, "nics", "4"), "0 0 1 1 2 2 3 3; 2");
    CHECK_STR(NICS(4, "nics", "4"), "0 1 2 3; 1");
    CHECK_STR(NICS(2, "nics", "4"), "0 2; 1");
    CHECK_STR(NICS(5, "nics", "2"), "0 0 0 1 1; 3");
    CHECK_STR(NICS(1, "nics", "64"), "0; 1");
}

static void slots_use_the_interfaces_of_their_domain(void)
{
    CHECK_STR(NICS(8, "nics", "4", "domains", "4", "bind", "spread"), "0 1 2 3 0 1 2 3; 2");
    CHECK_STR(NICS(4, "nics", "4", "domains", "2", "nic_domains", "1,1,0,0"), "2 3 0 1; 1");
    /* The first domain has an interface; the second one uses that of its socket. */
    CHECK_STR(NICS(4, "nics", "2", "domains", "4", "sockets", "2"), "0 0 1 1; 2");
    /* A socket without interfaces uses all of them. */
    CHECK_STR(NICS(4, "nics", "2", "domains", "2", "sockets", "2", "nic_domains", "0,0"),
              "0 1 0 1; 2");
    /* Ranks that fill a part of the node's cores have the interfaces near to them. */
    CHECK_STR(NICS(2, "nics", "4", "domains", "4", "cores", "8"), "0 0; 2");
}

static void wrong_domains_are_refused(void)
{
    CHECK_STR(NICS(2, "nics", "2", "domains", "2", "nic_domains", "0"),
              "node.nic_domains: '0': expected 2 numbers below 2, the memory domain of each "
              "interface, like 0,0,1,1");
    CHECK(strstr(NICS(2, "nics", "2", "nic_domains", "0,1"), "2 numbers below 1") != NULL);
    CHECK(strstr(NICS(2, "nics", "2", "nic_domains", "0,0,0"), "expected 2") != NULL);
    CHECK(strstr(NICS(2, "nics", "2", "nic_domains", "0,"), "expected 2") != NULL);
    CHECK(strstr(NICS(2, "nics", "2", "nic_domains", "0,x"), "expected 2") != NULL);
}

static void a_network_for_other_interfaces_is_refused(void)
{
    const struct wf_place place = wf_place_linear(2, 1);
    const struct wf_net_env env = {.n_nodes = 2, .nics = 2};
    struct wf_net *net = make_net(&wf_net_loggp_ops, NULL, &env);
    struct wf_err err = {.status = WF_OK};
    struct wf_rails rails;

    CHECK(wf_rails_init(&rails, &place, net, &wf_node_free, &err) == WF_EINVAL);
    CHECK_STR(err.text, "the network was created for 2 interfaces a node, but node.nics is 1");
    wf_net_free(net);
}

/* ---- bandwidth ---- */

/* Two nodes; each rank exchanges messages of `bytes` with its partner on the other node.
 * Returns how long that takes; -1 if messages are missing. */
struct exchange {
    const char *net;
    uint32_t ranks; /* on each node */
    uint32_t nics, group;
    uint64_t bytes;
    const char *const *mpi;
    enum wf_scheduler scheduler;
    const char *policy;     /* null: rank */
    uint32_t messages;      /* of each rank, at once; 0 is 1 */
    const void *net_params; /* null: the defaults */
};

static int64_t exchange(const struct exchange *x)
{
    static struct wf_op ops[RANKS_MAX][2 * MESSAGES_MAX + 2];
    const struct wf_op *ranks[RANKS_MAX];
    char topo[VALUE_MAX], nics[VALUE_MAX], group[VALUE_MAX];
    const char *const node[] = {
        "nics",       nics,         "nic_group",
        group,        "nic_policy", x->policy != NULL ? x->policy : "rank",
        "stripe_min", "1KiB",       NULL};
    uint32_t n = x->messages > 0 ? x->messages : 1;

    for (uint32_t i = 0; i < 2 * x->ranks; i++) {
        uint32_t other = (i + x->ranks) % (2 * x->ranks);
        for (uint32_t k = 0; k < n; k++) {
            ops[i][k] = (struct wf_op)IRECV(other, (int32_t)k, k);
            ops[i][n + k] = (struct wf_op)ISEND(other, (int32_t)k, x->bytes, n + k);
        }
        ops[i][2 * n] = (struct wf_op)WAITALL(0, 2 * n);
        ops[i][2 * n + 1] = (struct wf_op)END;
        ranks[i] = ops[i];
    }
    (void)snprintf(topo, sizeof(topo), "star:%u", 2 * x->nics);
    (void)snprintf(nics, sizeof(nics), "%u", x->nics);
    (void)snprintf(group, sizeof(group), "%u", x->group);
    struct outcome out = replay_script((struct setup){.net = net_named(x->net),
                                                      .net_params = x->net_params,
                                                      .topo = topo,
                                                      .ranks_per_node = x->ranks,
                                                      .node = node,
                                                      .mpi = x->mpi,
                                                      .scheduler = x->scheduler},
                                       ranks, 2 * x->ranks);

    bool complete = out.status == WF_OK && out.tally.unfinished == 0 &&
                    out.tally.latency.n == UINT64_C(2) * x->ranks * n;
    return complete ? out.tally.all.finish.max : -1;
}

static const char *const nets[] = {"loggp", "packet", "router", "latency", "alphabeta", NULL};

/* r ranks that have an interface each are as fast as one rank that has one. */
static void rails_multiply_the_bandwidth(void)
{
    for (const char *const *net = nets; *net != NULL; net++) {
        int64_t one = exchange(&(struct exchange){
            .net = *net, .ranks = 1, .nics = 1, .group = 1, .bytes = 100000});

        CHECK(one > 0);
        for (uint32_t r = 2; r <= 8; r *= 2) {
            for (uint32_t group = 1; group <= 2; group++) {
                struct exchange many = {
                    .net = *net, .ranks = r, .nics = r, .group = group, .bytes = 100000};
                CHECK(exchange(&many) == one);
                many.scheduler = WF_CHECK_UNDO;
                CHECK(r > 2 || exchange(&many) == one);
            }
        }
    }
}

/* Eight ranks with four interfaces: two ranks share each. */
static void messages_of_a_node_share_its_interfaces(void)
{
    for (const char *const *net = nets; *net != NULL; net++) {
        int64_t two = exchange(&(struct exchange){
            .net = *net, .ranks = 2, .nics = 1, .group = 1, .bytes = 100000});

        CHECK(two > 0);
        CHECK(exchange(&(struct exchange){
                  .net = *net, .ranks = 8, .nics = 4, .group = 1, .bytes = 100000}) == two);
        CHECK(exchange(&(struct exchange){
                  .net = *net, .ranks = 8, .nics = 4, .group = 2, .bytes = 100000}) == two);
    }
}

/* loggp with its defaults: L = 1 us, o = 500 ns, g = 100 ns, 10 GB/s. */
static void times_on_loggp(void)
{
    const int64_t L = 1000000, o = 500000, g = 100000, tail = 99999 * 100;

    for (uint32_t r = 1; r <= 8; r *= 2) {
        struct exchange shared = {
            .net = "loggp", .ranks = 8, .nics = r, .group = 1, .bytes = 100000};
        CHECK(exchange(&shared) == o + (8 / r - 1) * (tail + g) + L + tail + o);
    }
}

/* Packets of 512 bytes on links of 10 GB/s and 50 ns, and a switch of 50 ns. */
static void times_on_packet(void)
{
    const int64_t full = 51200, way = 150000;
    const uint64_t bytes = UINT64_C(512) * 200;

    for (uint32_t r = 1; r <= 8; r *= 2) {
        struct exchange shared = {
            .net = "packet", .ranks = 8, .nics = r, .group = 1, .bytes = bytes};
        CHECK(exchange(&shared) == way + 8 / r * 200 * full);
    }
}

/* A message that r interfaces share takes the time of the r-th part on one. */
static void stripes_share_a_message(void)
{
    const char *const *protocols[] = {rendezvous, by_read};

    for (const char *const *net = nets; *net != NULL; net++) {
        for (uint32_t r = 2; r <= 8; r *= 2) {
            for (int p = 0; p < 2; p++) {
                struct exchange whole = {.net = *net,
                                         .ranks = 1,
                                         .nics = r,
                                         .group = 1,
                                         .bytes = r * UINT64_C(20480),
                                         .mpi = protocols[p],
                                         .policy = "stripe"};
                struct exchange part = whole;
                part.nics = 1;
                part.bytes = 20480;
                int64_t expected = exchange(&part);
                CHECK(expected > 0);
                CHECK(exchange(&whole) == expected);
                whole.scheduler = WF_CHECK_UNDO;
                CHECK(exchange(&whole) == expected);
                whole.policy = "rank";
                CHECK(exchange(&whole) > expected);
            }
        }
    }
}

/* Announcement, answer and data each take L; the longest part has one byte more. */
static void a_stripe_on_loggp(void)
{
    const int64_t L = 1000000, o = 500000;

    for (uint32_t r = 2; r <= 8; r *= 2) {
        struct exchange x = {.net = "loggp",
                             .ranks = 1,
                             .nics = r,
                             .group = 2,
                             .bytes = r * UINT64_C(20000) + 1,
                             .mpi = rendezvous,
                             .policy = "stripe"};
        CHECK(exchange(&x) == o + 3 * L + 20000 * 100 + o);
        x.bytes = 1000; /* eager */
        CHECK(exchange(&x) == o + L + 999 * 100 + o);
    }
}

/* Packets of 512 bytes; messages without data take the time of a byte. */
static void a_stripe_on_packet(void)
{
    for (uint32_t r = 2; r <= 8; r *= 2) {
        struct exchange x = {.net = "packet",
                             .ranks = 1,
                             .nics = r,
                             .group = 1,
                             .bytes = r * UINT64_C(51200),
                             .mpi = rendezvous,
                             .policy = "stripe"};
        CHECK(exchange(&x) == 3 * 150000 + 2 * 100 + 100 * 51200);
    }
}

/* When a blocking send of a long message returns. */
static int64_t send_time(const char *net, const char *nics, uint64_t bytes)
{
    const char *const node[] = {"nics", nics, "nic_policy", "stripe", "stripe_min", "1B", NULL};
    const struct wf_op sends[] = {SEND(1, 0, bytes), END};
    static const struct wf_op receives[] = {RECV(0, 0), END};
    const struct wf_op *const ranks[] = {sends, receives};
    struct outcome out = replay_script(
        (struct setup){
            .net = net_named(net), .topo = "star:4", .node = node, .mpi = rendezvous},
        ranks, 2);

    return out.tally.unfinished == 0 ? out.tally.all.finish.min : -1;
}

/* The first part is a byte longer, and on these networks a packet. */
static void a_send_is_complete_when_all_parts_have_left(void)
{
    static const char *const models[] = {"loggp", "packet", "router"};

    for (size_t i = 0; i < 3; i++) {
        const uint64_t part = UINT64_C(512) * 40;
        int64_t longer = send_time(models[i], "1", part + 1);

        CHECK(longer > send_time(models[i], "1", part));
        CHECK(send_time(models[i], "2", 2 * part + 1) == longer);
    }
}

/* r long messages at once take the interfaces in turn: the time of one on one interface, but
 * for the time by which the announcement of the last one is later. */
static void round_robin_takes_interfaces_in_turn(void)
{
    static const struct wf_net_loggp_params free_gap = {.latency = 1000000,
                                                        .eager_max = WF_PARAM_WORD,
                                                        .bandwidth = UINT64_C(10000000000) *
                                                                     WF_RATE_BYTE};
    const struct {
        const char *net;
        const void *params;
        int64_t control, data; /* how long an interface is busy with a message */
    } cases[] = {{"loggp", &free_gap, 0, 5119900}, {"packet", NULL, 100, 5120000}};

    for (size_t i = 0; i < 2; i++) {
        struct exchange x = {.net = cases[i].net,
                             .ranks = 1,
                             .nics = 4,
                             .group = 1,
                             .bytes = 51200,
                             .mpi = rendezvous,
                             .policy = "round_robin",
                             .net_params = cases[i].params};
        int64_t one = exchange(&x);
        CHECK(one > 0);
        x.messages = 4;
        CHECK(exchange(&x) == one + 3 * cases[i].control);
        x.messages = 8;
        CHECK(exchange(&x) == one + 3 * cases[i].control + cases[i].data);
        x.policy = "rank";
        CHECK(exchange(&x) == one + 7 * cases[i].data);
    }
}

/* A collective and two ranks a node, with all protocols and both ways of progress. */
static void long_messages_arrive_under_every_policy(void)
{
    static const char *const policies[] = {"rank", "round_robin", "stripe"};
    static const char *const calls[] = {"eager_max", "1KiB",  "rendezvous", "read",
                                        "progress",  "calls", NULL};
    static const char *const plain[] = {"eager_max", "1KiB", NULL};
    const char *const *protocols[] = {plain, calls};
    struct wf_source *source =
        gen_make(&wf_gen_stencil3d_ops, 12, "bytes=6kB iterations=1 allreduce=true");

    for (const char *const *net = nets; *net != NULL; net++) {
        for (size_t i = 0; i < 6; i++) {
            const char *const node[] = {"nics",          "3",          "nic_policy",
                                        policies[i % 3], "stripe_min", "5kB",
                                        "gap",           "10ns",       NULL};
            struct setup setup = {.source = source,
                                  .net = net_named(*net),
                                  .topo = "torus:3x3x2",
                                  .node = node,
                                  .mpi = protocols[i / 3],
                                  .ranks_per_node = 2};
            struct outcome one = replay(&setup);
            setup.scheduler = WF_CHECK_UNDO;
            struct outcome other = replay(&setup);
            CHECK(one.status == WF_OK && one.tally.unfinished == 0 &&
                  one.tally.unreceived == 0);
            CHECK_U64(one.tally.latency.n, one.tally.all.messages);
            CHECK_U64(other.run.digest, one.run.digest);
        }
    }
    wf_source_free(source);
}

static void policies_need_long_messages(void)
{
    const struct wf_place place = wf_place_linear(2, 1);
    struct wf_node_params node = wf_node_free;
    struct wf_err err = {.status = WF_OK};

    node.nics = 2;
    node.nic_policy = WF_NODE_NIC_STRIPE;
    CHECK(try_ranks(&place, 2, &node, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "node.nic_policy: stripe applies to messages sent by rendezvous, but "
                        "mpi.eager_max is unlimited; set mpi.eager_max, such as 16KiB");
    node.nic_policy = WF_NODE_NIC_ROUND_ROBIN;
    CHECK(try_ranks(&place, 2, &node, &err) == WF_EUSAGE);
}

/* ---- the network ---- */

static bool same_tally(const struct wf_ranks_tally *a, const struct wf_ranks_tally *b)
{
    return memcmp(&a->all, &b->all, sizeof(a->all)) == 0 &&
           memcmp(&a->latency, &b->latency, sizeof(a->latency)) == 0 &&
           a->net.fingerprint == b->net.fingerprint &&
           a->net.packets_received == b->net.packets_received;
}

/* To the network, a node with r interfaces and a rank at each is r nodes. */
static void interfaces_are_nodes_of_the_network(void)
{
    static const char *const topos[] = {"torus:4x3x2", "fattree:4x6", "dragonfly:2,g=3,p=2",
                                        "torus:3x2/star:4"};
    static const char *const local[] = {"local", "false", NULL};
    static const char *const rails[] = {"1", "2", "3", "4"};
    static const uint32_t n_rails[] = {1, 2, 3, 4};
    struct wf_source *source = gen_make(&wf_gen_random_ops, 24, "bytes=3000 messages=6");

    for (const char *const *net = nets; *net != NULL; net++) {
        for (size_t t = 0; t < sizeof(topos) / sizeof(topos[0]); t++) {
            struct setup setup = {
                .source = source, .net = net_named(*net), .topo = topos[t], .mpi = local};
            struct outcome apart = replay(&setup);

            for (size_t i = 1; i < sizeof(rails) / sizeof(rails[0]); i++) {
                const char *const node[] = {"nics", rails[i], NULL};
                setup.node = node;
                setup.ranks_per_node = n_rails[i];
                struct outcome together = replay(&setup);
                CHECK(same_tally(&together.tally, &apart.tally));
            }
        }
    }
    wf_source_free(source);
}

/* Four nodes of a pod, with a leaf switch for each interface: the same interfaces of two nodes
 * are two links apart, others four. */
static void groups_put_interfaces_next_to_each_other(void)
{
    static const char *const pod[] = {"nics", "4", "nic_group", "4", NULL};
    static const char *const apart[] = {"nics", "4", NULL};
    static const struct wf_op send[] = {SEND(12, 0, 0), SEND(13, 0, 0), END};
    static const struct wf_op recv[] = {RECV(0, 0), END};
    static const struct wf_op idle[] = {END};
    const struct wf_op *ranks[16];

    for (uint32_t i = 0; i < 16; i++) {
        ranks[i] = i == 0 ? send : i == 12 || i == 13 ? recv : idle;
    }
    struct setup setup = {
        .net = &wf_net_latency_ops, .topo = "fattree:4x4", .node = pod, .ranks_per_node = 4};
    struct outcome in_pod = replay_script(setup, ranks, 16);
    CHECK(in_pod.tally.latency.min == 200000 && in_pod.tally.latency.max == 400000);
    setup.node = apart;
    struct outcome on_leaf = replay_script(setup, ranks, 16);
    CHECK(on_leaf.tally.latency.min == 400000 && on_leaf.tally.latency.max == 400000);
}

/* ---- schedulers ---- */

static void schedulers_agree_on_rails(void)
{
    static const struct setup schedules[] = {
        {.scheduler = WF_CHECK_UNDO},
        {.scheduler = WF_CONSERVATIVE, .threads = 2},
        {.scheduler = WF_OPTIMISTIC, .threads = 2, .batch = 4},
        {.scheduler = WF_PERTURB, .threads = 2, .perturb_seed = 7},
    };
    static const char *const node[] = {"nics",   "2",          "nic_group", "3", "nic_policy",
                                       "stripe", "stripe_min", "2KiB",      NULL};
    static const char *const mpi[] = {"eager_max", "2KiB", NULL};
    struct wf_source *source =
        gen_make(&wf_gen_stencil3d_ops, 18, "bytes=3000 iterations=1 allreduce=true");

    for (const char *const *net = nets; *net != NULL; net++) {
        struct setup setup = {.source = source,
                              .net = net_named(*net),
                              .topo = "torus:3x2x2",
                              .node = node,
                              .mpi = mpi,
                              .ranks_per_node = 4};
        struct outcome expected = replay(&setup);

        CHECK_U64(expected.tally.unfinished, 0);
        for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
            setup.scheduler = schedules[i].scheduler;
            setup.threads = schedules[i].threads;
            setup.batch = schedules[i].batch;
            setup.perturb_seed = schedules[i].perturb_seed;
            struct outcome found = replay(&setup);
            CHECK_U64(found.run.digest, expected.run.digest);
            CHECK(same_tally(&found.tally, &expected.tally));
        }
    }
    wf_source_free(source);
}

int main(void)
{
    RUN_ONE_THREAD(slots_are_spread_evenly_over_interfaces);
    RUN_ONE_THREAD(slots_use_the_interfaces_of_their_domain);
    RUN_ONE_THREAD(wrong_domains_are_refused);
    RUN_ONE_THREAD(a_network_for_other_interfaces_is_refused);
    RUN_ONE_THREAD(rails_multiply_the_bandwidth);
    RUN_ONE_THREAD(messages_of_a_node_share_its_interfaces);
    RUN_ONE_THREAD(times_on_loggp);
    RUN_ONE_THREAD(times_on_packet);
    RUN_ONE_THREAD(stripes_share_a_message);
    RUN_ONE_THREAD(a_stripe_on_loggp);
    RUN_ONE_THREAD(a_stripe_on_packet);
    RUN_ONE_THREAD(a_send_is_complete_when_all_parts_have_left);
    RUN_ONE_THREAD(round_robin_takes_interfaces_in_turn);
    RUN_ONE_THREAD(long_messages_arrive_under_every_policy);
    RUN_ONE_THREAD(policies_need_long_messages);
    RUN_ONE_THREAD(interfaces_are_nodes_of_the_network);
    RUN_ONE_THREAD(groups_put_interfaces_next_to_each_other);
    RUN(schedulers_agree_on_rails);
    return wf_test_done();
}
