/* SPDX-License-Identifier: Apache-2.0 */
/* Several network interfaces a node: which ranks use which, and what they gain. */
#include "ranks/rails.h"

#include "harness/gen_make.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "net/latency.h"
#include "net/loggp.h"

enum { RANKS_MAX = 32, VALUE_MAX = 24 };

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
};

static int64_t exchange(const struct exchange *x)
{
    static struct wf_op ops[RANKS_MAX][4];
    const struct wf_op *ranks[RANKS_MAX];
    char topo[VALUE_MAX], nics[VALUE_MAX], group[VALUE_MAX];
    const char *const node[] = {"nics", nics, "nic_group", group, NULL};

    for (uint32_t i = 0; i < 2 * x->ranks; i++) {
        uint32_t other = (i + x->ranks) % (2 * x->ranks);
        const struct wf_op own[] = {IRECV(other, 0, 0), ISEND(other, 0, x->bytes, 1),
                                    WAITALL(0, 2), END};
        memcpy(ops[i], own, sizeof(own));
        ranks[i] = ops[i];
    }
    (void)snprintf(topo, sizeof(topo), "star:%u", 2 * x->nics);
    (void)snprintf(nics, sizeof(nics), "%u", x->nics);
    (void)snprintf(group, sizeof(group), "%u", x->group);
    struct outcome out = replay_script((struct setup){.net = net_named(x->net),
                                                      .topo = topo,
                                                      .ranks_per_node = x->ranks,
                                                      .node = node,
                                                      .mpi = x->mpi,
                                                      .scheduler = x->scheduler},
                                       ranks, 2 * x->ranks);

    bool complete = out.status == WF_OK && out.tally.unfinished == 0 &&
                    out.tally.latency.n == UINT64_C(2) * x->ranks;
    return complete ? out.tally.jobs[0].finish.max : -1;
}

static const char *const nets[] = {"loggp", "packet", "router", "latency", "alphabeta", NULL};

/* r ranks that have an interface each are as fast as one rank that has one. */
static void rails_multiply_the_bandwidth(void)
{
    for (const char *const *net = nets; *net != NULL; net++) {
        int64_t one = exchange(&(struct exchange){*net, 1, 1, 1, 100000, NULL, WF_SEQUENTIAL});

        CHECK(one > 0);
        for (uint32_t r = 2; r <= 8; r *= 2) {
            for (uint32_t group = 1; group <= 2; group++) {
                struct exchange many = {*net, r, r, group, 100000, NULL, WF_SEQUENTIAL};
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
        int64_t two = exchange(&(struct exchange){*net, 2, 1, 1, 100000, NULL, WF_SEQUENTIAL});

        CHECK(two > 0);
        CHECK(exchange(&(struct exchange){*net, 8, 4, 1, 100000, NULL, WF_SEQUENTIAL}) == two);
        CHECK(exchange(&(struct exchange){*net, 8, 4, 2, 100000, NULL, WF_SEQUENTIAL}) == two);
    }
}

/* loggp with its defaults: L = 1 us, o = 500 ns, g = 100 ns, 10 GB/s. */
static void times_on_loggp(void)
{
    const int64_t L = 1000000, o = 500000, g = 100000, tail = 99999 * 100;

    for (uint32_t r = 1; r <= 8; r *= 2) {
        struct exchange shared = {"loggp", 8, r, 1, 100000, NULL, WF_SEQUENTIAL};
        CHECK(exchange(&shared) == o + (8 / r - 1) * (tail + g) + L + tail + o);
    }
}

/* Packets of 512 bytes on links of 10 GB/s and 50 ns, and a switch of 50 ns. */
static void times_on_packet(void)
{
    const int64_t full = 51200, way = 150000;
    const uint64_t bytes = UINT64_C(512) * 200;

    for (uint32_t r = 1; r <= 8; r *= 2) {
        struct exchange shared = {"packet", 8, r, 1, bytes, NULL, WF_SEQUENTIAL};
        CHECK(exchange(&shared) == way + 8 / r * 200 * full);
    }
}

/* ---- the network ---- */

static bool same_tally(const struct wf_ranks_tally *a, const struct wf_ranks_tally *b)
{
    return memcmp(&a->jobs[0], &b->jobs[0], sizeof(a->jobs[0])) == 0 &&
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
    static const char *const node[] = {"nics", "2", "nic_group", "3", NULL};
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
    RUN(slots_are_spread_evenly_over_interfaces);
    RUN(slots_use_the_interfaces_of_their_domain);
    RUN(wrong_domains_are_refused);
    RUN(a_network_for_other_interfaces_is_refused);
    RUN(rails_multiply_the_bandwidth);
    RUN(messages_of_a_node_share_its_interfaces);
    RUN(times_on_loggp);
    RUN(times_on_packet);
    RUN(interfaces_are_nodes_of_the_network);
    RUN(groups_put_interfaces_next_to_each_other);
    RUN(schedulers_agree_on_rails);
    return wf_test_done();
}
