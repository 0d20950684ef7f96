/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of a communicator, one after another or at once. A message of k bytes takes A + k
 * picoseconds and no CPU time; an allreduce of two ranks is one exchange. */
#include "model/net/alphabeta.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

enum { A = 1000, RANKS = 2 };

static const struct wf_net_alphabeta_params params = {
    .alpha = A, .bandwidth = 1000000000000 * WF_RATE_BYTE};
static const char *const serial[] = {"coll_order", "serial", NULL};
static const char *const freely[] = {"coll_order", "free", "rules", "nccl_formula", NULL};
static const char *const by_default[] = {NULL};
static const char *const of_nccl[] = {"rules", "nccl_formula", NULL};

/* Communicator 1 has the members of the world. */
static bool find_group(uint32_t rank, uint32_t comm, struct wf_group *out)
{
    *out =
        (struct wf_group){.id = comm, .size = RANKS, .rank = rank, .stride = 1, .width = RANKS};
    return comm == 1;
}

static struct outcome run(const char *const *mpi, const struct wf_op *zero,
                          const struct wf_op *one)
{
    const struct wf_op *const ranks[RANKS] = {zero, one};
    struct script script = make_group_script(ranks, RANKS, find_group);
    const struct setup setup = {.net = &wf_net_alphabeta_ops,
                                .net_params = &params,
                                .mpi = mpi,
                                .source = &script.source,
                                .count_cells = true};

    return replay(&setup);
}

/* Whether all is over and the last rank ended at this time. */
static bool ends_at(const struct outcome *out, int64_t time)
{
    int64_t end = out->tally.all.finish.max;

    if (end != time) {
        printf("# ended at %lld, not at %lld\n", (long long)end, (long long)time);
    }
    return end == time && out->status == WF_OK && out->tally.unfinished == 0 &&
           out->tally.unreceived == 0 && out->cells == 0;
}

static void two_take_as_long_as_one_after_the_other(void)
{
    static const struct wf_op ops[] = {ICOLL(IALLREDUCE, 500, 0), ICOLL(IALLREDUCE, 300, 1),
                                       COMPUTE(2000), WAITALL(0, 2), END};
    struct outcome out = run(serial, ops, ops);

    CHECK(ends_at(&out, 2 * A + 800));
    out = run(by_default, ops, ops);
    CHECK(ends_at(&out, 2000)); /* both are hidden */
}

/* The rules of NCCL imply it, and coll_order overrides them: by its formula two collectives at
 * once take as long as one. */
static void nccl_is_serial_by_itself(void)
{
    static const struct wf_op one[] = {ICOLL(IALLREDUCE, 1 << 20, 0), WAIT(0), END};
    static const struct wf_op two[] = {ICOLL(IALLREDUCE, 1 << 20, 0),
                                       ICOLL(IALLREDUCE, 1 << 20, 1), WAITALL(0, 2), END};
    struct outcome out = run(of_nccl, one, one);
    int64_t alone = out.tally.all.finish.max;

    out = run(of_nccl, two, two);
    CHECK(ends_at(&out, 2 * alone));
    out = run(freely, two, two);
    CHECK(ends_at(&out, alone));
}

static void other_communicators_do_not_wait(void)
{
    struct wf_op ops[] = {ICOLL(IALLREDUCE, 500, 0), ICOLL(IALLREDUCE, 500, 1), WAITALL(0, 2),
                          END};

    ops[1].comm = 1;
    struct outcome out = run(serial, ops, ops);
    CHECK(ends_at(&out, A + 500));
}

/* A group of sends and receives, as NCCL has it, is an exchange of neighbours: it waits for the
 * collective before it and keeps the next one waiting, also on a rank without a message. */
static void groups_of_messages_wait_too(void)
{
    static const uint32_t peers[] = {0, 1};
    struct wf_op zero[] = {ICOLL(IALLREDUCE, 500, 0), ICOLL(INEIGHBOR_ALLTOALL, 2000, 1),
                           ICOLL(IALLREDUCE, 300, 2), WAITALL(0, 3), END};
    struct wf_op one[] = {ICOLL(IALLREDUCE, 500, 0), ICOLL(INEIGHBOR_ALLTOALL, 2000, 1),
                          ICOLL(IALLREDUCE, 300, 2), WAITALL(0, 3), END};

    /* Rank 0 sends to rank 1, which sends nothing. */
    zero[1].destinations = &peers[1];
    zero[1].n_destinations = 1;
    one[1].sources = &peers[0];
    one[1].n_sources = 1;
    struct outcome out = run(serial, zero, one);
    CHECK(ends_at(&out, 3 * A + 2800));
    out = run(by_default, zero, one);
    CHECK(ends_at(&out, A + 2000));
    /* Nobody sends: the turn takes no time. */
    zero[1].n_destinations = one[1].n_sources = 0;
    out = run(serial, zero, one);
    CHECK(ends_at(&out, 2 * A + 800));
}

/* The second is called late by one rank, the third early by both; they are waited for in
 * another order than they were called. */
