/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communication of a conjugate gradient solver whose matrix is distributed over a 2D
 * grid of ranks, after the benchmark CG of the NAS Parallel Benchmarks (Bailey et al., NAS
 * report RNR-94-007).
 *
 * The number of rows is a power of two, and there are as many columns or twice as many. A
 * row consists of consecutive ranks. If the number of ranks is not a power of two, only the
 * first ranks take part, as many as the next lower power of two; the others do nothing.
 *
 * An iteration has 25 inner iterations. In each, a rank multiplies its part of the matrix
 * (computes), adds up the product over its row by log2(columns) exchanges, exchanges the
 * result with the rank at the transposed place, and takes part in two allreduces of 8 bytes
 * in its row. All messages have n / columns numbers of 8 bytes.
 */
#include "program/gen/gen.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <string.h>

struct params {
    uint64_t n;
    uint64_t iterations;
    int64_t compute;
};

enum { INNER_ITERATIONS = 25, NUMBER_BYTES = 8, COMM_ROW = 1 };

/* The tags. */
enum { TAG_SUM, TAG_TRANSPOSE };

/* The steps of an exchange. */
enum { RECEIVE, SEND, WAIT, N_STEPS };

struct cg {
    struct wf_source source;
    uint32_t n_active, n_columns, n_rows;
    uint32_t n_exchanges; /* in a row */
    uint64_t n_iterations, bytes;
    int64_t compute;
};

/* The contents of the cursor. */
struct position {
    uint64_t iteration; /* inner iterations */
    uint32_t phase;     /* 0: compute; then the exchanges of the row, the transposed place and
                           two allreduces */
    uint32_t step;      /* step of an exchange */
};

WF_GEN_IS_CURSOR(struct position);

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, n, COUNT, .def = "14000", .min = "1", .max = "1000000000000",
                 .doc = "Rows of the matrix"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "1", .max = "100000000000",
                 .doc = "Number of solutions, each of 25 iterations"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "1ms",
                 .doc = "Compute time of each product of matrix and vector"),
    WF_PARAM_END,
};

static enum wf_status cg_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                struct wf_err *err)
{
    const struct params *given = params;
    uint64_t iterations = given->iterations * INNER_ITERATIONS;
    uint32_t bits = 0;
    WF_TRY(wf_gen_check_computing(wf_gen_cg_ops.name, given->compute, iterations, err));
    while ((UINT64_C(2) << bits) <= n_ranks) {
        bits++;
    }
    struct cg *cg = wf_gen_new(sizeof(*cg), &wf_gen_cg_ops, n_ranks, out);
    cg->n_active = UINT32_C(1) << bits;
    cg->n_rows = UINT32_C(1) << bits / 2;
    cg->n_columns = UINT32_C(1) << (bits - bits / 2);
    cg->n_exchanges = bits - bits / 2;
    cg->n_iterations = iterations;
    cg->bytes = NUMBER_BYTES * wf_gen_times_over(given->n, 1, cg->n_columns);
    cg->compute = given->compute;
    cg->source.messages_expected =
        wf_gen_expected((uint64_t)cg->n_active * (3 * cg->n_exchanges + 1), iterations);
    return WF_OK;
}

/* The rank at the transposed place. With twice as many columns as rows, pairs of ranks are
 * transposed together. */
static uint32_t transposed(const struct cg *cg, uint32_t rank)
{
    uint32_t pair = cg->n_columns / cg->n_rows;
    uint32_t place = rank / pair;

    return (place % cg->n_rows * cg->n_rows + place / cg->n_rows) * pair + rank % pair;
}

/* The other rank of an exchange. In the first exchange of a row it is half a row away. */
static uint32_t partner(const struct cg *cg, uint32_t rank, uint32_t exchange)
{
    return exchange < cg->n_exchanges ? rank ^ (cg->n_columns >> (exchange + 1))
                                      : transposed(cg, rank);
}

static void make_exchange(const struct cg *cg, const struct position *at, uint32_t peer,
                          struct wf_op *op)
{
    int32_t tag = at->phase <= cg->n_exchanges ? TAG_SUM : TAG_TRANSPOSE;

    if (at->step == RECEIVE) {
        wf_gen_make_irecv(op, peer, tag, cg->bytes, 0);
    } else if (at->step == SEND) {
        wf_gen_make_send(op, peer, tag, cg->bytes);
    } else {
        wf_gen_make_waitall(op, 1);
    }
}

static bool cg_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                    struct wf_op *op)
{
    const struct cg *cg = (const struct cg *)source;
    uint32_t last_exchange = cg->n_exchanges + 1;
    struct position at;

    assert(source->ops == &wf_gen_cg_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    if (at.iteration == cg->n_iterations || rank >= cg->n_active) {
        return false;
    }
    if (at.phase == last_exchange && transposed(cg, rank) == rank) {
        at.phase++;
    }
    if (at.phase == 0) {
        wf_gen_make_compute(op, cg->compute);
        at.phase++;
    } else if (at.phase <= last_exchange) {
        make_exchange(cg, &at, partner(cg, rank, at.phase - 1), op);
        at.step = (at.step + 1) % N_STEPS;
        at.phase += at.step == 0;
    } else {
        wf_gen_make_collective(op, WF_OP_ALLREDUCE, NUMBER_BYTES);
        op->comm = COMM_ROW;
        at.phase = at.phase == last_exchange + 2 ? 0 : at.phase + 1;
        at.iteration += at.phase == 0;
    }
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

static bool cg_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                     struct wf_group *out)
{
    const struct cg *cg = (const struct cg *)source;

    if (comm == WF_COMM_WORLD) {
        return wf_gen_make_group(out, comm, source->n_ranks, rank, 0, 1);
    }
    uint32_t column = rank % cg->n_columns;
    return comm == COMM_ROW && rank < cg->n_active &&
           wf_gen_make_group(out, comm, cg->n_columns, column, rank - column, 1);
}

WF_GENERATOR_OPS(cg,
                 "conjugate gradients: exchanges in the rows of a grid of ranks, small sums",
                 .group = cg_group);
