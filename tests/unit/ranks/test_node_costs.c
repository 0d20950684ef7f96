/* SPDX-License-Identifier: Apache-2.0 */
/* What messages cost their nodes, to the picosecond: each part alone and all together, on
 * network models of every kind. The times of the network itself are those of the same program
 * on a node that costs nothing. The rules are in docs/models/node.md. */
#include "base/arith.h"
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/net/packet/packet.h"
#include "model/net/router/router.h"

/* The router model counts in cycles: there all times are multiples of UNIT_ROUTER. */
static const int64_t UNIT_ROUTER = 1000000;

static const struct wf_net_loggp_params LOGGP = {.latency = 1000,
                                                 .gap = 10,
                                                 .eager_max = WF_PARAM_WORD,
                                                 .bandwidth = 1000000000000 * WF_RATE_BYTE};
static const struct wf_net_loggp_params LOGGP_O = {.latency = 1000,
                                                   .overhead = 77,
                                                   .gap = 10,
                                                   .eager_max = WF_PARAM_WORD,
                                                   .bandwidth = 1000000000000 * WF_RATE_BYTE};

struct network {
    struct setup setup;
    bool counts_cycles;
};

static const struct network networks[] = {
    {{.net = &wf_net_loggp_ops, .net_params = &LOGGP}, false},
    {{.net = &wf_net_latency_ops, .topo = "torus:4"}, false},
    {{.net = &wf_net_packet_ops, .topo = "torus:4"}, false},
    {{.net = &wf_net_router_ops, .topo = "torus:4"}, true},
};
enum { NETWORKS = sizeof(networks) / sizeof(networks[0]) };

/* A message is long where LONG says so. */
enum { K = 4000, LONG_COMPUTE = 2000 };
static const char *const EAGER[] = {NULL};
static const char *const WRITE[] = {"eager_max", "3999", NULL};
static const char *const READ[] = {"eager_max", "3999", "rendezvous", "read", NULL};

/* ---- the parts ---- */

enum part {
    O_SEND,
    O_RECV,
    COPY_SEND,
    COPY_RECV,
    COPY_UNEXPECTED,
    INJECTION,
    EJECTION,
    REGISTRATION,
    REGISTRATION_RATE,
    PARTS
};

/* The time of each part for a message of K bytes, in units; rates are whole bytes per unit. */
static const struct {
    const char *name;
    int64_t time;
    bool is_rate;
} parts[PARTS] = {
    [O_SEND] = {"o_send", 3, false},
    [O_RECV] = {"o_recv", 5, false},
    [COPY_SEND] = {"copy_send", 8, true},
    [COPY_RECV] = {"copy_recv", 16, true},
    [COPY_UNEXPECTED] = {"copy_unexpected", 32, true},
    [INJECTION] = {"injection_delay", 64, false},
    [EJECTION] = {"ejection_delay", 128, false},
    [REGISTRATION] = {"registration", 256, false},
    [REGISTRATION_RATE] = {"registration_rate", 500, true},
};

enum { TEXT = 32, PAIRS = 2 * PARTS + 1, EXTRA = 2 };
#define ALL ((1U << PARTS) - 1)

/* Settings of scope node, and the time of each part. */
struct costs {
    char texts[PARTS][TEXT];
    const char *settings[PAIRS + EXTRA];
    int64_t time[PARTS];
};

/* The parts of `set`. Outside the router model a unit has an odd number of picoseconds. */
static void make_costs(const struct network *network, uint32_t set, struct costs *out)
{
    int64_t unit = network->counts_cycles ? UNIT_ROUTER : 1001;
    size_t n = 0;

    memset(out, 0, sizeof(*out));
    for (int part = 0; part < PARTS; part++) {
        if ((set >> part & 1) == 0) {
            continue;
        }
        out->time[part] = parts[part].time * unit;
        if (parts[part].is_rate) {
            /* Rounded up to a picosecond, as the model does it. */
            uint64_t rate = (uint64_t)K * 1000000000000 / (uint64_t)out->time[part];
            (void)snprintf(out->texts[part], TEXT, "%lluB/s", (unsigned long long)rate);
            out->time[part] = wf_transfer_ps(K, rate * WF_RATE_BYTE);
        } else {
            (void)snprintf(out->texts[part], TEXT, "%lldps", (long long)out->time[part]);
        }
        out->settings[n++] = parts[part].name;
        out->settings[n++] = out->texts[part];
    }
}

