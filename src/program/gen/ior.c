/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmark IOR does: ranks write a file, or one each, in transfers of one size, and read it
 * again. A rank has a block in each segment of a shared file. With collective transfers a few ranks
 * gather those of their neighbours and write them in one piece, as ROMIO does with collective
 * buffering, after all ranks have told each other where they write.
 */
#include "program/gen/gen.h"
#include "program/gen/make.h"

#include <assert.h>
#include <string.h>

struct params {
    uint64_t block, transfer, segments;
    bool per_rank, write, read, sync, collective;
    uint64_t aggregators;
};

struct ior {
    struct wf_source source;
    struct params set;
    uint64_t rounds;  /* transfers of a rank in a phase */
    uint64_t members; /* ranks of an aggregator */
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, block, SIZE, .def = "16MiB", .min = "1",
                 .doc = "Bytes of a rank in each segment (IOR's -b)"),
    WF_PARAM_ROW(struct params, transfer, SIZE, .def = "1MiB", .min = "1",
                 .doc = "Bytes of one write or read (-t); it divides the block"),
    WF_PARAM_ROW(struct params, segments, COUNT, .def = "1", .min = "1",
                 .doc = "Segments of the file, each with a block of every rank (-s)"),
    WF_PARAM_ROW(struct params, per_rank, BOOL, .def = "false",
                 .doc = "A file for each rank instead of one for all (-F)"),
    WF_PARAM_ROW(struct params, write, BOOL, .def = "true", .doc = "Write the data (-w)"),
    WF_PARAM_ROW(struct params, read, BOOL, .def = "true",
                 .doc = "Read the data, after all ranks have written (-r)"),
    WF_PARAM_ROW(struct params, sync, BOOL, .def = "false",
                 .doc = "Wait until written data is on disks before a file is closed (-e)"),
    WF_PARAM_ROW(struct params, collective, BOOL, .def = "false",
                 .doc = "Transfers of all ranks at once, with aggregators (-c)"),
    WF_PARAM_ROW(struct params, aggregators, COUNT, .def = "0", .only_with = "collective=true",
                 .doc = "Ranks that write and read for all in collective transfers, ROMIO's "
                        "cb_nodes; 0: one of eight"),
    WF_PARAM_END,
};

/* The steps of a phase, for every rank; those of a transfer are repeated. */
enum step {
    STEP_BARRIER,
    STEP_OPEN,
    STEP_TELL, /* where the ranks write */
    STEP_GIVE, /* a write: data goes to the aggregator */
    STEP_WAIT,
    STEP_MOVE, /* the data of the transfer itself */
    STEP_TAKE, /* a read: data comes from the aggregator */
    STEP_END,
    STEP_SYNC,
    STEP_CLOSE,
    STEP_OVER,
};

struct at {
    uint64_t round;
    uint32_t phase, step; /* phase 0 writes, 1 reads */
    uint32_t part;        /* messages of the step so far */
    uint32_t padding;
};

WF_GEN_IS_CURSOR(struct at);

static enum wf_status ior_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                 struct wf_err *err)
{
    enum { RANKS_OF_AN_AGGREGATOR = 8 };
    const struct params *given = params;

    if (given->block % given->transfer != 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen.transfer: a block of gen.block bytes consists of whole "
                          "transfers; take a size that divides it");
    }
    if (given->block / given->transfer > UINT32_MAX / given->segments ||
        given->block > (uint64_t)INT64_MAX / n_ranks / given->segments) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen.block: more than 2^63 bytes in a file, or 2^32 transfers of a "
                          "rank; take smaller blocks or fewer segments");
    }
    if (given->collective && given->per_rank) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen.collective: ranks with a file each have nothing to do together; "
                          "leave out gen.per_rank or gen.collective");
    }
    if (given->aggregators > n_ranks) {
        return wf_err_set(err, WF_EUSAGE, "gen.aggregators: there are only %u ranks", n_ranks);
    }
    struct ior *ior = wf_gen_new(sizeof(*ior), &wf_gen_ior_ops, n_ranks, out);
    uint64_t n = given->aggregators > 0 ? given->aggregators
                                        : (n_ranks - 1) / RANKS_OF_AN_AGGREGATOR + 1;

    ior->set = *given;
    ior->rounds = given->segments * (given->block / given->transfer);
    ior->members = (n_ranks - 1) / n + 1;
    return WF_OK;
}

/* Where the rank's transfer of this round is. */
static uint64_t offset_of(const struct ior *ior, uint32_t rank, uint64_t round)
{
    uint64_t of_block = ior->set.block / ior->set.transfer;
    uint64_t segment = round / of_block, in_block = round % of_block * ior->set.transfer;

    return ior->set.per_rank
               ? segment * ior->set.block + in_block
               : (segment * ior->source.n_ranks + rank) * ior->set.block + in_block;
}

