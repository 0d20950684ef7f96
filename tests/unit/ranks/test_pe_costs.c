/* SPDX-License-Identifier: Apache-2.0 */
/* What the messages of task graphs cost their nodes, to the picosecond and under every
 * scheduler: each part alone and all together, on network models of every kind. The rules are
 * in docs/models/node.md. */
#include "harness/pe_harness.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/net/packet/packet.h"
#include "model/net/router/router.h"

static const struct wf_net_loggp_params LOGGP = {.latency = 1000,
                                                 .gap = 10,
                                                 .eager_max = WF_PARAM_WORD,
                                                 .bandwidth = 1000000000000 * WF_RATE_BYTE};

static const struct {
    const struct wf_net_ops *ops;
    const void *params;
    const char *topology;
} networks[] = {
    {&wf_net_loggp_ops, &LOGGP, NULL},
    {&wf_net_latency_ops, NULL, "torus:4"},
    {&wf_net_packet_ops, NULL, "torus:4"},
    {&wf_net_router_ops, NULL, "torus:4"},
};
enum { NETWORKS = sizeof(networks) / sizeof(networks[0]) };

/* Times are whole microseconds: the router model counts in cycles of a nanosecond. */
#define US INT64_C(1000000)
enum { K = 4000 };
enum part { O_SEND, O_RECV, COPY_SEND, COPY_RECV, INJECTION, EJECTION, PARTS };

/* The parts, and how long each takes for a message of K bytes. */
static const struct {
    const char *name, *value;
    int64_t time;
} parts[PARTS] = {
    [O_SEND] = {"o_send", "3us", 3 * US},
    [O_RECV] = {"o_recv", "5us", 5 * US},
    [COPY_SEND] = {"copy_send", "500MB/s", 8 * US},
    [COPY_RECV] = {"copy_recv", "250MB/s", 16 * US},
    [INJECTION] = {"injection_delay", "32us", 32 * US},
    [EJECTION] = {"ejection_delay", "64us", 64 * US},
};

/* Some of the parts: settings, and the times of the sender, the interfaces, the receiver. */
struct costs {
    const char *settings[2 * PARTS + 1];
    int64_t sending, delay, receiving;
};

static struct costs make_costs(int only)
{
    struct costs costs = {.sending = 0};
    int64_t *const where[PARTS] = {&costs.sending,   &costs.receiving, &costs.sending,
                                   &costs.receiving, &costs.delay,     &costs.delay};
    size_t n = 0;

    for (int part = 0; part < PARTS; part++) {
        if (only == PARTS || only == part) {
            costs.settings[n++] = parts[part].name;
            costs.settings[n++] = parts[part].value;
            *where[part] += parts[part].time;
        }
    }
    return costs;
}

/* When the first and the last PE are done; -1 if the schedulers disagree. Both ways to divide a
 * run into events must agree as well. */
struct ends {
    int64_t first, last, overhead;
};

static struct ends run(size_t network, const struct drawing *d, uint32_t pes_per_node,
                       const char *const *settings)
{
    struct wf_pe_tally tally, multi;
    struct pe_setup setup = {
        .graph = &d->graph,
        .net_ops = networks[network].ops,
        .net_params = networks[network].params,
        .topology = networks[network].topology,
        .mpi = {.local = true,
                .local_latency = US,
                .local_bandwidth = UINT64_C(1000000000) * WF_RATE_BYTE},
        .pes_per_node = pes_per_node,
    };

    bool same = run_every_way(setup, settings, &tally);
    setup.granularity = WF_PE_MULTI;
    same = same && run_every_way(setup, settings, &multi) &&
           multi.replay.all.finish.max == tally.replay.all.finish.max;
    if (!same) {
        return (struct ends){-1, -1, -1};
    }
    return (struct ends){tally.replay.all.finish.min, tally.replay.all.finish.max,
                         (int64_t)tally.replay.all.overhead.sum_low};
}

