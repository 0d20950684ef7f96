/* SPDX-License-Identifier: Apache-2.0 */
/* Nonblocking collectives among other requests, completed by any kind of wait or test. The
 * written trace must create and complete every request once, and every message must have two
 * ends. */
#include "ui/study/expand.h"

#include "harness/wf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 6, REQUESTS = 64, MAX = 4096, OWN = 2 };

/* A message by what makes it the same at both ends. */
struct end {
    uint32_t from, to;
    int64_t tag;
    uint64_t bytes;
};

/* The inner writer: looks at what comes. */
struct looker {
    struct wf_trace_writer writer;
    uint32_t rank;
    bool active[REQUESTS + OWN]; /* the expansion's, and the program's 0 and 1 behind */
    struct end sent[MAX], received[MAX];
    int n_sent, n_received, n_other;
    enum wf_op_kind last;
    struct wf_op kept; /* the last one that has program's requests */
    bool ended;
    int faults;
};

static void expect(struct looker *looker, bool condition)
{
    looker->faults += condition ? 0 : 1;
}

static bool *active(struct looker *looker, uint32_t request)
{
    uint32_t i =
        request >= WF_EXPAND_REQUEST ? request - WF_EXPAND_REQUEST : REQUESTS + request;

    expect(looker, i < REQUESTS + OWN && (request < WF_EXPAND_REQUEST || i < REQUESTS));
    return &looker->active[i < REQUESTS + OWN ? i : 0];
}

static void look_at_wait(struct looker *looker, const struct wf_op *op)
{
    uint32_t n = op->kind == WF_OP_WAIT ? 1 : op->count;

    expect(looker, n > 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t request =
            op->kind != WF_OP_WAIT && op->requests != NULL ? op->requests[i] : op->request + i;
        bool done = op->kind == WF_OP_WAIT || op->kind == WF_OP_WAITALL;
        for (uint32_t k = 0; op->kind == WF_OP_WAITSOME && k < op->outcome; k++) {
            done = done || op->outcomes[k] == i;
        }
        done = done || (op->kind == WF_OP_WAITANY && op->outcome == i);
        done = done || (op->kind == WF_OP_TESTALL && op->outcome == 1);
        if (done) {
            expect(looker, *active(looker, request));
            *active(looker, request) = false;
        }
        if (request < WF_EXPAND_REQUEST) {
            looker->kept = *op;
        }
    }
}

static enum wf_status look(struct wf_trace_writer *writer, uint32_t rank,
                           const struct wf_op *op, struct wf_err *err)
{
    struct looker *looker = (struct looker *)writer;
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if (rank != looker->rank) {
        for (int i = 0; i < REQUESTS + OWN; i++) {
            expect(looker, !looker->active[i]);
        }
        looker->rank = rank;
    }
    looker->last = op->kind;
    if (op->kind == WF_OP_ISEND || op->kind == WF_OP_IRECV) {
        expect(looker, !*active(looker, op->request));
        *active(looker, op->request) = true;
        expect(looker, looker->n_sent < MAX && looker->n_received < MAX);
        if (op->kind == WF_OP_ISEND) {
            looker->sent[looker->n_sent++] = (struct end){rank, op->peer, op->tag, op->bytes};
        } else {
            looker->received[looker->n_received++] =
                (struct end){op->peer, rank, op->tag, op->bytes};
        }
    } else if (family == WF_FAMILY_WAIT || family == WF_FAMILY_TEST) {
        look_at_wait(looker, op);
    } else {
        looker->n_other++;
    }
    return WF_OK;
}

static enum wf_status end(struct wf_trace_writer *writer, struct wf_err *err)
{
    ((struct looker *)writer)->ended = true;
    return WF_OK;
}

static void discard(struct wf_trace_writer *writer)
{
    ((struct looker *)writer)->ended = true;
}

static const struct wf_trace_writer_ops looker_ops = {
    .name = "looker", .add = look, .finish = end, .discard = discard};

static int by_end(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct end));
}

/* Every message that is sent is received. */
static void check_ends(struct looker *looker)
{
    qsort(looker->sent, (size_t)looker->n_sent, sizeof(struct end), by_end);
    qsort(looker->received, (size_t)looker->n_received, sizeof(struct end), by_end);
    CHECK(looker->n_sent == looker->n_received);
    CHECK(memcmp(looker->sent, looker->received, (size_t)looker->n_sent * sizeof(struct end)) ==
          0);
}

/* Two collectives with the requests 5 and 6, and an exchange with 0 and 1, around the ring. */
static const struct wf_op collectives[] = {
    {.kind = WF_OP_IALLREDUCE, .request = 5, .bytes = 1000},
    {.kind = WF_OP_IBCAST, .request = 6, .bytes = 10, .root = 4},
};

