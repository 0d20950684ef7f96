/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ping-pong between pairs of ranks: rank i of the first half and rank i of the second half.
 * In each round the first rank of a pair sends a window of messages and the other one answers
 * with as many. With `both`, the two send at the same time. If the number of ranks is odd, the
 * last one does nothing; with `pairs`, only that many of the first ranks of each half do.
 *
 * Two ranks measure latency and bandwidth between two nodes; as many ranks as nodes measure
 * how the network bears that all nodes of one half talk to the other half.
 */
#include "program/gen/gen.h"
#include "program/gen/make.h"

#include <assert.h>

struct params {
    uint64_t bytes, rounds, window, pairs;
    bool both;
};

struct pingpong {
    struct wf_source source;
    uint64_t bytes, rounds;
    uint32_t window, pairs;
    bool both;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "8", .doc = "Size of a message"),
    WF_PARAM_ROW(struct params, rounds, COUNT, .def = "10", .max = "4000000000",
                 .doc = "Number of times that a message goes there and back"),
    WF_PARAM_ROW(struct params, window, COUNT, .def = "1", .min = "1", .max = "65536",
                 .doc = "Messages that a rank sends before it waits for an answer"),
    WF_PARAM_ROW(struct params, both, BOOL, .def = "false",
                 .doc = "Whether both ranks of a pair send at the same time"),
    WF_PARAM_ROW(struct params, pairs, COUNT, .def = "0",
                 .doc = "Pairs that send messages; 0 means all"),
    WF_PARAM_END,
};

static enum wf_status pingpong_create(const void *params, uint32_t n_ranks,
                                      struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    struct pingpong *program = wf_gen_new(sizeof(*program), &wf_gen_pingpong_ops, n_ranks, out);

    program->bytes = given->bytes;
    program->rounds = given->rounds;
    program->window = (uint32_t)given->window;
    program->pairs =
        given->pairs == 0 || given->pairs > n_ranks / 2 ? n_ranks / 2 : (uint32_t)given->pairs;
    program->both = given->both;
    /* At most 2^32 rounds of 2^16 messages: the product of these two fits. */
    program->source.messages_expected =
        given->rounds * given->window > UINT64_MAX / n_ranks
            ? 0
            : given->rounds * given->window * 2 * program->pairs;
    return WF_OK;
}

static bool pingpong_next(const struct wf_source *source, uint32_t rank,
                          struct wf_cursor *cursor, struct wf_op *op)
{
    const struct pingpong *program = (const struct pingpong *)source;
    uint32_t half = source->n_ranks / 2;
    uint64_t round = cursor->word[0];
    uint32_t step = (uint32_t)cursor->word[1], window = program->window, of_half = window + 1;
    uint32_t n_steps = program->both ? 2 * window + 1 : 2 * of_half;

    assert(source->ops == &wf_gen_pingpong_ops && rank < source->n_ranks);
    bool is_first = rank < half;
    if (round == program->rounds || (is_first ? rank : rank - half) >= program->pairs) {
        return false;
    }
    uint32_t peer = is_first ? rank + half : rank - half;
    if (program->both) {
        wf_gen_make_post(op, window, window, step, peer, program->bytes);
    } else { /* half a round: one of the two sends, the other receives */
        bool sends = is_first == (step < of_half);
        wf_gen_make_post(op, sends ? 0 : window, sends ? window : 0, step % of_half, peer,
                         program->bytes);
    }
    cursor->word[1] = step + 1 == n_steps ? 0 : step + 1;
    cursor->word[0] += cursor->word[1] == 0;
    return true;
}

WF_GENERATOR_OPS(pingpong, "pairs of ranks, one of each half, send messages to and fro");
