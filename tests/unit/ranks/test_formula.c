/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives by a formula. Compares them with times computed by hand, and with an oracle that
 * evaluates a program collective by collective. */
#include "harness/replay_harness.h"
#include "harness/wf_test.h"
#include "model/net/alphabeta.h"
#include "model/net/loggp.h"

enum { RANKS_MAX = 17, ROUNDS = 25, PROMISE = 1000, LEVEL = 700 };

/* A byte in a picosecond, on the network and in hardware. */
static const struct wf_net_alphabeta_params net = {.alpha = PROMISE,
                                                   .bandwidth = 1000000000000 * WF_RATE_BYTE};
#define HARDWARE(kind) kind, "hardware", "hw_latency", "700ps", "hw_bandwidth", "1TB/s"

static struct setup on_net(const char *const *mpi)
{
    return (struct setup){.net = &wf_net_alphabeta_ops, .net_params = &net, .mpi = mpi};
}

/* Whether the ranks end at these times, in any order, and no message was sent. */
static bool ends_at(const struct outcome *out, const int64_t *times, uint32_t n)
{
    struct wf_stat expected = {0};

    for (uint32_t i = 0; i < n; i++) {
        wf_stat_add(&expected, times[i]);
    }
    bool same = memcmp(&expected, &out->tally.all.finish, sizeof(expected)) == 0;
    if (!same) {
        printf("# min %lld max %lld sum %llu, expected %lld %lld %llu\n",
               (long long)out->tally.all.finish.min, (long long)out->tally.all.finish.max,
               (unsigned long long)out->tally.all.finish.sum_low, (long long)expected.min,
               (long long)expected.max, (unsigned long long)expected.sum_low);
    }
    return same && out->status == WF_OK && out->tally.unfinished == 0 &&
           out->tally.all.messages == 0 && out->tally.latency.n == 0;
}

/* All leave two least delays after the last has come. */
static void an_ideal_barrier_costs_a_report_and_a_release(void)
{
    static const char *const mpi[] = {"barrier", "ideal", NULL};
    static const struct wf_op a[] = {BARRIER, END}, b[] = {COMPUTE(100), BARRIER, END},
                              c[] = {COMPUTE(5000), BARRIER, END};
    static const struct wf_op *const late_hub[] = {c, a, b}, *const early_hub[] = {a, b, c};
    static const int64_t times[] = {7000, 7000, 7000};
    struct outcome out = replay_script(on_net(mpi), late_hub, 3);

    CHECK(ends_at(&out, times, 3));
    out = replay_script(on_net(mpi), early_hub, 3);
    CHECK(ends_at(&out, times, 3));
    /* The waits are 7000 - 0, 7000 - 100 and 7000 - 5000. */
    CHECK_U64(out.tally.all.wait[WF_IN_COLLECTIVE].sum_low, 7000 + 6900 + 2000);
}

/* 5 ranks are 3 levels of 700 ps, and 1000 bytes take 1000 ps: 3100 ps after the last. */
static void hardware_costs_levels_and_bytes(void)
{
    static const char *const mpi[] = {HARDWARE("allreduce"), NULL};
    static const struct wf_op a[] = {ALLREDUCE(1000), END},
                              b[] = {COMPUTE(400), ALLREDUCE(1000), END};
    static const struct wf_op *const ranks[] = {a, a, a, b, a};
    static const int64_t times[] = {3500, 3500, 3500, 3500, 3500};
    struct outcome out = replay_script(on_net(mpi), ranks, 5);

    CHECK(ends_at(&out, times, 5));
}

/* 2 ranks are one level of 700 ps: less than two least delays. */
static void less_than_two_least_delays_is_two(void)
{
    static const char *const mpi[] = {HARDWARE("allreduce"), NULL};
    static const struct wf_op a[] = {ALLREDUCE(10), END};
    static const struct wf_op *const ranks[] = {a, a};
    static const int64_t times[] = {2000, 2000};
    struct outcome out = replay_script(on_net(mpi), ranks, 2);

    CHECK(ends_at(&out, times, 2));
}

/* Root 2 comes at 1000 and is through at 1000 + 2 * 700 + 100; who comes later does not wait.
 */