static int64_t sum(const struct costs *costs, uint32_t set)
{
    int64_t time = 0;

    for (int part = 0; part < PARTS; part++) {
        time += (set >> part & 1) != 0 ? costs->time[part] : 0;
    }
    return time;
}

#define BIT(part) (1U << (part))
static const uint32_t SENDING = BIT(O_SEND) | BIT(COPY_SEND);
static const uint32_t RECEIVING = BIT(O_RECV) | BIT(COPY_RECV);
static const uint32_t DELAY = BIT(INJECTION) | BIT(EJECTION);
static const uint32_t REGISTERING = BIT(REGISTRATION) | BIT(REGISTRATION_RATE);

/* ---- running ---- */

/* All schedulers must give the same times; if not, or if the program fails, all are wrong. */
static struct wf_job_tally run(const struct network *network, const char *const *mpi,
                               const char *const *node, uint32_t ranks_per_node,
                               const struct wf_op *const *ranks, uint32_t n_ranks)
{
    static const enum wf_scheduler others[] = {WF_CHECK_UNDO, WF_CONSERVATIVE, WF_OPTIMISTIC,
                                               WF_PERTURB};
    struct setup setup = network->setup;

    setup.mpi = mpi;
    setup.node = node;
    setup.ranks_per_node = ranks_per_node;
    setup.batch = 2;
    setup.gvt_interval = 2;
    struct outcome out = replay_script(setup, ranks, n_ranks);
    bool fine = out.status == WF_OK && out.tally.unfinished == 0 && out.tally.unreceived == 0;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && fine; i++) {
        setup.scheduler = others[i];
        struct outcome same = replay_script(setup, ranks, n_ranks);
        fine = same.run.digest == out.run.digest &&
               memcmp(&same.tally, &out.tally, sizeof(out.tally)) == 0;
    }
    if (!fine) {
        memset(&out.tally, 0xff, sizeof(out.tally));
    }
    return out.tally.all;
}

static struct wf_job_tally run2(const struct network *network, const char *const *mpi,
                                const char *const *node, const struct wf_op *zero,
                                const struct wf_op *one)
{
    const struct wf_op *const ranks[] = {zero, one};

    return run(network, mpi, node, 1, ranks, 2);
}

/* The time of a message on the network alone. */
static int64_t alone(const struct network *network, uint64_t bytes)
{
    const struct wf_op zero[] = {SEND(1, 0, bytes), END};
    const struct wf_op one[] = {RECV(0, 0), END};

    return run2(network, EAGER, NULL, zero, one).finish.max;
}

static const struct wf_op SENDER[] = {SEND(1, 0, K), END};
static const struct wf_op RECEIVER[] = {RECV(0, 0), END};

/* Calls `check` on every network with no part, each part alone, and all of them. */
static void for_all(void (*check)(const struct network *network, const struct costs *costs))
{
    for (size_t i = 0; i < NETWORKS; i++) {
        for (int part = -1; part <= PARTS; part++) {
            int failed = wf_test_failed;
            struct costs costs;

            wf_test_failed = 0;
            make_costs(&networks[i], part < 0 ? 0 : part < PARTS ? BIT(part) : ALL, &costs);
            check(&networks[i], &costs);
            if (wf_test_failed) {
                printf("# on %s, with %s\n", networks[i].setup.net->name,
                       part < 0       ? "nothing"
                       : part < PARTS ? parts[part].name
                                      : "everything");
            }
            wf_test_failed |= failed;
        }
    }
}

/* ---- eager messages ---- */

