/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that computes in steps and writes its state to files every few of them: each rank its
 * own, or all one. It may begin with reading the state of an earlier run.
 */
#include "program/gen/gen.h"
#include "program/gen/make.h"

#include <assert.h>
#include <string.h>

struct params {
    int64_t step;
    uint64_t steps, every, bytes, reduce;
    bool shared, sync, restart;
};

struct checkpoint {
    struct wf_source source;
    struct params set;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, steps, COUNT, .def = "100", .min = "1",
                 .doc = "Steps of the program"),
    WF_PARAM_ROW(struct params, step, TIME, .def = "10ms", .min = "0",
                 .doc = "Time that a rank computes in a step"),
    WF_PARAM_ROW(struct params, reduce, SIZE, .def = "8",
                 .doc = "Bytes of the allreduce that ends a step"),
    WF_PARAM_ROW(struct params, every, COUNT, .def = "50", .min = "1",
                 .doc = "Steps from one checkpoint to the next"),
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "64MiB",
                 .doc = "State of a rank, which it writes"),
    WF_PARAM_ROW(struct params, shared, BOOL, .def = "false",
                 .doc = "One file for all ranks instead of one for each"),
    WF_PARAM_ROW(struct params, sync, BOOL, .def = "true",
                 .doc = "Wait until the state is on disks"),
    WF_PARAM_ROW(struct params, restart, BOOL, .def = "false",
                 .doc = "Read the state of an earlier run at the beginning"),
    WF_PARAM_END,
};

/* The operations of a checkpoint; a restart leaves out the sync. */
enum part {
    PART_COMPUTE,
    PART_REDUCE,
    PART_BEGIN,
    PART_OPEN,
    PART_MOVE,
    PART_SYNC,
    PART_CLOSE,
    PART_BARRIER,
    PART_END,
    PARTS,
};

/* Round 0 is the restart, round i the step number i. */
struct at {
    uint64_t round, part;
};

WF_GEN_IS_CURSOR(struct at);

static enum wf_status checkpoint_create(const void *params, uint32_t n_ranks,
                                        struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;

    if (given->bytes > (uint64_t)INT64_MAX / n_ranks) {
        return wf_err_set(err, WF_EUSAGE, "gen.bytes: more than 2^63 bytes of all ranks");
    }
    struct checkpoint *own = wf_gen_new(sizeof(*own), &wf_gen_checkpoint_ops, n_ranks, out);

    own->set = *given;
    return WF_OK;
}

/* Whether the round has this part. */
static bool has_part(const struct params *set, const struct at *at)
{
    if (at->round == 0) {
        return set->restart && at->part > PART_REDUCE && at->part != PART_SYNC;
    }
    return at->part <= PART_REDUCE ||
           (at->round % set->every == 0 && (at->part != PART_SYNC || set->sync));
}

/* The name of the region is the number of what it does: writing or reading. */
static void make_part(const struct checkpoint *own, uint32_t rank, const struct at *at,
                      struct wf_op *op)
{
    static const enum wf_op_kind kinds[PARTS] = {
        [PART_BEGIN] = WF_OP_REGION_BEGIN, [PART_OPEN] = WF_OP_FILE_OPEN,
        [PART_SYNC] = WF_OP_FILE_SYNC,     [PART_CLOSE] = WF_OP_FILE_CLOSE,
        [PART_END] = WF_OP_REGION_END,
    };
    uint64_t number = at->round / own->set.every * (own->set.shared ? 1 : own->source.n_ranks) +
                      (own->set.shared ? 0 : rank);

    if (at->part == PART_COMPUTE) {
        wf_gen_make_compute(op, own->set.step);
        return;
    }
    if (at->part == PART_REDUCE || at->part == PART_BARRIER) {
        wf_gen_make_collective(op, at->part == PART_REDUCE ? WF_OP_ALLREDUCE : WF_OP_BARRIER,
                               at->part == PART_REDUCE ? own->set.reduce : 0);
        return;
    }
    op->kind = at->part != PART_MOVE ? kinds[at->part]
               : at->round == 0      ? WF_OP_FILE_READ
                                     : WF_OP_FILE_WRITE;
    op->tag = (int32_t)(number & INT32_MAX);
    op->bytes = at->part == PART_MOVE ? own->set.bytes : 0;
    op->offset = own->set.shared ? rank * own->set.bytes : 0;
    if (at->part == PART_BEGIN || at->part == PART_END) {
        op->tag = at->round == 0;
    }
}

static bool checkpoint_next(const struct wf_source *source, uint32_t rank,
                            struct wf_cursor *cursor, struct wf_op *op)
{
    const struct checkpoint *own = (const struct checkpoint *)source;
    struct at at;

    assert(source->ops == &wf_gen_checkpoint_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    while (at.round <= own->set.steps) {
        bool has = has_part(&own->set, &at);

        if (has) {
            make_part(own, rank, &at, op);
        }
        at.round += at.part + 1 == PARTS;
        at.part = (at.part + 1) % PARTS;
        if (has) {
            memcpy(cursor->word, &at, sizeof(at));
            return true;
        }
    }
    return false;
}

static const char *checkpoint_name_of(const struct wf_source *source, enum wf_source_name kind,
                                      uint32_t number)
{
    return kind != WF_NAME_REGION || number > 1 ? NULL : number == 0 ? "checkpoint" : "restart";
}

WF_GENERATOR_OPS(checkpoint, "a program that computes and writes its state to files",
                 .name_of = checkpoint_name_of);