static void a_broadcast_waits_for_its_root_alone(void)
{
    static const char *const mpi[] = {HARDWARE("bcast"), NULL};
    static const struct wf_op a[] = {{.kind = WF_OP_BCAST, .bytes = 100, .root = 2}, END},
                              b[] = {COMPUTE(50000),
                                     {.kind = WF_OP_BCAST, .bytes = 100, .root = 2},
                                     END},
                              c[] = {COMPUTE(1000),
                                     {.kind = WF_OP_BCAST, .bytes = 100, .root = 2},
                                     END};
    static const struct wf_op *const ranks[] = {a, b, c};
    static const int64_t times[] = {2500, 50000, 2500};
    struct outcome out = replay_script(on_net(mpi), ranks, 3);

    CHECK(ends_at(&out, times, 3));
}

/* Root 1 has it all 2 * 700 + 3 * 40 after the last came, at 9000; the others go on at once. */
static void only_the_root_of_a_gather_waits(void)
{
    static const char *const mpi[] = {HARDWARE("gather"), NULL};
    static const struct wf_op a[] = {{.kind = WF_OP_GATHER, .bytes = 40, .root = 1}, END},
                              b[] = {COMPUTE(9000),
                                     {.kind = WF_OP_GATHER, .bytes = 40, .root = 1},
                                     END};
    static const struct wf_op *const ranks[] = {a, a, b};
    static const int64_t times[] = {0, 9000 + 1400 + 120, 9000};
    struct outcome out = replay_script(on_net(mpi), ranks, 3);

    CHECK(ends_at(&out, times, 3));
}

/* Through after 2000 ps, whatever the ranks do in the meantime. */
static void it_goes_on_while_a_rank_computes(void)
{
    static const char *const mpi[] = {"allreduce", "ideal", NULL};
    static const struct wf_op a[] = {ICOLL(IALLREDUCE, 8, 3), COMPUTE(1500), WAIT(3), END},
                              b[] = {ICOLL(IALLREDUCE, 8, 3), COMPUTE(9000), WAIT(3), END};
    static const struct wf_op *const ranks[] = {a, b};
    static const int64_t times[] = {2000, 9000};
    struct outcome out = replay_script(on_net(mpi), ranks, 2);

    CHECK(ends_at(&out, times, 2));
}

/* ---- any program of collectives ---- */

static uint64_t counts[RANKS_MAX][RANKS_MAX], columns[RANKS_MAX][RANKS_MAX];

static void make_counts(void)
{
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        for (uint32_t j = 0; j < RANKS_MAX; j++) {
            counts[i][j] = columns[j][i] = wf_test_rand(3, i, j) % 5000;
        }
    }
}

static enum wf_coll_kind kind_of(uint64_t round)
{
    return (enum wf_coll_kind)(wf_test_rand(1, 1, round) % WF_COLL_NEIGHBOR_ALLGATHER);
}

static int64_t compute_of(uint32_t rank, uint64_t round)
{
    return (int64_t)(wf_test_rand(2, rank, round) % 6000);
}

static bool varies(enum wf_coll_kind kind)
{
    return kind == WF_COLL_GATHERV || kind == WF_COLL_SCATTERV || kind == WF_COLL_ALLGATHERV ||
           kind == WF_COLL_REDUCE_SCATTER || kind == WF_COLL_ALLTOALLV;
}

static bool mixed_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                       struct wf_op *op)
{
    uint64_t round = cursor->word[0] / 2;
    enum wf_coll_kind kind = kind_of(round);

    if (round == ROUNDS) {
        return false;
    }
    if (cursor->word[0]++ % 2 == 0) {
        *op = (struct wf_op)COMPUTE(compute_of(rank, round));
        return true;
    }
    *op = (struct wf_op){.kind = (enum wf_op_kind)(WF_OP_BARRIER + kind),
                         .root = (uint32_t)(round % source->n_ranks),
                         .bytes = wf_test_rand(1, 2, round) % 4000};
    if (varies(kind)) {
        bool own = (kind == WF_COLL_GATHERV || kind == WF_COLL_SCATTERV) && rank != op->root;
        op->bytes = counts[0][rank];
        op->counts = own ? NULL : counts[kind == WF_COLL_ALLTOALLV ? rank : 0];
        op->recv_counts = kind == WF_COLL_ALLTOALLV ? columns[rank] : NULL;
    }
    return true;
}

/* The most that a rank sends or receives in all. */
static uint64_t most_bytes(enum wf_coll_kind kind, uint32_t n, uint64_t bytes)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t row = 0, column = 0;
        for (uint32_t j = 0; j < n; j++) {
            row += !varies(kind) ? bytes : counts[kind == WF_COLL_ALLTOALLV ? i : 0][j];
            column += kind == WF_COLL_ALLTOALLV ? columns[i][j] : 0;
        }
        most = row > most ? row : most;
        most = column > most ? column : most;
    }
    if (kind == WF_COLL_BARRIER) {
        return 0;
    }
    return kind == WF_COLL_BCAST || kind == WF_COLL_REDUCE || kind == WF_COLL_ALLREDUCE ||
                   kind == WF_COLL_SCAN || kind == WF_COLL_EXSCAN
               ? bytes
               : most;
}