static void check_eager(const struct network *network, const struct costs *costs)
{
    int64_t there = alone(network, K);
    struct wf_job_tally job = run2(network, EAGER, costs->settings, SENDER, RECEIVER);

    CHECK(job.finish.min == sum(costs, SENDING));
    CHECK(job.finish.max == sum(costs, SENDING | DELAY | RECEIVING) + there);
    CHECK(job.overhead.min + job.overhead.max == sum(costs, SENDING | RECEIVING));
    CHECK(job.wait[WF_IN_RECV].max == sum(costs, SENDING | DELAY) + there);
}

/* The receiver computes until long after the message has arrived: it was not expected. If the
 * receive was posted before, it was. */
static void check_unexpected(const struct network *network, const struct costs *costs)
{
    int64_t computed = LONG_COMPUTE * UNIT_ROUTER;
    const struct wf_op late[] = {COMPUTE(computed), RECV(0, 0), END};
    const struct wf_op posted[] = {IRECV(0, 0, 0), COMPUTE(computed), WAIT(0), END};
    struct wf_job_tally job = run2(network, EAGER, costs->settings, SENDER, late);

    CHECK(job.finish.max == computed + sum(costs, RECEIVING | BIT(COPY_UNEXPECTED)));
    job = run2(network, EAGER, costs->settings, SENDER, posted);
    CHECK(job.finish.max == computed + sum(costs, RECEIVING));
}

/* The receive is posted exactly when the last byte arrives, and a picosecond later. */
static void only_earlier_messages_are_unexpected(void)
{
    static const char *const node[] = {"copy_unexpected", "4GB/s", NULL};

    for (size_t i = 0; i < NETWORKS; i++) {
        int64_t there = alone(&networks[i], K), copy = K * INT64_C(250);
        const struct wf_op just[] = {COMPUTE(there), RECV(0, 0), END};
        const struct wf_op late[] = {COMPUTE(there + 1), RECV(0, 0), END};

        CHECK(run2(&networks[i], EAGER, node, SENDER, just).finish.max == there);
        CHECK(run2(&networks[i], EAGER, node, SENDER, late).finish.max == there + 1 + copy);
    }
}

/* ---- rendezvous ---- */

/* A program on the network alone, on nodes that cost nothing. Messages that depend on each
 * other take the sum of their times, except that the router model waits for the next cycle. */
static struct wf_job_tally without(const struct network *network, const char *const *mpi,
                                   const struct wf_op *zero, const struct wf_op *one,
                                   int64_t expected)
{
    struct wf_job_tally job = run2(network, mpi, NULL, zero, one);

    if (!network->counts_cycles && job.finish.max != expected) {
        job.finish.max = -1; /* the check of the caller fails */
    }
    return job;
}

/* The announcement, the question and the data pass the network; each side registers. */
static void check_write(const struct network *network, const struct costs *costs)
{
    struct wf_job_tally bare =
        without(network, WRITE, SENDER, RECEIVER, 2 * alone(network, 0) + alone(network, K));
    int64_t asked = sum(costs, SENDING | REGISTERING | DELAY) + sum(costs, REGISTERING | DELAY);
    struct wf_job_tally job = run2(network, WRITE, costs->settings, SENDER, RECEIVER);

    CHECK(job.finish.max == bare.finish.max + asked + sum(costs, DELAY | RECEIVING));
    CHECK(job.finish.min == bare.finish.min + asked + costs->time[INJECTION]);
    CHECK(job.overhead.min + job.overhead.max == sum(costs, SENDING | REGISTERING | RECEIVING));
}

/* The same, and the sender is told when the data has arrived. */
static void check_read(const struct network *network, const struct costs *costs)
{
    struct wf_job_tally bare =
        without(network, READ, SENDER, RECEIVER, 3 * alone(network, 0) + alone(network, K));
    int64_t arrived = sum(costs, SENDING | REGISTERING | DELAY) + sum(costs, REGISTERING) +
                      2 * sum(costs, DELAY);
    int64_t confirmed = bare.finish.max + arrived + sum(costs, DELAY);
    int64_t received = bare.finish.min + arrived + sum(costs, RECEIVING);
    struct wf_job_tally job = run2(network, READ, costs->settings, SENDER, RECEIVER);

    CHECK(job.finish.max == wf_max_i64(confirmed, received));
    CHECK(job.finish.min == wf_min_i64(confirmed, received));
    CHECK(job.wait[WF_IN_SEND].max == confirmed - sum(costs, SENDING | REGISTERING));
}

