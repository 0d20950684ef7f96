/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators, collectives and jobs. A message of k bytes takes A + k picoseconds and no CPU
 * time. */
#include "model/net/alphabeta.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

enum { RANKS = 9 };

static const int64_t A = 1000;

static const struct wf_net_alphabeta_params params = {
    .alpha = 1000, .bandwidth = 1000000000000 * WF_RATE_BYTE};
static const struct setup basic = {
    .net = &wf_net_alphabeta_ops, .net_params = &params, .count_cells = true};

static bool is_complete(const struct outcome *out)
{
    return out->status == WF_OK && out->tally.unfinished == 0 && out->tally.unreceived == 0 &&
           out->cells == 0;
}

static struct outcome run_same(struct setup setup, const struct wf_op *ops, uint32_t n_ranks)
{
    const struct wf_op *ranks[RANKS];

    for (uint32_t i = 0; i < n_ranks; i++) {
        ranks[i] = ops;
    }
    return replay_script(setup, ranks, n_ranks);
}

/* 1: even and odd ranks. 2: a grid of 3x3 by its columns, as a member list. 3: rows, where rank
 * 8 is missing and has a communicator of its own. */
static bool find_group(uint32_t rank, uint32_t comm, struct wf_group *out)
{
    static const uint32_t columns[3][3] = {{6, 3, 0}, {7, 4, 1}, {8, 5, 2}};

    if (comm == 1) {
        uint32_t odd = rank % 2, size = (RANKS + 1 - odd) / 2;
        *out = (struct wf_group){.id = 1 + odd,
                                 .size = size,
                                 .rank = rank / 2,
                                 .first = odd,
                                 .stride = 2,
                                 .width = size};
    } else if (comm == 2) {
        *out = (struct wf_group){
            .id = 10 + rank % 3, .size = 3, .rank = 2 - rank / 3, .members = columns[rank % 3]};
    } else {
        *out = (struct wf_group){.id = rank == 8 ? 23 : 20 + rank / 3,
                                 .size = rank == 8   ? 1
                                         : rank >= 6 ? 2
                                                     : 3,
                                 .rank = rank == 8 ? 0 : rank % 3,
                                 .first = rank == 8 ? 8 : rank / 3 * 3,
                                 .stride = 1,
                                 .width = 3};
    }
    return comm >= 1 && comm <= 3;
}

static struct outcome run_groups(const struct wf_op *const *ranks)
{
    struct script script = make_group_script(ranks, RANKS, find_group);
    struct setup setup = basic;

    setup.source = &script.source;
    return replay(&setup);
}

static struct wf_op on(struct wf_op op, uint32_t comm)
{
    op.comm = comm;
    return op;
}

/* Ranks of a communicator are numbered on their own, and its messages are nobody else's. */
static void messages_of_communicators_keep_apart(void)
{
    const struct wf_op zero[] = {on((struct wf_op)SEND(1, 0, 5), 1),
                                 on((struct wf_op)SEND(0, 0, 6000), 2), /* rank 6 */
                                 SEND(2, 0, 3000), END};
    const struct wf_op two[] = {RECV(0, 0), SEND(3, 0, 0), on((struct wf_op)RECV(0, 0), 1),
                                END};
    const struct wf_op six[] = {on((struct wf_op)RECV(2, 0), 2), END};
    static const struct wf_op three[] = {RECV(2, 0), END};
    static const struct wf_op idle[] = {END};
    const struct wf_op *const ranks[] = {zero, idle, two, three, idle, idle, six, idle, idle};
    struct outcome out = run_groups(ranks);

    CHECK(is_complete(&out));
    CHECK(out.tally.all.finish.max == A + 6000);
    CHECK_U64(out.tally.all.finish.sum_low,
              (uint64_t)((A + 6000) + (A + 3000) + (A + 3000 + A)));
}

/* A barrier among the even ranks does not wait for the odd ones; one among a column does for
 * its members, whatever they did before elsewhere. */