/* One collective after the other. */
static void expect(int64_t *clocks, uint32_t n, bool hardware)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        enum wf_coll_kind kind = kind_of(round);
        bool from =
            kind == WF_COLL_BCAST || kind == WF_COLL_SCATTER || kind == WF_COLL_SCATTERV;
        bool to = kind == WF_COLL_REDUCE || kind == WF_COLL_GATHER || kind == WF_COLL_GATHERV;
        uint32_t root = (uint32_t)(round % n), levels = 0;
        int64_t last = 0, least = from || to ? PROMISE : 2 * PROMISE;

        for (uint32_t i = 0; i < n; i++) {
            clocks[i] += compute_of(i, round);
            last = clocks[i] > last && (!from || i == root) ? clocks[i] : last;
        }
        while ((1U << levels) < n) {
            levels++;
        }
        int64_t cost = (int64_t)((uint64_t)levels * LEVEL +
                                 most_bytes(kind, n, wf_test_rand(1, 2, round) % 4000));
        cost = hardware && cost > least ? cost : least;
        for (uint32_t i = 0; i < n && n > 1; i++) {
            if (!to || i == root) {
                clocks[i] = clocks[i] > last + cost ? clocks[i] : last + cost;
            }
        }
    }
}

static const struct wf_source_ops mixed_ops = {.name = "mixed", .next = mixed_next};

/* All kinds by one formula; the caller gives room for them. */
static const char *const *all_by(const char *formula, const char **mpi)
{
    const char **at = mpi;

    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
        *at++ = wf_coll_name((enum wf_coll_kind)kind);
        *at++ = formula;
    }
    *at++ = "hw_latency";
    *at++ = "700ps";
    *at++ = "hw_bandwidth";
    *at++ = "1TB/s";
    *at = NULL;
    return mpi;
}

enum { MPI_MAX = 2 * WF_COLL_KINDS + 5 };

static void programs_take_what_the_formulas_say(void)
{
    const char *mpi[MPI_MAX];

    for (uint32_t n = 1; n <= RANKS_MAX; n++) {
        const struct wf_source source = {.ops = &mixed_ops, .n_ranks = n};
        for (int hardware = 0; hardware <= 1; hardware++) {
            struct setup setup = on_net(all_by(hardware ? "hardware" : "ideal", mpi));
            int64_t clocks[RANKS_MAX] = {0};

            setup.source = &source;
            expect(clocks, n, hardware);
            for (uint32_t per_node = 1; per_node <= 4; per_node += 3) {
                setup.ranks_per_node = per_node;
                setup.in_step = false;
                struct outcome out = replay(&setup);
                CHECK(ends_at(&out, clocks, n));
                setup.in_step = true;
                out = replay(&setup);
                CHECK(ends_at(&out, clocks, n));
            }
        }
    }
}

/* ---- communicators, nonblocking ---- */

/* Ranks with the same remainder of two are a communicator; two collectives are open at once,
 * and waited for in the other order. */
static bool split_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                        struct wf_group *out)
{
    bool world = comm == WF_COMM_WORLD;

    *out = (struct wf_group){.id = world ? 0 : 1 + rank % 2,
                             .size =
                                 world ? source->n_ranks : (source->n_ranks + 1 - rank % 2) / 2,
                             .rank = world ? rank : rank / 2,
                             .first = world ? 0 : rank % 2,
                             .stride = world ? 1 : 2,
                             .width = source->n_ranks};
    return true;
}

static bool split_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                       struct wf_op *op)
{
    uint64_t round = cursor->word[0] / 5;

    if (round == ROUNDS) {
        return false;
    }
    switch (cursor->word[0]++ % 5) {
    case 0:
        *op = (struct wf_op)COMPUTE(compute_of(rank, round));
        break;
    case 1:
        *op = (struct wf_op)ICOLL(IALLREDUCE, 100, 0);
        op->comm = 1;
        break;
    case 2:
        *op = (struct wf_op)ICOLL(IBCAST, 100, 1);
        op->root = (uint32_t)(round % source->n_ranks);
        break;
    case 3:
        *op = (struct wf_op)WAIT(1);
        break;
    default:
        *op = (struct wf_op)WAIT(0);
        break;
    }
    return true;
}