/* A receive that is posted late asks late; the message is not copied. */
static void check_late_receive(const struct network *network, const struct costs *costs)
{
    int64_t computed = LONG_COMPUTE * UNIT_ROUTER;
    const struct wf_op late[] = {COMPUTE(computed), RECV(0, 0), END};
    struct wf_job_tally bare =
        without(network, WRITE, SENDER, late, computed + alone(network, 0) + alone(network, K));
    struct wf_job_tally job = run2(network, WRITE, costs->settings, SENDER, late);

    CHECK(job.finish.max ==
          bare.finish.max + sum(costs, REGISTERING | RECEIVING) + 2 * sum(costs, DELAY));
}

/* With copies=eager the CPU does not touch long messages. */
static void check_copies(const struct network *network, const struct costs *costs)
{
    struct costs eager = *costs;
    struct wf_job_tally bare = run2(network, WRITE, NULL, SENDER, RECEIVER);
    size_t n = 0;

    while (eager.settings[n] != NULL) {
        n++;
    }
    eager.settings[n] = "copies";
    eager.settings[n + 1] = "eager";
    struct wf_job_tally job = run2(network, WRITE, eager.settings, SENDER, RECEIVER);
    CHECK(job.finish.max == bare.finish.max + costs->time[O_SEND] +
                                2 * sum(costs, REGISTERING) + 3 * sum(costs, DELAY) +
                                costs->time[O_RECV]);
    job = run2(network, EAGER, eager.settings, SENDER, RECEIVER);
    CHECK(job.finish.max == sum(costs, SENDING | DELAY | RECEIVING) + alone(network, K));
}

static const char *const WRITE_IN_CALLS[] = {"eager_max", "3999", "progress", "calls", NULL};
static const char *const READ_IN_CALLS[] = {"eager_max",  "3999", "progress", "calls",
                                            "rendezvous", "read", NULL};

/* A sender that computes: with write and progress in calls it has to answer the receiver, with
 * read its network interface does. */
static void check_computing_sender(const struct network *network, const struct costs *costs)
{
    int64_t computed = LONG_COMPUTE * UNIT_ROUTER * 10;
    const struct wf_op busy[] = {ISEND(1, 0, K, 0), COMPUTE(computed), WAIT(0), END};
    struct wf_job_tally bare =
        without(network, WRITE_IN_CALLS, busy, RECEIVER, computed + alone(network, K));
    int64_t called = sum(costs, SENDING | REGISTERING);
    struct wf_job_tally job = run2(network, WRITE_IN_CALLS, costs->settings, busy, RECEIVER);

    CHECK(job.finish.max == bare.finish.max + called + sum(costs, DELAY | RECEIVING));
    bare = run2(network, READ_IN_CALLS, NULL, busy, RECEIVER);
    CHECK(bare.finish.min < computed);
    job = run2(network, READ_IN_CALLS, costs->settings, busy, RECEIVER);
    CHECK(job.finish.max == computed + called);
    CHECK(job.finish.min == bare.finish.min + called + sum(costs, REGISTERING | RECEIVING) +
                                3 * sum(costs, DELAY));
}

/* A receiver that computes asks, registers and confirms in its calls. */
static void check_computing_receiver(const struct network *network, const struct costs *costs)
{
    int64_t computed = LONG_COMPUTE * UNIT_ROUTER * 10;
    const struct wf_op busy[] = {IRECV(0, 0, 0),    COMPUTE(computed), SET_OP(TEST, 0, 1),
                                 COMPUTE(computed), WAIT(0),           END};
    struct wf_job_tally bare =
        without(network, READ_IN_CALLS, SENDER, busy, 2 * computed + alone(network, 0));
    struct wf_job_tally job = run2(network, READ_IN_CALLS, costs->settings, SENDER, busy);
    int64_t received = bare.finish.min + sum(costs, REGISTERING | RECEIVING);
    int64_t confirmed = bare.finish.max + sum(costs, REGISTERING | DELAY);

    CHECK(bare.finish.min == 2 * computed);
    CHECK(job.finish.max == wf_max_i64(received, confirmed));
    CHECK(job.finish.min == wf_min_i64(received, confirmed));
    CHECK(job.overhead.min + job.overhead.max ==
          sum(costs, SENDING | REGISTERING | RECEIVING) + sum(costs, REGISTERING));
}

