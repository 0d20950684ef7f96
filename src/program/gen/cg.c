/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communication of a conjugate gradient solver whose matrix is distributed over a 2D
 * grid of ranks, after the benchmark CG of the NAS Parallel Benchmarks (Bailey et al., NAS
 * report RNR-94-007) and its program for MPI, message by message.
 *
 * The number of rows is a power of two, and there are as many columns or twice as many. A
 * row consists of consecutive ranks. If the number of ranks is not a power of two, only the
 * first ranks take part, as many as the next lower power of two; the others do nothing.
 *
 * A solution begins with a sum in each row, and has 25 iterations and a last product, for the
 * residual. For each product of matrix and vector a rank computes, adds up the product over its
 * row by log2(columns) exchanges, and exchanges the result with the rank at the transposed
 * place, which may be itself. Two sums in its row follow. Messages of products have n / columns
 * numbers of 8 bytes, those of sums one number, of the last sum two.
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

enum { PRODUCTS = 26, NUMBER_BYTES = 8 };

/* The tags. */
enum { TAG_SUM, TAG_TRANSPOSE };

/* The steps of an exchange. */
enum { RECEIVE, SEND, WAIT, N_STEPS };

/* The phases of a product; those of exchanges have one for each column that is added up. */
enum { FIRST_SUM, COMPUTE, ADD_UP, TRANSPOSE, SUM, LAST_SUM, N_PHASES };

struct cg {
    struct wf_source source;
    uint32_t n_active, n_columns, n_rows;
    uint32_t n_exchanges; /* in a row */
    uint64_t n_products, bytes;
    int64_t compute;
};

/* The contents of the cursor. */
struct position {
    uint64_t product;
    uint32_t phase;
    uint32_t exchange; /* of the phase */
    uint32_t step;     /* of the exchange */
};

WF_GEN_IS_CURSOR(struct position);

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, n, COUNT, .def = "14000", .min = "1", .max = "1000000000000",
                 .doc = "Rows of the matrix"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "1", .max = "100000000000",
                 .doc = "Number of solutions, each of 25 iterations and a last product"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "1ms",
                 .doc = "Compute time of each product of matrix and vector"),
    WF_PARAM_END,
};

static enum wf_status cg_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                struct wf_err *err)
{
    const struct params *given = params;
    uint64_t n_products = given->iterations * PRODUCTS;
    uint32_t bits = 0;
    WF_TRY(wf_gen_check_computing(wf_gen_cg_ops.name, given->compute, n_products, err));
    while ((UINT64_C(2) << bits) <= n_ranks) {
        bits++;
    }
    struct cg *cg = wf_gen_new(sizeof(*cg), &wf_gen_cg_ops, n_ranks, out);
    cg->n_active = UINT32_C(1) << bits;
    cg->n_rows = UINT32_C(1) << bits / 2;
    cg->n_columns = UINT32_C(1) << (bits - bits / 2);
    cg->n_exchanges = bits - bits / 2;
    cg->n_products = n_products;
    cg->bytes = NUMBER_BYTES * wf_gen_times_over(given->n, 1, cg->n_columns);
    cg->compute = given->compute;
    uint64_t sums = cg->n_exchanges * (3 * (uint64_t)PRODUCTS + 1);
    cg->source.messages_expected =
        wf_gen_expected(cg->n_active * (sums + (bits > 0 ? PRODUCTS : 0)), given->iterations);
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

/* The number of exchanges of a phase: sums before the first product of a solution only. */
static uint32_t n_exchanges(const struct cg *cg, const struct position *at)
{
    if (at->phase == FIRST_SUM && at->product % PRODUCTS != 0) {
        return 0;
    }
    return at->phase == TRANSPOSE ? cg->n_columns > 1 : cg->n_exchanges;
}

/* The other rank of an exchange. Products are added up with the next column first, single numbers
 * with the one that is half a row away. */
static uint32_t partner(const struct cg *cg, uint32_t rank, const struct position *at)
{
    if (at->phase == TRANSPOSE) {
        return transposed(cg, rank);
    }
    return rank ^ (at->phase == ADD_UP ? UINT32_C(1) << at->exchange
                                       : cg->n_columns >> (at->exchange + 1));
}

static uint64_t message_bytes(const struct cg *cg, const struct position *at)
{
    if (at->phase == ADD_UP || at->phase == TRANSPOSE) {
        return cg->bytes;
    }
    bool is_end = at->phase == LAST_SUM && at->product % PRODUCTS == PRODUCTS - 1;
    return is_end ? UINT64_C(2) * NUMBER_BYTES : NUMBER_BYTES;
}

static void make_exchange(const struct cg *cg, uint32_t rank, const struct position *at,
                          struct wf_op *op)
{
    int32_t tag = at->phase == TRANSPOSE ? TAG_TRANSPOSE : TAG_SUM;

    if (at->step == RECEIVE) {
        wf_gen_make_irecv(op, partner(cg, rank, at), tag, message_bytes(cg, at), 0);
    } else if (at->step == SEND) {
        wf_gen_make_send(op, partner(cg, rank, at), tag, message_bytes(cg, at));
    } else {
        wf_gen_make_waitall(op, 1);
    }
}

static void enter_next_phase(struct position *at)
{
    at->exchange = 0;
    at->phase = (at->phase + 1) % N_PHASES;
    at->product += at->phase == 0;
}

static bool cg_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                    struct wf_op *op)
{
    const struct cg *cg = (const struct cg *)source;
    struct position at;

    assert(source->ops == &wf_gen_cg_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    while (at.phase != COMPUTE && at.exchange == n_exchanges(cg, &at)) {
        enter_next_phase(&at);
    }
    if (at.product >= cg->n_products || rank >= cg->n_active) {
        return false;
    }
    if (at.phase == COMPUTE) {
        wf_gen_make_compute(op, cg->compute);
        enter_next_phase(&at);
    } else {
        make_exchange(cg, rank, &at, op);
        at.step = (at.step + 1) % N_STEPS;
        at.exchange += at.step == 0;
    }
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

WF_GENERATOR_OPS(cg,
                 "conjugate gradients: exchanges in the rows of a grid of ranks, small sums");