static struct drawing new_drawing(uint32_t n_pes)
{
    return (struct drawing){.graph = {.ops = &drawing_ops, .n_pes = n_pes}};
}

static struct wf_task_send to(uint32_t pe, uint32_t task)
{
    return (struct wf_task_send){.bytes = K, .pe = pe, .id = task};
}

/* A task of PE 0 sends to one of PE 1. */
static struct drawing one_message(void)
{
    struct drawing d = new_drawing(2);

    (void)draw_task(&d, 0, 0);
    (void)draw_task(&d, 1, 7 * US);
    draw_send(&d, 0, 0, to(1, 0));
    return d;
}

static void a_message(void)
{
    struct drawing d = one_message();

    for (size_t i = 0; i < NETWORKS; i++) {
        struct ends bare = run(i, &d, 1, NULL);

        for (int part = 0; part <= PARTS; part++) {
            struct costs costs = make_costs(part);
            struct ends ends = run(i, &d, 1, costs.settings);
            CHECK(ends.first == costs.sending);
            CHECK(ends.last == bare.last + costs.sending + costs.delay + costs.receiving);
            CHECK(ends.overhead == costs.sending + costs.receiving);
        }
    }
}

/* A task needs messages of two PEs: both have to be received before it starts. */
static void two_messages(void)
{
    struct drawing d = new_drawing(3);

    for (uint32_t pe = 0; pe < 3; pe++) {
        (void)draw_task(&d, pe, 0);
    }
    draw_send(&d, 0, 0, to(1, 0));
    draw_send(&d, 2, 0, to(1, 0));
    for (size_t i = 0; i < NETWORKS; i++) {
        struct costs costs = make_costs(PARTS);
        struct ends bare = run(i, &d, 1, NULL), ends = run(i, &d, 1, costs.settings);

        CHECK(ends.last == bare.last + costs.sending + costs.delay + 2 * costs.receiving);
    }
}

/* Within a node a message does not pass the network interface; one to the PE itself neither. */
static void messages_within_a_node(void)
{
    struct costs costs = make_costs(PARTS);
    struct drawing pair = one_message(), self = new_drawing(1);

    (void)draw_task(&self, 0, 0);
    (void)draw_task(&self, 0, 7 * US);
    draw_send(&self, 0, 0, to(0, 1));
    for (size_t i = 0; i < NETWORKS; i++) {
        CHECK(run(i, &pair, 2, costs.settings).last ==
              costs.sending + US + K * INT64_C(1000) + costs.receiving + 7 * US);
        CHECK(run(i, &self, 1, costs.settings).last ==
              costs.sending + costs.receiving + 7 * US);
    }
}

/* Three messages of one task leave its node a gap apart, and so do those of three PEs. */
static void the_gap_of_an_interface(void)
{
    static const char *const settings[] = {"gap", "50us", NULL};
    struct drawing one = new_drawing(2), three = new_drawing(6);

    (void)draw_task(&one, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        (void)draw_task(&one, 1, 0);
        draw_send(&one, 0, 0, to(1, i));
    }
    for (uint32_t pe = 0; pe < 6; pe++) {
        (void)draw_task(&three, pe, 0);
    }
    for (uint32_t pe = 0; pe < 3; pe++) {
        draw_send(&three, pe, 0, to(pe + 3, 0));
    }
    struct drawing single = one_message();
    for (size_t i = 0; i < NETWORKS; i++) {
        int64_t alone = run(i, &single, 1, settings).last - 7 * US;

        CHECK(run(i, &one, 1, settings).last == 2 * 50 * US + alone);
        CHECK(run(i, &three, 3, settings).last == 2 * 50 * US + alone);
    }
}

int main(void)
{
    RUN(a_message);
    RUN(two_messages);
    RUN(messages_within_a_node);
    RUN(the_gap_of_an_interface);
    return wf_test_done();
}