/* Two announcements that come while a rank waits are handled one after another in calls. */
static void registrations_take_turns_in_calls(void)
{
    static const char *const mpi[] = {"eager_max", "3999", "progress", "calls", NULL};
    static const char *const node[] = {"registration", "7us", NULL};
    const struct wf_op zero[] = {IRECV(1, 0, 0), IRECV(2, 0, 1), WAITALL(0, 2), END};
    const struct wf_op one[] = {SEND(0, 0, K), END};
    const struct wf_op *const ranks[] = {zero, one, one};
    int64_t r = 7000000, l = 1000, tail = K - 1;
    struct wf_job_tally job = run(&networks[0], mpi, node, 1, ranks, 3);

    /* Each sender registers, then rank 0 twice; the second announcement is the later one. */
    CHECK(job.finish.max == 3 * r + 3 * l + tail);
    CHECK(job.overhead.max == 2 * r);
}

/* A rank waits in a barrier when a message is announced: it registers, and goes on after that,
 * although the barrier is over before. */
static void registering_outlasts_a_barrier(void)
{
    static const char *const node[] = {"registration", "7us", NULL};
    int64_t r = 7000000, l = 1000, computed = 90000000;
    const struct wf_op zero[] = {IRECV(1, 0, 0), BARRIER, COMPUTE(computed), WAIT(0), END};
    const struct wf_op one[] = {ISEND(0, 0, K, 0), BARRIER, WAIT(0), END};
    struct wf_job_tally job = run2(&networks[0], WRITE_IN_CALLS, node, zero, one);

    CHECK(job.finish.max == r + l + r + computed);
    CHECK(job.overhead.min == r && job.overhead.max == r);
}

/* ---- within a node ---- */

static void check_within_a_node(const struct network *network, const struct costs *costs)
{
    static const char *const local[] = {"local_latency", "1us", "local_bandwidth", "4GB/s",
                                        NULL};
    static const char *const local_write[] = {
        "local_latency", "1us", "local_bandwidth", "4GB/s", "eager_max", "3999", NULL};
    static const char *const none[] = {"local", "false", NULL};
    static const struct wf_op *const ranks[] = {SENDER, RECEIVER};
    int64_t latency = 1000000, transfer = K * INT64_C(250);
    struct wf_job_tally job = run(network, local, costs->settings, 2, ranks, 2);

    CHECK(job.finish.max == sum(costs, SENDING | RECEIVING) + latency + transfer);
    job = run(network, local_write, costs->settings, 2, ranks, 2);
    CHECK(job.finish.max == sum(costs, SENDING | RECEIVING) + 3 * latency + transfer);
    /* Through the network after all: then it passes the interface twice. */
    int64_t there = run(network, none, NULL, 2, ranks, 2).finish.max;
    job = run(network, none, costs->settings, 2, ranks, 2);
    CHECK(job.finish.max == sum(costs, SENDING | DELAY | RECEIVING) + there);
}

/* ---- collectives and one-sided operations ---- */

static void check_collectives(const struct network *network, const struct costs *costs)
{
    const struct wf_op ops[] = {ALLREDUCE(K), END};
    const struct wf_op icoll[] = {ICOLL(IALLREDUCE, K, 0), WAIT(0), END};
    static const char *const doubling[] = {"allreduce", "recursive_doubling", NULL};
    int64_t there = run2(network, doubling, NULL, ops, ops).finish.max;
    int64_t expected = sum(costs, SENDING | DELAY | RECEIVING) + there;
    struct wf_job_tally job = run2(network, doubling, costs->settings, ops, ops);

    CHECK(job.finish.min == expected && job.finish.max == expected);
    CHECK(job.overhead.min == sum(costs, SENDING | RECEIVING));
    CHECK(job.wait[WF_IN_COLLECTIVE].max == sum(costs, DELAY) + there);
    job = run2(network, doubling, costs->settings, icoll, icoll);
    CHECK(job.finish.max == expected);
    CHECK(job.overhead.max == 0);
}

