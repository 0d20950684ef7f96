/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a node: where rank slots are, and messages between them, to the picosecond.
 * The equations are in docs/models/node.md. */
#include "model/ranks/cores.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"

/* ---- where slots are ---- */

static struct wf_cores cores_of(const char *const *pairs, uint32_t slots_max)
{
    struct wf_node_params *node = make_params(wf_node_params, sizeof(*node));
    struct wf_err err = {.status = WF_OK};

    set_params(wf_node_params, node, pairs);
    must(wf_node_params_check(node, &err), &err);
    struct wf_cores cores = wf_cores_init(node, slots_max);
    free_params(wf_node_params, node);
    return cores;
}

/* The core of each slot as a text: "0 1 2". */
static const char *cores_text(const struct wf_cores *cores, uint32_t n_slots)
{
    static char text[256];
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u",
                                   slot > 0 ? " " : "", wf_cores_core(cores, slot));
    }
    return text;
}

static void packed_slots_fill_one_domain_after_another(void)
{
    static const char *const node[] = {"sockets", "2", "domains", "4", "cores", "8", NULL};
    struct wf_cores cores = cores_of(node, 6);

    CHECK_STR(cores_text(&cores, 6), "0 1 2 3 4 5");
    CHECK(!cores.shared);
    CHECK(wf_cores_domain(&cores, 1) == 0 && wf_cores_domain(&cores, 2) == 1);
    CHECK(wf_cores_distance(&cores, 0, 1) == WF_CORES_DOMAIN);
    CHECK(wf_cores_distance(&cores, 1, 2) == WF_CORES_SOCKET);
    CHECK(wf_cores_distance(&cores, 3, 4) == WF_CORES_NODE);
    CHECK_U64(wf_cores_domains_used(&cores, 6), 3);
}

static void spread_slots_go_to_the_domains_in_turn(void)
{
    static const char *const node[] = {"sockets", "2",    "domains", "4", "cores",
                                       "8",       "bind", "spread",  NULL};
    struct wf_cores cores = cores_of(node, 6);

    CHECK_STR(cores_text(&cores, 6), "0 2 4 6 1 3");
    CHECK(wf_cores_distance(&cores, 0, 4) == WF_CORES_DOMAIN);
    CHECK(wf_cores_distance(&cores, 0, 1) == WF_CORES_SOCKET);
    CHECK(wf_cores_distance(&cores, 1, 2) == WF_CORES_NODE);
    CHECK_U64(wf_cores_domains_used(&cores, 3), 3);
}

static void more_slots_than_cores_go_round_again(void)
{
    static const char *const pack[] = {"domains", "2", "cores", "4", NULL};
    static const char *const spread[] = {"domains", "2", "cores", "4", "bind", "spread", NULL};
    struct wf_cores cores = cores_of(pack, 10);

    CHECK(cores.shared);
    CHECK_STR(cores_text(&cores, 10), "0 1 2 3 0 1 2 3 0 1");
    cores = cores_of(spread, 10);
    CHECK_STR(cores_text(&cores, 10), "0 2 1 3 0 2 1 3 0 2");
    cores = cores_of(pack, 4);
    CHECK(!cores.shared);
}

static void without_a_number_every_rank_has_a_core(void)
{
    static const char *const node[] = {"domains", "4", NULL};
    struct wf_cores cores = cores_of(node, 6);

    CHECK(cores.n == 8 && cores.per_domain == 2 && !cores.shared);
    CHECK_STR(cores_text(&cores, 6), "0 1 2 3 4 5");
}

