/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Random programs that are correct MPI under every protocol: a sequence of rounds. All ranks
 * have the same kind of round at a time. */

#include "harness/random_rounds.h"

static inline struct wf_op program_collective(struct program *p, bool returns)
{
    enum { FIRST = WF_OP_BARRIER, N = WF_OP_EXSCAN - WF_OP_BARRIER + 1 };
    uint32_t which = (uint32_t)program_draw(p, N);
    struct wf_op op = {.kind = (enum wf_op_kind)((returns ? WF_OP_IBARRIER : FIRST) + which),
                       .bytes = program_draw(p, 20000),
                       .root = (uint32_t)program_draw(p, 3),
                       .comm = (uint32_t)program_draw(p, 3)};
    enum wf_op_kind plain = (enum wf_op_kind)(FIRST + which);

    /* All ranks use the same counts, so that sends and receives match. */
    if (plain == WF_OP_ALLGATHERV || plain == WF_OP_REDUCE_SCATTER) {
        op.counts = p->counts;
    }
    return op;
}

static inline void round_collective(struct program *p)
{
    program_add_all(p, program_collective(p, false));
}

/* Two nonblocking collectives, completed in any order, with messages in between. */
static inline void round_nonblocking(struct program *p)
{
    struct wf_op one = program_collective(p, true), two = program_collective(p, true);

    one.request = 40;
    two.request = 2;
    program_add_all(p, one);
    program_add_all(p, two);
    round_sendrecv(p);
    program_compute(p);
    bool forwards = program_draw(p, 2) == 0;
    program_add_all(p, (struct wf_op)WAIT(forwards ? 40 : 2));
    program_compute(p);
    program_add_all(p, (struct wf_op)WAIT(forwards ? 2 : 40));
}

static inline void round_one_sided(struct program *p)
{
    uint32_t shift = (uint32_t)program_draw(p, PROGRAM_RANKS);

    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        uint64_t bytes = program_draw(p, 20000);
        struct wf_op put = PEER_OP(PUT, program_up(rank, shift), 0, bytes, 0);
        put.kind = program_draw(p, 2) == 0 ? WF_OP_PUT : WF_OP_GET;
        program_add(p, rank, put);
        if (program_draw(p, 4) == 0) {
            program_add(p, rank, (struct wf_op){.kind = WF_OP_WIN_FLUSH});
        }
    }
    program_compute(p);
    program_add_all(p, (struct wf_op){.kind = WF_OP_FENCE});
}

static inline void round_marks(struct program *p)
{
    program_add_all(p, (struct wf_op)MARK(ITERATION_BEGIN, 0));
    program_add_all(p, (struct wf_op)MARK(REGION_BEGIN, 7));
    round_exchange(p);
    program_add_all(p, (struct wf_op)MARK(REGION_END, 7));
    program_add_all(p, (struct wf_op)MARK(ITERATION_END, 0));
}

/* A round that depends on time: all others send to one rank, which receives from any source. */
static inline void round_open(struct program *p)
{
    uint32_t root = (uint32_t)program_draw(p, PROGRAM_RANKS);
    uint64_t kind = program_draw(p, 4);
    /* A message of a rank that is ahead must not match a receive of an earlier round. */
    int32_t tag = (int32_t)(1000 + p->draw);

    program_compute(p);
    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        uint64_t bytes = program_draw(p, 20000);
        if (rank != root) {
            program_add(p, rank, (struct wf_op)SEND(root, tag, bytes));
            program_add(p, root,
                        kind == 0 ? (struct wf_op)RECV(WF_ANY_SOURCE, tag)
                                  : (struct wf_op)IRECV(rank, tag, 10 + rank));
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct wf_op take = SET_OP(WAITANY, 10, PROGRAM_RANKS);
        take.kind = kind == 1 ? WF_OP_WAITANY : kind == 2 ? WF_OP_WAITSOME : WF_OP_TESTANY;
        program_add(p, root, take);
        program_add(p, root, (struct wf_op)COMPUTE(1000000));
        program_add(p, root, (struct wf_op)SET_OP(TESTSOME, 12, 4));
    }
    program_add(p, root, (struct wf_op)WAITALL(10, PROGRAM_RANKS));
}

/* Each rank writes to a file of all, and reads; where there is no storage this takes no time. */
static inline void round_files(struct program *p)
{
    for (uint32_t rank = 0; rank < PROGRAM_RANKS; rank++) {
        struct wf_op op = {.kind = WF_OP_FILE_WRITE,
                           .offset = rank * UINT64_C(20000),
                           .bytes = 1 + program_draw(p, 20000)};
        program_add(p, rank, op);
        op.kind = program_draw(p, 2) == 0 ? WF_OP_FILE_READ : WF_OP_FILE_SYNC;
        program_add(p, rank, op);
    }
}

/* Rounds that do not depend on time, those that may, and with files: a rank keeps what it has done with
 * files, in a cell, until it is counted at the end. */
enum program_rounds { PROGRAM_TIMELESS = 8, PROGRAM_OPEN, PROGRAM_FILES };

static inline struct program *program_of(uint64_t seed, uint32_t n_rounds,
                                         enum program_rounds which)
{
    static void (*const rounds[])(struct program *) = {
        round_exchange,    round_sendrecv,  round_line,  round_persistent, round_collective,
        round_nonblocking, round_one_sided, round_marks, round_open,       round_files};
    struct program *p = wf_xcalloc(1, sizeof(*p));

    p->seed = seed;
    for (uint32_t i = 0; i < PROGRAM_RANKS; i++) {
        p->ops[i] = wf_xcalloc(PROGRAM_OPS, sizeof(struct wf_op));
        p->counts[i] = program_draw(p, 9000);
    }
    for (uint32_t i = 0; i < n_rounds; i++) {
        program_compute(p);
        rounds[program_draw(p, which)](p);
    }
    program_add_all(p, (struct wf_op)END);
    p->script =
        make_group_script((const struct wf_op *const *)p->ops, PROGRAM_RANKS, program_group);
    return p;
}

/* A program of rounds that do not depend on time. If `open` is set, any but those with files may occur. */
static inline struct program *program_new(uint64_t seed, uint32_t n_rounds, bool open)
{
    return program_of(seed, n_rounds, open ? PROGRAM_OPEN : PROGRAM_TIMELESS);
}

static inline void program_free(struct program *p)
{
    for (uint32_t i = 0; i < PROGRAM_RANKS; i++) {
        free(p->ops[i]);
    }
    free(p);
}