/* In a collective the receives of a late rank find announcements: in calls it registers then.
 */
static void check_long_collectives(const struct network *network, const struct costs *costs)
{
    static const char *const mpi[] = {"bcast", "binomial", "eager_max", "3999", NULL};
    static const char *const in_calls[] = {"bcast",    "binomial", "eager_max", "3999",
                                           "progress", "calls",    NULL};
    int64_t computed = LONG_COMPUTE * UNIT_ROUTER;
    const struct wf_op root[] = {COLL(BCAST, K), END};
    const struct wf_op late[] = {COMPUTE(computed), COLL(BCAST, K), END};
    struct wf_job_tally bare =
        without(network, mpi, root, late, computed + alone(network, 0) + alone(network, K));
    int64_t expected =
        bare.finish.max + sum(costs, REGISTERING | RECEIVING) + 2 * sum(costs, DELAY);
    struct wf_job_tally job = run2(network, mpi, costs->settings, root, late);

    CHECK(job.finish.max == expected);
    CHECK(job.overhead.min + job.overhead.max == sum(costs, SENDING | REGISTERING | RECEIVING));
    job = run2(network, in_calls, costs->settings, root, late);
    CHECK(job.finish.max == expected);
    CHECK(job.overhead.min + job.overhead.max ==
          sum(costs, SENDING | REGISTERING | RECEIVING) + sum(costs, REGISTERING));
}

static void check_one_sided(const struct network *network, const struct costs *costs)
{
    const struct wf_op put[] = {PEER_OP(PUT, 1, 0, K, 0), {.kind = WF_OP_WIN_FLUSH}, END};
    const struct wf_op get[] = {PEER_OP(GET, 1, 0, K, 0), {.kind = WF_OP_WIN_FLUSH}, END};
    const struct wf_op none[] = {END};
    int64_t there_and_back = alone(network, 0) + alone(network, K);
    int64_t more = costs->time[O_SEND] + 2 * sum(costs, DELAY);
    struct wf_job_tally bare = without(network, EAGER, put, none, there_and_back);

    CHECK(run2(network, EAGER, costs->settings, put, none).finish.max ==
          bare.finish.max + more);
    bare = without(network, EAGER, get, none, there_and_back);
    CHECK(run2(network, EAGER, costs->settings, get, none).finish.max ==
          bare.finish.max + more);
}

/* ---- the gap ---- */

enum { BURST = 4 };
static const int64_t GAP = 50000000;
static const char *const GAPS[] = {"gap", "50us", NULL};

/* Messages of a byte leave a gap apart, whatever the network does. */
static void a_burst_is_limited_by_the_gap(void)
{
    const struct wf_op zero[] = {SEND(1, 0, 1), SEND(1, 0, 1), SEND(1, 0, 1), SEND(1, 0, 1),
                                 END};
    const struct wf_op one[] = {RECV(0, 0), RECV(0, 0), RECV(0, 0), RECV(0, 0), END};

    for (size_t i = 0; i < NETWORKS; i++) {
        struct wf_job_tally job = run2(&networks[i], EAGER, GAPS, zero, one);

        CHECK(job.finish.max == (BURST - 1) * GAP + alone(&networks[i], 1));
        CHECK(job.finish.min == 0); /* the rank does not wait for its interface */
    }
}

/* Ranks of a node share its interface, in the order of time: the rank with the lower number
 * sends later. */
