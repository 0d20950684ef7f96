/* SPDX-License-Identifier: Apache-2.0 */
/* Trains must not change results: every packet of every message is delivered at the same
 * picosecond as when each packet is simulated by itself. Uses random traffic of many kinds,
 * with as many ties as possible. */
#include "harness/packet_traffic.h"
#include "harness/wf_test.h"

enum { CASES = 400 / WF_TEST_ONE_IN, PARCELS_MAX = 60 };

static const char *const topos[] = {
    "ring:5",        "torus:4x3", "mesh:3x3",    "torus:3x2x2",      "star:6",
    "fattree:4,2,2", "ring:3",    "full:4",      "torus:2x2/star:3", "star:3/mesh:2x2",
    "mesh:4x1",      "torus:5",   "dragonfly:1",
};
static const char *const packets[] = {"100B", "512B", "64B", "1000B"};
static const char *const latencies[] = {"50ns", "10ns", "1ns", "7ns", "1us"};
static const char *const delays[] = {"50ns", "10ns", "0", "3ns"};
static const char *const injections[] = {"link",   "link",  "unlimited",
                                         "20GB/s", "3GB/s", "5GB/s"};
static const char *const ejections[] = {"unlimited", "unlimited", "link", "5GB/s", "30GB/s"};
static const char *const timings[] = {"cut_through", "store_and_forward"};
static const char *const orders[] = {"fcfs", "fcfs", "rr"};
static const char *const headers[] = {"0B", "0B", "16B"};
static const char *const routings[] = {"minimal",  "minimal", "ecmp",   "ecmp",
                                       "adaptive", "valiant", "ugal_l", "ugal_g"};
static const char *const flows[] = {"flow", "message", "packet"};
static const char *const units[] = {"message", "message", "packet"};
static const uint32_t interfaces[] = {1, 1, 2, 3};
static const uint64_t grains[] = {1, 1000, 51200, 10000, 25600};

#define PICK(array, r) (array)[(r) % (sizeof(array) / sizeof((array)[0]))]

struct random_case {
    struct wf_packet_params params;
    const char *topo;
    struct wf_net_env env; /* interfaces of nodes */
    struct message messages[PARCELS_MAX];
    size_t n;
};

static uint32_t nodes_of(const char *spec)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    must(wf_topo_create(spec, &topo, &err), &err);
    uint32_t n = topo->n_nodes;
    wf_topo_free(topo);
    return n;
}

static int by_time(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    return a->at < b->at ? -1 : a->at > b->at;
}

struct draws {
    uint64_t seed, n;
};

static uint64_t draw(struct draws *draws)
{
    return wf_test_rand(draws->seed, 0, draws->n++);
}

static void choose_params(struct draws *draws, struct random_case *out)
{
    out->params = packet_defaults();
    out->topo = PICK(topos, draw(draws));
    packet_set(&out->params, "packet", PICK(packets, draw(draws)));
    packet_set(&out->params, "link_latency", PICK(latencies, draw(draws)));
    packet_set(&out->params, "router_delay", PICK(delays, draw(draws)));
    packet_set(&out->params, "injection", PICK(injections, draw(draws)));
    packet_set(&out->params, "ejection", PICK(ejections, draw(draws)));
    packet_set(&out->params, "timing", PICK(timings, draw(draws)));
    packet_set(&out->params, "header", PICK(headers, draw(draws)));
    packet_set(&out->params, "nic", PICK(orders, draw(draws)));
    packet_set(&out->params, "control_queue", draw(draws) % 3 == 0 ? "on" : "off");
    packet_set(&out->params, "routing", PICK(routings, draw(draws)));
    packet_set(&out->params, "ecmp", PICK(flows, draw(draws)));
    packet_set(&out->params, "adapt", PICK(units, draw(draws)));
}

/* Nodes with one or several interfaces, on all nodes of the topology or fewer. */
static void choose_machine(struct draws *draws, struct random_case *out)
{
    uint32_t n = nodes_of(out->topo), nics = PICK(interfaces, draw(draws));

    nics = n / nics >= 2 ? nics : 1;
    uint32_t group = (uint32_t)(1 + draw(draws) % (n / nics));
    out->env = (struct wf_net_env){
        .n_nodes = n / (nics * group) * group, .nics = nics, .nic_group = group};
    out->env.n_nodes -= out->env.n_nodes > 2 && nics > 1 && draw(draws) % 2 == 0;
}

