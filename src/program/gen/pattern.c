/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of messages that `weft calibrate` measures on a real machine
 * (mpi/capture/patterns.c), so that a simulation can be compared with each of them:
 *
 *     pingpong    `first` sends to `second`, which answers
 *     oneway      `first` sends to `second`
 *     exchange    `first` and `second` send to each other at the same time
 *     incast      all ranks send to `first`
 *     outcast     `first` sends to all ranks
 *     bisection   rank i of one half and rank i of the other send to each other
 *     allpairs    every rank sends to every other one
 *     butterfly   of the ranks from `first` to `second`, those whose numbers differ in one bit
 *                 send to each other, bit by bit; each waits before it goes on to the next
 *
 * A round of a rank is: post the receives, post the sends, wait for all of them. Ranks that
 * start late meet messages that have been announced already, which changes the order of
 * control messages; `lag` is how late.
 */
#include "base/arith.h"
#include "program/gen/gen.h"
#include "program/gen/make.h"

#include <assert.h>

enum kind { PINGPONG, ONEWAY, EXCHANGE, INCAST, OUTCAST, BISECTION, ALLPAIRS, BUTTERFLY };

struct params {
    int kind;
    uint64_t bytes, rounds, first, second;
    int64_t lag;
};

struct pattern {
    struct wf_source source;
    enum kind kind;
    uint64_t bytes, rounds;
    uint32_t first, second;
    uint32_t steps; /* of a round: each posts messages and waits for them */
    int64_t lag;
};

static const char *const kind_names[] = {
    [PINGPONG] = "pingpong", [ONEWAY] = "oneway",       [EXCHANGE] = "exchange",
    [INCAST] = "incast",     [OUTCAST] = "outcast",     [BISECTION] = "bisection",
    [ALLPAIRS] = "allpairs", [BUTTERFLY] = "butterfly", NULL,
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, kind, ENUM, .def = "exchange", .choices = kind_names,
                 .doc = "Who sends to whom"),
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "1KiB", .doc = "Size of a message"),
    WF_PARAM_ROW(struct params, rounds, COUNT, .def = "1", .max = "4000000000",
                 .doc = "Number of times that all of it is done"),
    WF_PARAM_ROW(struct params, first, COUNT, .def = "0",
                 .doc = "The rank that begins, or that all others send to or receive from"),
    WF_PARAM_ROW(struct params, second, COUNT, .def = "1",
                 .doc =
                     "The other rank of pingpong, oneway and exchange, the last of butterfly"),
    WF_PARAM_ROW(struct params, lag, TIME, .def = "0", .min = "0", .max = "1h",
                 .doc = "How much later than `first` the second rank starts, the second half "
                        "with bisection, each rank after the one before it with allpairs"),
    WF_PARAM_END,
};

/* What a rank does in a step of a round. */
struct turn {
    uint32_t receives, sends;
};

static bool is_pair(enum kind kind)
{
    return kind <= EXCHANGE;
}

static bool has_second(enum kind kind)
{
    return is_pair(kind) || kind == BUTTERFLY;
}

static enum wf_status check(const struct params *given, uint32_t n_ranks, struct wf_err *err)
{
    bool pair = has_second((enum kind)given->kind);

    if (n_ranks == 1) {
        return WF_OK; /* it has nobody to send to */
    }
    if (given->first >= n_ranks || (pair && given->second >= n_ranks) ||
        (pair && given->first == given->second)) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen.first and gen.second: expected two different ranks below %u",
                          n_ranks);
    }
    return WF_OK;
}

/* The ranks from the lower of two numbers to the higher: a power of two of them take part. */
static uint32_t low_of(const struct pattern *p)
{
    return p->first < p->second ? p->first : p->second;
}

static uint32_t steps_of(const struct pattern *p)
{
    uint64_t members =
        (uint64_t)(p->first < p->second ? p->second : p->first) - low_of(p) + UINT64_C(1);
    uint32_t steps = 0;

    if (p->kind != BUTTERFLY) {
        return p->kind == PINGPONG ? 2 : 1;
    }
    while (members >> (steps + 1) > 0) {
        steps++;
    }
    return steps;
}

static bool flies(const struct pattern *p, uint32_t rank)
{
    return rank >= low_of(p) && (uint64_t)rank - low_of(p) < UINT64_C(1) << p->steps;
}

static struct turn turn_of(const struct pattern *p, uint32_t rank, uint32_t step)
{
    uint32_t n = p->source.n_ranks, sender = step == 1 ? p->second : p->first;
    bool in_pair = rank == p->first || rank == p->second;