/* Compares the number of cores in use with a count, for all small nodes. */
static void counts_of_cores_are_right(void)
{
    for (uint32_t i = 0; i < 2 * 4 * 5 * 24; i++) {
        uint32_t n_slots = i / 40 + 1, domains = i / 10 % 4 + 1, per_domain = i / 2 % 5 + 1;
        const struct wf_node_params params = {.sockets = 1,
                                              .domains = domains,
                                              .cores = (uint64_t)domains * per_domain,
                                              .bind = (int)(i % 2)};
        struct wf_cores cores = wf_cores_init(&params, n_slots);
        bool used[32] = {false};
        uint32_t in_use = 0;

        for (uint32_t slot = 0; slot < n_slots; slot++) {
            uint32_t core = wf_cores_core(&cores, slot);
            CHECK(core < cores.n && core / per_domain == wf_cores_domain(&cores, slot));
            CHECK(wf_cores_domain(&cores, slot) < wf_cores_domains_used(&cores, n_slots));
            used[core] = true;
        }
        for (uint32_t domain = 0; domain < domains; domain++) {
            uint32_t count = 0;
            for (uint32_t core = 0; core < per_domain; core++) {
                count += used[domain * per_domain + core];
            }
            CHECK_U64(wf_cores_used(&cores, domain, n_slots), count);
            in_use += count > 0;
        }
        CHECK_U64(wf_cores_domains_used(&cores, n_slots), in_use);
    }
}

static void impossible_nodes_are_refused(void)
{
    static const char *const domains[] = {"sockets", "2", "domains", "3", NULL};
    static const char *const cores[] = {"domains", "4", "cores", "6", NULL};
    static const char *const latency[] = {"local_latency", "1ns,2ns", NULL};
    static const char *const bandwidth[] = {"local_bandwidth", "1GB/s,2GB/s,3GB/s,4GB/s", NULL};

    CHECK_STR(node_refusal(domains),
              "node.domains: 3 memory domains cannot be divided evenly among "
              "2 sockets; set node.domains to a multiple of node.sockets");
    CHECK_STR(node_refusal(cores),
              "node.cores: 6 cores cannot be divided evenly among 4 memory "
              "domains; set node.cores to a multiple of node.domains");
    CHECK_STR(node_refusal(latency),
              "node.local_latency: 2 values; expected one, or three: within a "
              "domain, a socket and a node");
    CHECK_STR(node_refusal(bandwidth),
              "node.local_bandwidth: 4 values; expected one, or three: "
              "within a domain, a socket and a node");
}

/* ---- messages within a node ---- */

enum { RANKS_MAX = 8, OPS_MAX = 8 };

/* A program with the same communication pattern on one node. */
struct node_program {
    struct wf_op ops[RANKS_MAX][OPS_MAX];
    const struct wf_op *ranks[RANKS_MAX];
    uint32_t n_ranks;
};

static void add_op(struct node_program *program, uint32_t rank, struct wf_op op)
{
    uint32_t i = 0;

    while (program->ops[rank][i].kind != WF_OP_FINALIZE) {
        i++;
    }
    program->ops[rank][i] = op;
    program->ops[rank][i + 1] = (struct wf_op)END;
}

static struct node_program new_program(uint32_t n_ranks)
{
    struct node_program program = {.n_ranks = n_ranks};

    for (uint32_t i = 0; i < n_ranks; i++) {
        program.ops[i][0] = (struct wf_op)END;
    }
    return program;
}

/* Runs it under every scheduler. */
static struct outcome run_node(struct node_program *program, const char *const *node,
                               const char *const *mpi)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE,
                                                   WF_OPTIMISTIC, WF_PERTURB};
    struct setup setup = {.net = &wf_net_alphabeta_ops,
                          .ranks_per_node = program->n_ranks,
                          .node = node,
                          .mpi = mpi};

    for (uint32_t i = 0; i < program->n_ranks; i++) {
        program->ranks[i] = program->ops[i];
    }
    struct outcome expected = replay_script(setup, program->ranks, program->n_ranks);
    for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
        setup.scheduler = schedulers[i];
        struct outcome out = replay_script(setup, program->ranks, program->n_ranks);
        if (out.status != WF_OK || out.run.digest != expected.run.digest ||
            memcmp(&out.tally, &expected.tally, sizeof(out.tally)) != 0) {
            printf("# %s\n", wf_scheduler_names[schedulers[i]]);
            expected.status = WF_EINTERNAL;
        }
    }
    if (expected.tally.unfinished + expected.tally.unreceived > 0) {
        expected.status = WF_ESIM;
    }
    return expected;
}