static void make_file(const struct ior *ior, uint32_t rank, enum wf_op_kind kind,
                      struct wf_op *op)
{
    op->kind = kind;
    op->tag = ior->set.per_rank ? (int32_t)rank : 0;
    op->bytes = 0;
    op->offset = 0;
}

/* The messages between an aggregator and its members: those of the rank, one after the other. False
 * after the last one. */
static bool make_gather(const struct ior *ior, uint32_t rank, bool to_aggregator, struct at *at,
                        struct wf_op *op)
{
    uint32_t first = (uint32_t)(rank / ior->members * ior->members);
    uint64_t left = ior->source.n_ranks - first;
    uint32_t others = (uint32_t)(left < ior->members ? left : ior->members) - 1;
    bool leads = rank == first;

    if (at->part >= (leads ? others : 1)) {
        at->part = 0;
        return false;
    }
    uint32_t peer = leads ? first + 1 + at->part : first;
    if (leads == to_aggregator) {
        wf_gen_make_irecv(op, peer, 0, ior->set.transfer, at->part);
    } else {
        wf_gen_make_isend(op, peer, 0, ior->set.transfer, at->part);
    }
    at->part++;
    return true;
}

/* Requests that the rank waits for after make_gather(). */
static uint32_t requests_of(const struct ior *ior, uint32_t rank)
{
    uint32_t first = (uint32_t)(rank / ior->members * ior->members);
    uint64_t left = ior->source.n_ranks - first;

    return rank == first ? (uint32_t)(left < ior->members ? left : ior->members) - 1 : 1;
}

static void make_move(const struct ior *ior, uint32_t rank, const struct at *at,
                      struct wf_op *op)
{
    make_file(ior, rank, at->phase == 0 ? WF_OP_FILE_WRITE : WF_OP_FILE_READ, op);
    op->offset = offset_of(ior, rank, at->round);
    op->bytes = ior->set.transfer;
    if (ior->set.collective) {
        op->bytes *= rank % ior->members == 0 ? requests_of(ior, rank) + UINT64_C(1) : 0;
    }
}

/* Sets the op of the step; false if it has none (more). */
static bool make_step(const struct ior *ior, uint32_t rank, struct at *at, struct wf_op *op)
{
    bool writes = at->phase == 0, all = ior->set.collective && ior->source.n_ranks > 1;

    switch ((enum step)at->step) {
    case STEP_BARRIER:
        wf_gen_make_collective(op, WF_OP_BARRIER, 0);
        return at->part++ == 0;
    case STEP_OPEN:
        make_file(ior, rank, WF_OP_FILE_OPEN, op);
        return at->part++ == 0;
    case STEP_TELL:
        wf_gen_make_collective(op, WF_OP_ALLGATHER, 2 * sizeof(uint64_t));
        return all && at->part++ == 0;
    case STEP_GIVE:
        return all && writes && make_gather(ior, rank, true, at, op);
    case STEP_TAKE:
        return all && !writes && make_gather(ior, rank, false, at, op);
    case STEP_WAIT:
    case STEP_END:
        wf_gen_make_waitall(op, requests_of(ior, rank));
        return all && writes == (at->step == STEP_WAIT) && at->part++ == 0;
    case STEP_MOVE:
        make_move(ior, rank, at, op);
        return at->part++ == 0 && op->bytes > 0;
    case STEP_SYNC:
        make_file(ior, rank, WF_OP_FILE_SYNC, op);
        return writes && ior->set.sync && at->part++ == 0;
    case STEP_CLOSE:
        make_file(ior, rank, WF_OP_FILE_CLOSE, op);
        return at->part++ == 0;
    case STEP_OVER:
        break;
    }
    return false;
}

static bool ior_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                     struct wf_op *op)
{
    const struct ior *ior = (const struct ior *)source;
    struct at at;
    bool found = false;

    assert(source->ops == &wf_gen_ior_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    while (!found && at.phase < 2) {
        bool skipped = at.phase == 0 ? !ior->set.write : !ior->set.read;

        if (!skipped && make_step(ior, rank, &at, op)) {
            found = true;
            break;
        }
        at.part = 0;
        at.step++;
        if (at.step == STEP_SYNC && !skipped && ++at.round < ior->rounds) {
            at.step = STEP_TELL;
        }
        if (skipped || at.step == STEP_OVER) {
            at = (struct at){.phase = at.phase + 1};
        }
    }
    if (found) {
        memcpy(cursor->word, &at, sizeof(at));
    }
    return found;
}

WF_GENERATOR_OPS(ior, "the benchmark IOR: ranks write a file and read it");
