/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that go around a ring. In each round a rank sends to the rank above it (the last
 * one to rank 0) what it received from the rank below in the previous round; in the first
 * round it sends its own data. After as many rounds as there are ranks all ranks have seen
 * all data, and n ranks have sent n * n messages. A single rank sends to itself.
 */
#include "program/gen/gen.h"
#include "program/gen/rounds.h"

#include <assert.h>
#include <string.h>

struct params {
    uint64_t bytes;
    uint64_t rounds; /* 0: as many as ranks */
};

struct ring {
    struct wf_source source;
    uint64_t bytes;
    uint64_t rounds;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "4", .doc = "Size of a message"),
    WF_PARAM_ROW(
        struct params, rounds, COUNT, .def = "0",
        .doc = "Messages that each rank sends, one after the other; 0 means as many as ranks"),
    WF_PARAM_END,
};

static enum wf_status ring_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                  struct wf_err *err)
{
    const struct params *given = params;
    struct ring *ring = wf_gen_new(sizeof(*ring), &wf_gen_ring_ops, n_ranks, out);

    ring->bytes = given->bytes;
    ring->rounds = given->rounds > 0 ? given->rounds : n_ranks;
    ring->source.messages_expected = wf_gen_rounds_messages(n_ranks, ring->rounds);
    return WF_OK;
}

static bool ring_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                      struct wf_op *op)
{
    const struct ring *ring = (const struct ring *)source;
    uint32_t last = source->n_ranks - 1;
    struct wf_gen_rounds_at at;

    assert(source->ops == &wf_gen_ring_ops && rank <= last);
    memcpy(&at, cursor->word, sizeof(at));
    if (at.round == ring->rounds) {
        return false;
    }
    at.from = rank == 0 ? last : rank - 1;
    at.to = rank == last ? 0 : rank + 1;
    wf_gen_rounds_step(&at, ring->bytes, op);
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

WF_GENERATOR_OPS(ring, "every rank passes the messages of the rank before it to the next");