static int64_t time_of(const struct outcome *out)
{
    return out->status == WF_OK ? out->tally.all.finish.max : -1;
}

/* Two sockets with two domains each, two ranks in a domain. */
static const char *const numa[] = {"sockets",
                                   "2",
                                   "domains",
                                   "4",
                                   "local_latency",
                                   "100ns,200ns,400ns",
                                   "local_bandwidth",
                                   "10GB/s,5GB/s,2GB/s",
                                   NULL};

static void messages_take_longer_the_less_the_ranks_share(void)
{
    static const int64_t expected[] = {100000 + 100000, 200000 + 200000, 400000 + 500000};

    for (uint32_t i = 0; i < RANKS_MAX * RANKS_MAX; i++) {
        uint32_t from = i / RANKS_MAX, to = i % RANKS_MAX;
        struct node_program program = new_program(RANKS_MAX);
        int distance = from / 2 == to / 2 ? 0 : from / 4 == to / 4 ? 1 : 2;

        add_op(&program, from, (struct wf_op)ISEND(to, 0, 1000, 0));
        add_op(&program, to, (struct wf_op)RECV(from, 0));
        add_op(&program, from, (struct wf_op)WAIT(0));
        struct outcome out = run_node(&program, numa, NULL);
        CHECK_U64((uint64_t)time_of(&out), (uint64_t)expected[distance]);
    }
}

/* One value is for all distances, and "auto" is the value of mpi.local_... */
static void one_value_is_for_all(void)
{
    static const char *const node[] = {"domains", "2", "local_latency", "50ns", NULL};
    static const char *const mpi[] = {"local_latency", "1us", "local_bandwidth", "1GB/s", NULL};
    struct node_program program = new_program(2);

    add_op(&program, 0, (struct wf_op)SEND(1, 0, 1000));
    add_op(&program, 1, (struct wf_op)RECV(0, 0));
    struct outcome out = run_node(&program, node, mpi);
    CHECK_U64((uint64_t)time_of(&out), 50000 + 1000000);
}

/* A long message: the announcement and the question take the latency; the sender goes on when
 * the last byte has left. */
static void long_messages_take_three_latencies(void)
{
    static const char *const mpi[] = {"eager_max", "0", NULL};
    struct node_program program = new_program(RANKS_MAX);

    add_op(&program, 0, (struct wf_op)SEND(4, 0, 1000));
    add_op(&program, 4, (struct wf_op)RECV(0, 0));
    struct outcome out = run_node(&program, numa, mpi);
    CHECK_U64((uint64_t)time_of(&out), 3 * 400000 + 500000);
    CHECK_U64((uint64_t)out.tally.all.wait[WF_IN_SEND].max, 2 * 400000 + 500000);
}

/* ---- memory ---- */

/* A byte takes 10 ps in the memory of a domain and 10 ps in a message; the latency is 1 us. */
enum { LATENCY = 1000000, BYTES = 5000, PASS = 10 * BYTES };
#define SHARED \
    "local_latency", "1us", "local_bandwidth", "100GB/s", "memory_bandwidth", "100GB/s"

/* k pairs exchange messages of the same size at the same time: each message passes the memory
 * alone, so that the last one arrives k times as late as a message alone. */