static void a_line_of_several(void)
{
    static const struct wf_op zero[] = {ICOLL(IALLREDUCE, 500, 0),
                                        ICOLL(IALLREDUCE, 100, 1),
                                        ICOLL(IALLREDUCE, 200, 2),
                                        ICOLL(IALLREDUCE, 300, 3),
                                        WAIT(2),
                                        WAIT(0),
                                        WAIT(3),
                                        WAIT(1),
                                        END};
    static const struct wf_op one[] = {ICOLL(IALLREDUCE, 500, 0),
                                       COMPUTE(10000),
                                       ICOLL(IALLREDUCE, 100, 1),
                                       ICOLL(IALLREDUCE, 200, 2),
                                       ICOLL(IALLREDUCE, 300, 3),
                                       WAITALL(0, 4),
                                       END};
    struct outcome out = run(serial, zero, one);

    CHECK(ends_at(&out, 10000 + 3 * A + 600));
}

/* A blocking collective waits in line as well; the line goes on without the rank. */
static void blocking_and_freed_ones(void)
{
    static const struct wf_op blocking[] = {ICOLL(IALLREDUCE, 500, 0), ALLREDUCE(100), WAIT(0),
                                            END};
    static const struct wf_op freed[] = {ICOLL(IALLREDUCE, 500, 0),
                                         SET_OP(REQUEST_FREE, 0, 1),
                                         ICOLL(IALLREDUCE, 100, 0),
                                         SET_OP(REQUEST_FREE, 0, 1),
                                         ICOLL(IALLREDUCE, 100, 0),
                                         SET_OP(REQUEST_FREE, 0, 1),
                                         END};
    struct outcome out = run(serial, blocking, blocking);

    CHECK(ends_at(&out, 2 * A + 600));
    CHECK_U64(out.tally.all.wait[WF_IN_COLLECTIVE].sum_low, 2 * (2 * A + 600));
    out = run(serial, freed, freed);
    CHECK(ends_at(&out, 0));
}

/* The hub of a formula knows the end of a collective before it comes, as does a rank that still
 * has to read a message. The next one waits for the end all the same. */
static void an_end_that_is_known_early(void)
{
    static const char *const formula[] = {"coll_order", "serial",       "bcast",
                                          "hardware",   "hw_bandwidth", "1TB/s",
                                          "hw_latency", "700ps",        NULL};
    static const struct wf_op ops[] = {ICOLL(IBCAST, 5000, 0), COMPUTE(100),
                                       ICOLL(IBCAST, 5000, 1), WAITALL(0, 2), END};
    static const struct wf_op blocking[] = {ICOLL(IBCAST, 5000, 0), COMPUTE(100),
                                            COLL(BCAST, 5000), WAIT(0), END};
    struct outcome out = run(formula, ops, ops);

    CHECK(ends_at(&out, 2 * (700 + 5000)));
    out = run(formula, blocking, blocking);
    CHECK(ends_at(&out, 2 * (700 + 5000)));
}

/* While a rank computes, nothing begins with mpi.progress=calls. */
static void the_next_begins_in_a_call(void)
{
    static const char *const in_calls[] = {"coll_order", "serial", "progress", "calls", NULL};
    static const struct wf_op ops[] = {ICOLL(IALLREDUCE, 500, 0), ICOLL(IALLREDUCE, 300, 1),
                                       COMPUTE(9000), WAITALL(0, 2), END};
    static const struct wf_op late[] = {ICOLL(IALLREDUCE, 500, 0),
                                        ICOLL(IALLREDUCE, 300, 1),
                                        COMPUTE(700),
                                        WAIT(0),
                                        COMPUTE(5000),
                                        WAIT(1),
                                        END};
    struct outcome out = run(in_calls, ops, ops);

    CHECK(ends_at(&out, 9000 + A + 300));
    /* The first ends while the rank waits for it, and the second begins at once. */
    out = run(in_calls, late, late);
    CHECK(ends_at(&out, A + 500 + 5000));
}

/* "rank 0 waits in allreduce for rank 1": in the first one, which the second waits for. */
static void a_line_that_stands_still_is_explained(void)
{
    static const struct wf_op blocking[] = {ICOLL(IALLREDUCE, 8, 0), BARRIER, WAIT(0), END};
    static const struct wf_op returns[] = {ICOLL(IALLREDUCE, 8, 0), ICOLL(IALLREDUCE, 8, 1),
                                           ICOLL(IBARRIER, 0, 2),   WAIT(1),
                                           WAITALL(0, 3),           END};
    static const struct wf_op nothing[] = {END};
    static const char *const formula[] = {"coll_order", "serial", "allreduce", "ideal", NULL};
    const char *const *const settings[] = {serial, formula};
    const struct wf_op *const cases[] = {blocking, returns};

    for (int i = 0; i < 4; i++) {
        struct outcome out = run(settings[i % 2], cases[i / 2], nothing);

        CHECK_U64(out.tally.n_blocked, 1);
        CHECK(out.tally.blocked[0].rank == 0);
        CHECK_U64(out.tally.blocked[0].on.coll, WF_COLL_ALLREDUCE + 1);
    }
}

int main(void)
{
    RUN(two_take_as_long_as_one_after_the_other);
    RUN(nccl_is_serial_by_itself);
    RUN(other_communicators_do_not_wait);
    RUN(groups_of_messages_wait_too);
    RUN(a_line_of_several);
    RUN(blocking_and_freed_ones);
    RUN(an_end_that_is_known_early);
    RUN(the_next_begins_in_a_call);
    RUN(a_line_that_stands_still_is_explained);
    return wf_test_done();
}
