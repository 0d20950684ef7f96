/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rank exchanges messages with many others, without order between them: an all-to-all,
 * or a sample of one. The peers of a rank are at the same distances from it for all ranks, so
 * that every rank sends and receives the same. The distances are a golden-ratio sequence: any
 * number of them is evenly spread over all ranks, and their remainders by the sizes of a
 * torus are, too. So a sample loads the links of a network nearly as the whole does.
 */
#include "program/gen/gen.h"
#include "program/gen/make.h"

#include <assert.h>

struct params {
    uint64_t bytes, peers, window, rounds;
};

struct exchange {
    struct wf_source source;
    uint64_t bytes, rounds;
    uint32_t peers, window;
    uint32_t step; /* between the distances of two peers; has no divisor in common with n - 1 */
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "1KiB", .doc = "Size of a message"),
    WF_PARAM_ROW(struct params, peers, COUNT, .def = "0",
                 .doc = "Ranks that each rank sends a message to, at evenly spread distances; "
                        "0 means all others"),
    WF_PARAM_ROW(struct params, window, COUNT, .def = "16", .min = "1", .max = "65536",
                 .doc = "Messages that a rank sends and receives at the same time"),
    WF_PARAM_ROW(struct params, rounds, COUNT, .def = "1", .max = "4000000000",
                 .doc = "Number of times that all of it is done"),
    WF_PARAM_END,
};

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The least number from n / golden ratio on that has no divisor in common with n. */
static uint32_t golden_step(uint32_t n)
{
    uint32_t step = (uint32_t)((uint64_t)n * 618034 / 1000000) + 1;

    while (common_divisor(step, n) != 1) {
        step++;
    }
    return step;
}

static enum wf_status exchange_create(const void *params, uint32_t n_ranks,
                                      struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    struct exchange *program = wf_gen_new(sizeof(*program), &wf_gen_exchange_ops, n_ranks, out);
    uint32_t others = n_ranks - 1;

    program->bytes = given->bytes;
    program->rounds = others > 0 ? given->rounds : 0;
    program->peers =
        given->peers == 0 || given->peers > others ? others : (uint32_t)given->peers;
    program->window = (uint32_t)given->window;
    program->step = others > 0 ? golden_step(others) : 0;
    program->source.messages_expected = given->rounds > UINT64_MAX / n_ranks / (others + 1)
                                            ? 0
                                            : program->rounds * program->peers * n_ranks;
    return WF_OK;
}

/* The distance to the peer with the number i. */
static uint32_t distance(const struct exchange *program, uint32_t i)
{
    uint32_t others = program->source.n_ranks - 1;

    return 1 + (uint32_t)(((uint64_t)i + 1) * program->step % others);
}

static bool exchange_next(const struct wf_source *source, uint32_t rank,
                          struct wf_cursor *cursor, struct wf_op *op)
{
    const struct exchange *program = (const struct exchange *)source;
    uint32_t n = source->n_ranks, first = (uint32_t)cursor->word[1];
    uint32_t step = (uint32_t)cursor->word[2];
    uint32_t left = program->peers - first;
    uint32_t now = left < program->window ? left : program->window;

    assert(source->ops == &wf_gen_exchange_ops && rank < n);
    if (cursor->word[0] == program->rounds) {
        return false;
    }
    uint32_t away = distance(program, first + step % now);
    uint32_t before = rank >= away ? rank - away : rank + (n - away);
    uint32_t after = rank < n - away ? rank + away : rank - (n - away);
    wf_gen_make_post(op, now, now, step, step < now ? before : after, program->bytes);
    cursor->word[2] = step + 1;
    if (step == 2 * now) {
        cursor->word[2] = 0;
        cursor->word[1] = first + now == program->peers ? 0 : first + now;
        cursor->word[0] += cursor->word[1] == 0;
    }
    return true;
}

WF_GENERATOR_OPS(exchange,
                 "every rank exchanges messages with all others, or with a sample of them");