static void k_pairs_in_a_domain_exchange_k_times_slower(void)
{
    static const char *const node[] = {SHARED, NULL};

    for (uint32_t k = 1; k <= RANKS_MAX / 2; k++) {
        struct node_program program = new_program(2 * k);

        for (uint32_t i = 0; i < 2 * k; i++) {
            add_op(&program, i, (struct wf_op)SENDRECV(i ^ 1, 0, BYTES, i ^ 1, 0));
        }
        struct outcome out = run_node(&program, node, NULL);
        CHECK_U64((uint64_t)time_of(&out), LATENCY + 2 * k * PASS);
        CHECK_U64((uint64_t)out.tally.latency.min, LATENCY + PASS);
        CHECK_U64((uint64_t)out.tally.latency.max, LATENCY + 2 * k * PASS);
    }
}

static void domains_do_not_disturb_each_other(void)
{
    static const char *const node[] = {SHARED, "domains", "4", NULL};
    struct node_program program = new_program(RANKS_MAX);

    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        add_op(&program, i, (struct wf_op)SENDRECV(i ^ 1, 0, BYTES, i ^ 1, 0));
    }
    struct outcome out = run_node(&program, node, NULL);
    CHECK_U64((uint64_t)time_of(&out), LATENCY + 2 * PASS);
}

/* Rank 0 sends to rank 2 in the other domain; then both domains are busy for the messages
 * within them, which come a picosecond later. */
static void a_message_between_domains_occupies_both(void)
{
    static const char *const node[] = {SHARED, "domains", "2", NULL};
    struct node_program program = new_program(4);

    add_op(&program, 0, (struct wf_op)SEND(2, 0, BYTES));
    add_op(&program, 1, (struct wf_op)COMPUTE(1));
    add_op(&program, 1, (struct wf_op)SEND(0, 0, 2 * BYTES));
    add_op(&program, 3, (struct wf_op)COMPUTE(1));
    add_op(&program, 3, (struct wf_op)SEND(2, 1, 3 * BYTES));
    add_op(&program, 2, (struct wf_op)RECV(0, 0));
    add_op(&program, 2, (struct wf_op)RECV(3, 1));
    add_op(&program, 0, (struct wf_op)RECV(1, 0));
    struct outcome out = run_node(&program, node, NULL);
    CHECK_U64((uint64_t)time_of(&out), LATENCY + PASS + 3 * PASS);
    CHECK_U64((uint64_t)out.tally.latency.max, LATENCY + PASS + 3 * PASS - 1);
    CHECK_U64((uint64_t)out.tally.latency.min, LATENCY + PASS);
    /* The third one ended in the memory of domain 0, at 3 * PASS. */
    CHECK_U64((uint64_t)wf_stat_mean(&out.tally.latency),
              LATENCY + (PASS + 3 * PASS - 1 + 4 * PASS - 1) / 3);
}

/* Messages within a domain of 10 GB/s each: ten of them fill its memory. */
static void a_message_that_is_slower_than_the_memory_keeps_it_less_long(void)
{
    static const char *const node[] = {
        "local_latency", "1us", "local_bandwidth", "10GB/s", "memory_bandwidth",
        "100GB/s",       NULL};
    struct node_program program = new_program(4);

    add_op(&program, 0, (struct wf_op)SEND(1, 0, BYTES));
    add_op(&program, 1, (struct wf_op)RECV(0, 0));
    add_op(&program, 2, (struct wf_op)SEND(3, 0, BYTES));
    add_op(&program, 3, (struct wf_op)RECV(2, 0));
    struct outcome out = run_node(&program, node, NULL);
    CHECK_U64((uint64_t)out.tally.latency.min, LATENCY + 10 * PASS);
    CHECK_U64((uint64_t)time_of(&out), LATENCY + PASS + 10 * PASS);
}

static void messages_without_bytes_do_not_wait_for_memory(void)
{
    static const char *const node[] = {SHARED, NULL};
    struct node_program program = new_program(4);

    add_op(&program, 0, (struct wf_op)SEND(1, 0, BYTES));
    add_op(&program, 1, (struct wf_op)RECV(0, 0));
    add_op(&program, 2, (struct wf_op)COMPUTE(1));
    add_op(&program, 2, (struct wf_op)SEND(3, 0, 0));
    add_op(&program, 3, (struct wf_op)RECV(2, 0));
    struct outcome out = run_node(&program, node, NULL);
    CHECK_U64((uint64_t)out.tally.latency.min, LATENCY);
    CHECK_U64((uint64_t)time_of(&out), LATENCY + PASS);
}