static void collectives_concern_their_members_only(void)
{
    struct wf_op ops[RANKS][6];
    const struct wf_op *ranks[RANKS];

    for (uint32_t i = 0; i < RANKS; i++) {
        const struct wf_op own[] = {COMPUTE(i % 2 == 0 ? 0 : 50000),
                                    on((struct wf_op)BARRIER, 1),
                                    on((struct wf_op)COLL(BCAST, 100), 3),
                                    on((struct wf_op){.kind = WF_OP_COMM_DUP}, 2),
                                    on((struct wf_op)COLL(ALLREDUCE, 0), 2),
                                    END};
        memcpy(ops[i], own, sizeof(own));
        ranks[i] = ops[i];
    }
    struct outcome out = run_groups(ranks);
    CHECK(is_complete(&out));
    CHECK(out.tally.all.finish.min > 50000);

    for (uint32_t i = 0; i < RANKS; i++) {
        ops[i][2] = (struct wf_op)END;
    }
    out = run_groups(ranks);
    CHECK(is_complete(&out));
    CHECK(out.tally.all.finish.min == 3 * A); /* five even ranks: three rounds */
    CHECK(out.tally.all.finish.max == 50000 + 2 * A);
}

/* What rank i has for rank j, and the ring of neighbours, with one that is nobody. */
struct blocks {
    uint64_t counts[RANKS], recv_counts[RANKS];
    uint32_t sources[3], destinations[3];
};

static void fill_blocks(struct blocks *out, uint32_t rank, uint32_t n_ranks)
{
    for (uint32_t i = 0; i < n_ranks; i++) {
        out->counts[i] = rank * 10 + i;
        out->recv_counts[i] = i * 10 + rank;
    }
    out->sources[0] = (rank + 1) % n_ranks;
    out->sources[1] = (rank + n_ranks - 1) % n_ranks;
    out->destinations[0] = (rank + n_ranks - 1) % n_ranks;
    out->destinations[1] = (rank + 1) % n_ranks;
    out->sources[2] = out->destinations[2] = WF_PROC_NULL;
}

/* What the neighbours of the ring send. */
static void expect_neighbors(struct blocks *out, uint32_t n_ranks)
{
    for (uint32_t i = 0; i < 2; i++) {
        out->recv_counts[i] = out->sources[i] % n_ranks * 10 + i;
    }
}

static bool has_equal_counts(enum wf_op_kind kind)
{
    return kind == WF_OP_ALLGATHERV || kind == WF_OP_REDUCE_SCATTER || kind == WF_OP_GATHERV ||
           kind == WF_OP_SCATTERV;
}

/* All collectives of an op kind on n ranks, at once or with a wait. */
static struct outcome run_collective(enum wf_op_kind kind, enum wf_op_kind plain,
                                     uint32_t n_ranks, const char *const *mpi)
{
    struct wf_op ops[RANKS][3];
    struct blocks blocks[RANKS];
    const struct wf_op *ranks[RANKS];
    struct setup setup = basic;

    for (uint32_t i = 0; i < n_ranks; i++) {
        fill_blocks(&blocks[i], i, n_ranks);
        if (wf_op_info(plain)->detail >= WF_COLL_NEIGHBOR_ALLGATHER) {
            expect_neighbors(&blocks[i], n_ranks);
        }
        bool equal = has_equal_counts(plain);
        ops[i][0] = (struct wf_op){.kind = kind,
                                   .bytes = equal ? blocks[0].counts[i] : 600,
                                   .root = n_ranks / 2,
                                   .request = 3,
                                   .counts = blocks[equal ? 0 : i].counts,
                                   .recv_counts = blocks[i].recv_counts,
                                   .sources = blocks[i].sources,
                                   .destinations = blocks[i].destinations,
                                   .n_sources = 3,
                                   .n_destinations = 3};
        if (plain < WF_OP_GATHER || plain == WF_OP_SCAN || plain == WF_OP_EXSCAN) {
            ops[i][0].counts = ops[i][0].recv_counts = NULL;
        }
        ops[i][1] = (struct wf_op)WAIT(3);
        ops[i][2] = (struct wf_op)END;
        ranks[i] = ops[i];
    }
    setup.mpi = mpi;
    return replay_script(setup, ranks, n_ranks);
}

