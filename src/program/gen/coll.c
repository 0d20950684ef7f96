/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All ranks repeat one collective operation, to study its algorithms. In each iteration a
 * rank calls it and computes; with `nonblocking` it starts the operation, computes, and
 * waits for it.
 *
 * The meaning of `bytes` depends on the kind: the whole data for bcast, reduce, allreduce,
 * scan and exscan, one block for the others. Where blocks may differ (gatherv, scatterv,
 * allgatherv, alltoallv, reduce_scatter) they have between half and one and a half times
 * `bytes`. In the collectives of neighbours, rank r sends to the `neighbors` ranks above it,
 * beginning again with rank 0 after the last.
 */

#include "base/arith.h"
#include "base/mem.h"
#include "program/gen/gen.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <stdlib.h>

struct params {
    int kind; /* a wf_op_kind, counted from WF_OP_BARRIER */
    uint64_t bytes;
    uint64_t root;
    uint64_t neighbors;
    uint64_t iterations;
    int64_t compute;
    bool nonblocking;
    bool bandwidth;
};

/* The arguments that a kind needs. */
enum { ROOT = 1, BLOCKS = 2, PAIRS = 4, NEIGHBORS = 8 };

static const uint8_t kinds[] = {
    [0] = 0, /* barrier */
    [WF_OP_BCAST - WF_OP_BARRIER] = ROOT,
    [WF_OP_REDUCE - WF_OP_BARRIER] = ROOT,
    [WF_OP_ALLREDUCE - WF_OP_BARRIER] = 0,
    [WF_OP_GATHER - WF_OP_BARRIER] = ROOT,
    [WF_OP_GATHERV - WF_OP_BARRIER] = ROOT | BLOCKS,
    [WF_OP_SCATTER - WF_OP_BARRIER] = ROOT,
    [WF_OP_SCATTERV - WF_OP_BARRIER] = ROOT | BLOCKS,
    [WF_OP_ALLGATHER - WF_OP_BARRIER] = 0,
    [WF_OP_ALLGATHERV - WF_OP_BARRIER] = BLOCKS,
    [WF_OP_ALLTOALL - WF_OP_BARRIER] = 0,
    [WF_OP_ALLTOALLV - WF_OP_BARRIER] = PAIRS,
    [WF_OP_REDUCE_SCATTER - WF_OP_BARRIER] = BLOCKS,
    [WF_OP_REDUCE_SCATTER_BLOCK - WF_OP_BARRIER] = 0,
    [WF_OP_SCAN - WF_OP_BARRIER] = 0,
    [WF_OP_EXSCAN - WF_OP_BARRIER] = 0,
    [WF_OP_NEIGHBOR_ALLGATHER - WF_OP_BARRIER] = NEIGHBORS,
    [WF_OP_NEIGHBOR_ALLTOALL - WF_OP_BARRIER] = NEIGHBORS,
};

static const char *const kind_names[] = {
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_alltoall",
    NULL,
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) + 1 ==
                   sizeof(kind_names) / sizeof(kind_names[0]),
               "every kind has a name");

/* The steps of an iteration. */
enum { CALL, COMPUTE, WAIT };

struct coll {
    struct wf_source source;
    struct params given;
    uint64_t *blocks; /* BLOCKS: one per rank; PAIRS: as in program/gen/vary.h */
    uint32_t *circle; /* all ranks, then again the first ones, as many as neighbours */
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, kind, ENUM, .def = "allreduce", .choices = kind_names,
                 .doc = "The collective operation"),
    WF_PARAM_ROW(struct params, bytes, SIZE, .def = "8", .max = "1EiB",
                 .doc = "Size of the data, or average size of a block"),
    WF_PARAM_ROW(struct params, root, COUNT, .def = "0",
                 .doc = "The root, if the operation has one"),
    WF_PARAM_ROW(struct params, neighbors, COUNT, .def = "2", .max = "65536",
                 .doc = "Number of ranks that a rank sends to in a neighbourhood collective"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "10", .doc = "Number of calls"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "0", .doc = "Compute time of each call"),
    WF_PARAM_ROW(struct params, nonblocking, BOOL, .def = "false",
                 .doc = "Whether the operation is nonblocking and ranks compute meanwhile"),
    WF_PARAM_ROW(struct params, bandwidth, BOOL, .def = "false",
                 .doc = "Whether results contain algorithm and bus bandwidth, as nccl-tests "
                        "prints them"),
    WF_PARAM_END,
};

