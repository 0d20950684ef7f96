/* SPDX-License-Identifier: Apache-2.0 */
/* Random correct programs: running ahead of the engine's time changes no time, no scheduler
 * changes anything, and nothing is left behind. */
#include "harness/node_costs.h"
#include "harness/random_program.h"
#include "harness/replay_harness.h"
#include "model/net/alphabeta.h"
#include "model/net/latency.h"
#include "model/net/loggp.h"
#include "model/net/packet/packet.h"

enum { PROGRAMS = 40 / WF_TEST_ONE_IN, ROUNDS = 12 };

static const char *const eager[] = {NULL};
static const char *const rendezvous[] = {"eager_max", "4000", "control_bytes", "32", NULL};
static const char *const read_data[] = {"eager_max", "4000", "rendezvous", "read", NULL};
static const char *const in_calls[] = {"eager_max", "4000", "progress", "calls", NULL};
static const char *const read_in_calls[] = {"eager_max",  "4000", "progress", "calls",
                                            "rendezvous", "read", NULL};
static const char *const in_waits[] = {"eager_max", "4000", "progress", "waits", NULL};
static const char *const read_in_waits[] = {"eager_max",  "4000", "progress", "waits",
                                            "rendezvous", "read", NULL};
static const char *const eager_calls[] = {"progress", "calls", NULL};
/* Collectives of a communicator run one after another. */
static const char *const serial[] = {"coll_order", "serial", NULL};
static const char *const serial_calls[] = {"coll_order", "serial", "eager_max", "4000",
                                           "progress",   "calls",  NULL};
static const char *const serial_waits[] = {"coll_order", "serial",   "eager_max",
                                           "4000",       "progress", "waits",
                                           "allreduce",  "hardware", NULL};
/* Ranks may run ahead with the first ones. */
static const char *const *const protocols[] = {
    eager,         rendezvous, read_data,     serial,       in_calls,    eager_calls,
    read_in_calls, in_waits,   read_in_waits, serial_calls, serial_waits};
enum { PROTOCOLS = sizeof(protocols) / sizeof(protocols[0]), AHEAD = 4 };

/* Ranks of a node share the memory of two domains. */
static const char *const memory[] = {
    "domains", "2", "local_latency", "200ns,500ns,900ns", "memory_bandwidth", "3GB/s", NULL};

static const char *const noise[] = {"noise", "uniform", "noise_period", "2us", "noise_duration",
                                    "500ns", NULL};

/* Ranks notice messages late. */
static const char *const looks[] = {"poll", "3us", NULL};

/* Ranks share cores: all the two or three of a node, in turn or in slices. */
static const char *const cores[] = {"cores", "2", "switch_cost", "30ns", NULL};
static const char *const slices[] = {
    "cores",        "1",   "switch_cost",    "1ns",   "time_slice", "300ns", "noise", "uniform",
    "noise_period", "1us", "noise_duration", "100ns", NULL};

static const struct setup networks[] = {
    {.net = &wf_net_alphabeta_ops},
    {.net = &wf_net_latency_ops, .topo = "torus:3x3"},
    {.net = &wf_net_loggp_ops},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 2},
    {.net = &wf_net_latency_ops, .topo = "torus:3", .ranks_per_node = 4},
    {.net = &wf_net_alphabeta_ops, .ranks_per_node = 8, .node = memory},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 5, .node = cores},
    {.net = &wf_net_latency_ops, .topo = "torus:3x3", .node = noise},
    {.net = &wf_net_latency_ops, .topo = "torus:3", .ranks_per_node = 3, .node = slices},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 4, .node = memory},
    {.net = &wf_net_packet_ops, .topo = "torus:3x3x2", .ranks_per_node = 2, .node = stripes},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 3, .node = turns},
    {.net = &wf_net_loggp_ops, .ranks_per_node = 2, .node = looks},
    {.net = &wf_net_packet_ops, .topo = "torus:3x3", .node = looks},
};
enum { NETWORKS = sizeof(networks) / sizeof(networks[0]) };

static bool is_complete(const struct outcome *out)
{
    return out->status == WF_OK && out->tally.unfinished == 0 && out->tally.unreceived == 0;
}

/* Where nothing is shared, the order in which messages are handed to the network is of no
 * account, and the times must be the same to the picosecond. */
static void running_ahead_changes_no_time(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program *program = program_new(seed, ROUNDS, false);

        for (size_t i = 0; i < (size_t)2 * AHEAD; i++) {
            struct setup setup = networks[i % 2];
            setup.source = &program->script.source;
            setup.mpi = protocols[i / 2];
            setup.costs = costs_of(seed);
            struct outcome ahead = replay(&setup);
            setup.in_step = true;
            struct outcome in_step = replay(&setup);
            if (!is_complete(&ahead) || !is_complete(&in_step) ||
                memcmp(&ahead.tally, &in_step.tally, sizeof(ahead.tally)) != 0) {
                printf("# seed %d, network %d, protocol %d\n", (int)seed, (int)i % 2,
                       (int)i / 2);
            }
            CHECK(is_complete(&ahead) && is_complete(&in_step));
            CHECK(memcmp(&ahead.tally, &in_step.tally, sizeof(ahead.tally)) == 0);
        }
        program_free(program);
    }
}

/* The settings of a protocol, and messages within a node pass the network. */
static const char *const *by_network(const char *const *protocol)
{
    enum { MOST = 16 };
    static const char *settings[MOST];
    size_t n = 0;

    for (; protocol[n] != NULL && n < MOST - 3; n++) {
        settings[n] = protocol[n];
    }
    settings[n] = "local";
    settings[n + 1] = "false";
    settings[n + 2] = NULL;
    return settings;
}