enum { ENDS_MAX = 4 };

struct program {
    const char *name;
    struct wf_op ends[ENDS_MAX]; /* up to an op of kind COMPUTE */
    uint32_t n_kept;             /* of the last wait that names 0 or 1: how many it has */
    uint32_t kept_outcome;
};

static const uint32_t all[] = {5, 0, 6, 1}, first[] = {5, 0}, second[] = {6, 1};
static const uint32_t ours[] = {5, 6}, some[] = {0, 1}, others[] = {2, 3};

static const struct program programs[] = {
    {"waitall", {{.kind = WF_OP_WAITALL, .requests = all, .count = 4}}, 2, 0},
    {"one by one, the last first",
     {{.kind = WF_OP_WAIT, .request = 6},
      {.kind = WF_OP_WAITALL, .request = 0, .count = 2},
      {.kind = WF_OP_WAIT, .request = 5}},
     2,
     0},
    {"waitsome, twice",
     {{.kind = WF_OP_WAITSOME,
       .requests = all,
       .count = 4,
       .recorded = true,
       .outcome = 2,
       .outcomes = some},
      {.kind = WF_OP_WAITSOME,
       .requests = all,
       .count = 4,
       .recorded = true,
       .outcome = 2,
       .outcomes = others}},
     2,
     1},
    {"waitany: a collective, then the others",
     {{.kind = WF_OP_WAITANY, .requests = first, .count = 2, .recorded = true, .outcome = 0},
      {.kind = WF_OP_WAITANY, .requests = second, .count = 2, .recorded = true, .outcome = 1},
      {.kind = WF_OP_WAIT, .request = 6},
      {.kind = WF_OP_WAIT, .request = 0}},
     1,
     0},
    {"testall: nothing, then all",
     {{.kind = WF_OP_TESTALL, .requests = ours, .count = 2, .recorded = true, .outcome = 0},
      {.kind = WF_OP_TESTALL, .requests = all, .count = 4, .recorded = true, .outcome = 1}},
     2,
     1},
    {"given up, and never waited for",
     {{.kind = WF_OP_REQUEST_FREE, .request = 5},
      {.kind = WF_OP_WAITALL, .request = 0, .count = 2}},
     2,
     0},
};

static void run_program(const struct program *program, const struct wf_expand_choice *choice)
{
    static struct looker looker;
    struct wf_losses losses = {.n = 0};
    struct wf_err err;

    looker = (struct looker){.writer = {.ops = &looker_ops}};
    struct wf_trace_writer *writer = wf_expand_writer(&looker.writer, RANKS, choice);
    writer->losses = &losses;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const struct wf_op to = {
            .kind = WF_OP_ISEND, .request = 0, .peer = (rank + 1) % RANKS, .bytes = 7};
        const struct wf_op from = {
            .kind = WF_OP_IRECV, .request = 1, .peer = (rank + RANKS - 1) % RANKS, .bytes = 7};
        for (int i = 0; i < 2; i++) {
            CHECK(writer->ops->add(writer, rank, &collectives[i], &err) == WF_OK);
        }
        CHECK(writer->ops->add(writer, rank, &to, &err) == WF_OK);
        CHECK(writer->ops->add(writer, rank, &from, &err) == WF_OK);
        for (int i = 0; i < ENDS_MAX && program->ends[i].kind != WF_OP_COMPUTE; i++) {
            CHECK(writer->ops->add(writer, rank, &program->ends[i], &err) == WF_OK);
        }
    }
    CHECK(writer->ops->finish(writer, &err) == WF_OK);
    CHECK(looker.ended && looker.n_other == 0);
    for (int i = 0; i < REQUESTS + OWN; i++) {
        CHECK(!looker.active[i]);
    }
    CHECK(looker.faults == 0);
    CHECK(looker.n_sent > RANKS * 2);
    check_ends(&looker);
    if (looker.kept.kind != WF_OP_WAIT) {
        CHECK_U64(looker.kept.count, program->n_kept);
        CHECK_U64(looker.kept.recorded ? looker.kept.outcome : 0, program->kept_outcome);
    }
}

static void test_programs(void)
{
    static const struct wf_expand_choice choices[] = {{.rules = WF_COLL_RULES_MPICH},
                                                      {.rules = WF_COLL_RULES_OPENMPI}};

    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        for (int k = 0; k < 2; k++) {
            (void)printf("# %s\n", programs[i].name);
            run_program(&programs[i], &choices[k]);
        }
    }
}

int main(void)
{
    RUN(test_programs);
    return wf_test_done();
}
