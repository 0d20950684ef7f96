/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic of jobs that disturb others and of jobs that are disturbed, after GPCNeT (S. Chunduri et
 * al., "GPCNeT: designing a benchmark suite for inducing and measuring contention in HPC
 * networks", SC 2019). Run one as an aggressor beside another as a victim:
 *
 *     ring       every rank exchanges messages with both neighbours in a random ring (victim)
 *     pairs      every rank sends to another one, a random permutation
 *     incast     all ranks of a group send to its first rank
 *     outcast    the first rank of a group sends to all others
 *     alltoall   every rank of a group sends to every other one
 *
 * Rings and pairs are drawn anew in each round. A round of a rank is: post the receives, post the
 * sends, wait for all of them. Of every peer there are `window` messages.
 */
#include "base/arith.h"
#include "program/gen/gen.h"
#include "program/gen/make.h"
#include "program/gen/shuffle.h"

#include <assert.h>
#include <inttypes.h>

enum kind { RING, PAIRS, INCAST, OUTCAST, ALLTOALL };

struct params {
    int kind;
    uint64_t bytes, rounds, window, group;
};

struct gpcnet {
    struct wf_source source;
    enum kind kind;
    uint64_t bytes, rounds;
    uint32_t window, group;
    struct wf_gen_shuffle shuffle;
};

static const char *const kind_names[] = {"ring",    "pairs",    "incast",
                                         "outcast", "alltoall", NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, kind, ENUM, .def = "ring", .choices = kind_names,
                 .doc = "Who sends to whom"),
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "128KiB", .doc = "Size of a message"),
    WF_PARAM_ROW(struct params, rounds, COUNT, .def = "10", .max = "4000000000",
                 .doc = "Number of rounds"),
    WF_PARAM_ROW(struct params, window, COUNT, .def = "1", .min = "1", .max = "1024",
                 .doc = "Messages to each peer in a round"),
    WF_PARAM_ROW(struct params, group, COUNT, .def = "0", .max = "4000000000",
                 .doc = "Ranks of a group, for incast, outcast and alltoall; 0 is all ranks"),
    WF_PARAM_END,
};

/* The group of a rank: its first rank, and how many it has. */
struct members {
    uint32_t first, n;
};

static struct members members_of(const struct gpcnet *g, uint32_t rank)
{
    uint32_t n = g->source.n_ranks, each = g->group == 0 ? n : g->group;
    uint32_t first = rank / each * each;

    return (struct members){first, n - first < each ? n - first : each};
}

/* The number of peers from which a rank receives, or to which it sends. */
static uint32_t n_peers(const struct gpcnet *g, uint32_t rank, bool sends)
{
    struct members own = members_of(g, rank);
    bool is_first = rank == own.first;

    switch (g->kind) {
    case RING:
        return g->source.n_ranks > 1 ? 2 : 0;
    case PAIRS:
        return g->source.n_ranks > 1 ? 1 : 0;
    case INCAST:
        return is_first ? (sends ? 0 : own.n - 1) : (sends ? 1 : 0);
    case OUTCAST:
        return is_first ? (sends ? own.n - 1 : 0) : (sends ? 0 : 1);
    case ALLTOALL:
        return own.n - 1;
    }
    return 0;
}

/* Peer number i of a rank in a round. */
static uint32_t peer_of(const struct gpcnet *g, uint32_t rank, uint64_t round, uint32_t i,
                        bool sends)
{
    struct members own = members_of(g, rank);
    uint32_t n = g->source.n_ranks, away = i + 1;

    if (g->kind == RING || g->kind == PAIRS) {
        uint32_t place = wf_gen_shuffle_place(&g->shuffle, round, rank);
        bool forward = (i == 0) == sends;
        return wf_gen_shuffle_number(&g->shuffle, round,
                                     forward ? (place + 1) % n : (place + n - 1) % n);
    }
    if (g->kind == ALLTOALL) {
        uint32_t at = rank - own.first;
        return own.first + (sends ? at + away : at + own.n - away) % own.n;
    }
    return rank == own.first ? own.first + away : own.first;
}

static enum wf_status gpcnet_create(const void *params, uint32_t n_ranks,
                                    struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    uint64_t sends = 0;

    if (given->window > UINT32_MAX / 2 / n_ranks) {
        return wf_err_set(err, WF_EUSAGE, "gen.window: too many messages for %" PRIu32 " ranks",
                          n_ranks);
    }
    struct gpcnet *program = wf_gen_new(sizeof(*program), &wf_gen_gpcnet_ops, n_ranks, out);
    program->kind = (enum kind)given->kind;
    program->bytes = given->bytes;
    program->rounds = given->rounds;
    program->window = (uint32_t)given->window;
    program->group = (uint32_t)given->group;
    wf_gen_shuffle_init(&program->shuffle, n_ranks);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        sends += n_peers(program, rank, true);
    }
    uint64_t all = wf_times_u64(wf_times_u64(sends, given->window), given->rounds);
    program->source.messages_expected = all == UINT64_MAX ? 0 : all;
    return WF_OK;
}

/* The cursor: rounds done; ops of the present one done. */
static bool gpcnet_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    const struct gpcnet *g = (const struct gpcnet *)source;
    uint32_t receives = n_peers(g, rank, false) * g->window;
    uint32_t sends = n_peers(g, rank, true) * g->window, all = receives + sends;
    uint32_t step = (uint32_t)cursor->word[1];

    assert(source->ops == &wf_gen_gpcnet_ops && rank < source->n_ranks);
    if (cursor->word[0] == g->rounds || all == 0) {
        return false;
    }
    bool is_send = step >= receives;
    uint32_t i = (is_send ? step - receives : step) / g->window;
    uint32_t peer = step < all ? peer_of(g, rank, cursor->word[0], i, is_send) : 0;
    wf_gen_make_post(op, receives, sends, step, peer, g->bytes);
    cursor->word[1] = step < all ? step + 1 : 0;
    cursor->word[0] += step == all;
    return true;
}

WF_GENERATOR_OPS(gpcnet, "jobs that disturb others, and jobs that are disturbed");