static void make_tables(struct coll *coll)
{
    uint32_t n = coll->source.n_ranks;
    uint8_t needs = kinds[coll->given.kind];

    if ((needs & (BLOCKS | PAIRS)) != 0) {
        size_t length = (needs & PAIRS) != 0 ? 2 * (size_t)n : n;
        coll->blocks = wf_gen_vary_table(length, coll->given.bytes, WF_GEN_SHARE_ONE / 2);
    }
    if ((needs & NEIGHBORS) != 0) {
        size_t length = (size_t)n + coll->given.neighbors + 1;
        coll->circle = wf_xmalloc(length * sizeof(*coll->circle));
        for (size_t i = 0; i < length; i++) {
            coll->circle[i] = (uint32_t)(i % n);
        }
    }
}

static enum wf_status coll_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                  struct wf_err *err)
{
    const struct params *given = params;

    if ((kinds[given->kind] & ROOT) != 0 && given->root >= n_ranks) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:coll: root: there is no rank %llu; the last one is %u",
                          (unsigned long long)given->root, n_ranks - 1);
    }
    WF_TRY(
        wf_gen_check_computing(wf_gen_coll_ops.name, given->compute, given->iterations, err));
    if ((kinds[given->kind] & (BLOCKS | PAIRS | NEIGHBORS)) != 0) {
        WF_TRY(wf_gen_check_table(wf_gen_coll_ops.name, n_ranks, err));
    }
    struct coll *coll = wf_gen_new(sizeof(*coll), &wf_gen_coll_ops, n_ranks, out);
    coll->source.acts_in_background = given->nonblocking;
    coll->given = *given;
    make_tables(coll);
    return WF_OK;
}

static void coll_destroy(struct wf_source *source)
{
    struct coll *coll = (struct coll *)source;

    free(coll->blocks);
    free(coll->circle);
    free(coll);
}

static void make_call(const struct coll *coll, uint32_t rank, struct wf_op *op)
{
    uint32_t n = coll->source.n_ranks;
    uint8_t needs = kinds[coll->given.kind];
    uint32_t first = coll->given.nonblocking ? WF_OP_IBARRIER : WF_OP_BARRIER;

    wf_gen_make_collective(op, (enum wf_op_kind)(first + (uint32_t)coll->given.kind),
                           coll->given.bytes);
    op->root = (needs & ROOT) != 0 ? (uint32_t)coll->given.root : 0;
    if ((needs & BLOCKS) != 0) {
        /* Ranks other than the root know only their own block. */
        bool knows_all = (needs & ROOT) == 0 || rank == coll->given.root;
        op->bytes = coll->blocks[rank];
        op->counts = knows_all ? coll->blocks : NULL;
    } else if ((needs & PAIRS) != 0) {
        op->counts = coll->blocks + rank;
        op->recv_counts = op->counts;
    } else if ((needs & NEIGHBORS) != 0) {
        uint32_t neighbors = (uint32_t)coll->given.neighbors, back = neighbors % n;
        op->destinations = coll->circle + rank + 1;
        op->sources = coll->circle + (rank >= back ? rank - back : rank + (n - back));
        op->n_destinations = op->n_sources = neighbors;
    }
}

static bool coll_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                      struct wf_op *op)
{
    const struct coll *coll = (const struct coll *)source;
    uint64_t step = cursor->word[1];

    assert(source->ops == &wf_gen_coll_ops && rank < source->n_ranks);
    if (cursor->word[0] == coll->given.iterations) {
        return false;
    }
    if (step == CALL) {
        make_call(coll, rank, op);
    } else if (step == COMPUTE) {
        wf_gen_make_compute(op, coll->given.compute);
    } else {
        wf_gen_make_waitall(op, 1);
    }
    cursor->word[1] = step == (coll->given.nonblocking ? WAIT : COMPUTE) ? 0 : step + 1;
    cursor->word[0] += cursor->word[1] == 0;
    return true;
}

/* The bytes that nccl-tests counts: the whole data, or the blocks of all ranks. */
static bool coll_work(const struct wf_source *source, struct wf_source_work *out)
{
    const struct coll *coll = (const struct coll *)source;
    double n = source->n_ranks;
    uint32_t kind = (uint32_t)coll->given.kind + WF_OP_BARRIER;
    bool whole = kind == WF_OP_BCAST || kind == WF_OP_REDUCE || kind == WF_OP_ALLREDUCE ||
                 kind == WF_OP_SCAN || kind == WF_OP_EXSCAN;

    *out = (struct wf_source_work){
        .repeats = coll->given.iterations,
        .collective = kind_names[coll->given.kind],
        .bytes = whole ? coll->given.bytes : wf_times_u64(coll->given.bytes, source->n_ranks),
        .bus_share = kind == WF_OP_ALLREDUCE ? 2 * (n - 1) / n
                     : whole                 ? 1
                                             : (n - 1) / n,
    };
    return coll->given.bandwidth && kind != WF_OP_BARRIER;
}

WF_GENERATOR_OPS(coll, "one collective operation, repeated", .destroy = coll_destroy,
                 .work = coll_work);