static void ranks_of_a_node_share_the_gap(void)
{
    int64_t computed = 10000000;
    const struct wf_op zero[] = {COMPUTE(computed), SEND(2, 0, 1), END};
    const struct wf_op one[] = {SEND(3, 0, 1), END};
    const struct wf_op two[] = {RECV(0, 0), END};
    const struct wf_op three[] = {RECV(1, 0), END};
    const struct wf_op *const ranks[] = {zero, one, two, three};

    for (size_t i = 0; i < NETWORKS; i++) {
        struct wf_job_tally job = run(&networks[i], EAGER, GAPS, 2, ranks, 4);

        CHECK(job.finish.max == GAP + alone(&networks[i], 1));
        CHECK(job.wait[WF_IN_RECV].min == 0);
        CHECK_U64(job.finish.sum_low, (uint64_t)(computed + GAP + 2 * alone(&networks[i], 1)));
    }
}

/* Messages to different nodes leave a gap apart. */
static void a_sender_has_a_gap(void)
{
    const struct wf_op zero[] = {SEND(1, 0, 1), SEND(3, 0, 1), END};
    const struct wf_op one[] = {RECV(0, 0), END};
    const struct wf_op none[] = {END};
    const struct wf_op *const ranks[] = {zero, one, none, one};

    for (size_t i = 0; i < NETWORKS; i++) {
        CHECK(run(&networks[i], EAGER, GAPS, 1, ranks, 4).finish.max ==
              GAP + alone(&networks[i], 1));
    }
}

/* Messages from two nodes reach a third one at once. */
static void a_receiver_has_a_gap(void)
{
    const struct wf_op one[] = {SEND(1, 0, 1), END};
    const struct wf_op two[] = {RECV(0, 0), RECV(2, 0), END};
    const struct wf_op *const ranks[] = {one, two, one};

    for (size_t i = 0; i < NETWORKS; i++) {
        struct wf_job_tally job = run(&networks[i], EAGER, GAPS, 1, ranks, 3);
        int64_t without = run(&networks[i], EAGER, NULL, 1, ranks, 3).finish.max;

        /* The network may have delivered them one after another. */
        CHECK(job.finish.max >= GAP + alone(&networks[i], 1));
        CHECK(job.finish.max <= GAP + without);
    }
}

/* Messages within a node do not pass its interface, those of a node to itself by the network
 * do. */
static void only_the_network_has_a_gap(void)
{
    static const char *const none[] = {"local", "false", NULL};
    const struct wf_op zero[] = {SEND(1, 0, 1), SEND(1, 0, 1), END};
    const struct wf_op one[] = {RECV(0, 0), RECV(0, 0), END};
    const struct wf_op *const ranks[] = {zero, one};

    for (size_t i = 0; i < NETWORKS; i++) {
        CHECK(run(&networks[i], EAGER, GAPS, 2, ranks, 2).finish.max < GAP);
        CHECK(run(&networks[i], none, GAPS, 2, ranks, 2).finish.max >= GAP);
    }
}

/* ---- the order of arrivals ---- */

/* A message of the network is first, but its interfaces delay it until one of a rank on the
 * same node has arrived: a wildcard receive takes that one. */
static void delays_count_in_the_order_of_arrivals(void)
{
    static const char *const node[] = {"ejection_delay", "500us", NULL};
    const struct wf_op zero[] = {COMPUTE(200 * UNIT_ROUTER), SEND(1, 0, 8), END};
    const struct wf_op one[] = {RECV(WF_ANY_SOURCE, 0), RECV(2, 0), END};
    const struct wf_op two[] = {SEND(1, 0, 8), END};
    const struct wf_op none[] = {END};
    const struct wf_op *const ranks[] = {zero, one, two, none};

    for (size_t i = 0; i < NETWORKS; i++) {
        struct script script = make_script(ranks, 4);
        struct setup setup = networks[i].setup;

        script.source.depends_on_time = true;
        setup.source = &script.source;
        setup.node = node;
        setup.ranks_per_node = 2;
        struct outcome out = replay(&setup);
        CHECK_U64(out.tally.unfinished, 0);
        CHECK(out.tally.all.finish.max == 500 * UNIT_ROUTER + alone(&networks[i], 8));
        setup.scheduler = WF_CHECK_UNDO;
        CHECK_U64(replay(&setup).run.digest, out.run.digest);
    }
}