/* Two long messages ask for the memory at the same time. Each sender goes on when the last byte
 * of its message has left, a latency before it arrives; the marks of a sender are kept although
 * its message arrives in the same event. */
static void senders_of_long_messages_wait_for_memory(void)
{
    static const char *const node[] = {SHARED, NULL};
    static const char *const mpi[] = {"eager_max", "0", NULL};
    enum { LONG = 200000, PASSED = 10 * LONG };
    struct node_program program = new_program(4);

    for (uint32_t i = 0; i < 4; i += 2) {
        add_op(&program, i, (struct wf_op)MARK(ITERATION_BEGIN, 0));
        add_op(&program, i, (struct wf_op)SEND(i + 1, 0, LONG));
        add_op(&program, i, (struct wf_op)MARK(ITERATION_END, 0));
        add_op(&program, i + 1, (struct wf_op)MARK(ITERATION_BEGIN, 0));
        add_op(&program, i + 1, (struct wf_op)RECV(i, 0));
        add_op(&program, i + 1, (struct wf_op)MARK(ITERATION_END, 0));
    }
    struct outcome out = run_node(&program, node, mpi);
    CHECK_U64((uint64_t)time_of(&out), 3 * LATENCY + 2 * PASSED);
    CHECK_U64((uint64_t)out.tally.all.finish.min, 2 * LATENCY + PASSED);
    CHECK_U64((uint64_t)out.tally.all.wait[WF_IN_SEND].max, 2 * LATENCY + 2 * PASSED);
    CHECK_U64(out.tally.latency.n, 2);
    CHECK_U64((uint64_t)out.tally.latency.max, LATENCY + 2 * PASSED);
    CHECK_U64(out.tally.all.marks.last[0].time.n, 4);
    CHECK_U64(out.tally.all.marks.last[1].time.n, 4);
    CHECK_U64((uint64_t)out.tally.all.marks.last[1].time.min, 2 * LATENCY + PASSED);
}

/* A synchronous message that is shorter than its latency: the sender goes on when the first
 * byte arrives. */
static void a_short_synchronous_message_has_left_when_it_arrives(void)
{
    static const char *const node[] = {SHARED, NULL};
    struct node_program program = new_program(2);

    add_op(&program, 0, (struct wf_op)SSEND(1, 0, 100));
    add_op(&program, 1, (struct wf_op)RECV(0, 0));
    struct outcome out = run_node(&program, node, NULL);
    CHECK_U64((uint64_t)out.tally.all.finish.min, 3 * LATENCY);
    CHECK_U64((uint64_t)time_of(&out), 3 * LATENCY + 1000);
}

int main(void)
{
    RUN(packed_slots_fill_one_domain_after_another);
    RUN(spread_slots_go_to_the_domains_in_turn);
    RUN(more_slots_than_cores_go_round_again);
    RUN(without_a_number_every_rank_has_a_core);
    RUN(counts_of_cores_are_right);
    RUN(impossible_nodes_are_refused);
    RUN(messages_take_longer_the_less_the_ranks_share);
    RUN(one_value_is_for_all);
    RUN(long_messages_take_three_latencies);
    RUN(k_pairs_in_a_domain_exchange_k_times_slower);
    RUN(domains_do_not_disturb_each_other);
    RUN(a_message_between_domains_occupies_both);
    RUN(a_message_that_is_slower_than_the_memory_keeps_it_less_long);
    RUN(messages_without_bytes_do_not_wait_for_memory);
    RUN(senders_of_long_messages_wait_for_memory);
    RUN(a_short_synchronous_message_has_left_when_it_arrives);
    return wf_test_done();
}