/* A random endpoint. */
static uint32_t choose_end(struct draws *draws, const struct random_case *c)
{
    const struct wf_net_ends ends = wf_net_ends_of(&c->env);
    uint32_t which = (uint32_t)(draw(draws) % ends.after);

    return wf_net_end(&ends, which / ends.nics, which % ends.nics);
}

static void make_case(uint64_t seed, struct random_case *out)
{
    struct draws draws = {.seed = seed};

    choose_params(&draws, out);
    choose_machine(&draws, out);
    uint64_t grain = PICK(grains, draw(&draws));
    uint64_t span = draw(&draws) % 40 * 100000 / grain + 1; /* up to 4 us, often all at once */
    uint64_t longest = UINT64_C(1) << (6 + draw(&draws) % 11);
    uint32_t hot = choose_end(&draws, out);
    uint64_t to_hot = draw(&draws) % 3; /* how many of three go to one node */

    out->n = 1 + draw(&draws) % PARCELS_MAX;
    for (size_t k = 0; k < out->n; k++) {
        struct message *message = &out->messages[k];
        message->at = (int64_t)(draw(&draws) % span * grain);
        message->src = choose_end(&draws, out);
        message->dst = draw(&draws) % 3 < to_hot ? hot : choose_end(&draws, out);
        message->bytes = draw(&draws) % 4 == 0 ? longest : draw(&draws) % longest;
    }
    qsort(out->messages, out->n, sizeof(out->messages[0]), by_time);
}

static struct traffic traffic_of(const struct random_case *c)
{
    return (struct traffic){.topo = c->topo,
                            .messages = c->messages,
                            .n_messages = c->n,
                            .n_nodes = c->env.n_nodes,
                            .nics = c->env.nics,
                            .nic_group = c->env.nic_group,
                            .params = &c->params};
}

static void describe(uint64_t seed, const struct random_case *c)
{
    char buf[WF_PARAM_TEXT_MAX];

    printf("# seed %llu: %s, %u nodes of %u interfaces in groups of %u, %zu messages",
           (unsigned long long)seed, c->topo, c->env.n_nodes, c->env.nics, c->env.nic_group,
           c->n);
    for (const struct wf_param *row = wf_net_packet_ops.params; row->name != NULL; row++) {
        printf(", %s=%s", row->name, wf_param_format(row, &c->params, buf));
    }
    printf("\n");
}

/* The first packet that is not delivered at the same time, shown; false if there is one. */
static bool same(const struct traffic_result *a, const struct traffic_result *b)
{
    if (a->n_facts != b->n_facts) {
        printf("# %zu packets delivered, expected %zu\n", b->n_facts, a->n_facts);
        return false;
    }
    for (size_t i = 0; i < a->n_facts; i++) {
        const struct packet_fact *x = &a->facts[i], *y = &b->facts[i];
        if (memcmp(x, y, sizeof(*x)) != 0) {
            printf("# from %u to %u, message %u, packet %llu: at %lld, expected %lld\n", y->src,
                   y->dst, y->number, (unsigned long long)y->packet, (long long)y->at,
                   (long long)x->at);
            return false;
        }
    }
    return memcmp(&a->totals, &b->totals, sizeof(a->totals)) == 0;
}

static bool conserves(const struct traffic_result *result)
{
    return result->totals.packets_sent == result->totals.packets_received &&
           result->totals.bytes_sent == result->totals.bytes_received &&
           result->totals.packets_sent == result->n_facts;
}

static void trains_change_no_time(void)
{
    uint64_t events[2] = {0, 0};

    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_case c;
        make_case(seed, &c);
        struct traffic traffic = traffic_of(&c);

        c.params.trains = false;
        struct traffic_result singly = run_traffic(&traffic);
        c.params.trains = true;
        struct traffic_result trains = run_traffic(&traffic);
        bool equal = same(&singly, &trains) && conserves(&singly) && conserves(&trains) &&
                     memcmp(singly.arrivals, trains.arrivals, c.n * sizeof(int64_t)) == 0 &&
                     memcmp(singly.left, trains.left, c.n * sizeof(int64_t)) == 0;
        if (!equal) {
            describe(seed, &c);
        }
        events[0] += singly.run.events_committed;
        events[1] += trains.run.events_committed;
        release_traffic(&singly);
        release_traffic(&trains);
        packet_release(&c.params);
        CHECK(equal);
    }
    printf("# %llu events singly, %llu with trains\n", (unsigned long long)events[0],
           (unsigned long long)events[1]);
    CHECK(events[1] < events[0]);
}

/* A message of 2000 packets from an interface that takes turns, and a short one to another node
 * every `gap` packets (0: none): the events with and without trains, whose times agree. */