static bool is_in_calls(const char *const *protocol)
{
    return protocol == in_calls || protocol == read_in_calls || protocol == eager_calls ||
           protocol == in_waits || protocol == read_in_waits || protocol == serial_calls ||
           protocol == serial_waits;
}

/* A second job, which does nothing, has the other half of the slots, so that every core has two
 * ranks and one that wants it: ranks claim cores and never wait for them. (A call that registers
 * memory for a receive makes no claim, and is left out.) */
static void a_core_that_nobody_else_wants_changes_no_time(void)
{
    static const struct wf_op nothing[] = {END};
    static const struct wf_op *idle[PROGRAM_RANKS];
    static const char *const enough[] = {"cores", "9", "time_slice", "100ns", NULL};

    for (uint32_t i = 0; i < PROGRAM_RANKS; i++) {
        idle[i] = nothing;
    }
    struct script script = make_script(idle, PROGRAM_RANKS);
    _Static_assert(PROGRAM_RANKS == 9, "a core for each rank");
    for (uint64_t seed = 1; seed <= PROGRAMS; seed += 5) {
        struct program *program = program_new(seed, ROUNDS, false);
        const struct wf_ranks_job jobs[] = {{.source = &program->script.source, .repeat = 1},
                                            {.source = &script.source, .repeat = 1}};

        for (size_t i = 0; i < (size_t)2 * PROTOCOLS; i++) {
            const char *const *protocol = protocols[i / 2];
            bool far = i % 2 == 1;
            struct setup setup = {.net = &wf_net_alphabeta_ops,
                                  .ranks_per_node = 2 * PROGRAM_RANKS,
                                  .jobs = jobs,
                                  .n_jobs = 2,
                                  .mpi = far ? by_network(protocol) : protocol,
                                  .costs =
                                      far && is_in_calls(protocol) ? NULL : costs_of(seed)};
            struct outcome alone = replay(&setup);
            setup.node = enough;
            struct outcome shared = replay(&setup);
            struct wf_job_tally *job = &shared.jobs[0];
            bool same = is_complete(&alone) && is_complete(&shared) &&
                        job->wait[WF_IN_CORE].n == PROGRAM_RANKS &&
                        job->wait[WF_IN_CORE].max == 0;
            memset(&job->wait[WF_IN_CORE], 0, sizeof(job->wait[WF_IN_CORE]));
            same &= memcmp(job, &alone.jobs[0], sizeof(*job)) == 0;
            if (!same) {
                printf("# seed %d, protocol %d%s\n", (int)seed, (int)i / 2, far ? ", far" : "");
            }
            CHECK(same);
        }
        program_free(program);
    }
}

static void a_complete_program_leaves_no_cells(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program *program = program_new(seed, ROUNDS, true);

        /* Each program has a third of the combinations. */
        for (size_t i = seed % 3; i < (size_t)NETWORKS * PROTOCOLS; i += 3) {
            struct setup setup = networks[i % NETWORKS];
            setup.source = &program->script.source;
            setup.mpi = long_enough(&setup, protocols[i / NETWORKS], rendezvous);
            setup.costs = costs_of(seed);
            setup.count_cells = true;
            struct outcome out = replay(&setup);
            if (!is_complete(&out) || out.cells != 0) {
                printf("# seed %d, network %d, protocol %d\n", (int)seed, (int)i % NETWORKS,
                       (int)i / NETWORKS);
            }
            CHECK(is_complete(&out));
            CHECK_U64(out.cells, 0);
        }
        program_free(program);
    }
}

/* Compares a run under everything with the sequential one. */
static bool same_under_all(struct setup setup)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE,
                                                   WF_OPTIMISTIC, WF_PERTURB};
    struct outcome expected = replay(&setup);

    for (size_t i = 0; i < 2 * sizeof(schedulers) / sizeof(schedulers[0]); i++) {
        setup.scheduler = schedulers[i / 2];
        setup.threads = 1 + i % 2;
        setup.perturb_seed = 1 + i;
        if (setup.scheduler == WF_CHECK_UNDO && setup.threads > 1) {
            continue;
        }
        struct outcome out = replay(&setup);
        if (out.status != WF_OK || out.run.digest != expected.run.digest ||
            memcmp(&out.tally, &expected.tally, sizeof(out.tally)) != 0) {
            printf("# %s, %d threads\n", wf_scheduler_names[setup.scheduler],
                   (int)setup.threads);
            return false;
        }
    }
    return is_complete(&expected);
}

static void all_schedulers_agree(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program *program = program_new(1000 + seed, ROUNDS, true);
        struct setup setup = networks[seed % NETWORKS];

        setup.source = &program->script.source;
        setup.mpi =
            long_enough(&setup, protocols[(seed + seed / NETWORKS) % PROTOCOLS], rendezvous);
        setup.costs = costs_of(seed / 2);
        setup.batch = 4;
        setup.gvt_interval = 4;
        bool same = same_under_all(setup);
        if (!same) {
            printf("# seed %d\n", (int)seed);
        }
        CHECK(same);
        program_free(program);
    }
}

int main(void)
{
    RUN(running_ahead_changes_no_time);
    RUN(a_core_that_nobody_else_wants_changes_no_time);
    RUN(a_complete_program_leaves_no_cells);
    RUN(all_schedulers_agree);
    return wf_test_done();
}