    if (n == 1) {
        return (struct turn){0, 0};
    }
    switch (p->kind) {
    case PINGPONG:
    case ONEWAY:
        return (struct turn){in_pair && rank != sender, rank == sender};
    case EXCHANGE:
        return (struct turn){in_pair, in_pair};
    case INCAST:
        return rank == p->first ? (struct turn){n - 1, 0} : (struct turn){0, 1};
    case OUTCAST:
        return rank == p->first ? (struct turn){0, n - 1} : (struct turn){1, 0};
    case BISECTION:
        return (struct turn){rank < n / 2 * 2, rank < n / 2 * 2};
    case ALLPAIRS:
        return (struct turn){n - 1, n - 1};
    case BUTTERFLY:
        return (struct turn){flies(p, rank), flies(p, rank)};
    }
    return (struct turn){0, 0};
}

/* The peer number i of a rank. Every rank has the others in another order, so that not all send
 * to the same one first. With butterfly, i is the step. */
static uint32_t peer_of(const struct pattern *p, uint32_t rank, uint32_t i, bool send)
{
    uint32_t n = p->source.n_ranks, half = n / 2;
    uint32_t away = i + 1;

    switch (p->kind) {
    case PINGPONG:
    case ONEWAY:
    case EXCHANGE:
        return rank == p->first ? p->second : p->first;
    case INCAST:
    case OUTCAST:
        return rank != p->first ? p->first : (p->first + away) % n;
    case BISECTION:
        return rank < half ? rank + half : rank - half;
    case ALLPAIRS:
        return (uint32_t)(((uint64_t)rank + (send ? away : n - away)) % n);
    case BUTTERFLY:
        return low_of(p) + ((rank - low_of(p)) ^ (UINT32_C(1) << i));
    }
    return rank;
}

static int64_t lag_of(const struct pattern *p, uint32_t rank)
{
    uint32_t late = p->kind == EXCHANGE || p->kind == BUTTERFLY ? rank == p->second
                    : p->kind == BISECTION                      ? rank >= p->source.n_ranks / 2
                    : p->kind == ALLPAIRS                       ? rank
                                                                : 0;

    return (int64_t)wf_min_u64(wf_times_u64((uint64_t)p->lag, late), INT64_MAX / 2);
}

static uint64_t messages_of(const struct pattern *p)
{
    uint64_t each = 0, n = p->source.n_ranks;

    each = is_pair(p->kind)       ? (p->kind == EXCHANGE ? 2 : 1)
           : p->kind == BUTTERFLY ? UINT64_C(1) << p->steps
           : p->kind == BISECTION ? n / 2 * 2
           : p->kind == ALLPAIRS  ? n * (n - 1)
                                  : n - 1;
    each = n > 1 ? each * p->steps : 0;
    return each > 0 && p->rounds > UINT64_MAX / each ? 0 : p->rounds * each;
}

static enum wf_status pattern_create(const void *params, uint32_t n_ranks,
                                     struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;

    WF_TRY(check(given, n_ranks, err));
    struct pattern *program = wf_gen_new(sizeof(*program), &wf_gen_pattern_ops, n_ranks, out);
    program->kind = (enum kind)given->kind;
    program->bytes = given->bytes;
    program->rounds = given->rounds;
    program->first = (uint32_t)given->first;
    program->second = (uint32_t)given->second;
    program->lag = given->lag;
    program->steps = steps_of(program);
    program->source.messages_expected = messages_of(program);
    return WF_OK;
}

/* The cursor: steps of all rounds done; ops of the present one done; whether the rank has
 * started. */
static bool pattern_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct pattern *p = (const struct pattern *)source;
    uint64_t turns = p->rounds * p->steps;

    assert(source->ops == &wf_gen_pattern_ops && rank < source->n_ranks);
    if (cursor->word[2] == 0) {
        cursor->word[2] = 1;
        int64_t lag = lag_of(p, rank);
        if (lag > 0) {
            wf_gen_make_compute(op, lag);
            return true;
        }
    }
    if (cursor->word[0] == turns) {
        return false;
    }
    uint32_t which = (uint32_t)(cursor->word[0] % p->steps);
    struct turn turn = turn_of(p, rank, which);
    uint32_t step = (uint32_t)cursor->word[1], all = turn.receives + turn.sends;
    uint32_t shift = p->kind == BUTTERFLY ? which : 0;
    if (all == 0) {
        return false;
    }
    bool is_send = step >= turn.receives;
    uint32_t i = is_send ? step - turn.receives : step;
    uint32_t peer = step < all ? peer_of(p, rank, i + shift, is_send) : 0;
    wf_gen_make_post(op, turn.receives, turn.sends, step, peer, p->bytes);
    cursor->word[1] = step < all ? step + 1 : 0;
    cursor->word[0] += step == all;
    return true;
}

WF_GENERATOR_OPS(pattern, "the patterns of messages that weft calibrate measures");