/* Waiting for a collective at once is calling it: the same messages at the same times. */
static void every_collective_comes_to_its_end(void)
{
    static const char *const eager[] = {NULL};
    static const char *const rendezvous[] = {"eager_max", "100", NULL};
    static const char *const calls[] = {"eager_max", "100", "progress", "calls", NULL};
    static const char *const *const settings[] = {eager, rendezvous, calls};

    for (uint32_t i = 0; i <= WF_OP_NEIGHBOR_ALLTOALLW - WF_OP_BARRIER; i++) {
        enum wf_op_kind plain = (enum wf_op_kind)(WF_OP_BARRIER + i);
        enum wf_op_kind returns = (enum wf_op_kind)(WF_OP_IBARRIER + i);
        for (uint32_t n = 1; n <= RANKS; n += 1 + n / 5) {
            for (int s = 0; s < 3; s++) {
                struct outcome a = run_collective(plain, plain, n, settings[s]);
                struct outcome b = run_collective(returns, plain, n, settings[s]);
                if (!is_complete(&a) || !is_complete(&b)) {
                    printf("# %s on %d ranks, setting %d\n", wf_op_name(plain), (int)n, s);
                }
                CHECK(is_complete(&a) && is_complete(&b));
                CHECK(memcmp(&a.tally.all.finish, &b.tally.all.finish,
                             sizeof(struct wf_stat)) == 0);
                CHECK_U64(a.tally.all.bytes, b.tally.all.bytes);
            }
        }
    }
}

/* Three at once on the same communicator: each is over when it would be alone. */
static void nonblocking_collectives_do_not_disturb_each_other(void)
{
    static const struct wf_op ops[] = {ICOLL(IBARRIER, 0, 0),
                                       ICOLL(IALLREDUCE, 500, 1),
                                       ICOLL(IBARRIER, 0, 2),
                                       WAIT(2),
                                       WAIT(0),
                                       WAIT(1),
                                       END};
    static const struct wf_op freed[] = {ICOLL(IBARRIER, 0, 0),     SET_OP(REQUEST_FREE, 0, 1),
                                         ICOLL(IALLREDUCE, 500, 0), COMPUTE(100000),
                                         SET_OP(WAITANY, 0, 2),     END};
    static const char *const mpi[] = {"allreduce", "recursive_doubling", NULL};
    struct setup setup = basic;

    setup.mpi = mpi;
    struct outcome out = run_same(setup, ops, 8);
    CHECK(is_complete(&out));
    CHECK(out.tally.all.finish.max == 3 * (A + 500) &&
          out.tally.all.finish.min == 3 * (A + 500));
    out = run_same(setup, freed, 8);
    CHECK(is_complete(&out));
    CHECK(out.tally.all.finish.max == 100000);
}

static void regions_and_iterations_are_timed(void)
{
    static const struct wf_op ops[] = {MARK(REGION_BEGIN, 5),
                                       MARK(ITERATION_BEGIN, 0),
                                       COMPUTE(700),
                                       MARK(REGION_BEGIN, 6),
                                       COMPUTE(30),
                                       BARRIER,
                                       MARK(REGION_END, 6),
                                       MARK(ITERATION_END, 0),
                                       MARK(ITERATION_BEGIN, 0),
                                       MARK(ITERATION_END, 0),
                                       MARK(REGION_END, 5),
                                       MARK(REGION_END, 5), /* one too many */
                                       END};
    struct outcome out = run_same(basic, ops, 2);
    const struct wf_ranks_tally *t = &out.tally;

    CHECK(is_complete(&out));
    const struct wf_region_marks *five = &t->all.marks.regions[5],
                                 *six = &t->all.marks.regions[6];

    CHECK(six->time.n == 2 && six->time.min == 30 + A && six->time.max == 30 + A);
    CHECK(six->first == 700 && six->last == 730 + A);
    CHECK(five->time.n == 2 && five->time.max == 730 + A);
    CHECK(five->first == 0 && five->last == 730 + A);
    CHECK_U64(t->marks.n, 4);
    CHECK(t->marks.list[0].number == 0 && !t->marks.list[0].is_end &&
          t->marks.list[0].time.max == 0);
    CHECK(t->marks.list[1].number == 0 && t->marks.list[1].is_end &&
          t->marks.list[1].time.max == 730 + A);
    CHECK(t->marks.list[2].number == 1 && t->marks.list[2].time.n == 2);
    CHECK(t->marks.list[3].number == 1 && t->marks.list[3].is_end &&
          t->marks.list[3].time.min == 730 + A);
}

