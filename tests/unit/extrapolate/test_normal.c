/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/normal.h"

#include "harness/script.h"

#include "harness/wf_test.h"

#include <string.h>

enum { OPS_MAX = 32 };

/* What one rank does, in the normal form. */
struct result {
    struct wf_op ops[OPS_MAX];
    uint32_t n;
    struct wf_ext_normal normal;
    enum wf_status status;
    struct wf_err err;
};

static void read_all(const struct wf_op *ops, struct result *out)
{
    struct script script = make_script(&ops, 1);
    bool more = true;

    memset(out, 0, sizeof(*out));
    wf_ext_normal_begin(&out->normal, &script.source, "trace", 0);
    for (; more && out->n < OPS_MAX; out->n += more ? 1 : 0) {
        out->status = wf_ext_normal_next(&out->normal, &out->ops[out->n], &more, &out->err);
        more = more && out->status == WF_OK;
    }
    wf_ext_normal_fini(&out->normal);
}

/* A wait or test with a recorded outcome. */
static struct wf_op found(struct wf_op op, uint32_t outcome)
{
    op.recorded = true;
    op.outcome = outcome;
    return op;
}

static void waits_for_any_become_one_waitall(void)
{
    const struct wf_op ops[] = {IRECV(1, 0, 5),
                                IRECV(2, 0, 6),
                                ISEND(3, 0, 8, 7),
                                COMPUTE(10),
                                found((struct wf_op)SET_OP(WAITANY, 5, 3), 2),
                                COMPUTE(20),
                                found((struct wf_op)SET_OP(WAITANY, 5, 3), 0),
                                COMPUTE(40),
                                found((struct wf_op)SET_OP(TESTANY, 5, 3), 3),
                                COMPUTE(80),
                                found((struct wf_op)SET_OP(WAITANY, 5, 3), 1),
                                COMPUTE(160),
                                BARRIER,
                                END};
    struct result result;

    read_all(ops, &result);
    CHECK(result.status == WF_OK);
    CHECK_U64(result.n, 7);
    CHECK(result.ops[3].kind == WF_OP_COMPUTE && result.ops[3].duration == 10);
    CHECK(result.ops[4].kind == WF_OP_WAITALL && result.ops[4].count == 3);
    /* What was computed after each of the messages comes after all of them. */
    CHECK(result.ops[5].kind == WF_OP_COMPUTE && result.ops[5].duration == 300);
    CHECK(result.ops[6].kind == WF_OP_BARRIER);
}

static void without_outcomes_any_counts_down(void)
{
    const struct wf_op ops[] = {IRECV(1, 0, 5), IRECV(2, 0, 6), SET_OP(WAITANY, 5, 2),
                                SET_OP(WAITANY, 5, 2), END};
    const struct wf_op some[] = {IRECV(1, 0, 5), IRECV(2, 0, 6), SET_OP(WAITSOME, 5, 2), END};
    struct result result;

    read_all(ops, &result);
    CHECK(result.status == WF_OK && result.n == 3 && result.ops[2].kind == WF_OP_WAITALL);
    read_all(some, &result);
    CHECK(result.status == WF_EINVAL && strstr(result.err.text, "depends on time") != NULL);
}

static void who_comes_first_may_not_decide(void)
{
    const struct wf_op replies[] = {IRECV(1, 0, 5), IRECV(2, 0, 6),
                                    found((struct wf_op)SET_OP(WAITANY, 5, 2), 1),
                                    SEND(2, 1, 8), END};
    const struct wf_op ends[] = {IRECV(1, 0, 5), IRECV(2, 0, 6),
                                 found((struct wf_op)SET_OP(WAITANY, 5, 2), 1), END};
    struct result result;

    read_all(replies, &result);
    CHECK(result.status == WF_EINVAL &&
          strstr(result.err.text, "rank 0, op 3 (send): it follows a waitany") != NULL);
    read_all(ends, &result);
    CHECK(result.status == WF_EINVAL && strstr(result.err.text, "never complete") != NULL);
}

static void tests_are_waits_or_nothing(void)
{
    const struct wf_op ops[] = {IRECV(1, 0, 5), COMPUTE(1), found((struct wf_op)WAIT(5), 0),
                                END};
    struct wf_op polls[] = {ops[0], ops[1],     ops[2], COMPUTE(2),
                            ops[2], COMPUTE(4), ops[2], END};
    struct result result;

    for (uint32_t i = 2; i <= 6; i += 2) {
        polls[i].kind = WF_OP_TEST;
        polls[i].recorded = true;
        polls[i].outcome = i == 6 ? 1 : 0;
    }
    read_all(polls, &result);
    CHECK(result.status == WF_OK);
    CHECK_U64(result.n, 3);
    CHECK(result.ops[1].kind == WF_OP_COMPUTE && result.ops[1].duration == 7);
    CHECK(result.ops[2].kind == WF_OP_WAIT && result.ops[2].request == 5);
    polls[4].recorded = false;
    read_all(polls, &result);
    CHECK(result.status == WF_EINVAL);
}

static void neighbours_become_messages(void)
{
    const uint32_t sources[] = {1, 2}, destinations[] = {3};
    const uint64_t lengths[] = {10, 20};
    struct wf_op ops[] = {COLL(NEIGHBOR_ALLTOALL, 64), BARRIER, END};
    struct result result;

    ops[0].sources = sources;
    ops[0].n_sources = 2;
    ops[0].destinations = destinations;
    ops[0].n_destinations = 1;
    ops[0].recv_counts = lengths;
    read_all(ops, &result);
    CHECK(result.status == WF_OK);
    CHECK_U64(result.n, 5);
    CHECK(result.ops[0].kind == WF_OP_IRECV && result.ops[0].peer == 1);
    CHECK(result.ops[1].kind == WF_OP_IRECV && result.ops[1].peer == 2);
    CHECK_U64(result.ops[1].bytes, 20);
    CHECK(result.ops[2].kind == WF_OP_ISEND && result.ops[2].peer == 3);
    CHECK_U64(result.ops[2].bytes, 64);
    CHECK(result.ops[3].kind == WF_OP_WAITALL && result.ops[3].count == 3);
}

int main(void)
{
    RUN(waits_for_any_become_one_waitall);
    RUN(without_outcomes_any_counts_down);
    RUN(who_comes_first_may_not_decide);
    RUN(tests_are_waits_or_nothing);
    RUN(neighbours_become_messages);
    return wf_test_done();
}