static void communicators_and_open_collectives_keep_apart(void)
{
    static const struct wf_source_ops ops = {
        .name = "split", .next = split_next, .group = split_group};
    const char *mpi[MPI_MAX];

    for (uint32_t n = 4; n <= 9; n++) {
        const struct wf_source source = {.ops = &ops, .n_ranks = n, .acts_in_background = true};
        struct setup setup = on_net(all_by("ideal", mpi));
        int64_t clocks[RANKS_MAX] = {0};

        setup.source = &source;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            int64_t last[2] = {0, 0};
            for (uint32_t i = 0; i < n; i++) {
                clocks[i] += compute_of(i, round);
                last[i % 2] = clocks[i] > last[i % 2] ? clocks[i] : last[i % 2];
            }
            int64_t root = clocks[round % n] + PROMISE;
            for (uint32_t i = 0; i < n; i++) {
                int64_t end = last[i % 2] + INT64_C(2) * PROMISE;
                clocks[i] = root > end ? (root > clocks[i] ? root : clocks[i]) : end;
            }
        }
        struct outcome out = replay(&setup);
        CHECK(ends_at(&out, clocks, n));
    }
}

/* Numbers of communicators whose meetings are found under the same number. */
static bool alike_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                        struct wf_group *out)
{
    *out = (struct wf_group){.id = 7 + comm * 16384,
                             .size = source->n_ranks,
                             .rank = rank,
                             .stride = 1,
                             .width = source->n_ranks};
    return true;
}

/* Begins on three communicators in an order of its own, some time apart; waits for the second,
 * begins on another one, and waits for all. */
static bool alike_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                       struct wf_op *op)
{
    uint32_t at = (uint32_t)(cursor->word[0]++);
    bool falls = wf_test_rand(8, rank, source->n_ranks) % 2 != 0;

    if (at == 9) {
        return false;
    }
    if (at == 8) {
        *op = (struct wf_op)WAITALL(0, 4);
    } else if (at == 6) {
        *op = (struct wf_op)WAIT(1);
    } else if (at % 2 == 0) {
        *op = (struct wf_op)COMPUTE(100);
    } else {
        uint32_t comm = falls && at < 6 ? 2 - at / 2 : at / 2;
        *op = (struct wf_op)ICOLL(IALLREDUCE, 8, comm);
        op->comm = comm;
    }
    return true;
}

/* The second is called at 200 by all, and over two least delays later; so is then the fourth.
 */
static void meetings_with_one_number_keep_apart(void)
{
    static const struct wf_source_ops ops = {
        .name = "alike", .next = alike_next, .group = alike_group};
    static const char *const mpi[] = {"allreduce", "ideal", NULL};

    for (uint32_t n = 2; n <= 16; n++) {
        const struct wf_source source = {.ops = &ops, .n_ranks = n, .acts_in_background = true};
        int64_t clocks[RANKS_MAX];
        struct setup setup = on_net(mpi);

        for (uint32_t i = 0; i < n; i++) {
            clocks[i] = 200 + 4 * PROMISE;
        }
        setup.source = &source;
        for (setup.ranks_per_node = 1; setup.ranks_per_node <= 3; setup.ranks_per_node++) {
            struct outcome out = replay(&setup);
            CHECK(ends_at(&out, clocks, n));
        }
    }
}

/* ---- schedulers ---- */

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->status == WF_OK && b->status == WF_OK && a->run.digest == b->run.digest &&
           memcmp(&a->tally, &b->tally, sizeof(a->tally)) == 0;
}

static void compare_all(struct setup setup)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE,
                                                   WF_OPTIMISTIC, WF_PERTURB};
    struct outcome expected = replay(&setup);

    CHECK(expected.status == WF_OK && expected.tally.unfinished == 0);
    for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
        setup.scheduler = schedulers[i];
        for (setup.threads = 1; setup.threads <= 4; setup.threads *= 2) {
            if (setup.scheduler != WF_CHECK_UNDO || setup.threads == 1) {
                setup.perturb_seed = 1 + setup.threads;
                struct outcome out = replay(&setup);
                CHECK(same(&expected, &out));
            }
        }
    }
}