static void count_turns(const char *name, const char *value, uint64_t gap, uint64_t events[2])
{
    enum { SHORT_MAX = 700, PACKETS = 2000, FULL_PS = 51200 };
    static struct message messages[SHORT_MAX + 1];
    struct wf_packet_params params = packet_defaults();
    struct traffic traffic = {.topo = "ring:5", .messages = messages, .params = &params};
    struct traffic_result results[2];

    packet_set(&params, name, value);
    messages[0] = (struct message){.src = 0, .dst = 2, .bytes = UINT64_C(512) * PACKETS};
    traffic.n_messages = gap == 0 ? 1 : 1 + PACKETS / gap;
    for (size_t i = 1; i < traffic.n_messages; i++) {
        messages[i] = (struct message){
            .at = (int64_t)(i * gap) * FULL_PS + 7, .src = 0, .dst = 1, .bytes = 8};
    }
    for (int trains = 0; trains < 2; trains++) {
        params.trains = trains != 0;
        results[trains] = run_traffic(&traffic);
        events[trains] = results[trains].run.events_committed;
    }
    CHECK(same(&results[0], &results[1]));
    printf("# a short message every %llu packets: %llu events singly, %llu with trains\n",
           (unsigned long long)gap, (unsigned long long)events[0],
           (unsigned long long)events[1]);
    release_traffic(&results[0]);
    release_traffic(&results[1]);
    packet_release(&params);
}

static void check_turns(const char *name, const char *value)
{
    uint64_t events[2];

    count_turns(name, value, 0, events);
    CHECK(events[1] < events[0] / 100);
    count_turns(name, value, 100, events);
    CHECK(events[1] < events[0] * 7 / 10);
    for (uint64_t gap = 3; gap < 12; gap++) {
        count_turns(name, value, gap, events);
        CHECK(events[1] <= events[0] * 12 / 10);
    }
}

static void who_has_his_turn_alone_sends_a_train(void)
{
    check_turns("nic", "rr");
    check_turns("control_queue", "on");
}

static void schedulers_agree_on_trains(void)
{
    static const struct {
        enum wf_scheduler scheduler;
        uint64_t threads;
    } schedules[] = {
        {WF_CHECK_UNDO, 1}, {WF_CONSERVATIVE, 2}, {WF_OPTIMISTIC, 2}, {WF_PERTURB, 2}};

    for (uint64_t seed = 0; seed < CASES / 10; seed++) {
        struct random_case c;
        make_case(CASES + seed, &c);
        struct traffic traffic = traffic_of(&c);
        struct traffic_result expected = run_traffic(&traffic);
        bool equal = true;

        for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
            traffic.scheduler = schedules[i].scheduler;
            traffic.threads = schedules[i].threads;
            traffic.perturb_seed = seed + 1;
            struct traffic_result found = run_traffic(&traffic);
            equal = equal && found.run.digest == expected.run.digest &&
                    memcmp(&found.totals, &expected.totals, sizeof(found.totals)) == 0;
            release_traffic(&found);
        }
        if (!equal) {
            describe(CASES + seed, &c);
        }
        release_traffic(&expected);
        packet_release(&c.params);
        CHECK(equal);
    }
}

/* With statistics all packets take the general handlers, without them most take the lean ones. The
 * conservative scheduler runs without a probe, which needs the general handlers, too. */
static void lean_handlers_are_like_the_general_ones(void)
{
    for (uint64_t seed = 0; seed < CASES / 4; seed++) {
        struct random_case c;
        make_case(2 * CASES + seed, &c);
        struct traffic traffic = traffic_of(&c);
        struct traffic_result results[2];

        traffic.scheduler = WF_CONSERVATIVE;
        traffic.threads = 1;
        c.params.trains = seed % 4 == 0;
        for (int i = 0; i < 2; i++) {
            packet_set(&c.params, "stats", i == 0 ? "off" : "summary");
            results[i] = run_traffic(&traffic);
        }
        bool equal =
            results[0].run.digest == results[1].run.digest &&
            memcmp(&results[0].totals, &results[1].totals, sizeof(results[0].totals)) == 0;
        if (!equal) {
            describe(2 * CASES + seed, &c);
        }
        release_traffic(&results[0]);
        release_traffic(&results[1]);
        packet_release(&c.params);
        CHECK(equal);
    }
}

int main(void)
{
    RUN(trains_change_no_time);
    RUN(lean_handlers_are_like_the_general_ones);
    RUN(who_has_his_turn_alone_sends_a_train);
    RUN(schedulers_agree_on_trains);
    return wf_test_done();
}