/* With a limit for unexpected messages only those count that have arrived. */
static void delayed_messages_are_not_there_yet(void)
{
    static const char *const node[] = {"injection_delay", "500us", NULL};
    static const char *const limit[] = {"unexpected_limit", "8B", NULL};
    const struct wf_op zero[] = {SEND(1, 0, 8), SEND(1, 1, 8), END};
    const struct wf_op one[] = {COMPUTE(400 * UNIT_ROUTER), RECV(0, 1), RECV(0, 0), END};
    const struct wf_op late[] = {COMPUTE(600 * UNIT_ROUTER), RECV(0, 1), RECV(0, 0), END};

    for (size_t i = 0; i < NETWORKS; i++) {
        CHECK(run2(&networks[i], limit, node, zero, one).finish.max > 500 * UNIT_ROUTER);
        CHECK(run2(&networks[i], limit, node, zero, late).finish.max < 0); /* fails */
    }
}

/* ---- LogGP ---- */

/* `auto` is the overhead of LogGP; a value replaces it. */
static void loggp_brings_its_overhead(void)
{
    static const struct network loggp = {{.net = &wf_net_loggp_ops, .net_params = &LOGGP_O},
                                         false};
    static const char *const send[] = {"o_send", "11ps", NULL};
    static const char *const both[] = {"o_send", "11ps", "o_recv", "0", NULL};
    int64_t there = 1000 + K - 1;

    CHECK(run2(&loggp, EAGER, NULL, SENDER, RECEIVER).finish.max == 77 + there + 77);
    CHECK(run2(&loggp, EAGER, send, SENDER, RECEIVER).finish.max == 11 + there + 77);
    CHECK(run2(&loggp, EAGER, both, SENDER, RECEIVER).finish.max == 11 + there);
}

/* All rates are rounded up, once for a message. */
static void rates_are_rounded_once(void)
{
    static const char *const node[] = {"copy_send", "3GB/s", "copy_recv", "7GB/s", NULL};
    const struct wf_op zero[] = {SEND(1, 0, 1000), END};

    CHECK(run2(&networks[0], EAGER, node, zero, RECEIVER).finish.max ==
          333334 + 1000 + 999 + 142858);
}

static void eager_messages(void)
{
    for_all(check_eager);
}

static void unexpected_messages(void)
{
    for_all(check_unexpected);
}

static void rendezvous_by_write(void)
{
    for_all(check_write);
}

static void rendezvous_by_read(void)
{
    for_all(check_read);
}

static void late_receives(void)
{
    for_all(check_late_receive);
}

static void copies_of_eager_messages_only(void)
{
    for_all(check_copies);
}

static void computing_senders(void)
{
    for_all(check_computing_sender);
}

static void computing_receivers(void)
{
    for_all(check_computing_receiver);
}

static void messages_within_a_node(void)
{
    for_all(check_within_a_node);
}

static void collectives(void)
{
    for_all(check_collectives);
}

static void long_collectives(void)
{
    for_all(check_long_collectives);
}

static void one_sided_operations(void)
{
    for_all(check_one_sided);
}

int main(void)
{
    RUN(eager_messages);
    RUN(unexpected_messages);
    RUN(only_earlier_messages_are_unexpected);
    RUN(rendezvous_by_write);
    RUN(rendezvous_by_read);
    RUN(late_receives);
    RUN(copies_of_eager_messages_only);
    RUN(computing_senders);
    RUN(computing_receivers);
    RUN(registrations_take_turns_in_calls);
    RUN(registering_outlasts_a_barrier);
    RUN(messages_within_a_node);
    RUN(collectives);
    RUN(long_collectives);
    RUN(one_sided_operations);
    RUN(a_burst_is_limited_by_the_gap);
    RUN(ranks_of_a_node_share_the_gap);
    RUN(a_sender_has_a_gap);
    RUN(a_receiver_has_a_gap);
    RUN(only_the_network_has_a_gap);
    RUN(delays_count_in_the_order_of_arrivals);
    RUN(delayed_messages_are_not_there_yet);
    RUN(loggp_brings_its_overhead);
    RUN(rates_are_rounded_once);
    return wf_test_done();
}
