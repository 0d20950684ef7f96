/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic between random pairs. In each round the ranks form a circle in a random order
 * (program/gen/shuffle.h). Every rank sends a message to the rank a random number of places ahead;
 * this number is the same for all ranks. Order and number are new in each round.
 *
 * Every other rank is thus a rank's partner with the same probability, whatever the order,
 * and a rank is never its own partner. Every rank sends and receives exactly one message per
 * round. A single rank sends to itself.
 *
 * Everything is a function of `seed` and the round.
 */
#include "base/rng.h"
#include "program/gen/gen.h"
#include "program/gen/rounds.h"
#include "program/gen/shuffle.h"

#include <assert.h>
#include <string.h>

struct params {
    uint64_t bytes;
    uint64_t messages; /* per rank; 0: as many as ranks */
    uint64_t seed;
};

/* Streams of random numbers. */
enum { STREAM_ORDER, STREAM_PLACES };

struct random {
    struct wf_source source;
    struct wf_gen_shuffle shuffle;
    uint64_t bytes;
    uint64_t rounds;
    uint64_t seed;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "4", .doc = "Size of a message"),
    WF_PARAM_ROW(
        struct params, messages, COUNT, .def = "0",
        .doc = "Messages that each rank sends, one after the other; 0 means as many as ranks"),
    WF_PARAM_ROW(struct params, seed, COUNT, .def = "1", .doc = "Seed of the random pairs"),
    WF_PARAM_END,
};

static enum wf_status random_create(const void *params, uint32_t n_ranks,
                                    struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    struct random *program = wf_gen_new(sizeof(*program), &wf_gen_random_ops, n_ranks, out);

    wf_gen_shuffle_init(&program->shuffle, n_ranks);
    program->bytes = given->bytes;
    program->rounds = given->messages > 0 ? given->messages : n_ranks;
    program->seed = given->seed;
    program->source.messages_expected = wf_gen_rounds_messages(n_ranks, program->rounds);
    return WF_OK;
}

/* Finds the ranks that are this round's number of places before and after the rank in the
 * circle. */
static void find_partners(const struct random *program, uint32_t rank,
                          struct wf_gen_rounds_at *at)
{
    const struct wf_gen_shuffle *shuffle = &program->shuffle;
    uint32_t n = shuffle->n;
    uint64_t key = wf_rng_draw(program->seed, STREAM_ORDER, at->round);
    uint64_t random = wf_rng_draw(program->seed, STREAM_PLACES, at->round);
    uint32_t places = n == 1 ? 0 : 1 + (uint32_t)wf_rng_below(random, n - 1);
    uint32_t own = wf_gen_shuffle_place(shuffle, key, rank);

    at->from =
        wf_gen_shuffle_number(shuffle, key, own >= places ? own - places : own + (n - places));
    at->to = wf_gen_shuffle_number(shuffle, key,
                                   own < n - places ? own + places : own - (n - places));
}

static bool random_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    const struct random *program = (const struct random *)source;
    struct wf_gen_rounds_at at;

    assert(source->ops == &wf_gen_random_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    if (at.round == program->rounds) {
        return false;
    }
    if (at.step == 0) {
        find_partners(program, rank, &at);
    }
    wf_gen_rounds_step(&at, program->bytes, op);
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

WF_GENERATOR_OPS(random, "messages between random pairs of ranks");