static void every_scheduler_gives_one_digest(void)
{
    static const struct wf_net_loggp_params no_latency = {
        .eager_max = WF_PARAM_WORD, .bandwidth = 1000000000 * WF_RATE_BYTE};
    static const struct wf_source source = {.ops = &mixed_ops, .n_ranks = RANKS_MAX};
    const char *mpi[MPI_MAX];

    for (uint32_t per_node = 1; per_node <= 3; per_node += 2) {
        struct setup setup = on_net(all_by("hardware", mpi));
        setup.source = &source;
        setup.ranks_per_node = per_node;
        setup.batch = setup.gvt_interval = 4;
        compare_all(setup);
        all_by("ideal", mpi);
        compare_all(setup);
        /* Some by messages, some by formula, and no promise to go by. */
        mpi[1] = mpi[3] = mpi[7] = "auto";
        setup.net = &wf_net_loggp_ops;
        setup.net_params = NULL;
        compare_all(setup);
        setup.net_params = &no_latency;
        compare_all(setup);
        mpi[0] = "progress";
        mpi[1] = "calls";
        compare_all(setup);
    }
}

/* ---- mistakes ---- */

static void who_does_not_call_the_same_waits_for_ever(void)
{
    static const char *const mpi[] = {"barrier", "ideal", "allreduce", "ideal", NULL};
    static const struct wf_op a[] = {BARRIER, END}, b[] = {ALLREDUCE(8), END};
    static const struct wf_op *const ranks[] = {a, b, a};
    struct outcome out = replay_script(on_net(mpi), ranks, 3);
    const struct wf_blocked_on *hub = &out.tally.blocked[0].on;
    const struct wf_blocked_on *other = &out.tally.blocked[1].on;

    CHECK(out.status == WF_OK && out.tally.n_blocked == 3);
    CHECK(hub->in == WF_BLOCKED_RECV && hub->peer == WF_MATCH_ANY_SOURCE);
    CHECK_U64(hub->coll, WF_COLL_BARRIER + 1);
    CHECK_U64(hub->other, WF_COLL_ALLREDUCE + 1);
    CHECK(other->in == WF_BLOCKED_RECV && other->peer == 0 && other->other == 0);
    CHECK_U64(other->coll, WF_COLL_ALLREDUCE + 1);
}

/* The root of a broadcast, and all but the root of a reduction, wait for nobody: they come to
 * their end even if the others do not call it. */
static void who_does_not_call_it_is_noticed(void)
{
    static const char *const mpi[] = {"bcast", "hardware", "reduce", "ideal", NULL};
    static const struct wf_op bcast[] = {{.kind = WF_OP_BCAST, .bytes = 8}, END};
    static const struct wf_op reduce[] = {{.kind = WF_OP_REDUCE, .bytes = 8}, END};
    static const struct wf_op nothing[] = {END};
    static const struct wf_op *const cases[][3] = {{bcast, nothing, bcast},
                                                   {nothing, reduce, reduce}};

    for (uint32_t i = 0; i < 2; i++) {
        struct outcome out = replay_script(on_net(mpi), cases[i], 3);
        const struct wf_rank_leftover *leftover = &out.tally.leftover[0];

        CHECK_U64(out.tally.unfinished + out.tally.unreceived, 0);
        CHECK(out.tally.uncalled == 1 && out.tally.n_leftover == 1);
        CHECK(leftover->rank == 1 - i && leftover->what.peer == WF_MATCH_ANY_SOURCE);
        CHECK_U64(leftover->what.coll, (i == 0 ? WF_COLL_BCAST : WF_COLL_REDUCE) + 1);
    }
}

static void sends_only_needs_no_formula(void)
{
    static const char *const mpi[] = {"barrier", "ideal", NULL};
    static const struct wf_op a[] = {BARRIER, END}, b[] = {END};
    static const struct wf_op *const ranks[] = {a, b};
    static const int64_t times[] = {0, 0};
    struct setup setup = on_net(mpi);

    setup.policy = WF_POLICY_ASAP;
    struct outcome out = replay_script(setup, ranks, 2);
    CHECK(ends_at(&out, times, 2));
}

int main(void)
{
    make_counts();
    RUN(an_ideal_barrier_costs_a_report_and_a_release);
    RUN(hardware_costs_levels_and_bytes);
    RUN(less_than_two_least_delays_is_two);
    RUN(a_broadcast_waits_for_its_root_alone);
    RUN(only_the_root_of_a_gather_waits);
    RUN(it_goes_on_while_a_rank_computes);
    RUN(programs_take_what_the_formulas_say);
    RUN(communicators_and_open_collectives_keep_apart);
    RUN(meetings_with_one_number_keep_apart);
    RUN(every_scheduler_gives_one_digest);
    RUN(who_does_not_call_the_same_waits_for_ever);
    RUN(who_does_not_call_it_is_noticed);
    RUN(sends_only_needs_no_formula);
    return wf_test_done();
}