/* The first job three times from 5000 on, the second beside it; their ranks and communicators
 * have nothing to do with each other. */
static void jobs_run_side_by_side(void)
{
    static const struct wf_op zero[] = {SEND(1, 0, 100), RECV(1, 0), BARRIER, END};
    static const struct wf_op one[] = {RECV(WF_ANY_SOURCE, 0), SEND(0, 0, 100), BARRIER, END};
    static const struct wf_op *const ranks[] = {zero, one};
    static const struct wf_op third[] = {COMPUTE(70), BARRIER, END};
    static const struct wf_op *const others[] = {third, third, third};
    struct script pair = make_script(ranks, 2), three = make_script(others, 3);
    const struct wf_ranks_job jobs[] = {
        {.source = &pair.source, .start = 5000, .repeat = 3},
        {.source = &three.source, .repeat = 1},
        {.source = &pair.source, .start = 5100, .repeat = 1},
    };
    struct setup setup = basic;

    setup.jobs = jobs;
    setup.n_jobs = 3;
    for (setup.ranks_per_node = 1; setup.ranks_per_node <= 3; setup.ranks_per_node++) {
        setup.mpi = (const char *const[]){"local", "false", NULL};
        struct outcome out = replay(&setup);
        CHECK(is_complete(&out));
        /* Rank 0 finds rank 1's message of the barrier waiting, and begins again. */
        CHECK(out.jobs[0].finish.max == 5000 + 3 * 2 * (A + 100) + A);
        CHECK(out.jobs[1].finish.max == 70 + 2 * A);
        CHECK(out.jobs[2].finish.min == 5100 + 2 * (A + 100));
        CHECK(out.jobs[2].finish.max == 5100 + 2 * (A + 100) + A);
        CHECK_U64(out.jobs[0].messages, 3 * 4);
        CHECK_U64(out.jobs[0].finish.n, 2);
    }
}

/* With compute times; without; and only what is sent, as fast as that goes. */
static void policies(void)
{
    static const struct wf_op zero[] = {COMPUTE(5000), SEND(1, 0, 100), RECV(1, 0),
                                        SEND(1, 1, 0), BARRIER,         END};
    static const struct wf_op one[] = {PEER_OP(RECV_INIT, 0, 0, 100, 1),
                                       SET_OP(START, 1, 1),
                                       WAIT(1),
                                       COMPUTE(5000),
                                       SEND(0, 0, 100),
                                       RECV(0, 1),
                                       SET_OP(REQUEST_FREE, 1, 1),
                                       BARRIER,
                                       END};
    static const struct wf_op *const ranks[] = {zero, one};
    static const int64_t ends[] = {[WF_POLICY_TIMED] = 10000 + 2 * 1100 + 2 * 1000,
                                   [WF_POLICY_CAUSAL] = 2 * 1100 + 2 * 1000,
                                   [WF_POLICY_ASAP] = 1100}; /* all at once; the longest */
    struct setup setup = basic;

    for (setup.policy = WF_POLICY_TIMED; setup.policy <= WF_POLICY_ASAP; setup.policy++) {
        struct outcome out = replay_script(setup, ranks, 2);
        CHECK(is_complete(&out));
        CHECK(out.tally.all.finish.max == ends[setup.policy]);
        CHECK_U64(out.tally.all.messages, 5);
        CHECK_U64(out.tally.latency.n, 5);
        CHECK((out.tally.all.compute.max > 0) == (setup.policy == WF_POLICY_TIMED));
    }
}

int main(void)
{
    RUN(messages_of_communicators_keep_apart);
    RUN(collectives_concern_their_members_only);
    RUN(every_collective_comes_to_its_end);
    RUN(nonblocking_collectives_do_not_disturb_each_other);
    RUN(regions_and_iterations_are_timed);
    RUN(jobs_run_side_by_side);
    RUN(policies);
    return wf_test_done();
}
